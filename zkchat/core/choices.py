"""Closed sets that stored values, settings and commands share; what the user trusts; tokens used."""

import hashlib
import re
from typing import Final, Literal, NewType

from msgspec import Struct, field

from zkchat.core.values import Value

ItemKind = Literal["settings", "agent", "rule", "page", "server", "database"]
TrustState = Literal["approved", "declined", "changed", "new"]
"""`changed`: other content of the same name was approved or declined before."""

PAGES: Final = ("ZKCHAT.md", "AGENTS.md")
"""Files at the vault's root with instructions for every conversation; the first of them that is there counts."""
HOW_TO_APPROVE: Final = "To see and approve what comes with the vault: zkchat config trust"


class VaultItem(Value, frozen=True, kw_only=True):
    """One thing that comes with a vault. An approval holds for exactly this content."""

    kind: ItemKind
    name: str
    digest: str
    content: str = ""
    """What it says; of a database only its size in bytes."""

    @property
    def subject(self) -> str:
        """What it is, whatever its content."""
        return f"{self.kind} {self.name}"


def vault_item(kind: ItemKind, name: str, content: str) -> VaultItem:
    return VaultItem(kind=kind, name=name, digest=_digest(kind, name, content), content=content)


def database_item(name: str, size: int = 0) -> VaultItem:
    """Databases change with every use, so an approval is for the name."""
    return VaultItem(kind="database", name=name, digest=_digest("database", name, ""), content=str(size))


def _digest(kind: ItemKind, name: str, content: str) -> str:
    return hashlib.sha256(f"{kind}\0{name}\0{content}".encode("utf-8", "surrogatepass")).hexdigest()


class TokenUsage(Value, frozen=True, kw_only=True):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    thinking_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    """In dollars, where the user set a price or the server says it."""

    def plus(self, other: "TokenUsage") -> "TokenUsage":
        """What both took together."""
        costs = [each.cost for each in (self, other) if each.cost is not None]
        return TokenUsage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            thinking_tokens=self.thinking_tokens + other.thinking_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost=sum(costs) if costs else None,
        )


class BudgetUse(Value, frozen=True, kw_only=True):
    """One share of the window."""

    computed = ("percent",)

    used: int = 0
    limit: int = 0

    @property
    def percent(self) -> float:
        return 100.0 * self.used / self.limit if self.limit else 0.0


class ContextUsage(Value, frozen=True, kw_only=True):
    """What fills the window, part by part. `estimated` says that no exact tokenizer counted it."""

    computed = ("total", "available", "compacts_at")

    system: int = 0
    tools: int = 0
    messages: int = 0
    memory: int = 0
    references: int = 0
    images: int = 0
    window: int = 0
    reserve: int = 0
    threshold: float = 0.85
    estimated: bool = False
    counted: int = 0
    """Our own count of the whole request; the other figures are what the model's server is expected to count."""
    token_features: dict[str, int] = field(default_factory=dict, name="traits")
    """What decides how many tokens another tokenizer makes of it."""
    budgets: dict[str, BudgetUse] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return self.system + self.tools + self.messages + self.memory + self.references + self.images

    @property
    def available(self) -> int:
        return max(0, self.window - self.reserve - self.total)

    @property
    def compacts_at(self) -> int:
        """The total above which older messages leave: the threshold, or less where instructions and tools leave less
        for messages; 0 without a window."""
        mark = min(self.window - self.reserve, int(min(1.0, max(0.0, self.threshold)) * self.window))
        messages = self.budgets.get("messages")
        return max(0, min(mark, self.system + self.tools + messages.limit) if messages else mark)


Role = Literal["user", "assistant", "system", "tool"]

CompactionStrategy = Literal["summarize", "discard", "hybrid"]
"""How the prompt gets smaller; `chat/context/strategies` has a planner for each."""

SummaryDetail = Literal["brief", "normal", "full"]
"""How much a summary tells."""

IncludeMode = Literal["always", "manual", "agent"]
"""When an item is in a request: always, once the user adds it, or when a message calls for it."""

SessionItemType = Literal["rule", "reference", "tool", "memory"]
"""What a user can add to a session's requests and drop from them."""

ItemType = Literal[SessionItemType, "system", "summary", "recall", "evidence", "image", "outcome", "message"]
"""What a request can hold."""

LeftOutReason = Literal[
    "budget", "score", "removed", "private", "missing", "unapproved", "abstained", "unanswered", "off", "repeated"
]

