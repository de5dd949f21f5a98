"""A client of `zkchat serve acp` for tests: the SDK's own client side, over the pipes of a thread or of a process."""

import asyncio
import json
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from acp.client.connection import ClientSideConnection
from acp.helpers import text_block
from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse
from acp.stdio import spawn_agent_process

from tests.support.world import PipedCommand, World, process_variables

T = TypeVar("T")
SECONDS = 60.0
LIMIT = 10_000_000


@dataclass(frozen=True)
class Asked:
    """A permission request."""

    session_id: str
    call: Any
    options: list[Any]

    @property
    def ids(self) -> list[str]:
        return [option.option_id for option in self.options]


@dataclass
class RecordingClient:
    """Implements `acp.interfaces.Client`, as far as zkchat calls it."""

    updates: list[tuple[str, Any]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    answer: str | None = "apply"
    """The option that is chosen; None says that the user cancelled."""
    hold: bool = False
    """Whether questions are left without an answer."""
    on_update: Callable[[str, Any], Awaitable[None]] | None = None

    def on_connect(self, conn: Any) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append((session_id, update))
        if self.on_update:
            await self.on_update(session_id, update)

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append(Asked(session_id, tool_call, options))
        if self.hold:
            await asyncio.sleep(SECONDS)
        if self.answer is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=self.answer))


class Acp:
    """One `zkchat serve acp`, called from tests that are not asynchronous. It runs on a thread of this process, which
    is quicker, unless it `is_process`."""

    def __init__(self, world: World, *arguments: str, is_process: bool = False) -> None:
        self.world = world
        self.client = RecordingClient()
        self.connection: Any = None
        self.process: Any = None
        self.code: int | None = None
        self._arguments = arguments
        self._is_process = is_process
        self._loop = asyncio.new_event_loop()
        self._stack = AsyncExitStack()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def start(self) -> None:
        self.run(self._start_process() if self._is_process else self._start_thread())

    async def _start_process(self) -> None:
        started = spawn_agent_process(
            self.client,  # type: ignore[arg-type]  # it has the methods that are called
            sys.executable,
            "-m",
            "zkchat",
            "acp",
            *self._arguments,
            env=process_variables(self.world),
            cwd=self.world.root,
            transport_kwargs={"limit": LIMIT, "shutdown_timeout": SECONDS},
            use_unstable_protocol=True,
        )
        self.connection, self.process = await self._stack.enter_async_context(started)

    async def _start_thread(self) -> None:
        command = PipedCommand(self.world, "acp", *self._arguments)
        await command.start(LIMIT)
        self.connection = ClientSideConnection(
            self.client,  # type: ignore[arg-type]  # as above
            command.writer,
            command.reader,
            use_unstable_protocol=True,
        )

        async def end() -> None:
            command.writer.close()
            await asyncio.to_thread(command.thread.join, SECONDS)
            self.code = command.code
            await self.connection.close()

        self._stack.push_async_callback(end)

    def stop(self) -> int | None:
        """End its input, and return its exit code."""
        if self._thread.is_alive():
            self.run(self._stack.aclose())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(SECONDS)
            self._loop.close()
        return self.process.returncode if self.process else self.code

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(SECONDS)

    def submit(self, work: Coroutine[Any, Any, T]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def play(self, *answers: list[dict[str, Any]], **more: Any) -> str:
        """Write a script of its own, and return the name of the model that plays it."""
        file = self.world.root / f"play-{len([*self.world.root.glob('play-*')])}.json"
        file.write_text(json.dumps({"answers": answers, **more}))
        return f"scripted:{file}"

    def new(self, model: str = "", cwd: Path | None = None) -> str:
        """A new session, with a model of its own."""
        opened = self.run(self.connection.new_session(cwd=str(cwd or self.world.vault), mcp_servers=[]))
        if model:
            self.choose(opened.session_id, "model", model)
        return str(opened.session_id)

    def choose(self, session: str, what: str, value: str) -> Any:
        return self.run(self.connection.set_config_option(config_id=what, session_id=session, value=value))

    def ask(self, session: str, *blocks: Any) -> str:
        """Send a prompt, and return why it stopped."""
        prompt = [text_block(block) if isinstance(block, str) else block for block in blocks]
        return str(self.run(self.connection.prompt(session_id=session, prompt=prompt)).stop_reason)

    def of(self, session: str, kind: str = "") -> list[Any]:
        """The updates of a session, of one kind or all."""
        return [update for id_, update in self.client.updates if id_ == session and kind in {"", update.session_update}]

    def text(self, session: str, kind: str = "agent_message_chunk") -> str:
        """What was said, without what is no text."""
        return "".join(getattr(update.content, "text", "") for update in self.of(session, kind))

    def links(self, session: str) -> list[Any]:
        return [
            each.content for each in self.of(session, "agent_message_chunk") if each.content.type == "resource_link"
        ]

    def wait_for(self, found: Callable[[], object]) -> None:
        """Wait until something is so."""

        async def look() -> None:
            while not found():
                await asyncio.sleep(0.01)

        self.run(asyncio.wait_for(look(), SECONDS))


@contextmanager
def started_acp(world: World, *arguments: str) -> Iterator[Acp]:
    acp = Acp(world, *arguments)
    acp.start()
    try:
        yield acp
    finally:
        acp.stop()
