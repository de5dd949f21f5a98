"""The methods of ACP that a client calls, served over standard streams, a worker thread for each conversation."""

import asyncio
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from functools import wraps
from inspect import CORO_CREATED, getcoroutinestate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar, cast

from acp import PROTOCOL_VERSION, RequestError, schema
from acp.agent.connection import AgentSideConnection
from msgspec.structs import replace

from zkchat.app import find_vault, open_sessions
from zkchat.core import (
    Channel,
    Environment,
    Lines,
    MessageEntry,
    Session,
    SessionNotFound,
    UsageError,
    VaultError,
    ZkchatError,
    claimed_streams,
)
from zkchat.hosting import ChatOptions, Worker
from zkchat.render import sanitize_line
from zkchat.version import __version__

if TYPE_CHECKING:
    from acp.interfaces import Agent, Client

    from zkchat.acp.prompts import Block
    from zkchat.acp.session import AgentSession
    from zkchat.acp.updates import Update


T = TypeVar("T")

MODE: Final = "mode"
"""The option by which clients choose whether notes may be changed."""


class SessionClient:
    """Sends updates of a session and asks for permissions, over the connection on another event loop."""

    def __init__(self, connection: "Client", loop: asyncio.AbstractEventLoop, session_id: str) -> None:
        self._connection = connection
        self._loop = loop
        self.session_id = session_id
        self._asked: Future[schema.RequestPermissionResponse] | None = None
        """The question that the thread of the conversation waits for."""

    async def update(self, *updates: "Update") -> None:
        """Send updates in order. A client that is gone needs none."""
        for update in updates:
            sending = self._connection.session_update(self.session_id, update)
            try:
                with suppress(ConnectionError, RuntimeError):
                    await asyncio.wrap_future(self._submit(sending))
            finally:
                if getcoroutinestate(sending) == CORO_CREATED:  # the connection's loop ended first
                    sending.close()

    def update_now(self, update: "Update") -> None:
        """Send an update from code that cannot wait for it."""
        with suppress(ConnectionError, RuntimeError):
            self._submit(self._connection.session_update(self.session_id, update))

    def ask(self, call: schema.ToolCallUpdate, options: "Sequence[schema.PermissionOption]") -> str:
        """Ask the user, and block this thread until there is an answer: the id of an option, empty for none."""
        try:
            self._asked = self._submit(self._connection.request_permission(self.session_id, call, list(options)))
            outcome = self._asked.result().outcome
        except (CancelledError, ConnectionError, RuntimeError, RequestError):
            return ""
        finally:
            self._asked = None
        return outcome.option_id if isinstance(outcome, schema.AllowedOutcome) else ""

    def stop_asking(self) -> None:
        """Have a question that is open answered by nothing. May be called from any thread."""
        if asked := self._asked:
            asked.cancel()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise


P = ParamSpec("P")
PAGE: Final = 100
"""Sessions of one answer to `session/list`."""
_NOT_FOUND: Final = -32002
_INVALID: Final = -32602
_FAILED: Final = -32603


