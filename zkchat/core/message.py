"""Messages as they are stored: their parts, references and evidence."""

from collections import Counter
from collections.abc import Iterable
from datetime import date as Day
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from zkchat.core.choices import (
    DEFAULT_AGENT,
    DEFAULT_PRIORITY,
    MAX_PRIORITY,
    TOOL_PRIORITY,
    ContextUsage,
    IncludeMode,
    ItemType,
    LeftOutReason,
    ReferenceVia,
    Role,
    TokenUsage,
    ToolName,
)
from zkchat.core.text import counted
from zkchat.core.values import Tagged, Unknown, Value

ReferenceType = Literal["direct", "search"]
LinkStatus = Literal["resolved", "ambiguous", "missing"]
if TYPE_CHECKING:
    Via = ReferenceVia | ToolName
else:
    Via = str  # what a newer zkchat wrote is read too


class LineRange(Value, frozen=True, kw_only=True):
    first: int
    last: int


class DocumentReference(Value, frozen=True, kw_only=True):
    """One document of one message. Repeated hits on a document are merged into one reference and counted."""

    wikilink: str
    """As the user or the model wrote it; for a found note, the link that would open it."""
    relative_path: str | None = None
    """Inside the vault, with forward slashes; None when the link is broken."""
    reference_type: ReferenceType = "direct"
    status: LinkStatus = "resolved"
    """With a path, `missing` is a document that was there once; that is never stored."""
    via: Via = ""
    """How it was found. What a newer zkchat wrote here is kept as it is."""
    title: str = ""
    anchor: str = ""
    anchor_found: bool = True
    candidates: tuple[str, ...] = ()
    """For an ambiguous link the other notes it could mean; for a broken one the closest names."""
    lines: LineRange | None = None
    snippet: str = ""
    score: float | None = None
    summary: str = ""
    hits: int = 1
    included: bool = False
    """Whether text of the document stood in the request."""
    extent: str = ""
    """Which part of it that was, in words; empty for the whole."""
    date: Day | None = None
    """The day of what was found in it, where documents of different days stand beside each other."""
    outdated_by: str = ""
    """The link of the newest document among them that says otherwise."""
    outdates: tuple[str, ...] = ()
    """The links of older documents among them that say otherwise."""
    digest: str = ""
    """Of the whole text as a tool read it, so that a later change can be noticed; empty where none did."""
    cited: bool = False
    """Whether the answer used it. A document that was found and not used stays in the list."""
    unverified: bool = False
    """Whether the answer names it although nothing of it was given to the model."""
    unsent: str = ""
    """Why an image was not sent, where it was not."""

    @property
    def was_given(self) -> bool:
        """Whether the model was told of it: not so of what only the answer names, or of what merely comes nearest."""
        return not self.unverified and (self.included or self.via != "evidence")

    @property
    def is_gone(self) -> bool:
        return self.status == "missing" and self.relative_path is not None

    @property
    def is_doubtful(self) -> bool:
        """Whether the reader should check it: the link is broken or ambiguous, or the model was given nothing of it."""
        return self.status != "resolved" or not self.anchor_found or self.unverified

    @property
    def is_only_listed(self) -> bool:
        """Whether nothing but its name is known, from a tool that lists notes."""
        is_found = self.reference_type == "search" and self.via not in {"evidence", "answer"}
        return is_found and not self.included and not self.cited

    @property
    def _strength(self) -> tuple[bool, bool, bool, bool]:
        """Rank of its reason: linked by the user, read as a whole, found with some of its text, known by name."""
        return (
            self.reference_type == "direct",
            self.included and self.score is None,
            self.included,
            self.via != "answer",
        )

    def merged_with(self, other: "DocumentReference") -> "DocumentReference":
        """Both in one reference, with the stronger reason and the better score."""
        first, second = (other, self) if other._strength > self._strength else (self, other)
        better = second if (second.score or 0.0) > (first.score or 0.0) else first
        shown = next((each for each in (better, first, second) if each.lines), None)
        is_named = first.reference_type == "direct" and "#" in first.wikilink
        is_whole = any(each.included and not (each.extent or each.snippet or each.lines) for each in (first, second))
        return replace(
            first,
            score=better.score,
            snippet=better.snippet or first.snippet or second.snippet,
            lines=shown.lines if shown else None,
            anchor=first.anchor if is_named else shown.anchor if shown else first.anchor or second.anchor,
            title=first.title or second.title,
            summary=first.summary or second.summary,
            hits=first.hits + second.hits,
            included=first.included or second.included,
            extent="" if is_whole else first.extent or second.extent,
            date=better.date or first.date or second.date,
            outdated_by=first.outdated_by or second.outdated_by,
            outdates=tuple(dict.fromkeys((*first.outdates, *second.outdates))),
            digest=other.digest or self.digest,
            cited=first.cited or second.cited,
            unverified=first.unverified and second.unverified,
        )


