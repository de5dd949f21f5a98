"""The wiring of a turn: from values and ports alone (`build_turn`), or over the files of a vault (`open_turn`)."""

from contextlib import ExitStack
from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.chat.answer_check import AnswerCheck
from zkchat.chat.augmentation import Augmentation
from zkchat.chat.compaction import Compactor, Policy
from zkchat.chat.document_summaries import BackgroundSummaries, Summaries, SummaryCache, SummaryMode
from zkchat.chat.given_notes import GivenNotes
from zkchat.chat.images import MAX_IMAGES, MessageImages, ReadFile, no_files
from zkchat.chat.long_messages import LongMessages
from zkchat.chat.privacy import ConversationPrivacy
from zkchat.chat.request import RequestBuilder
from zkchat.chat.request_plan import PageApprovals, RequestPlanner
from zkchat.chat.second_look import SecondLook
from zkchat.chat.tool_loop import DEFAULT_LIMITS, AnswerLimits, ToolLoop
from zkchat.chat.turn import IndexRefresher, Turn
from zkchat.compose.images import read_image_file
from zkchat.compose.providers import may_answer_anytime, tokenizer_of
from zkchat.compose.server_connections import ServerConnections
from zkchat.compose.stores import open_memory, open_message_search, open_summary_cache
from zkchat.compose.trust import VaultTrust
from zkchat.compose.user_interface import UNATTENDED, UserInterface
from zkchat.compose.workspace import Workspace
from zkchat.compose.writing_options import WritingOptions
from zkchat.context.budget import Shares
from zkchat.context.relevance import Relevance
from zkchat.context.selection import Selector
from zkchat.context.strategies import Retention
from zkchat.errors import StorageError
from zkchat.model.evidence import DEFAULT_LIMIT
from zkchat.model.images import ImageDetail
from zkchat.tools.names import CORE_TOOLS
from zkchat.tools.readings import Readings
from zkchat.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zkchat.agents.profiles import Profiles
    from zkchat.chat.archive_recall import ArchiveRecall
    from zkchat.chat.journal import Journal
    from zkchat.compose.conversation import ConversationOptions
    from zkchat.compose.proposals import ProposalParts
    from zkchat.compose.server_tools import ServerParts
    from zkchat.config.schema import Settings
    from zkchat.context.recall.search import ConversationSearch
    from zkchat.memory.facts import Memory
    from zkchat.ports.changes import ChangeStore
    from zkchat.ports.models import ModelProvider
    from zkchat.ports.tokenizer import Tokenizer
    from zkchat.ports.tools import Tool
    from zkchat.vault.library import GuardedLibrary, Library
    from zkchat.writing.proposals import Proposals
    from zkchat.writing.staging import StagedChanges


class TurnSettings(Struct, frozen=True, kw_only=True):
    """What the settings say about a turn."""

    shares: Shares = field(default_factory=Shares)
    policy: Policy = field(default_factory=Policy)
    limits: AnswerLimits = DEFAULT_LIMITS
    recall: bool = True
    """Whether archived messages come back by themselves; a tool finds them in any case."""
    memory: bool = True
    """Whether anything of memory is used: the vault's page, facts, and the tools over them."""
    look_again: bool = True
    check_answers: bool = True
    model_summaries: SummaryMode = "local"
    private: bool = False
    strict: bool = False
    quoted_passages: int = DEFAULT_LIMIT
    """Passages that an answer without a model quotes at most."""
    max_images: int = MAX_IMAGES
    """Images that go along with one message at most."""
    image_detail: ImageDetail = "high"

    @classmethod
    def from_settings(cls, settings: "Settings", options: "ConversationOptions", *, private: bool) -> "TurnSettings":
        context, limits = settings.context, settings.limits
        return cls(
            shares=Shares(
                max_tokens=context.max_tokens,
                reserve=context.reserve_tokens,
                system=context.system_share,
                tools=context.tools_share,
                messages=context.messages_share,
                memory=context.memory_share,
                threshold=context.threshold,
            ),
            policy=Policy(
                auto=context.auto_compact,
                strategy=context.strategy,
                keep=Retention(recent=context.keep_recent, least=context.keep_min),
                confirm=context.confirm_compaction,
                review=context.review_summary,
            ),
            limits=AnswerLimits(characters=limits.max_answer_chars, time=timedelta(seconds=limits.max_answer_seconds)),
            recall=context.recall,
            memory=settings.memory.enabled,
            look_again=settings.references.look_again,
            check_answers=settings.references.check_answers,
            model_summaries=settings.references.model_summaries,
            private=private or options.private,
            strict=options.strict,
            quoted_passages=options.quoted_passages or DEFAULT_LIMIT,
            max_images=settings.images.max_count,
            image_detail=settings.images.detail,
        )


