"""What is kept across sessions: facts, and which conversations used which notes."""

from datetime import datetime
from typing import Literal

from zkchat.model.values import Value

FactSource = Literal["user", "model", "session", "import"]
"""Who said it: the user, the model by a tool, a session at its end, a file."""


class Fact(Value, frozen=True, kw_only=True):
    """Something worth keeping."""

    id: str
    text: str
    source: FactSource = "user"
    at: datetime
    session_id: str = ""
    uses: int = 0
    """How often it went into a request."""
    used_at: datetime | None = None
    replaces: str = ""
    """What it took the place of, in the words of that time."""
    local: bool = False
    """Whether it was learnt with notes that are to stay on this machine, and stays there too."""


class DocumentUse(Value, frozen=True, kw_only=True):
    """One note in one turn of a conversation, and why it was there."""

    path: str
    session_id: str
    session_title: str = ""
    message_id: str
    at: datetime
    why: str
    cited: bool = False
    is_gone: bool = False
    """Whether the note is not there any more."""


class UsedNote(Value, frozen=True, kw_only=True):
    """A note with how much it was used."""

    path: str
    turns: int
    sessions: int
    last_used: datetime
    is_gone: bool = False
    """Whether it is not there any more."""


class UsageEdge(Value, frozen=True, kw_only=True):
    """An edge of the usage graph: this conversation used that note so many times."""

    path: str
    session_id: str
    turns: int


class UsageConversation(Value, frozen=True, kw_only=True):
    """A conversation of the usage graph."""

    session_id: str
    title: str
    last_used: datetime
    notes: int


class UsageGraph(Value, frozen=True, kw_only=True):
    """Notes and the conversations that used them, the most used first."""

    notes: tuple[UsedNote, ...] = ()
    talks: tuple[UsageConversation, ...] = ()
    lines: tuple[UsageEdge, ...] = ()
    left_out: int = 0
    """Notes and conversations that there was no room for."""
