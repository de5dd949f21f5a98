"""A turn, put together from its parts: what the model may be told, what it may call, what is kept of it."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from zkchat.chat.compaction import Compactor, Policy
from zkchat.chat.document_summaries import BackgroundSummaries, Summaries
from zkchat.chat.limits import AnswerLimits
from zkchat.chat.privacy import ConversationPrivacy
from zkchat.chat.request import ArchiveRecall, Preparation, Wants
from zkchat.chat.second_look import SecondLook
from zkchat.chat.turn import Turn
from zkchat.compose.providers import may_answer_anytime, tokenizer_of
from zkchat.compose.stores import open_memory, open_message_search, open_summary_cache
from zkchat.compose.trust import VaultTrust
from zkchat.compose.user_interface import UserInterface
from zkchat.compose.workspace import Workspace
from zkchat.context.budget import Shares
from zkchat.context.strategies import Retention
from zkchat.errors import StorageError

if TYPE_CHECKING:
    from zkchat.agents.profiles import Profiles
    from zkchat.chat.journal import Journal
    from zkchat.config.schema import Settings
    from zkchat.context.assembly import Piece
    from zkchat.context.selection import Selector
    from zkchat.environment import Environment
    from zkchat.memory.facts import Memory
    from zkchat.ports import ModelProvider, Tokenizer, Tool
    from zkchat.tools.registry import Toolbox
    from zkchat.vault.indexing.indexer import Refreshed
    from zkchat.vault.library import Library


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What is open already when a turn is put together."""

    workspace: Workspace
    journal: "Journal"
    library: "Library"
    provider: "ModelProvider"
    profiles: "Profiles"
    refresh: "Callable[[], Refreshed]"
    user_interface: UserInterface
    private: bool
    strict: bool

    @property
    def environment(self) -> "Environment":
        return self.workspace.environment

    @property
    def settings(self) -> "Settings":
        return self.workspace.settings


def put_together(stack: ExitStack, parts: Parts) -> tuple[Turn, tuple[str, ...]]:
    """A turn, and what the user should know of the files it was made from."""
    environment, journal, provider = parts.environment, parts.journal, parts.provider
    tokenizer, prior = tokenizer_of(provider)
    library = parts.library.guarded_for(lambda: provider.info.on_this_machine)
    privacy = ConversationPrivacy(
        history=lambda: journal.history, library=library, on_this_machine=lambda: provider.info.on_this_machine
    )
    journal.is_local = privacy.binds
    memory, trouble = _memory(stack, parts, privacy)
    recall = _recall(stack, parts, tokenizer, privacy)
    preparation = _preparation(parts, privacy, tokenizer, prior)
    tools, core = _tools(parts, library, recall, memory)
    wants = Wants(
        info=lambda: provider.info,
        budget=lambda: preparation.budget,
        history=lambda: journal.history,
        tokenizer=tokenizer,
        library=library,
        tools=tools,
        core=core,
        profiles=parts.profiles,
        selector=_selector(stack, parts, tokenizer),
        memory=memory,
        recall=recall if parts.settings.context.recall else _nothing_recalled,
        page_is_approved=VaultTrust(parts.workspace.paths).page_is_approved,
        hidden=privacy.hidden,
    )
    turn = Turn(
        journal=journal,
        vault=str(parts.workspace.paths.vault),
        library=library,
        refresh=parts.refresh,
        provider=provider,
        preparation=preparation,
        summaries=_summaries(stack, parts, library),
        second_look=SecondLook(library=library, is_wanted=parts.settings.references.look_again),
        tokenizer=tokenizer,
        tools=tools,
        wants=wants,
        limits=_limits(parts.settings),
        strict=parts.strict,
        begin=privacy.begin,
        now=environment.now,
        new_id=environment.new_id,
    )
    return turn, trouble


def describing_for(turn: Turn, settings: "Settings") -> BackgroundSummaries:
    """What goes on between the turns of a chat."""
    provider = turn.provider

    def is_wanted() -> bool:
        info = provider.info
        match settings.references.model_summaries:
            case "always":
                return True
            case "local":  # a script would give away the answer to the next question
                return info.on_this_machine and may_answer_anytime(provider)
            case "never":
                return False

    return BackgroundSummaries(
        summaries=turn.summaries,
        library=turn.library,
        provider=provider,
        window=lambda: turn.preparation.budget.window,
        is_wanted=is_wanted,
    )


