"""Agents and rules as their files describe them, and facts that are kept across sessions."""

from datetime import datetime
from typing import Literal

from msgspec import field

from zkchat.core.choices import IncludeMode
from zkchat.core.values import Value

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
    agent: str = ""
    """The agent that alone is given it; empty: all are."""


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
    """Whether the note no longer exists."""


class UsedNote(Value, frozen=True, kw_only=True):
    """A note with how much it was used."""

    path: str
    turns: int
    sessions: int
    last_used: datetime
    is_gone: bool = False
    """Whether it no longer exists."""


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


Origin = Literal["vault", "user", "built-in"]
ProfileKind = Literal["agent", "rule"]
Scalar = str | int | float | bool


class ProfileFile(Value, frozen=True, kw_only=True):
    """A file that describes an agent or a rule, as it lies in its folder."""

    kind: ProfileKind
    name: str
    origin: Origin
    path: str
    text: str = ""
    read_error: str = ""
    """Why it could not be read, as a sentence; empty when it could."""
    is_approved: bool = True
    """Whether the user approved this content, which one of the vault needs."""


class ProfileProblem(Value, frozen=True, kw_only=True):
    """A mistake in such a file."""

    kind: ProfileKind
    path: str
    line: int
    text: str
    is_used: bool = False
    """Whether the file is used all the same, without what is wrong in it."""

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: {self.text}"


class Rule(Value, frozen=True, kw_only=True):
    unwritten = frozenset({"warning"})

    name: str
    description: str = ""
    include: IncludeMode = "always"
    text: str = ""
    enabled: bool = True
    origin: Origin = "built-in"
    path: str = ""
    warning: ProfileProblem | None = None
    """What is wrong in its file and was passed over."""


class Agent(Value, frozen=True, kw_only=True):
    """Who answers: its instructions, and the rules, notes and tools it may use, each with its include mode."""

    unwritten = frozenset({"warning"})

    name: str
    description: str = ""
    model: str = ""
    """The model to ask; empty: the one that is set."""
    context: dict[str, Scalar] = field(default_factory=dict)
    """Settings of the section `context` that it changes, by their names there."""
    rules: dict[str, IncludeMode] = field(default_factory=dict)
    """Modes of rules that differ for this agent from the rules' own."""
    references: dict[str, IncludeMode] = field(default_factory=dict)
    """Notes, by link or path."""
    tools: dict[str, IncludeMode] = field(default_factory=dict)
    servers: dict[str, IncludeMode] = field(default_factory=dict)
    """Modes of the tools of a server that have none of their own."""
    memory: bool = True
    """Whether its requests hold the vault's page and facts."""
    text: str = ""
    """The instructions."""
    enabled: bool = True
    origin: Origin = "built-in"
    path: str = ""
    warning: ProfileProblem | None = None
    """What is wrong in its file and was passed over."""

    def rule_mode(self, rule: Rule) -> IncludeMode:
        return self.rules.get(rule.name, rule.include)

    def tool_mode(self, name: str, server: str = "") -> IncludeMode:
        """The tool's own mode, else that of its server, else `always`."""
        own = self.tools.get(f"{server}/{name}" if server else name)
        return own or self.servers.get(server) or "always"
