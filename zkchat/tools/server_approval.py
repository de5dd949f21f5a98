"""Which calls of MCP servers' tools are made: what the user allowed, is asked, or has to keep on this machine."""

from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import Final, Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.model.patterns import lazy_pattern
from zkchat.model.tool_server import ServerDefinition, ServerTool

MAX_NAME: Final = 64
"""Characters that models' servers accept in the name of a tool."""
SEPARATOR: Final = "__"
_REFUSED: Final = lazy_pattern(r"[^A-Za-z0-9_-]")
_HASH_DIGITS: Final = 10
_HASHED: Final = lazy_pattern(rf"--[0-9a-f]{{{_HASH_DIGITS}}}(?:--|$)")
_KEPT: Final = (MAX_NAME - _HASH_DIGITS - 4) // 2
"""Characters that stay of each end of a name that is too long."""
MAY_LEAK: Final = "The model has read notes that stay on this machine; what it sends may hold something of them."


def tool_name(server: str, tool: str) -> str:
    """`server__tool`, in the characters and the length that every model's server accepts.

    It depends on nothing but these two. A name that is cut, or that would say less than both, holds a hash of both, so
    that two tools have one name only where their hashes are the same.
    """
    joined = f"{server}{SEPARATOR}{tool}"
    is_plain = _REFUSED.search(joined) is None and _HASHED.search(joined) is None
    if is_plain and len(joined) <= MAX_NAME and joined.partition(SEPARATOR) == (server, SEPARATOR, tool):
        return joined
    digest = sha256(f"{len(server)} {server} {tool}".encode(errors="surrogatepass")).hexdigest()[:_HASH_DIGITS]
    safe = _REFUSED.sub("_", joined)
    if len(safe) + _HASH_DIGITS + 2 <= MAX_NAME:
        return f"{safe}--{digest}"
    return f"{safe[:_KEPT]}--{digest}--{safe[-_KEPT:]}"


CallAnswer = Literal["yes", "no", "always"]


class Refusal(Struct, frozen=True):
    """Why a call is not made."""

    text: str
    """As a sentence for the model."""
    warning: str = ""
    """What the user is told; empty where it was the user who said no."""


class ServerCall(Struct, frozen=True, kw_only=True):
    """A call that a model wants to make."""

    definition: ServerDefinition
    tool: ServerTool
    arguments: Mapping[str, object]
    warning: str = ""
    """Why the user is asked about a call that would be made unasked otherwise, as a sentence."""

    @property
    def name(self) -> str:
        """As people write it in profiles and commands."""
        return f"{self.definition.name}/{self.tool.name}"

    @property
    def title(self) -> str:
        """`create_issue of the MCP server tracker (not declared local)`."""
        where = "on this machine" if self.definition.is_local else "not declared local"
        origin = ", defined by the vault" if self.definition.origin == "vault" else ""
        return f"{self.tool.name} of the MCP server {self.definition.name} ({where}{origin})"

    @property
    def may_always(self) -> bool:
        """Whether the answer may hold for all further calls."""
        return not self.warning


class CallReviewer(Protocol):
    """The user, asked about a call."""

    def review(self, call: ServerCall) -> CallAnswer: ...


class CallApprovals(Protocol):
    """The user's approvals that hold from one conversation to the next."""

    def is_approved(self, definition: ServerDefinition, tool: ServerTool) -> bool: ...

    def approve(self, definition: ServerDefinition, tool: ServerTool) -> None: ...


class LocalTexts(Protocol):
    """What must stay on this machine."""

    def was_disclosed(self) -> bool:
        """Whether the model has seen anything of it."""
        ...

    def are_withheld(self) -> bool:
        """Whether the model may see nothing of it."""
        ...

    def are_sent_in(self, text: str) -> bool:
        """Whether arguments hold a passage or a name of it."""
        ...

    def are_received_in(self, text: str) -> bool:
        """Whether an answer holds a passage of it."""
        ...


class CallPolicy(Struct, frozen=True, kw_only=True):
    """Decides on each call, and asks the user where that is needed.

    That a tool only reads is the server's own word. It is believed of servers that the user defined, and not of those
    that came with a vault.
    """

    approvals: CallApprovals
    local: LocalTexts
    reviewer: CallReviewer | None = None
    """None where nobody can be asked."""
    allowed: Collection[str] = ()
    """Servers of the user and tools of them (`server/tool`) that the settings allow unasked."""
    _accepted: set[tuple[str, str]] = field(default_factory=set)
    """Tools that the user accepted for this conversation, by their servers and digests."""

    def refusal(self, call: ServerCall) -> Refusal | None:
        """Why a call is not made; None where it is."""
        may_leak = not call.definition.is_local and self.local.was_disclosed()
        if may_leak and self.local.are_sent_in(_texts(call.arguments)):
            return Refusal(
                f"Not sent: the arguments hold text of a note that stays on the user's machine, and the server "
                f"{call.definition.name} is elsewhere. Call it without, or do without it.",
                f"{call.name} was not called: the arguments hold text of a note that stays on this machine.",
            )
        if may_leak:
            return self._ask(replace(call, warning=MAY_LEAK))
        return None if self._is_allowed(call) else self._ask(call)

    def _is_allowed(self, call: ServerCall) -> bool:
        definition, tool = call.definition, call.tool
        is_named = definition.name in self.allowed or call.name in self.allowed
        if definition.origin == "user" and (tool.is_read_only or is_named):
            return True
        is_accepted = (definition.name, tool.digest) in self._accepted
        return is_accepted or self.approvals.is_approved(definition, tool)

    def _ask(self, call: ServerCall) -> Refusal | None:
        if self.reviewer is None:
            why = call.warning or "The user has to allow it first."
            return Refusal(
                f"Not called: nobody can be asked about {call.name} here. {why} Do without it.",
                f"{call.name} was not called, because nobody can be asked here. {_way_out(call)}",
            )
        answer = self.reviewer.review(call)
        if answer == "no":
            return Refusal(f"Not called: the user said no to {call.name} with these arguments. Do without it.")
        if call.may_always:
            self._accepted.add((call.definition.name, call.tool.digest))
            if answer == "always":
                self.approvals.approve(call.definition, call.tool)
        return None


def _way_out(call: ServerCall) -> str:
    """How the user can have a call made about which nobody can be asked."""
    if call.warning:
        return f"{call.warning} A chat at a terminal asks you."
    if call.definition.origin == "vault":
        return "A chat at a terminal asks you, and there you can allow it for good."
    return f'To allow it, put it into your settings: mcp.allow = ["{call.name}"]'


def _texts(value: object) -> str:
    """Every text in a JSON value, below each other."""
    match value:
        case str():
            return value
        case Mapping():
            return "\n".join(f"{key}\n{_texts(each)}" for key, each in value.items())
        case list() | tuple():
            return "\n".join(map(_texts, value))
        case _:
            return str(value)
