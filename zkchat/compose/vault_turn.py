"""A turn over the files of a vault: what it needs is opened here, as far as its model has a use for it."""

from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from zkchat.chat.document_summaries import SummaryCache
from zkchat.chat.turn import Turn
from zkchat.compose.conversation_options import ConversationOptions
from zkchat.compose.conversation_session import ConversationSession
from zkchat.compose.images import read_image_file
from zkchat.compose.index_refresher import NoteIndexRefresher
from zkchat.compose.live_settings import LiveSettings
from zkchat.compose.providers import tokenizer_of
from zkchat.compose.stores import open_memory, open_message_search, open_summary_cache
from zkchat.compose.trust import VaultTrust
from zkchat.compose.turn import build_turn
from zkchat.compose.turn_parts import TurnParts
from zkchat.compose.turn_settings import TurnSettings
from zkchat.compose.workspace import Workspace
from zkchat.context.relevance import Relevance
from zkchat.errors import StorageError

if TYPE_CHECKING:
    from zkchat.compose.proposals import ProposalParts
    from zkchat.compose.server_tools import ServerParts
    from zkchat.context.recall.search import ConversationSearch
    from zkchat.memory.facts import Memory
    from zkchat.ports.changes import ChangeStore
    from zkchat.ports.models import ModelProvider
    from zkchat.vault.library import Library


class OpenedParts(Struct, frozen=True, kw_only=True, dict=True):
    """What is open already when a turn over the files of a vault is built."""

    live: LiveSettings
    options: ConversationOptions
    session: ConversationSession
    provider: "ModelProvider"
    library: "Library"
    index: NoteIndexRefresher
    changes: "ChangeStore"

    @property
    def workspace(self) -> Workspace:
        return self.live.workspace

    @cached_property
    def settings(self) -> TurnSettings:
        is_private = self.session.journal.history.is_private
        return TurnSettings.from_settings(self.workspace.settings, self.options, private=is_private)


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
        journal=opened.session.journal,
        library=opened.library,
        index=opened.index,
        provider=provider,
        tokenizer=tokenizer,
        prior=prior,
        profiles=opened.session.profiles,
        approvals=VaultTrust(workspace.paths),
        vault=str(workspace.paths.vault),
        settings=opened.settings,
        relevance=relevance,
        memory=memory,
        search=_open_message_search(stack, opened),
        summary_cache=_open_summary_cache(stack, opened),
        user_interface=opened.options.user_interface,
        read_file=read_image_file,
        staged=writing.staged if writing else None,
        proposals=writing.proposals if writing else None,
        servers=servers,
        live=opened.live,
    )
    return build_turn(parts), (*notices, *about_servers)


def _open_servers(opened: OpenedParts) -> tuple["ServerParts | None", tuple[str, ...]]:
    """The MCP servers for a model that has a use for them, and what the user should know of their definitions."""
    connections = opened.options.servers
    if connections is None or opened.provider.info.needs_notes:
        return None, ()
    servers, warnings = connections.open(opened.workspace)
    if servers is None:
        return None, warnings
    from zkchat.compose.server_tools import server_parts

    opened.live.follow(connections.withdraw_changed)
    reviewer = opened.options.user_interface.call_reviewer
    return server_parts(opened.live, servers, reviewer, waits=connections.waits), warnings


def _proposal_parts(opened: OpenedParts) -> "ProposalParts | None":
    """What a model needs that may propose changes; one that only quotes does not."""
    provider, options = opened.provider, opened.options
    if provider.info.needs_notes:
        return None
    from zkchat.compose.proposals import proposals_over

    return proposals_over(
        opened.changes,
        opened.workspace,
        provider,
        options.user_interface,
        options.writing,
        opened.live.local_only,
    )


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

    profiles, history = opened.session.profiles, opened.session.journal.history
    agent = profiles.agents.get(history.agent.casefold(), profiles.agents[DEFAULT])
    modes = [*agent.references.values(), *(agent.rule_mode(rule) for rule in profiles.rules.values())]
    return "agent" in modes and not opened.provider.info.needs_notes
