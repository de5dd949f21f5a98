"""What a turn is built from: values and ports, which may be fakes."""

from typing import TYPE_CHECKING

from msgspec import Struct, field

from zkchat.chat.document_summaries import SummaryCache
from zkchat.chat.images import ReadFile, no_files
from zkchat.chat.request_plan import PageApprovals
from zkchat.chat.turn import IndexRefresher, LiveRules
from zkchat.compose.turn_settings import TurnSettings
from zkchat.compose.user_interface import UNATTENDED, UserInterface
from zkchat.context.relevance import Relevance
from zkchat.tools.readings import Readings

if TYPE_CHECKING:
    from collections.abc import Callable

    from zkchat.agents.profiles import Profiles
    from zkchat.chat.journal import Journal
    from zkchat.compose.server_tools import ServerParts
    from zkchat.context.recall.search import ConversationSearch
    from zkchat.memory.facts import Memory
    from zkchat.ports.models import ModelProvider
    from zkchat.ports.tokenizer import Tokenizer
    from zkchat.vault.library import GuardedLibrary, Library
    from zkchat.writing.proposals import Proposals
    from zkchat.writing.staging import StagedChanges


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
    live: LiveRules | None = None
    """The settings, where they may change meanwhile."""
    read_file: ReadFile = no_files
    """Reads the images that the user names, wherever they are."""
    proposals: "Callable[[GuardedLibrary, Readings], Proposals] | None" = None
    """Makes what the model may propose changes with, over the notes that it may see."""
