"""Closed sets that stored values, settings and commands share, each written once. Imports nothing heavy: the CLI
offers some of them as choices."""

from typing import Final, Literal, NewType

Role = Literal["user", "assistant", "system", "tool"]

CompactionStrategy = Literal["summarize", "discard", "hybrid"]
"""How the prompt gets smaller; `context.strategies.PLANNERS` holds a planner for each."""

IncludeMode = Literal["always", "manual", "agent"]
"""When an item is in a request: always, once the user adds it, or when a message calls for it."""

SessionItemType = Literal["rule", "reference", "tool", "memory"]
"""What a user can add to a session's requests and drop from them."""

ItemType = Literal[SessionItemType, "system", "summary", "recall", "evidence", "image", "outcome", "message"]
"""What a request can hold."""

LeftOutReason = Literal[
    "budget", "score", "removed", "private", "missing", "unapproved", "abstained", "unanswered", "off", "repeated"
]

LinkVia = Literal["path", "name", "alias", "id", "title", "self"]
"""By what a link was resolved to a note."""

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
"""In the order of `date.weekday`."""

ToolName = NewType("ToolName", str)

ReferenceVia = Literal[LinkVia, "", "embed", "withheld", "evidence", "index", "context", "answer", "proposed"]
"""How a document got into a message, where no tool found it: how a link was resolved, `embed` for what a linked note
embeds, `withheld` for what the model may not see, `evidence` for a search, `index` for the answer to a question about
the vault itself, `context` for what the agent, the session or the vault's page sends along, `answer` for what only the
answer names."""

Scope = Literal["user", "vault"]
"""Whose files a command changes: the user's own, or the vault's."""

ThinkingView = Literal["folded", "shown", "hidden"]
"""How a terminal shows what a model thinks before it answers."""

OpenWith = Literal["auto", "editor", "desktop", "obsidian"]
"""The program that opens a document."""

PanelView = Literal["brief", "full", "off"]
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
