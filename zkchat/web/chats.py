"""The chat for the page: turns as streams of events, sessions, and questions to the user."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import aclosing, suppress
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zkchat.app import open_sessions
from zkchat.chat import CallAnswer, ServerCall
from zkchat.core import (
    ChangeSet,
    Environment,
    Event,
    Session,
    SessionError,
    StorageError,
    UsageError,
    ZkchatError,
    patch_of,
    thread_of,
)
from zkchat.hosting import (
    BUSY,
    NOT_OFFERED,
    ChatOptions,
    HostedChat,
    HostedInterface,
    MarkdownSurface,
    Worker,
    offered_commands,
)
from zkchat.repl import Switch
from zkchat.version import __version__
from zkchat.web.answers import (
    BEAT,
    Busy,
    Json,
    Outbox,
    Plain,
    Stream,
    answered,
    body_of,
    plain_event,
    plain_message,
    sent,
    text_in,
)
from zkchat.writing import Verdict

MAX_KEPT_OPEN: Final = 4
"""Conversations in which nothing is being answered: opening one takes a moment."""
MAX_DIFF_CHARS: Final = 100_000
LOOK_SECONDS: Final = 0.5
"""How often it is looked whether another program wrote into sessions, while somebody wants to know."""
TERMINAL_ONLY: Final = NOT_OFFERED | {"paste"}
CHANGES_NOTES: Final = frozenset({"export", "rename", "save", "undo", "write"})
"""Commands that are offered with `--write` alone."""
Answer = Literal["yes", "no", "always"]


class WebOptions(ChatOptions, frozen=True, kw_only=True):
    host: str = "127.0.0.1"
    origin: str = ""
    """The address under which a proxy offers it, such as `https://notes.example.org`."""


class Asker:
    """Sends what happens in a turn, and puts questions to its user that `reply` answers.

    Questions block the thread of the conversation.
    """

    def __init__(self) -> None:
        self.send: Callable[[Plain], None] = lambda _: None
        self._numbers = count(1)
        self._asked: tuple[str, Future[Answer]] | None = None

    def ask(self, about: str, title: str, **more: Any) -> Answer | None:
        """Ask the user, and block this thread until there is an answer; None where there will be none."""
        number, future = str(next(self._numbers)), Future[Answer]()
        self._asked = number, future
        try:
            self.send({"kind": "question", "id": number, "about": about, "title": title, "always": False, **more})
            return future.result()
        except CancelledError:
            return None
        finally:
            self._asked = None

    def reply(self, number: str, answer: Answer) -> None:
        """Answer the question that is open. Raises `UsageError` where it is another one. From any thread."""
        asked = self._asked
        if asked is None or asked[0] != number or not asked[1].set_running_or_notify_cancel():
            raise UsageError("This question no longer waits for an answer.")
        asked[1].set_result(answer)

    def stop(self) -> None:
        """Have the question that is open answered by nothing. From any thread."""
        if asked := self._asked:
            asked[1].cancel()

    def review(
        self, changes: ChangeSet, *, remarks: Sequence[str] = (), may_always: bool = False, is_asked: bool = True
    ) -> Verdict:
        """Implements `ChangeReviewer`."""
        diff = patch_of(changes)
        if not is_asked:
            self.send({"kind": "proposed", "title": changes.title, "diff": diff[:MAX_DIFF_CHARS]})
            return Verdict(answer="no", changes=changes)
        is_long = len(diff) > MAX_DIFF_CHARS
        shown = diff[:MAX_DIFF_CHARS] + ("\n…" if is_long else "")
        answer = self.ask("changes", changes.title, diff=shown, remarks=[*remarks], always=may_always)
        if answer in {"yes", "always"}:
            return Verdict(answer="yes", changes=changes, always=answer == "always" and may_always)
        return Verdict(answer="no" if answer else "stop", changes=changes)


class _CallReviewer(Struct, frozen=True):
    asker: Asker

    def review(self, call: ServerCall) -> CallAnswer:
        remarks = [call.warning] if call.warning else []
        arguments = dict(call.arguments)
        answer = self.asker.ask("call", call.title, arguments=arguments, remarks=remarks, always=call.may_always)
        if answer == "always":
            return "always" if call.may_always else "no"
        return answer or "no"


class _AskingSurface(MarkdownSurface):
    def __init__(self, asker: Asker) -> None:
        super().__init__()
        self._asker = asker

    async def confirm(self, question: str) -> bool:
        """After what was printed so far."""
        if printed := self.take():
            self._asker.send({"kind": "printed", "text": printed})
        return self._asker.ask("command", question) == "yes"


class WebChat(HostedChat):
    """A conversation of the page. All methods but `cancel` and `reply` run on the thread of its worker."""

    def __init__(self, environment: Environment, options: WebOptions, session_id: str) -> None:
        self.worker = Worker(f"web-{session_id}")
        self.asker = Asker()
        super().__init__(environment, options, self.worker.loop, _AskingSurface(self.asker))
        self.not_offered = commands_left_out(options)
        self.session_id = session_id
        self.asking: Future[None] | None = None
        self.is_busy = False
        """Whether it is answering or about to; read and set on the loop of the server."""

    async def open(self, vault: Path, *, stored: bool) -> None:
        interface = HostedInterface(self.asker, _CallReviewer(self.asker), background=lambda: self._background)
        self._start(vault, self.session_id, interface, stored=stored)
        self._background.submit(self._opened.refresher.refresh)

    async def ask(self, text: str, agent: str, outbox: Outbox) -> None:
        """Send what happens until the answer is complete, or stopped; the last thing is of the kind `end`."""
        self.asker.send = outbox.put
        is_stopped = False
        try:
            is_stopped = await self._run(self._ask(text, agent))
        except ZkchatError as error:
            outbox.put({"kind": "error", "text": error.message, "hint": error.hint})
        except Exception as error:  # noqa: BLE001 - the error boundary of a turn
            outbox.put({"kind": "error", "text": f"zkchat ran into an error ({type(error).__name__}).", "hint": ""})
        finally:
            self.asker.send = lambda _: None
            outbox.put({"kind": "end", "session": self.session_id, "stopped": is_stopped})
            outbox.put(None)

    async def _ask(self, text: str, agent: str) -> None:
        self._opened.live.catch_up()
        if agent and agent != self._talk.agent.name:
            self._talk.use_agent(agent)
            self._options = replace(self._options, agent=agent)
            self._reopen(Switch(session=self._talk.session_id or None))
        self._tell_session()
        await self._respond(text)

    async def _show(self, text: str) -> None:
        self.asker.send({"kind": "printed", "text": text})

    async def _notice(self, text: str, hint: str = "") -> None:
        self.asker.send({"kind": "warning", "text": text, "hint": hint})

    async def _activity(self, text: str) -> None:
        self.asker.send({"kind": "activity", "text": text.strip()})

    def _stop_asking(self) -> None:
        self.asker.stop()

    async def _play(self, events: AsyncGenerator[Event, None]) -> None:
        async with aclosing(events):
            async for event in events:
                self.asker.send(plain_event(event))

    async def _after_turn(self) -> None:
        if dropped := self._talk.writing.take_dropped():
            self.asker.send(plain_event(dropped))
        self._tell_session()

    def _tell_session(self) -> None:
        """What the conversation is called, and who answers."""
        title = ""
        with suppress(SessionError, StorageError):
            title = self._opened.store.get(self._talk.session_id).title if self._talk.session_id else ""
        self.asker.send(
            {
                "kind": "session",
                "id": self._talk.session_id or self.session_id,
                "title": title,
                "model": self._talk.model.shown,
                "agent": self._talk.agent.name,
                "private": self._talk.is_private,
                "write": self._talk.writing.is_on,
            }
        )


def commands_left_out(options: WebOptions) -> frozenset[str]:
    return TERMINAL_ONLY if options.write else TERMINAL_ONLY | CHANGES_NOTES


class Chats:
    """The conversations that are open, and the requests about them."""

    def __init__(self, environment: Environment, vault: Path, options: WebOptions) -> None:
        self._environment = environment
        self._vault = vault
        self._options = options
        self._chats: OrderedDict[str, WebChat] = OrderedDict()
        """Those used last at the end."""
        self._opening = asyncio.Lock()
        self.places = asyncio.Semaphore(40)  # turns; others wait
        self._watchers: set[Outbox] = set()
        self._watching: asyncio.Task[None] | None = None

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/api/chat", answered(self.chat), methods=["POST"]),
            Route("/api/chat/stop", answered(self.stop), methods=["POST"]),
            Route("/api/review", answered(self.review), methods=["POST"]),
            Route("/api/commands", answered(self.commands)),
            Route("/api/state", answered(self.state)),
            Route("/api/sessions", answered(self.sessions)),
            Route("/api/sessions/events", answered(self.changes)),
            Route("/api/sessions/{id}", answered(self.session)),
            Route("/api/sessions/{id}/events", answered(self.changes)),
        ]

    async def close(self) -> None:
        """Stop every answer, and store what there is."""
        if self._watching:
            self._watching.cancel()
        for chat in self._chats.values():
            chat.cancel()
        await asyncio.gather(*(_closed(chat) for chat in self._chats.values()))
        self._chats.clear()

    async def chat(self, request: Request) -> Response:
        """Answer a message, or run a command, as a stream of events."""
        body = await body_of(request)
        text, agent = text_in(body, "message", required=True), text_in(body, "agent")
        await self.places.acquire()
        try:
            chat = await self._opened(text_in(body, "session"), agent)
            if chat.is_busy:
                raise Busy(BUSY)
        except BaseException:
            self.places.release()
            raise
        chat.is_busy = True

        async def turn() -> AsyncGenerator[bytes, None]:
            outbox = Outbox.here()
            chat.asking = chat.worker.submit(chat.ask(text, agent, outbox))
            async for items in outbox.items():
                yield b"".join(map(sent, items)) or BEAT

        def end() -> None:
            """Stop an answer that nobody hears any more."""
            chat.is_busy = False
            self.places.release()
            if chat.asking is not None and not chat.asking.done():
                chat.cancel()

        return Stream(turn(), end)

    async def stop(self, request: Request) -> Response:
        """Stop an answer; what came of it is kept."""
        chat = self._chats.get(text_in(await body_of(request), "session", required=True))
        if chat:
            chat.cancel()
        return Json({"stopped": bool(chat and chat.is_busy)})

    async def review(self, request: Request) -> Response:
        body = await body_of(request)
        chat = self._chats.get(text_in(body, "session", required=True))
        answer = body.get("answer")
        if answer not in {"yes", "no", "always"}:
            raise UsageError("answer must be yes, no or always.")
        (chat.asker if chat else Asker()).reply(text_in(body, "id", required=True), answer)
        return Json({"answered": True})

    async def commands(self, _request: Request) -> Response:
        offered = offered_commands(commands_left_out(self._options), every=True)
        told = ("name", "arguments", "help", "details")
        return Json([{**{each: getattr(row, each) for each in told}, "minor": row.is_minor} for row in offered])

    async def state(self, _request: Request) -> Response:
        return Json({"vault": self._vault.name, "write": bool(self._options.write), "version": __version__})

    async def sessions(self, request: Request) -> Response:
        """The conversations, the last used first; single questions too with `all`."""
        every = "all" in request.query_params
        found = await asyncio.to_thread(self._stored)
        return Json([session for session in found if every or session.listed])

    def _stored(self) -> list[Session]:
        with open_sessions(self._environment, self._vault) as store:
            return store.sessions()

    async def session(self, request: Request) -> Response:
        def read() -> Plain:
            with open_sessions(self._environment, self._vault) as store:
                session = store.get(request.path_params["id"])
                thread = thread_of(store.entries(session.id))
                return {"session": session, "messages": [plain_message(each) for each in thread]}

        return Json(await asyncio.to_thread(read))

    async def changes(self, request: Request) -> Response:
        """Tells when a session got new entries: one, or any."""
        return Stream(self._changes(request.path_params.get("id", "")))

    async def _changes(self, wanted: str) -> AsyncGenerator[bytes, None]:
        outbox = Outbox.here()
        seen = await asyncio.to_thread(self._stored)
        self._watchers.add(outbox)
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch({session.id: session for session in seen}))
        try:
            yield BEAT  # what changes from now on is told
            async for items in outbox.items():
                yield b"".join(sent(item) for item in items if wanted in {"", item["session"]}) or BEAT
        finally:
            self._watchers.discard(outbox)

    async def _watch(self, before: Mapping[str, Session]) -> None:
        """Look for changes as long as somebody wants to know."""
        try:
            while self._watchers:
                with suppress(ZkchatError):  # the next look may succeed
                    now = {session.id: session for session in await asyncio.to_thread(self._stored)}
                    found = [_changed(session) for session in now.values() if before.get(session.id) != session]
                    found += [{"kind": "deleted", "session": gone} for gone in before.keys() - now.keys()]
                    for item in found:
                        for outbox in self._watchers:
                            outbox.queue.put_nowait(item)
                    before = now
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            self._watching = None

    async def _opened(self, session_id: str, agent: str) -> WebChat:
        """The conversation that is meant, or a new one. Raises `SessionNotFound`."""
        async with self._opening:
            if session_id in self._chats:
                self._chats.move_to_end(session_id)
                return self._chats[session_id]
            options = self._options if session_id or not agent else replace(self._options, agent=agent)
            chat = WebChat(self._environment, options, session_id or self._environment.new_id())
            try:
                await chat.worker.run(chat.open(self._vault, stored=bool(session_id)))
            except BaseException:
                await _closed(chat)
                raise
            self._chats[chat.session_id] = chat
            idle = [each for each in self._chats.values() if not each.is_busy and each is not chat]
            for each in idle[: max(0, len(idle) - MAX_KEPT_OPEN)]:
                del self._chats[each.session_id]
                await _closed(each)
            return chat


async def _closed(chat: WebChat) -> None:
    chat.cancel()
    await asyncio.to_thread(chat.worker.close, chat.close())


def _changed(session: Session) -> Plain:
    return {
        "kind": "changed",
        "session": session.id,
        "title": session.title,
        "message_count": session.message_count,
        "updated_at": session.updated_at.isoformat(),
    }