STOPPED = "Stopped."
"""The error of an answer that the user stopped."""
DEFAULT_LIMIT = 3
"""Passages that are shown unless more are asked for."""


class Evidence(Value, frozen=True, kw_only=True):
    """A passage of a note that may answer the question, word for word."""

    text: str
    """May have several lines: a paragraph, a list with its lead line, a table's header with the rows that match."""
    relative_path: str
    title: str
    wikilink: str
    heading: str = ""
    lines: LineRange
    score: float
    linked: bool = False
    """Whether it is from a note that the question links to or names."""
    date: Day | None = None
    """The day of what it says, where passages of different days stand beside each other."""
    outdated_by: str = ""
    """The link of the newest note among them that says otherwise."""
    outdates: tuple[str, ...] = ()
    """The links of older notes among them that say otherwise."""


class Findings(Struct, frozen=True):
    """What a vault says on a question."""

    evidence: tuple[Evidence, ...] = ()
    """The passages that answer, best first, those of one note together."""
    nearest: tuple[Evidence, ...] = ()
    """Where none answers: what comes nearest."""
    is_doubtful: bool = False
    """Whether it is uncertain that the evidence answers."""
    more: int = 0
    """How many further passages would be found."""
    remark: str = ""
    """Of which days the passages are, where the question asks for a time; or why there may be none."""
    searched_for: tuple[str, ...] = ()
    """Where none answers: the words that were looked for, as the question has them."""
    day: Day | None = None
    """When the first passage was written, where they are in the order of time."""


class MessageExcerpt(Value, frozen=True, kw_only=True):
    """A part of the text that came with a question, word for word, by its lines in that text."""

    text: str
    first_line: int
    last_line: int


class VaultListing(Value, frozen=True, kw_only=True):
    """What the index says on a question about the vault itself, such as which notes changed."""

    text: str
    """In Markdown."""
    references: tuple[DocumentReference, ...] = ()
    """The notes that it names, those of a numbered list first and in its order."""
    rows: int = 0
    """Those of its list up to its end, with those on the pages before."""
    is_numbered: bool = False
    """Whether its rows are notes, which have numbers."""
    more: int = 0
    """Rows that are left out."""


class TextPart(Tagged, frozen=True, kw_only=True, tag="text"):
    text: str


class ThinkingPart(Tagged, frozen=True, kw_only=True, tag="thinking"):
    text: str
    seconds: float | None = None
    """From its first word to its last; None where nobody measured it."""


class ToolCallPart(Tagged, frozen=True, kw_only=True, tag="tool_call"):
    call_id: str
    name: str
    arguments: str
    """JSON as the model wrote it, which may be malformed."""


class ToolResultPart(Tagged, frozen=True, kw_only=True, tag="tool_result"):
    call_id: str
    name: str
    text: str
    failed: bool = False
    seconds: float | None = None
    """How long the call took; None where nobody measured it."""


class FilePart(Tagged, frozen=True, kw_only=True, tag="file"):
    name: str
    media_type: str = "text/plain"
    text: str
    extent: str = ""
    """Which part of the file the text is, in words; empty for the whole."""
    digest: str = ""
    """Of the whole text, where this is a part of it."""
    server: str = ""
    """The MCP server that the text is from, which calls it by the URI `name`; empty for a file of the vault."""


class ImagePart(Tagged, frozen=True, kw_only=True, tag="image"):
    """An image of a message. One from a file is not stored: it is read again where it is sent, and must be the same."""

    name: str
    """Of an image of the vault its path there; else what people call it."""
    media_type: str
    data: str = ""
    """Base 64; empty where it stands in a file."""
    file: str = ""
    """The whole path of a file that the user named, wherever it is; empty for one of the vault."""
    digest: str = ""
    """Of the file."""
    size: int = 0
    """Bytes of the file."""
    width: int = 0
    height: int = 0
    """Pixels, as it is sent: a large image is made smaller, and a turned one is set upright."""
    alt: str = ""
    """What its link says of it."""
    embedded_in: str = ""
    """The note that brought it along; empty where the message names it."""
    unsent: str = ""
    """Why it is sent to no model: it is broken, or there was no room for it."""

    @property
    def is_of_vault(self) -> bool:
        return bool(self.digest) and not self.file