def _summaries(stack: ExitStack, parts: Parts, library: "Library") -> Summaries:
    if parts.provider.info.needs_notes or parts.settings.references.model_summaries == "never":
        return Summaries(library)
    return Summaries(library, stack.enter_context(open_summary_cache(parts.workspace)))


def _recall(stack: ExitStack, parts: Parts, tokenizer: "Tokenizer", privacy: ConversationPrivacy) -> ArchiveRecall:
    search = open_message_search(parts.workspace)
    return ArchiveRecall(
        journal=parts.journal, search=stack.enter_context(search), tokenizer=tokenizer, hidden=privacy.hidden
    )


def _preparation(parts: Parts, privacy: ConversationPrivacy, tokenizer: "Tokenizer", prior: float) -> Preparation:
    return Preparation(
        history=privacy.history,
        info=lambda: parts.provider.info,
        tokenizer=tokenizer,
        shares=_shares(parts.settings),
        compactor=_compactor(parts, tokenizer, privacy),
        prior=prior,
        shown=privacy.shown,
    )


def _memory(stack: ExitStack, parts: Parts, privacy: ConversationPrivacy) -> tuple["Memory | None", tuple[str, ...]]:
    """What is remembered across sessions; a conversation goes on without it."""
    if parts.provider.info.needs_notes:
        return None, ()
    try:
        _, memory, notices = stack.enter_context(open_memory(parts.workspace))
    except StorageError as error:
        return None, (f"Nothing is remembered now. {error.message}",)
    from zkchat.memory.facts import FactPrivacy

    secrecy = FactPrivacy(
        withholds=lambda: not privacy.on_this_machine(), binds=privacy.binds, disclose=privacy.disclose
    )
    return memory.within(secrecy), notices


def _tools(
    parts: Parts, library: "Library", recall: ArchiveRecall, memory: "Memory | None"
) -> tuple["Toolbox", frozenset[str]]:
    """All there are, and the names of those without which the vault is out of reach."""
    from zkchat.tools.explore import explore_tools
    from zkchat.tools.memory import memory_tools
    from zkchat.tools.recall import recall_tools
    from zkchat.tools.registry import Toolbox

    core = explore_tools(library, parts.environment.now)
    tools: list[Tool] = [*core, *recall_tools(recall.find)]
    if memory:
        may_remember = None if parts.private else parts.user_interface.may_remember
        tools += memory_tools(memory, may_remember, lambda: parts.journal.session_id)
    return Toolbox(tools), frozenset(tool.spec.name for tool in core)


def _selector(stack: ExitStack, parts: Parts, tokenizer: "Tokenizer") -> "Selector":
    from zkchat.agents.profiles import DEFAULT
    from zkchat.context.relevance import Relevance
    from zkchat.context.selection import Selector
    from zkchat.providers.static_vectors import installed

    relevance = Relevance(installed())
    agents = parts.profiles.agents
    agent = agents.get(parts.journal.history.agent.casefold(), agents[DEFAULT])
    modes = [*agent.references.values(), *(agent.rule_mode(rule) for rule in parts.profiles.rules.values())]
    if "agent" in modes and not parts.provider.info.needs_notes:  # the first question will need it
        stack.callback(relevance.preload())
    return Selector(relevance, tokenizer)


def _compactor(parts: Parts, tokenizer: "Tokenizer", privacy: ConversationPrivacy) -> Compactor:
    context = parts.settings.context
    return Compactor(
        journal=parts.journal,
        provider=parts.provider,
        tokenizer=tokenizer,
        policy=Policy(
            auto=context.auto_compact,
            strategy=context.strategy,
            keep=Retention(recent=context.keep_recent, least=context.keep_min),
            confirm=context.confirm_compaction,
            review=context.review_summary,
        ),
        now=parts.environment.now,
        new_id=parts.environment.new_id,
        reviewer=parts.user_interface.reviewer,
        hidden=privacy.hidden,
    )


def _shares(settings: "Settings") -> Shares:
    context = settings.context
    return Shares(
        max_tokens=context.max_tokens,
        reserve=context.reserve_tokens,
        system=context.system_share,
        tools=context.tools_share,
        messages=context.messages_share,
        memory=context.memory_share,
        threshold=context.threshold,
    )


def _limits(settings: "Settings") -> AnswerLimits:
    limits = settings.limits
    return AnswerLimits(characters=limits.max_answer_chars, time=timedelta(seconds=limits.max_answer_seconds))


def _nothing_recalled(_text: str, _budget: int) -> "list[Piece]":
    return []
