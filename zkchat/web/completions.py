"""The API of OpenAI: models, answers over the notes with their sources in two forms, and embeddings."""

import asyncio
import json
import re
import time
from base64 import b64encode
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import aclosing
from hashlib import sha256
from itertools import count, islice
from typing import Any, Final

from msgspec import Struct, structs
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
    History,
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
    thread_of,
)
from zkchat.hosting import ASKED_AGAIN, REPLACED, Worker
from zkchat.render import in_brief, phrases, sanitize_line
from zkchat.web.answers import BEAT, Json, Outbox, Plain, Stream, answered, body_of, sent, text_in
from zkchat.web.chats import WebOptions

OWN: Final = "zkchat"
"""The model that the settings choose."""
AGENT: Final = "agent:"
MAX_SOURCES: Final = 12
SOURCES: Final = "\n\nSources: "
MAX_COMPARED: Final = 10
"""Sessions that begin alike, of which it is looked whether a client goes on with one."""
MAX_TEXTS: Final = 2_048
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant"}
_PLACE: Final[Plain] = {"output_index": 0, "content_index": 0}
_GONE: Final = 499


class Said(Struct, frozen=True):
    role: Role
    text: str
    images: tuple[ImagePart, ...] = ()
    local: bool = True
    """Whether it is kept from models elsewhere: who wrote it with which notes is not known."""


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
    previous: str = ""
    """The response with which this goes on."""

    @classmethod
    def read_response(cls, body: Plain) -> "Asked":
        """Of the newer form of the API. Raises `UsageError` for a request that cannot be answered."""
        given = body.get("input")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        if not isinstance(items, list) or not all(isinstance(each, dict) for each in items):
            raise UsageError("input must be a text, or a list of messages.")
        told = {"role": "system", "content": text_in(body, "instructions")}
        asked = cls.read({**body, "messages": [told, *items]})
        return structs.replace(asked, previous=text_in(body, "previous_response_id"))

    @classmethod
    def read(cls, body: Plain) -> "Asked":
        """Raises `UsageError` for a request that cannot be answered."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages or not all(isinstance(each, dict) for each in messages):
            raise UsageError("messages must be a list of messages.")
        if body.get("n") not in (None, 1):
            raise UsageError("A request gets only one answer: n must be 1.")
        told = [_text(each) for each in messages if each.get("role") in {"system", "developer"}]
        spoken = [each for each in messages if each.get("role") in _ROLES]
        said = [Said(_ROLES[each["role"]], _text(each), _images(each)) for each in spoken]
        if not said or said[-1].role != "user" or not said[-1].text.strip():
            raise UsageError("The last message must be a question from the user.")
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


def _parts(message: Plain, *kinds: str) -> list[Plain]:
    content = message.get("content") or ""
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return [part for part in parts if isinstance(part, dict) and part.get("type") in kinds]


def _text(message: Plain) -> str:
    texts = [part.get("text") for part in _parts(message, "text", "input_text", "output_text")]
    if not all(isinstance(text, str) for text in texts):
        raise UsageError("The content of a message must be a text, or a list of parts.")
    return "\n\n".join(map(str, texts))


def _images(message: Plain) -> tuple[ImagePart, ...]:
    found = []
    for part in _parts(message, "image_url", "input_image"):
        image = part.get("image_url")
        address = image.get("url") if isinstance(image, dict) else image
        head, _, data = str(address).partition(";base64,")
        if not head.startswith("data:image/"):
            raise UsageError("Send images as data, not a link: data:image/png;base64,…")
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
        self.id = f"{time.time_ns():x}"
        self.head = {"id": f"chatcmpl-{self.id}", "created": int(time.time()), "model": model}
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
        self.usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        links = opened.document_links
        found = []
        for _, reference in in_brief(event.message.references, most=MAX_SOURCES).rows:
            if reference.relative_path and (address := links.clickable(reference)):
                found.append((sanitize_line(reference.title or reference.wikilink), address))
        below = SOURCES if found else ""
        for number, (title, address) in enumerate(found):
            below += ", " if number else ""
            start = len(self.text) + len(below)
            escaped = re.sub(r"[\\\[\]]", r"\\\g<0>", title)
            below += f"[{escaped}]({address.replace('(', '%28').replace(')', '%29')})"
            citation = {"url": address, "title": title, "start_index": start, "end_index": len(self.text) + len(below)}
            self.annotations.append({"type": "url_citation", "url_citation": citation})
        if below:
            yield {**self._said(below), "annotations": self.annotations}

    def chunk(self, delta: Plain, finish: str | None = None) -> Plain:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {**self.head, "object": "chat.completion.chunk", "choices": [choice]}

    def whole(self) -> Plain:
        message = {"role": "assistant", "content": self.text, "annotations": self.annotations, "refusal": None}
        if self.thinking:
            message["reasoning_content"] = self.thinking
        choice = {"index": 0, "message": message, "finish_reason": self.finish, "logprobs": None}
        return {**self.head, "object": "chat.completion", "choices": [choice], "usage": self.usage}

    def item(self, status: str = "completed") -> Plain:
        """The message of a response."""
        about = {"id": f"msg_{self.id}", "type": "message", "role": "assistant", "status": status}
        return {**about, "content": [self.part()] if self.text else []}

    def part(self) -> Plain:
        annotations = [{"type": each["type"], **each["url_citation"]} for each in self.annotations]
        return {"type": "output_text", "text": self.text, "annotations": annotations, "logprobs": []}

    def response(self, status: str = "") -> Plain:
        """As the newer form of the API has it."""
        is_cut = self.finish == "length"
        status, is_over = status or ("incomplete" if is_cut else "completed"), status != "in_progress"
        usage = {
            "input_tokens": self.usage["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": self.usage["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": self.usage["total_tokens"],
        }
        return {
            "id": f"resp_{self.id}",
            "object": "response",
            "created_at": self.head["created"],
            "model": self.model,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
            "instructions": None,
            "metadata": {},
            "output": [self.item(status)] if self.text and is_over else [],
            "parallel_tool_calls": False,
            "tool_choice": "none",
            "tools": [],
            "temperature": None,
            "top_p": None,
            "usage": usage if is_over else None,
        }


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
            Route("/v1/responses", answered(self.respond), methods=["POST"]),
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
        return await self._answer(request, Asked.read(await body_of(request)), _chunks, Completion.whole)

    async def respond(self, request: Request) -> Response:
        asked = Asked.read_response(await body_of(request))
        return await self._answer(request, asked, _response_events, Completion.response)

    async def _answer(
        self,
        request: Request,
        asked: Asked,
        streamed: Callable[
            [Completion, list[Plain], AsyncGenerator[list[Plain], None], Asked], AsyncGenerator[bytes, None]
        ],
        whole: Callable[[Completion], Plain],
    ) -> Response:
        """The answer as a stream, or at once; nobody waits for it any more where the client is gone."""
        completion = Completion(asked.model)
        pieces = self._pieces(asked, completion)
        if asked.streams:
            first = await anext(pieces)  # what fails before the model speaks is an error, and no stream
            return Stream(streamed(completion, first, pieces, asked))
        async with aclosing(pieces):
            async for items in pieces:
                if not items and await request.is_disconnected():
                    return Response(status_code=_GONE)
        return Json(whole(completion))

    async def _pieces(self, asked: Asked, completion: Completion) -> AsyncGenerator[list[Plain], None]:
        """The pieces of the answer. Raises `ZkchatError` where there is none."""
        async with self._places:
            outbox, worker = Outbox.here(), Worker("web-completion")
            answering = worker.submit(self._play_or_fail(asked, completion, outbox))
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
                await asyncio.shield(asyncio.to_thread(worker.close))

    async def _play_or_fail(self, asked: Asked, completion: Completion, outbox: Outbox) -> None:
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
        if asked.previous:
            asked = structs.replace(asked, before=(*self._said_until(asked.previous), *asked.before))
        options = self._conversation(asked)
        with open_conversation(self._workspace.environment, options) as opened:
            brief = Brief(text=asked.told, purpose="client") if asked.told else None
            turn = opened.conversation.say_briefed(asked.question.text, brief, asked.question.images)
            async with aclosing(turn):
                async for event in turn:
                    for piece in completion.of(event, opened):
                        outbox.put(piece)
            said = (*asked.before, asked.question, Said("assistant", completion.text))
            place = opened.conversation.session_id, opened.conversation.history.head
            self._sessions |= {_digest(said): place, f"resp_{completion.id}": place}
            while len(self._sessions) > 2_000:  # two for each answer: what was said, and the id of a response
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
                local=said.local,
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
        return session if session and History(store.entries(session)).head == head else ""

    def _said_until(self, response: str) -> list[Said]:
        """What had been said when a response was given, from which a client may go on more than once."""
        session, head = self._sessions.get(response, ("", None))
        with open_sessions(self._workspace.environment, self._workspace.paths.vault) as store:
            messages = History(store.entries(session)).messages if session else {}
        said: list[Said] = []
        while head is not None and (message := messages.get(head)):
            if message.role in _ROLES and message.text.strip():
                said.insert(0, Said(_ROLES[message.role], message.text, local=message.local))
            head = message.parent_id
        if not said:
            raise UsageError(f"The response {response} is no longer known. Send the whole conversation as `input`.")
        self._sessions[_digest(said)] = self._sessions[response]
        return said

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


async def _response_events(
    completion: Completion, first: list[Plain], pieces: AsyncGenerator[list[Plain], None], _asked: Asked
) -> AsyncGenerator[bytes, None]:
    numbers, of_item = count(), {**_PLACE, "item_id": f"msg_{completion.id}"}

    def event(kind: str, **more: Any) -> bytes:
        name = f"response.{kind}"
        return f"event: {name}\n".encode() + sent({"type": name, "sequence_number": next(numbers), **more})

    def said(items: list[Plain]) -> bytes:
        texts = (piece["content"] for piece in items if piece.get("content"))
        return b"".join(event("output_text.delta", **of_item, delta=text, logprobs=[]) for text in texts) or BEAT

    try:
        yield event("created", response=completion.response("in_progress"))
        yield event("output_item.added", output_index=0, item={**completion.item("in_progress"), "content": []})
        yield event("content_part.added", **of_item, part={**completion.part(), "text": "", "annotations": []})
        yield said(first)
        async for items in pieces:
            yield said(items)
        for number, annotation in enumerate(completion.part()["annotations"]):
            yield event("output_text.annotation.added", **of_item, annotation_index=number, annotation=annotation)
        yield event("output_text.done", **of_item, text=completion.text, logprobs=[])
        yield event("content_part.done", **of_item, part=completion.part())
        yield event("output_item.done", output_index=0, item=completion.item())
        done = completion.response()
        yield event(done["status"], response=done)
    except ZkchatError as error:
        told = {"code": "server_error", "message": f"{error.message} {error.hint}".strip()}
        yield event("failed", response={**completion.response("failed"), "error": told})
    finally:
        await pieces.aclose()


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
            last = {"object": "chat.completion.chunk", "choices": [], "usage": completion.usage}
            yield sent({**completion.head, **last})
        yield b"data: [DONE]\n\n"
    except ZkchatError as error:
        yield sent({"error": {"message": f"{error.message} {error.hint}".strip(), "type": type(error).__name__}})
    finally:
        await pieces.aclose()


def _session_with(store: SessionStore, before: Sequence[Said]) -> str:
    """The session in which this, and nothing else, was said; empty where there is none."""
    wanted = [(each.role, (each.text.rpartition(SOURCES)[0] or each.text).strip()) for each in before]
    alike = (each for each in store.sessions() if each.first_words and wanted[0][1].startswith(each.first_words[:30]))
    for session in islice(alike, MAX_COMPARED):
        thread = thread_of(store.entries(session.id))
        if [(each.role, each.text.strip()) for each in thread if each.role in _ROLES and each.text.strip()] == wanted:
            return session.id
    return ""


def _digest(said: Sequence[Said]) -> str:
    texts = [(each.role, each.text.strip()) for each in said]
    return sha256(json.dumps(texts).encode()).hexdigest()
