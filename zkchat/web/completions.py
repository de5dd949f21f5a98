"""The API of OpenAI: models, chat completions over the notes with their sources, and embeddings."""

import asyncio
import json
import time
from base64 import b64encode
from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import aclosing
from hashlib import sha256
from itertools import islice
from typing import Final

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zkchat.app import (
    ConversationOptions,
    OpenConversation,
    ProfileStore,
    Workspace,
    WritingOptions,
    embed_texts,
    inline_image,
    load_workspace,
    open_conversation,
    open_sessions,
    survey_models,
)
from zkchat.core import (
    Brief,
    ChatMessage,
    EntryBody,
    ImagePart,
    ImageUnusable,
    ListingEntry,
    MessageEntry,
    ProviderError,
    Role,
    SessionStore,
    TextPart,
    UsageError,
    ZkchatError,
    events,
    head_of,
    thread_of,
)
from zkchat.hosting import ASKED_AGAIN, REPLACED, Worker
from zkchat.render import in_brief, phrases, sanitize_line
from zkchat.web.answers import BEAT, Json, Outbox, Plain, Stream, answered, body_of, sent, text_in
from zkchat.web.chats import WebOptions

OWN: Final = "zkchat"
"""The model that the settings choose."""
AGENT: Final = "agent:"
MAX_REMEMBERED: Final = 1_000
"""Conversations of clients that are gone on with in their sessions; of others, what was said is stored anew."""
MAX_SOURCES: Final = 12
SOURCES: Final = "\n\nSources: "
MAX_COMPARED: Final = 10
"""Sessions that begin alike, of which it is looked whether a client goes on with one."""
MAX_TEXTS: Final = 2_048
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant"}
_GONE: Final = 499
_END: Final = b"data: [DONE]\n\n"


class Said(Struct, frozen=True):
    """A message of a request."""

    role: Role
    text: str
    images: tuple[ImagePart, ...] = ()


class Asked(Struct, frozen=True, kw_only=True):
    """A request for a completion."""

    model: str
    question: Said
    before: tuple[Said, ...] = ()
    """What was said, the oldest first."""
    told: str = ""
    """What the client tells the model."""
    streams: bool = False
    with_usage: bool = False
    is_private: bool = False

    @classmethod
    def read(cls, body: Plain) -> "Asked":
        """Raises `UsageError` for a request that cannot be answered."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages or not all(isinstance(each, dict) for each in messages):
            raise UsageError("messages must be a list of messages.")
        if body.get("n") not in (None, 1):
            raise UsageError("One answer is given to a request: n must be 1.")
        told = [_text(each) for each in messages if each.get("role") in {"system", "developer"}]
        spoken = [each for each in messages if each.get("role") in _ROLES]
        said = [Said(_ROLES[each["role"]], _text(each), _images(each)) for each in spoken]
        if not said or said[-1].role != "user" or not said[-1].text.strip():
            raise UsageError("The last message must be a question of the user.")
        options = body.get("stream_options")
        return cls(
            model=text_in(body, "model") or OWN,
            question=said[-1],
            before=tuple(each for each in said[:-1] if each.text.strip()),
            told="\n\n".join(filter(None, told)),
            streams=bool(body.get("stream")),
            with_usage=isinstance(options, dict) and bool(options.get("include_usage")),
            is_private=body.get("store") is False,
        )


def _text(message: Plain) -> str:
    content = message.get("content") or ""
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    if not all(isinstance(text, str) for text in texts):
        raise UsageError("The content of a message must be a text, or a list of parts.")
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _images(message: Plain) -> tuple[ImagePart, ...]:
    content = message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    found = []
    for part in parts:
        image = part.get("image_url")
        if part.get("type") != "image_url" or not isinstance(image, dict):
            continue
        head, _, data = str(image.get("url")).partition(";base64,")
        if not head.startswith("data:image/"):
            raise UsageError("Images must be sent along: data:image/png;base64,…")
        try:
            found.append(inline_image("image", data))
        except ImageUnusable as error:
            raise UsageError(error.message, hint=error.hint) from None
    return tuple(found)


class Completion:
    """What a client is told of a turn."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.text = ""
        self.thinking = ""
        self.annotations: list[Plain] = []
        self.finish = "stop"
        self.usage: Plain = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        self._head = {"id": f"chatcmpl-{time.time_ns():x}", "created": int(time.time()), "model": model}
        self._answer = ""
        """What was said since the last request to the model."""

    def of(self, event: events.Event, opened: OpenConversation) -> Iterator[Plain]:
        """The pieces for an event. Raises `ProviderError` where the turn failed."""
        match event:
            case events.TextDelta():
                self._answer += event.text
                yield self._said(event.text)
            case events.Remarked():
                yield self._said(phrases.remark(event.text))
            case events.ThinkingDelta():
                self.thinking += event.text
                yield {"reasoning_content": event.text}
            case events.ToolStarted():
                self._answer = ""
            case events.AnswerReplaced() | events.PromptReady():
                # A further request without a call is for an answer that takes the place of the first.
                notice = REPLACED if isinstance(event, events.AnswerReplaced) else ASKED_AGAIN
                yield from [self._said(f"\n\n> {notice}\n\n")] if self._answer else []
                self._answer = ""
            case events.TurnFinished():
                yield from self._finished(event, opened)
            case events.TurnFailed():
                raise ProviderError(event.text, hint=event.hint)
            case _:
                pass

    def _said(self, text: str) -> Plain:
        self.text += text
        return {"content": text}

    def _finished(self, event: events.TurnFinished, opened: OpenConversation) -> Iterator[Plain]:
        """The sources, as links below the answer and as annotations."""
        self.finish = "length" if event.cut_off else "stop"
        counted = event.message.usage
        prompt = counted.prompt_tokens if counted else event.usage.total
        completion = counted.completion_tokens if counted else event.message.token_count
        self.usage = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
        links = opened.document_links
        found = []
        for _, reference in in_brief(event.message.references, most=MAX_SOURCES).rows:
            if reference.relative_path and (address := links.clickable(reference)):
                found.append((sanitize_line(reference.title or reference.wikilink), address))
        below = SOURCES if found else ""
        for number, (title, address) in enumerate(found):
            below += ", " if number else ""
            start = len(self.text) + len(below)
            below += f"[{_escaped(title)}]({address.replace('(', '%28').replace(')', '%29')})"
            citation = {
                "url": address,
                "title": title,
                "start_index": start,
                "end_index": len(self.text) + len(below),
            }
            self.annotations.append({"type": "url_citation", "url_citation": citation})
        if below:
            yield {**self._said(below), "annotations": self.annotations}

    def chunk(self, delta: Plain, finish: str | None = None) -> Plain:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {**self._head, "object": "chat.completion.chunk", "choices": [choice]}

    def last_chunk(self) -> Plain:
        return {**self._head, "object": "chat.completion.chunk", "choices": [], "usage": self.usage}

    def whole(self) -> Plain:
        message = {"role": "assistant", "content": self.text, "annotations": self.annotations, "refusal": None}
        if self.thinking:
            message["reasoning_content"] = self.thinking
        choice = {"index": 0, "message": message, "finish_reason": self.finish, "logprobs": None}
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": self.usage}