class Condensed(Value, frozen=True, kw_only=True):
    """A message, or one tool result of it, that stays in the prompt in a shorter form."""

    message_id: str
    call_id: str = ""
    text: str
    is_earlier: bool = False
    """Whether an earlier compaction shortened it already."""
    lacks_documents: bool = False
    """Whether its own words are whole, and only documents that came with it are left out."""


class CompactionPart(Tagged, frozen=True, kw_only=True, tag="compaction"):
    """The place where older messages left the prompt. They stay in the history."""

    number: int
    summary: str
    made_by: str = ""
    """The model that wrote the summary; empty for an extractive one."""
    strategy: str = "summarize"
    """A `CompactionStrategy`, `clear`, or one that a newer zkchat knows."""
    focus: str = ""
    archived: tuple[str, ...] = ()
    """Ids of the messages that this compaction took out of the prompt."""
    condensed: tuple[Condensed, ...] = ()
    references: tuple[DocumentReference, ...] = ()
    """The documents of the archived messages, carried over whatever the summary says of them."""
    tokens_before: int = 0
    tokens_after: int = 0

    @property
    def shortened(self) -> frozenset[str]:
        """The messages that it shortened, by id."""
        return frozenset(each.message_id for each in self.condensed if not (each.is_earlier or each.lacks_documents))

    @property
    def stripped(self) -> frozenset[str]:
        """The messages that it sends without their documents, by id."""
        return frozenset(each.message_id for each in self.condensed if each.lacks_documents and not each.is_earlier)

    @property
    def effect(self) -> str:
        """What it did to messages: "6 messages archived, 1 message shortened"."""
        done = (
            (len(self.archived), f"{counted(len(self.archived), 'message')} archived"),
            (len(self.shortened), f"{counted(len(self.shortened), 'message')} shortened"),
            (len(self.stripped), f"documents of {counted(len(self.stripped), 'message')} left out or shortened"),
        )
        return ", ".join(words for count, words in done if count) or "summary shortened"


class EvidencePart(Tagged, frozen=True, kw_only=True, tag="evidence"):
    """What the vault says on the question, handed over with it because the model cannot search by itself."""

    evidence: tuple[Evidence, ...]
    nearest: tuple[Evidence, ...] = ()
    """Where no passage answers: what comes nearest."""
    is_doubtful: bool = False
    """Whether it is uncertain that the evidence answers."""
    excerpts: tuple[MessageExcerpt, ...] = ()
    """What of the message itself answers its question, for a model that only quotes."""
    listing: VaultListing | None = None
    """Where the question is about the vault itself: its answer, for a model that only quotes."""
    remark: str = ""
    """Of which days the evidence is, where the question asks for a time; or why there may be none."""
    searched_for: tuple[str, ...] = ()
    """Where no passage answers: the words that were looked for."""


class UnknownPart(Unknown, frozen=True, kw_only=True, tag="unknown part"):
    """A part that a newer zkchat wrote."""


Part = (
    TextPart
    | ThinkingPart
    | ToolCallPart
    | ToolResultPart
    | FilePart
    | ImagePart
    | CompactionPart
    | EvidencePart
    | UnknownPart
)
_P = TypeVar("_P", bound=Part)


class RequestItem(Value, frozen=True, kw_only=True):
    """One thing that went into a request, by name; the request is built from these."""

    type: ItemType
    name: str
    title: str = ""
    """What people read in the place of its name, where that is an id: the text of a fact, for instance."""
    server: str = ""
    include: IncludeMode = "always"
    score: float | None = None
    tokens: int = 0
    digest: str = ""
    """Of the content as it was sent: the session keeps that text under it, and a later change can be noticed."""
    reason: str = ""
    this_turn_only: bool = field(default=False, name="passing")
    """Sent with the current message only, and not again with the next."""
    part_of: str = ""
    """The id of the message that brings it along, where it is not sent by itself."""


class LeftOut(Value, frozen=True, kw_only=True):
    """Something that was considered and not sent."""

    item: RequestItem
    why: LeftOutReason