def answered(act: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Errors become answers that a user can read, with what to do about them."""

    @wraps(act)
    async def call(*arguments: P.args, **named: P.kwargs) -> T:
        try:
            return await act(*arguments, **named)
        except ZkchatError as error:
            sentence = f"{error.message} {error.hint}".strip()
            code = _INVALID if isinstance(error, UsageError | VaultError) else _FAILED
            code = _NOT_FOUND if isinstance(error, SessionNotFound) else code
            raise RequestError(code, sentence, {"details": sentence}) from None
        except (RequestError, asyncio.CancelledError):
            raise
        except Exception as error:  # noqa: BLE001 - the error boundary of this process
            sentence = f"zkchat ran into an error ({type(error).__name__}: {error}). Your messages are saved."
            raise RequestError(_FAILED, sentence, {"details": sentence}) from None

    return call


class VaultAgent:
    """Implements `acp.interfaces.Agent`, on the event loop of the connection. Each session has a thread of its own."""

    def __init__(self, environment: Environment, options: ChatOptions) -> None:
        self._environment = environment
        self._options = options
        self.sessions: dict[str, tuple[AgentSession, Worker]] = {}
        self._announcements: set[asyncio.Future[None]] = set()
        self._connection: Client

    def on_connect(self, conn: "Client") -> None:
        self._connection = conn

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        """Answered at once: no vault is looked for yet."""
        del protocol_version
        return schema.InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(embedded_context=True, image=True, audio=False),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                    fork=schema.SessionForkCapabilities(),
                ),
            ),
            agent_info=schema.Implementation(name="zkchat", title="zkchat", version=__version__),
            auth_methods=[],
        )

    async def authenticate(self, method_id: str, **_: Any) -> None:
        """Nobody has to: keys of models are the settings' business."""
        del method_id

    @answered
    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        session_id = self._environment.new_id()
        return schema.NewSessionResponse(session_id=session_id, **await self._open(session_id, cwd, stored=False))

    @answered
    async def load_session(self, cwd: str, session_id: str, **_: Any) -> schema.LoadSessionResponse:
        return schema.LoadSessionResponse(**await self._open(session_id, cwd, stored=True, replayed=True))

    @answered
    async def resume_session(self, cwd: str, session_id: str, **_: Any) -> schema.ResumeSessionResponse:
        return schema.ResumeSessionResponse(**await self._open(session_id, cwd, stored=True))

    @answered
    async def fork_session(self, cwd: str, session_id: str, **_: Any) -> schema.ForkSessionResponse:
        """A copy of a session, under an id of its own."""
        environment, vault = self._place(cwd)
        forked = environment.new_id()

        def copy() -> None:
            with open_sessions(environment, vault) as store:
                bodies = [entry.body for entry in store.entries(store.get(session_id).id)]
                own = [
                    MessageEntry(message=replace(body.message, session_id=forked))
                    if isinstance(body, MessageEntry)
                    else body
                    for body in bodies
                ]
                store.add(forked, own)

        await asyncio.to_thread(copy)
        return schema.ForkSessionResponse(session_id=forked, **await self._open(forked, cwd, stored=True))

    @answered
    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> schema.ListSessionsResponse:
        """The sessions of the vault that `cwd` means, those used last first."""
        environment, vault = self._place(cwd or str(self._environment.cwd))

        def listed() -> list[Session]:
            with open_sessions(environment, vault) as store:
                return [session for session in store.sessions() if session.listed]

        found = await asyncio.to_thread(listed)
        # Python refuses to convert numbers of any length.
        start = int(cursor) if cursor and cursor.isdecimal() and len(cursor) <= 9 else 0
        infos = [
            schema.SessionInfo(
                session_id=session.id,
                cwd=cwd or str(vault),
                title=sanitize_line(session.title) or None,
                updated_at=session.updated_at.isoformat(),
            )
            for session in found[start : start + PAGE]
        ]
        following = start + PAGE
        return schema.ListSessionsResponse(
            sessions=infos, next_cursor=str(following) if following < len(found) else None
        )

    @answered
    async def prompt(self, session_id: str, prompt: "Sequence[Block]", **_: Any) -> schema.PromptResponse:
        session, worker = self._session(session_id)
        return schema.PromptResponse(stop_reason=await worker.run(session.prompt(prompt)))

    async def cancel(self, session_id: str, **_: Any) -> None:
        if session_id in self.sessions:
            self.sessions[session_id][0].cancel()

    @answered
    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> schema.SetSessionModeResponse:
        session, worker = self._session(session_id)
        await worker.run(session.choose(MODE, mode_id))
        return schema.SetSessionModeResponse()

    @answered
    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> schema.SetSessionConfigOptionResponse:
        session, worker = self._session(session_id)
        await worker.run(session.choose(config_id, str(value)))
        return schema.SetSessionConfigOptionResponse(config_options=[*session.choices()[0]])

    @answered
    async def close_session(self, session_id: str, **_: Any) -> schema.CloseSessionResponse:
        self._session(session_id)
        await self._close(session_id)
        return schema.CloseSessionResponse()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        del params
        raise RequestError.method_not_found(f"_{method}")

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """None is known."""

    def close(self) -> None:
        """Close every session. Nothing more is sent."""
        while self.sessions:
            _, (session, worker) = self.sessions.popitem()
            session.cancel()
            worker.close(session.close())

    def _place(self, cwd: str) -> tuple[Environment, Path]:
        """The environment as if zkchat was started in a folder, and the vault for it. Raises `VaultError`."""
        folder = Path(cwd)
        if not folder.is_absolute():
            raise UsageError(f"The working folder of a session must be an absolute path, not {cwd}.")
        environment = replace(self._environment, cwd=folder)
        try:
            return environment, find_vault(environment, self._options.vault)
        except VaultError as error:
            hint = "In your editor, set the command to: zkchat serve acp --vault FOLDER. Or run zkchat setup once."
            raise VaultError(error.message, hint=hint) from None

    async def _open(self, session_id: str, cwd: str, *, stored: bool, replayed: bool = False) -> dict[str, Any]:
        """Open a session, and return the choices that its user has; with `replayed`, send what was said in it."""
        from zkchat.acp.session import AgentSession  # half a second, which the first answer need not wait for

        environment, vault = self._place(cwd)
        if session_id in self.sessions:
            await self._close(session_id)
        worker = Worker(f"acp-{session_id}")
        client = SessionClient(self._connection, asyncio.get_running_loop(), session_id)
        session = AgentSession(environment, self._options, client, worker.loop)
        try:
            await worker.run(session.open(vault, stored=stored))
        except BaseException:
            worker.close(session.close())
            raise
        self.sessions[session_id] = session, worker
        if replayed:
            await worker.run(session.replay())
        options, modes = session.choices()
        # What follows the answer to the client: until it has that, it knows no session to update.
        announced = asyncio.wrap_future(worker.submit(session.announce()))
        self._announcements.add(announced)
        announced.add_done_callback(self._announcements.discard)
        return {"config_options": [*options], "modes": modes}

    async def _close(self, session_id: str) -> None:
        session, worker = self.sessions.pop(session_id)
        session.cancel()
        await asyncio.to_thread(worker.close, session.close())

    def _session(self, session_id: str) -> "tuple[AgentSession, Worker]":
        found = self.sessions.get(session_id)
        if found is None:
            raise SessionNotFound(
                f"The session {session_id} is not open here.", hint="Load it first: session/load or session/resume."
            )
        return found


class StdioTransport:
    """Implements `acp._transport.Transport`. A thread reads, so that input is taken in whatever else is going on."""

    def __init__(self, channel: Channel) -> None:
        self._lines = Lines(channel.read, 50_000_000)  # a longer line is no message
        self._write = channel.write
        self._received: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._is_broken = False
        threading.Thread(target=self._read, name="acp-input", daemon=True).start()

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message. A client that reads no more ends the input as well."""
        if self._is_broken:
            return
        try:
            text = json.dumps(message, separators=(",", ":"), ensure_ascii=False)
            self._write(f"{text}\n".encode(errors="replace"))  # half a character, which a name may hold, is no JSON
        except OSError:
            self._is_broken = True
            self._received.put_nowait(None)

    async def receive(self) -> dict[str, Any] | None:
        return await self._received.get()

    async def close(self) -> None:
        self._is_broken = True

    def _read(self) -> None:
        for line in iter(self._lines.next, None):
            if not line.strip():
                continue
            try:
                message = json.loads(line, parse_constant=_refuse)
            except (ValueError, RecursionError):
                message = None
            self._submit(self._take, message)
        self._submit(self._received.put_nowait, None)

    def _submit(self, act: Callable[[Any], object], argument: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits for input
            self._loop.call_soon_threadsafe(act, argument)

    def _take(self, message: object) -> None:
        if isinstance(message, dict) and isinstance(message.get("method", ""), str):
            self._received.put_nowait(message)
            return
        # As JSON-RPC numbers them: no request, and no JSON.
        code, answered = (-32600, message.get("id")) if isinstance(message, dict) else (-32700, None)
        error = {"code": code, "message": "That is not a JSON-RPC message."}
        self._loop.create_task(self.send({"jsonrpc": "2.0", "id": answered, "error": error}))


def _refuse(constant: str) -> None:
    """`NaN` and the infinities, which Python takes for JSON, but no client."""
    raise ValueError(constant)


DRAIN_SECONDS: Final = 20.0
"""How long requests that were read before the end of input may take to be answered."""


def serve(environment: Environment, options: ChatOptions) -> None:
    """Answer the client on standard input and output until its input ends; then everything is stored."""
    agent = VaultAgent(environment, options)
    logging.getLogger().addHandler(logging.NullHandler())  # else the SDK prints traces of what it answers as an error
    with claimed_streams(environment) as channel:
        try:
            asyncio.run(_serve(agent, channel))
        finally:
            agent.close()


async def _serve(agent: VaultAgent, channel: Channel) -> None:
    transport = StdioTransport(channel)
    # Methods are called by the names of parameters, and only those that are needed are declared.
    connection = AgentSideConnection(cast("Agent", agent), transport, listening=False, use_unstable_protocol=True)
    await connection.listen()
    before = {asyncio.current_task()}
    await asyncio.sleep(0)  # what was read last begins
    for session, _ in agent.sessions.values():
        session.cancel()  # what came is kept
    while requests := [task for task in asyncio.all_tasks() - before if task.get_name() == "acp.Connection.request"]:
        done, _ = await asyncio.wait(requests, timeout=DRAIN_SECONDS)
        if not done:
            break
    with suppress(ConnectionError):
        await connection.close()