def _escaped(title: str) -> str:
    return title.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


class Completions:
    """The requests of clients, which send what was said before with each question."""

    def __init__(self, workspace: Workspace, options: WebOptions, places: asyncio.Semaphore) -> None:
        self._workspace = workspace
        self._options = options
        self._places = places
        self._sessions: OrderedDict[str, tuple[str, str | None]] = OrderedDict()
        """By the digest of what a client was told, the session of a conversation, and its last message."""
        self._answering: set[Future[None]] = set()

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/v1/models", answered(self.models)),
            Route("/v1/chat/completions", answered(self.complete), methods=["POST"]),
            Route("/v1/embeddings", answered(self.embed), methods=["POST"]),
        ]

    async def models(self, _request: Request) -> Response:
        """Of the settings as they are now."""

        def list_them() -> list[str]:
            workspace = self._now()
            agents = ProfileStore(workspace.paths).load().agents.values()
            overview = asyncio.run(survey_models(workspace))
            usable = [row.name for row in overview.rows if not row.problem]
            return [OWN, *(f"{AGENT}{agent.name}" for agent in agents), *usable]

        names = await asyncio.to_thread(list_them)
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": OWN} for name in dict.fromkeys(names)]
        return Json({"object": "list", "data": listed})

    def _now(self) -> Workspace:
        return load_workspace(self._workspace.environment, self._workspace.paths.vault)

    async def complete(self, request: Request) -> Response:
        asked = Asked.read(await body_of(request))
        completion = Completion(asked.model)
        pieces = self._pieces(asked, completion)
        if asked.streams:
            first = await anext(pieces)  # what fails before the model speaks is an error, and no stream
            return Stream(_chunks(completion, first, pieces, asked))
        async with aclosing(pieces):
            async for items in pieces:
                if not items and await request.is_disconnected():
                    return Response(status_code=_GONE)
        return Json(completion.whole())

    async def _pieces(self, asked: Asked, completion: Completion) -> AsyncGenerator[list[Plain], None]:
        """The pieces of the answer. Raises `ZkchatError` where there is none."""
        async with self._places:
            outbox, worker = Outbox.here(), Worker("web-completion")
            answering = worker.submit(self._answer(asked, completion, outbox))
            self._answering.add(answering)
            try:
                async for items in outbox.items():
                    for item in items:
                        if isinstance(item, ZkchatError):
                            raise item
                    yield items
            finally:  # also where the client is gone
                answering.cancel()
                self._answering.discard(answering)
                await asyncio.shield(asyncio.to_thread(worker.close, _nothing()))

    async def _answer(self, asked: Asked, completion: Completion, outbox: Outbox) -> None:
        """Runs on a thread of its own."""
        try:
            await self._play(asked, completion, outbox)
        except ZkchatError as error:
            outbox.put(error)
        except Exception as error:  # noqa: BLE001 - the error boundary of a turn
            outbox.put(ZkchatError(f"zkchat ran into an error ({type(error).__name__})."))
        finally:
            outbox.put(None)

    async def _play(self, asked: Asked, completion: Completion, outbox: Outbox) -> None:
        options = self._conversation(asked)
        with open_conversation(self._workspace.environment, options) as opened:
            brief = Brief(text=asked.told, purpose="client") if asked.told else None
            turn = opened.conversation.say_briefed(asked.question.text, brief, asked.question.images)
            async with aclosing(turn):
                async for event in turn:
                    for piece in completion.of(event, opened):
                        outbox.put(piece)
            said = (*asked.before, asked.question, Said("assistant", completion.text))
            self._sessions[_digest(said)] = opened.conversation.session_id, opened.conversation.history.head
            while len(self._sessions) > MAX_REMEMBERED:
                self._sessions.popitem(last=False)

    def _conversation(self, asked: Asked) -> ConversationOptions:
        """The conversation that the request goes on with, or a new one."""
        agent = asked.model.removeprefix(AGENT) if asked.model.startswith(AGENT) else self._options.agent
        is_own = asked.model == OWN or asked.model.startswith(AGENT)
        session = self._session(asked.before) if asked.before else None
        return ConversationOptions(
            vault=self._workspace.paths.vault,
            model=self._options.model if is_own else asked.model,
            session=session,
            one_shot=session is None,
            agent=agent,
            private=asked.is_private,
            bounded_refresh=True,
            writing=WritingOptions(enabled=False),
        )

    def _session(self, before: Sequence[Said]) -> str:
        """The session in which this was said; where that is not known, or somebody went on in it, a new one."""
        environment = self._workspace.environment
        session_id, parent = environment.new_id(), None
        entries: list[EntryBody] = [ListingEntry(listed=False)]
        for said in before:
            message = ChatMessage(
                id=environment.new_id(),
                session_id=session_id,
                parent_id=parent,
                role=said.role,
                parts=(TextPart(text=said.text), *said.images),
                created_at=environment.now(),
                local=True,  # who wrote it with which notes is not known
            )
            parent = message.id
            entries.append(MessageEntry(message=message))
        with open_sessions(environment, self._workspace.paths.vault) as store:
            if known := self._known(store, before) or _session_with(store, before):
                return known
            store.add(session_id, entries)
        return session_id

    def _known(self, store: SessionStore, before: Sequence[Said]) -> str:
        """The session of what a client was told, unless somebody has gone on in it; empty where it is not known."""
        session, head = self._sessions.pop(_digest(before), ("", None))
        return session if session and head_of(store.entries(session)) == head else ""

    async def embed(self, request: Request) -> Response:
        body = await body_of(request)
        given = body.get("input")
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise UsageError("input must be a text, or a list of texts.")
        if len(texts) > MAX_TEXTS:
            raise UsageError(f"At most {MAX_TEXTS:,} texts are embedded at once.")
        name, rows = await asyncio.to_thread(lambda: embed_texts(self._now(), texts))
        is_packed = body.get("encoding_format") == "base64"
        vectors = [b64encode(row.tobytes()).decode() if is_packed else row.tolist() for row in rows]
        listed = [{"object": "embedding", "index": at, "embedding": each} for at, each in enumerate(vectors)]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        return Json({"object": "list", "model": name, "data": listed, "usage": usage})

    async def close(self) -> None:
        """Stop every answer; what came of it is stored."""
        for answering in [*self._answering]:
            answering.cancel()


