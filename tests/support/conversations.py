"""Conversations over a library and a store, for tests of what a turn does."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from itertools import count
from typing import Any

from tests.support.sessions import NOON, SessionsInMemory
from zkchat.agents.profiles import build_profiles
from zkchat.chat.compaction import Compactor, Policy, Reviewer
from zkchat.chat.conversation import Conversation
from zkchat.chat.document_summaries import Summaries
from zkchat.chat.journal import Journal
from zkchat.chat.limits import DEFAULT_LIMITS, AnswerLimits
from zkchat.chat.request import Preparation, Wants
from zkchat.chat.second_look import SecondLook
from zkchat.chat.turn import Turn
from zkchat.context.assembly import Piece
from zkchat.context.budget import Shares
from zkchat.context.instructions import SUMMARY
from zkchat.context.relevance import Relevance
from zkchat.context.selection import Selector
from zkchat.context.tokens import Estimate
from zkchat.memory.facts import Memory
from zkchat.model.events import Event
from zkchat.model.profile import ProfileFile
from zkchat.model.prompt import Finish, ModelChunk, ModelInfo, ModelRequest, TextChunk
from zkchat.model.session import AgentEntry, ItemsEntry, Session
from zkchat.ports import ModelProvider, SessionStore, Tokenizer
from zkchat.tools.explore import explore_tools
from zkchat.tools.registry import Toolbox
from zkchat.vault.library import Library


def nothing_recalled(_text: str, _budget: int) -> list[Piece]:
    return []


def conversation_over(
    library: Library,
    store: SessionStore | None = None,
    provider: ModelProvider | None = None,
    *,
    session: Session | None = None,
    policy: Policy | None = None,
    reviewer: Reviewer | None = None,
    tokenizer: Tokenizer | None = None,
    recall: Callable[[Journal], Callable[[str, int], list[Piece]]] | None = None,
    profiles: Sequence[ProfileFile] = (),
    memory: Memory | None = None,
    limits: AnswerLimits = DEFAULT_LIMITS,
    strict: bool = False,
    look_again: bool = False,
    prior: float = 1.0,
    choices: Sequence[AgentEntry | ItemsEntry] = (),
    hidden: Callable[[], frozenset[str]] = frozenset,
    **shares: Any,
) -> Conversation:
    assert provider is not None
    numbers = count(1)

    def new_id() -> str:
        taken = journal.history.messages
        return next(name for number in numbers if (name := f"m{number}") not in taken)

    tokenizer = tokenizer or Estimate()
    journal = Journal(store or SessionsInMemory(), session, lambda: NOON)
    compactor = Compactor(
        journal=journal,
        provider=provider,
        tokenizer=tokenizer,
        policy=policy or Policy(),
        now=lambda: NOON,
        new_id=new_id,
        reviewer=reviewer,
        hidden=hidden,
    )
    preparation = Preparation(
        history=lambda: journal.history,
        info=lambda: provider.info,
        tokenizer=tokenizer,
        shares=Shares(**shares),
        compactor=compactor,
        prior=prior,
    )
    tools = Toolbox(explore_tools(library, lambda: NOON))
    wants = Wants(
        info=lambda: provider.info,
        budget=lambda: preparation.budget,
        history=lambda: journal.history,
        tokenizer=tokenizer,
        library=library,
        tools=tools,
        core=frozenset(spec.name for spec in tools.specs),
        profiles=build_profiles(profiles),
        selector=Selector(Relevance(), tokenizer),
        memory=memory,
        recall=recall(journal) if recall else nothing_recalled,
        page_is_approved=lambda _name, _text: True,
        hidden=hidden,
    )
    turn = Turn(
        journal=journal,
        vault="/notes",
        library=library,
        refresh=library.refresh,
        provider=provider,
        preparation=preparation,
        summaries=Summaries(library),
        second_look=SecondLook(library=library, is_wanted=look_again),
        tokenizer=tokenizer,
        tools=tools,
        wants=wants,
        limits=limits,
        strict=strict,
        now=lambda: NOON,
        new_id=new_id,
    )
    return Conversation(turn, choices)


def events_of(events: AsyncGenerator[Event, None]) -> list[Event]:
    async def collect() -> list[Event]:
        return [event async for event in events]

    return asyncio.run(collect())


class Reciting:
    """A model that answers each question with the next of its answers, and each wish for a summary as it is told."""

    def __init__(
        self,
        answer: Callable[[int], str] = lambda number: f"Answer {number}.",
        summary: Callable[[ModelRequest], str] = lambda _: "They talked about cats.",
        *,
        window: int = 4096,
        calls_tools: bool = False,
    ) -> None:
        self.info = ModelInfo(provider="reciting", id="x", context_limit=window, calls_tools=calls_tools)
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
