"""The documents that informed a message, and how they got there."""

from datetime import date as Day
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from zkchat.model.choices import ReferenceVia, ToolName
from zkchat.model.values import Value

ReferenceType = Literal["direct", "search"]
LinkStatus = Literal["resolved", "ambiguous", "missing"]
if TYPE_CHECKING:
    Via = ReferenceVia | ToolName
else:
    Via = str  # what a newer zkchat wrote is read too


class LineRange(Value, frozen=True, kw_only=True):
    """Lines of a note, counted from 1, both included."""

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
            extent=_widest_extent(first, second),
            date=better.date or first.date or second.date,
            outdated_by=first.outdated_by or second.outdated_by,
            outdates=tuple(dict.fromkeys((*first.outdates, *second.outdates))),
            digest=other.digest or self.digest,
            cited=first.cited or second.cited,
            unverified=first.unverified and second.unverified,
        )


def _widest_extent(first: DocumentReference, second: DocumentReference) -> str:
    is_whole = any(each.included and not (each.extent or each.snippet or each.lines) for each in (first, second))
    return "" if is_whole else first.extent or second.extent