async def _nothing() -> None:
    pass


async def _chunks(
    completion: Completion, first: list[Plain], pieces: AsyncGenerator[list[Plain], None], asked: Asked
) -> AsyncGenerator[bytes, None]:
    try:
        yield sent(completion.chunk({"role": "assistant", "content": ""}))
        yield b"".join(sent(completion.chunk(piece)) for piece in first) or BEAT
        async for items in pieces:
            yield b"".join(sent(completion.chunk(piece)) for piece in items) or BEAT
        yield sent(completion.chunk({}, completion.finish))
        if asked.with_usage:
            yield sent(completion.last_chunk())
        yield _END
    except ZkchatError as error:
        yield sent({"error": {"message": f"{error.message} {error.hint}".strip(), "type": type(error).__name__}})
    finally:
        await pieces.aclose()


def _session_with(store: SessionStore, before: Sequence[Said]) -> str:
    """The session in which this, and nothing else, was said; empty where there is none."""
    wanted = [(each.role, _without_sources(each.text)) for each in before]
    alike = (each for each in store.sessions() if each.first_words and wanted[0][1].startswith(each.first_words[:30]))
    for session in islice(alike, MAX_COMPARED):
        thread = thread_of(store.entries(session.id))
        if [(each.role, each.text.strip()) for each in thread if each.role in _ROLES and each.text.strip()] == wanted:
            return session.id
    return ""


def _without_sources(text: str) -> str:
    return (text.rpartition(SOURCES)[0] or text).strip()


def _digest(said: Sequence[Said]) -> str:
    texts = [(each.role, each.text.strip()) for each in said]
    return sha256(json.dumps(texts).encode()).hexdigest()