class RequestContext(Value, frozen=True, kw_only=True):
    """The record on an assistant message of everything its request held."""

    agent: str = DEFAULT_AGENT
    can_read: bool = False
    """Whether the model was told that it can read documents by itself."""
    is_plain: bool = False
    """Whether it got what notes say as plain quotations, and the question last."""
    told_first: bool = False
    """Whether it got what the user told earlier in the place of what notes say."""
    items: tuple[RequestItem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    usage: ContextUsage | None = None

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How many items it held, by type, and by mode but for messages, which are always there."""
        types = Counter[str](item.type for item in self.items)
        modes = Counter[str](item.include for item in self.items if item.type != "message")
        return {"by_type": dict(types), "by_mode": dict(modes)}

    @property
    def burst_rule(self) -> str:
        """A sentence where a rule takes most of a share for instructions that is used up."""
        share = self.usage.budgets.get("system") if self.usage else None
        rules = [item for item in self.items if item.type == "rule" and not item.this_turn_only]
        largest = max(rules, key=lambda item: item.tokens, default=None)
        if share is None or largest is None or share.used <= share.limit or 2 * largest.tokens <= share.limit:
            return ""
        return (
            f"Instructions and rules take {share.used:,} tokens, more than their share of {share.limit:,} "
            f"(context.system_share). The largest rule is {largest.name}, with {largest.tokens:,}."
        )

    @property
    def burst_tools(self) -> str:
        """A sentence where not all tools fit into their share."""
        share = self.usage.budgets.get("tools") if self.usage else None
        missing = sum(left.item.type == "tool" and left.why == "budget" for left in self.left_out)
        if share is None or not missing:
            return ""
        return (
            f"Not offered to the model: {counted(missing, 'tool')}, as tools may take only {share.limit:,} tokens "
            "(context.tools_share)."
        )


Priority = Annotated[int, Meta(ge=1, le=MAX_PRIORITY)]
"""How important a message is, where more is more important."""
ContextType = Literal["primary", "summary", "memory", "tool_output"]
Status = Literal["complete", "unfinished", "error"]
BriefPurpose = Literal["goal", "daily brief", "client"]


class Brief(Value, frozen=True, kw_only=True):
    """What a model is told beside one message of the user, and not with later ones."""

    text: str
    """Empty where it is told nothing more."""
    uses_notes: bool = True
    """Whether the answer is to rest on notes. Else no tools are offered, and nothing is looked up."""
    purpose: BriefPurpose = "goal"


class ChatMessage(Value, frozen=True, kw_only=True):
    id: str
    session_id: str = ""
    parent_id: str | None = None
    """The message this one follows; two messages with one parent are two branches."""
    role: Role
    name: str = ""
    """Who spoke, in a conversation that was imported from elsewhere and says so."""
    external_id: str = ""
    """What the message was called where it was imported from."""
    parts: tuple[Part, ...] = ()
    references: tuple[DocumentReference, ...] = ()
    created_at: datetime
    finished_at: datetime | None = None
    provider: str = ""
    model: str = ""
    token_count: int = 0
    augmented_token_count: int = 0
    """After the text of referenced documents was added."""
    tool_tokens: int = 0
    thinking_tokens: int = 0
    usage: TokenUsage | None = None
    """As the provider reported it, not as we counted it."""
    context_type: ContextType = "primary"
    priority: Priority = DEFAULT_PRIORITY
    """Those of tool results and of pasted text are lower by themselves, those of what the user decides are higher."""
    status: Status = "complete"
    error: str = ""
    request_context: RequestContext | None = None
    local: bool = False
    """Whether it was written with notes that are to stay on this machine, and stays there too."""
    abstained: bool = False
    """Whether it only says that the notes do not answer the question."""
    brief: Brief | None = None
    """In a goal run: which step the message is about, and how its answer is to end."""
    removed: str = ""
    """What the model wrote beside the answer and was not shown: markup, calls of tools as text, what it invented."""
    asked_again: bool = False
    """Whether it was given without a look into the notes, so that the model was asked again with what they say."""

    def parts_of(self, kind: type[_P]) -> list[_P]:
        return [part for part in self.parts if isinstance(part, kind)]

    @property
    def text(self) -> str:
        """What was said, without thinking, tool traffic and attachments."""
        return "".join(part.text for part in self.parts_of(TextPart))

    @property
    def has_usual_priority(self) -> bool:
        """Whether nothing makes it more or less important than others of its role."""
        return self.priority == DEFAULT_PRIORITY or (self.role == "tool" and self.priority == TOOL_PRIORITY)

    @property
    def thinking(self) -> str:
        return "".join(part.text for part in self.parts_of(ThinkingPart))


def cost_of(messages: Iterable[ChatMessage]) -> float | None:
    """What they cost together, in dollars; None where that is known of none."""
    costs = [each.usage.cost for each in messages if each.usage and each.usage.cost is not None]
    return sum(costs) if costs else None
