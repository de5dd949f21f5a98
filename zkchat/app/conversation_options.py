"""What the user chose when opening a conversation."""

from pathlib import Path

from msgspec import Struct, field

from zkchat.app.mcp_servers import ServerConnections
from zkchat.app.workspace import UNATTENDED, UserInterface


class WritingOptions(Struct, frozen=True, kw_only=True):
    """What the user chose about writing when opening a conversation."""

    enabled: bool | None = None
    """Whether the model may propose changes; None for what the settings say."""
    assumes_yes: bool = False
    """Whether the user has said yes to its proposals beforehand."""
    proposes_only: bool = False
    """Whether its proposals are only shown, whatever the settings say."""


class ConversationOptions(Struct, frozen=True, kw_only=True):
    """What the user chose when opening a conversation."""

    vault: Path | None = None
    model: str | None = None
    session: str | None = None
    id_of_new: str = ""
    """The id that a new session gets, where somebody was told it before there is anything to store."""
    continue_last: bool = False
    one_shot: bool = False
    """Whether a new session is for one question, which lists leave out until somebody goes on with it."""
    user_interface: UserInterface = UNATTENDED
    bounded_refresh: bool = False
    """Whether a turn goes on with what is known of the notes, where looking at all of them takes too long."""
    private: bool = False
    """Whether nothing of this conversation is to be remembered."""
    strict: bool = False
    """Whether answers may rest on nothing but the notes."""
    quoted_passages: int | None = None
    """Passages that an answer without a model quotes at most; None for the usual number."""
    agent: str | None = None
    """Who answers, unless a message speaks to another agent."""
    writing: WritingOptions = field(default_factory=WritingOptions)
    servers: ServerConnections | None = None
    """The MCP servers of the process; None where none is used."""
    question: str = ""
    """What is asked at once: it is stored before a model or a note is looked for."""
    images: tuple[Path, ...] = ()
    """Files that go along with it."""