Decision = Literal["applied", "declined", "kept", "dropped"]
"""What became of a proposal. `kept`: it was written nowhere, for the reason that is said. `dropped`: the turn that made
it did not come to its end, so that nobody was asked."""

LinkVia = Literal["path", "name", "alias", "id", "title", "self"]
"""By what a link was resolved to a note."""

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
"""In the order of `date.weekday`."""

ToolName = NewType("ToolName", str)

ReferenceVia = Literal[
    LinkVia, "", "embed", "withheld", "evidence", "index", "context", "answer", "proposed", "folder", "hub"
]
"""How a document got into a message, where no tool found it: how a link was resolved, `embed` for what a linked note
embeds, `withheld` for what the model may not see, `evidence` for a search, `index` for the answer to a question about
the vault itself, `context` for what the agent, the session or the vault's page sends along, `answer` for what only the
answer names, `folder` and `hub` for what a folder or a `[[Hub]]+1` of the message brings along."""

Scope = Literal["user", "vault"]
"""Whose files a command changes: the user's own, or the vault's."""

ThinkingView = Literal["folded", "shown", "hidden"]
"""How a terminal shows what a model thinks before it answers."""

OpenWith = Literal["auto", "editor", "desktop", "obsidian"]
"""The program that opens a document."""

THEMES: Final = {
    "dark": {
        "accent": "cyan",
        "link": "bright_blue",
        "doubt": "yellow",
        "error": "red",
        "good": "green",
        "info": "blue",
        "tag": "magenta",
        "dim": "dim",
    },
    "light": {
        "accent": "#005f87",
        "link": "#0055cc",
        "doubt": "#875f00",
        "error": "#af0000",
        "good": "#005f00",
        "info": "#0055cc",
        "tag": "#87005f",
        "dim": "#5f5f5f",
    },
}
"""Every colour that is drawn with, by what it is for, on a dark and on a light background."""
NO_THEME: Final = "none"
_COLOR: Final = re.compile(r"(?:bright_)?(?:black|red|green|yellow|blue|magenta|cyan|white)|#[0-9a-f]{6}|default|dim")


def parse_theme(theme: str) -> tuple[str, dict[str, str]]:
    """The name of a theme and its colours, with the user's own: `light link=#0000d7`. Raises `ValueError`."""
    words = theme.lower().replace(",", " ").split()
    name = words.pop(0) if words and "=" not in words[0] else "dark"
    if name not in {*THEMES, NO_THEME}:
        raise ValueError(f"there is no theme {name}")
    colors = dict(THEMES.get(name, THEMES["dark"]))
    for word in words:
        role, _, color = word.partition("=")
        if role not in colors or not _COLOR.fullmatch(color):
            raise ValueError(f"{word} is not a PART=COLOUR that zkchat knows, such as link=#0055cc")
        colors[role] = color
    return name, colors


class ColorChoice(Struct, frozen=True, kw_only=True):
    """When to use colour, and which."""

    when: Literal["auto", "always", "never"] = "auto"
    theme: str = "dark"
    """As `parse_theme` reads it."""


USUAL_COLORS: Final = ColorChoice()
NO_COLOR: Final = ColorChoice(when="never")


PanelView = Literal["brief", "footnotes", "full", "off"]
"""What is shown below an answer: a line for each document and for a context that changed, all of it, nothing."""

DEFAULT_AGENT: Final = "default"
DEFAULT_PRIORITY: Final = 5
"""Of a message; priorities go from 1 to 10."""
TOOL_PRIORITY: Final = 3
"""Of the results of tools: they can be looked up again."""
PASTE_PRIORITY: Final = 4
"""Of a long message that is mostly pasted: what was said of it matters longer."""
KEEP_PRIORITY: Final = 8
"""From here on a message is kept word for word while it fits."""
MAX_PRIORITY: Final = 10

DEFAULT_GOAL_STEPS: Final = 12
DEFAULT_GOAL_TOKENS: Final = 200_000
DEFAULT_GOAL_MINUTES: Final = 30

WriteMode = Literal["propose", "ask"]
"""What becomes of the changes that a model proposes: they are only shown, or asked about."""

SectionPosition = Literal["append", "prepend", "replace", "before", "after"]
"""Where a text goes: to the end or the beginning of a section's text, in its place, before its heading, after it."""

ReviewTime = Literal["end", "step"]
"""When the user reviews what a goal run wants to change: all of it at the end, or after each step."""