class TurnParts(Struct, frozen=True, kw_only=True):
    """What a turn is built from."""

    journal: "Journal"
    library: "Library"
    """All notes; what the model may see of them is decided here."""
    index: IndexRefresher
    provider: "ModelProvider"
    tokenizer: "Tokenizer"
    prior: float = 1.0
    """What counts are multiplied by until the model's server has said how it counts."""
    profiles: "Profiles"
    approvals: PageApprovals
    vault: str
    """What the user calls the folder of the notes."""
    settings: TurnSettings = field(default_factory=TurnSettings)
    relevance: Relevance = field(default_factory=Relevance)
    memory: "Memory | None" = None
    search: "ConversationSearch | None" = None
    """Over the archived messages; without it none is found."""
    summary_cache: SummaryCache | None = None
    user_interface: UserInterface = UNATTENDED
    staged: "StagedChanges | None" = None
    """What the model has proposed in this turn, which its library shows."""
    servers: "ServerParts | None" = None
    """The MCP servers, and who is asked about calls of their tools."""
    read_file: ReadFile = no_files
    """Reads the images that the user names, wherever they are."""
    proposals: "Callable[[GuardedLibrary, Readings], Proposals] | None" = None
    """Makes what the model may propose changes with, over the notes that it may see."""


def build_turn(parts: TurnParts) -> Turn:
    """A turn over these parts, which may be fakes; nothing is opened."""
    journal, provider, tokenizer, settings = parts.journal, parts.provider, parts.tokenizer, parts.settings
    library = (parts.library.overlaid(parts.staged) if parts.staged is not None else parts.library).guarded_for(
        provider
    )
    privacy = ConversationPrivacy(journal=journal, library=library, provider=provider)
    journal.privacy = privacy
    readings = Readings(library, GivenNotes(journal=journal, privacy=privacy)) if parts.proposals else None
    proposals = parts.proposals(library, readings) if parts.proposals and readings else None
    images = _message_images(parts, library)
    requests = replace(_request_builder(parts, library, privacy, proposals, readings), images=images)
    summaries = Summaries(library, parts.summary_cache)
    loop = ToolLoop(
        provider=provider,
        requests=requests,
        tools=requests.planner.tools,
        tokenizer=tokenizer,
        journal=journal,
        library=library,
        summaries=summaries,
        images=images,
        limits=settings.limits,
        readings=readings,
    )
    second_look = SecondLook(library=library, loop=loop, is_wanted=settings.look_again)
    return Turn(
        journal=journal,
        vault=parts.vault,
        library=library,
        index=parts.index,
        provider=provider,
        privacy=privacy,
        requests=requests,
        loop=loop,
        augmentation=_augmentation(parts, requests, second_look, images),
        second_look=second_look,
        answer_check=AnswerCheck(loop=loop, is_wanted=settings.check_answers),
        summaries=summaries,
        tokenizer=tokenizer,
        images=images,
        proposals=proposals,
        servers=parts.servers.access if parts.servers else None,
        strict=settings.strict,
    )


def _message_images(parts: TurnParts, library: "Library") -> MessageImages:
    return MessageImages(
        library=library,
        provider=parts.provider,
        read_file=parts.read_file,
        most=parts.settings.max_images,
        detail=parts.settings.image_detail,
    )


