"""Conversations over a library and a store, for tests of what a turn does."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from itertools import count
from typing import Any, TypeVar

from tests.support.sessions import NOON, SessionsInMemory
from zkchat.chat.agents import build_profiles
from zkchat.chat.context.assembly import SUMMARY, Shares
from zkchat.chat.context.selection import Relevance
from zkchat.chat.context.tokens import Estimate
from zkchat.chat.conversation import Conversation
from zkchat.chat.core import AnswerLimits, ConversationCore, Policy, Reviewer, TurnSettings
from zkchat.chat.journal import Journal
from zkchat.chat.memory import Memory
from zkchat.chat.message_search import ConversationSearch
from zkchat.chat.second_look import IS_ANSWERED
from zkchat.chat.tools.readings import Readings
from zkchat.chat.tools.server_tools import ServerAccess
from zkchat.core.choices import TokenUsage
from zkchat.core.errors import ProviderError
from zkchat.core.events import Event, TurnFinished
from zkchat.core.message import ChatMessage, ToolCallPart
from zkchat.core.ports import ModelProvider, SessionStore, Tokenizer
from zkchat.core.profile import ProfileFile
from zkchat.core.prompt import Finish, FinishReason, ModelChunk, ModelInfo, ModelRequest, TextChunk, ToolRequested
from zkchat.core.session import AgentEntry, ItemsEntry, Session
from zkchat.core.session_history import thread_of
from zkchat.core.values import from_plain
from zkchat.index.library import GuardedLibrary, Library
from zkchat.models.scripted import Script, Scripted
from zkchat.writing.proposals import Proposals

E = TypeVar("E")


def conversation_over(
    library: Library,
    store: SessionStore | None = None,
    provider: ModelProvider | None = None,
    *,
    session: Session | None = None,
    policy: Policy | None = None,
    reviewer: Reviewer | None = None,
    tokenizer: Tokenizer | None = None,
    search: ConversationSearch | None = None,
    profiles: Sequence[ProfileFile] = (),
    memory: Memory | None = None,
    limits: AnswerLimits | None = None,
    strict: bool = False,
    look_again: bool = False,
    check_answers: bool = False,
    prior: float = 1.0,
    choices: Sequence[AgentEntry | ItemsEntry] = (),
    proposals: Callable[[GuardedLibrary, Readings], Proposals] | None = None,
    servers: ServerAccess | None = None,
    relevance: Relevance | None = None,
    **shares: Any,
) -> Conversation:
    """A conversation as `zkchat.app` builds it, with a clock that stands still and ids `m1`, `m2`, …"""
    assert provider is not None
    numbers = count(1)

    def new_id() -> str:
        taken = journal.history.messages
        return next(name for number in numbers if (name := f"m{number}") not in taken)

    journal = Journal(store or SessionsInMemory(), session, lambda: NOON, new_id)
    core = ConversationCore(
        journal=journal,
        notes=library,
        refresh=library.refresh,
        provider=provider,
        tokenizer=tokenizer or Estimate(),
        prior=prior,
        relevance=relevance or Relevance(),
        profiles=build_profiles(profiles),
        page_is_approved=lambda _name, _text: True,
        vault="/notes",
        settings=TurnSettings(
            shares=Shares(**shares),
            policy=policy or Policy(),
            limits=limits or AnswerLimits(),
            look_again=look_again,
            check_answers=check_answers,
            strict=strict,
        ),
        facts=memory,
        search=search,
        reviewer=reviewer,
        make_proposals=proposals,
        servers=servers,
    )
    return Conversation(core, choices)


def events_of(events: AsyncGenerator[Event, None]) -> list[Event]:
    async def collect() -> list[Event]:
        return [event async for event in events]

    return asyncio.run(collect())


def scripted(answers: Sequence[Sequence[dict[str, Any]]], **more: Any) -> Scripted:
    """A model that says and calls this."""
    return Scripted(from_plain(Script, {"answers": answers, **more}))


def stored(store: SessionsInMemory) -> list[ChatMessage]:
    """The messages of the only session."""
    ((_, entries),) = store.rows.items()
    return thread_of(entries)


def of_kind(events: Sequence[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def answer_of(events: Sequence[Event]) -> ChatMessage:
    """The answer of a turn that came to its end."""
    last = events[-1]
    assert isinstance(last, TurnFinished), last
    return last.message


class Saying:
    """A model that plays its answers: texts, calls of tools, errors, or None for one that hangs.

    Asked whether the notes answer, or what to look up, it says `confirms` or `chooses`, outside of `requests`.
    """

    confirms: str | ProviderError = "Yes"
    chooses = '{"name": "answer", "arguments": {"name": ""}}'

    def __init__(
        self, *answers: str | ToolCallPart | ProviderError | None, reason: FinishReason = "stop", **info: object
    ) -> None:
        known = {"provider": "saying", "id": "x", "context_limit": 32_768, "calls_tools": True, **info}
        self.info = from_plain(ModelInfo, known)
        self.requests: list[ModelRequest] = []
        self._answers = [*answers]
        self._reason = reason

    async def connect(self) -> None:
        pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        is_check = request.messages[-1].text.endswith(IS_ANSWERED)
        is_choice = request.must_call and request.tools[0].name == "answer"
        if not (is_check or is_choice):
            self.requests.append(request)
        answer = self.confirms if is_check else self.chooses if is_choice else self._answers.pop(0)
        match answer:
            case str():
                yield TextChunk(text=answer)
            case ToolCallPart():
                yield ToolRequested(call=answer)
            case ProviderError():
                raise answer
            case None:
                await asyncio.sleep(600)
        yield Finish(reason=self._reason, usage=TokenUsage(prompt_tokens=100, completion_tokens=9))


class Reciting:
    """A model that answers each question with the next of its answers, and each wish for a summary as it is told."""

    def __init__(
        self,
        answer: Callable[[int], str] = lambda number: f"Answer {number}.",
        summary: Callable[[ModelRequest], str] = lambda _: "They talked about cats.",
        *,
        window: int = 4096,
        calls_tools: bool = False,
        on_this_machine: bool = False,
    ) -> None:
        self.info = ModelInfo(
            provider="reciting",
            id="x",
            context_limit=window,
            calls_tools=calls_tools,
            on_this_machine=on_this_machine,
        )
        self.requests: list[ModelRequest] = []
        """Every question; the wishes for summaries are in `summaries`."""
        self.summaries: list[ModelRequest] = []
        self._answer = answer
        self._summary = summary

    async def connect(self) -> None:
        pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        if request.messages[0].text == SUMMARY:
            self.summaries.append(request)
            yield TextChunk(text=self._summary(request))
        else:
            self.requests.append(request)
            yield TextChunk(text=self._answer(len(self.requests)))
        yield Finish()