def _augmentation(
    parts: TurnParts, requests: RequestBuilder, second_look: SecondLook, images: MessageImages
) -> Augmentation:
    return Augmentation(
        library=requests.planner.library,
        provider=parts.provider,
        requests=requests,
        second_look=second_look,
        tokenizer=parts.tokenizer,
        images=images,
        strict=parts.settings.strict,
        quoted_passages=parts.settings.quoted_passages,
    )


def _request_builder(
    parts: TurnParts,
    library: "GuardedLibrary",
    privacy: ConversationPrivacy,
    proposals: "Proposals | None",
    readings: Readings | None,
) -> RequestBuilder:
    journal, provider, tokenizer, settings = parts.journal, parts.provider, parts.tokenizer, parts.settings
    memory = parts.memory.within(privacy) if parts.memory and settings.memory else None
    recall = _archive_recall(parts, privacy)
    long_messages = LongMessages(journal=journal, privacy=privacy)
    tools = [*_read_tools(parts, library, recall, memory, long_messages), *_write_tools(proposals)]
    compactor = Compactor(
        journal=journal,
        provider=provider,
        tokenizer=tokenizer,
        policy=settings.policy,
        privacy=privacy,
        reviewer=parts.user_interface.reviewer,
    )
    planner = RequestPlanner(
        journal=journal,
        provider=provider,
        tokenizer=tokenizer,
        library=library,
        privacy=privacy,
        shares=settings.shares,
        tools=Toolbox(tools, _server_tools(parts, privacy, library)),
        long_messages=long_messages,
        core=CORE_TOOLS,
        profiles=parts.profiles,
        selector=Selector(parts.relevance, tokenizer),
        approvals=parts.approvals,
        memory=memory,
        remembers=settings.memory,
        recall=recall if settings.recall else None,
        proposals=proposals,
        readings=readings,
        strict=settings.strict,
    )
    return RequestBuilder(
        planner=planner,
        journal=journal,
        provider=provider,
        tokenizer=tokenizer,
        privacy=privacy,
        compactor=compactor,
        long_messages=long_messages,
        prior=parts.prior,
    )


def _write_tools(proposals: "Proposals | None") -> "Sequence[Tool]":
    """Those that propose changes, where writing is on from the beginning."""
    return proposals.tools if proposals and proposals.is_on else ()


def build_background_summaries(turn: Turn, settings: TurnSettings) -> BackgroundSummaries:
    """What goes on between the turns of a chat."""
    mode = settings.model_summaries
    if mode == "local" and not may_answer_anytime(turn.provider):
        mode = "never"
    return BackgroundSummaries(
        summaries=turn.summaries,
        library=turn.library,
        provider=turn.provider,
        shares=settings.shares,
        mode=mode,
    )


def _archive_recall(parts: TurnParts, privacy: ConversationPrivacy) -> "ArchiveRecall | None":
    if parts.search is None:
        return None
    from zkchat.chat.archive_recall import ArchiveRecall

    return ArchiveRecall(
        journal=parts.journal,
        search=parts.search,
        tokenizer=parts.tokenizer,
        privacy=privacy,
        shares=parts.settings.shares,
    )


def _server_tools(
    parts: TurnParts, privacy: ConversationPrivacy, library: "GuardedLibrary"
) -> "Callable[[], Sequence[Tool]]":
    return parts.servers.tools(privacy, library) if parts.servers else tuple


def _read_tools(
    parts: TurnParts,
    library: "Library",
    recall: "ArchiveRecall | None",
    memory: "Memory | None",
    long_messages: LongMessages,
) -> "list[Tool]":
    """Those that look things up; none for a model that only quotes."""
    if parts.provider.info.needs_notes:
        return []
    from zkchat.tools.attachments import attachment_tools
    from zkchat.tools.explore import explore_tools
    from zkchat.tools.memory import memory_tools
    from zkchat.tools.recall import recall_tools

    tools = [*explore_tools(library, parts.journal.now), *(recall_tools(recall.find) if recall else [])]
    if memory:
        may_remember = None if parts.settings.private else parts.user_interface.may_remember
        tools += memory_tools(memory, may_remember, parts.journal)
    return [*tools, *attachment_tools(long_messages.texts)]


class OpenedParts(Struct, frozen=True, kw_only=True):
    """What is open already when a turn over the files of a vault is built."""

    workspace: Workspace
    journal: "Journal"
    library: "Library"
    index: IndexRefresher
    provider: "ModelProvider"
    profiles: "Profiles"
    user_interface: UserInterface
    settings: TurnSettings
    changes: "ChangeStore"
    writing: WritingOptions = field(default_factory=WritingOptions)
    servers: ServerConnections | None = None


def open_turn(stack: ExitStack, opened: OpenedParts) -> tuple[Turn, tuple[str, ...]]:
    """A turn over the files of a vault, and what the user should know of them."""
    from zkchat.providers.static_vectors import installed

    workspace, provider = opened.workspace, opened.provider
    tokenizer, prior = tokenizer_of(provider)
    memory, notices = _open_memory(stack, opened)
    servers, about_servers = _open_servers(opened)
    relevance = Relevance(installed())
    writing = _proposal_parts(opened)
    if _selects_by_relevance(opened):  # the first question will need it
        stack.callback(relevance.preload())
    parts = TurnParts(
        journal=opened.journal,
        library=opened.library,
        index=opened.index,
        provider=provider,
        tokenizer=tokenizer,
        prior=prior,
        profiles=opened.profiles,
        approvals=VaultTrust(workspace.paths),
        vault=str(workspace.paths.vault),
        settings=opened.settings,
        relevance=relevance,
        memory=memory,
        search=_open_message_search(stack, opened),
        summary_cache=_open_summary_cache(stack, opened),
        user_interface=opened.user_interface,
        read_file=read_image_file,
        staged=writing.staged if writing else None,
        proposals=writing.proposals if writing else None,
        servers=servers,
    )
    return build_turn(parts), (*notices, *about_servers)


def _open_servers(opened: OpenedParts) -> tuple["ServerParts | None", tuple[str, ...]]:
    """The MCP servers for a model that has a use for them, and what the user should know of their definitions."""
    if opened.servers is None or opened.provider.info.needs_notes:
        return None, ()
    servers, warnings = opened.servers.open(opened.workspace)
    if servers is None:
        return None, warnings
    from zkchat.compose.server_tools import server_parts

    reviewer = opened.user_interface.call_reviewer
    return server_parts(opened.workspace, servers, reviewer, waits=opened.servers.waits), warnings


def _proposal_parts(opened: OpenedParts) -> "ProposalParts | None":
    """What a model needs that may propose changes; one that only quotes does not."""
    provider = opened.provider
    if provider.info.needs_notes:
        return None
    from zkchat.compose.proposals import proposals_over

    return proposals_over(opened.changes, opened.workspace, provider, opened.user_interface, opened.writing)


def _open_memory(stack: ExitStack, opened: OpenedParts) -> tuple["Memory | None", tuple[str, ...]]:
    """What is remembered across sessions; a conversation goes on without it."""
    if opened.provider.info.needs_notes or not opened.settings.memory:
        return None, ()
    try:
        _, memory, notices = stack.enter_context(open_memory(opened.workspace))
    except StorageError as error:
        return None, (f"Nothing is remembered now. {error.message}",)
    return memory, notices


def _open_message_search(stack: ExitStack, opened: OpenedParts) -> "ConversationSearch | None":
    if opened.provider.info.needs_notes:
        return None
    return stack.enter_context(open_message_search(opened.workspace))


def _open_summary_cache(stack: ExitStack, opened: OpenedParts) -> SummaryCache | None:
    if opened.provider.info.needs_notes or opened.settings.model_summaries == "never":
        return None
    return stack.enter_context(open_summary_cache(opened.workspace))


def _selects_by_relevance(opened: OpenedParts) -> bool:
    from zkchat.agents.profiles import DEFAULT

    agents = opened.profiles.agents
    agent = agents.get(opened.journal.history.agent.casefold(), agents[DEFAULT])
    modes = [*agent.references.values(), *(agent.rule_mode(rule) for rule in opened.profiles.rules.values())]
    return "agent" in modes and not opened.provider.info.needs_notes
