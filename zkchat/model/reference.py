"""Which document informed a message, and how it got there (SPEC 2.1)."""

from typing import Literal

from zkchat.model.value import Value

ReferenceType = Literal["direct", "search"]
LinkStatus = Literal["resolved", "ambiguous", "missing"]


class LineRange(Value):
    """Lines of a note, counted from 1, both included."""

    first: int
    last: int


class Evidence(Value):
    """A sentence of a note that may answer the question, word for word."""

    sentence: str
    relative_path: str
    title: str
    wikilink: str
    heading: str = ""
    lines: LineRange
    score: float


class DocumentReference(Value):
    """One document of one message. Repeated hits on a document are merged into one reference and counted."""

    wikilink: str
    """As the user or the model wrote it; for a found note, the link that would open it."""
    relative_path: str | None = None
    """Inside the vault, with forward slashes; None when the link is broken."""
    reference_type: ReferenceType = "direct"
    status: LinkStatus = "resolved"
    via: str = ""
    """How it was found: `path`, `name`, `alias`… for a link, `embed` for what a linked note embeds; the tool's name, or
    `evidence`, for a search; `answer` for what only the answer names."""
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
    digest: str = ""
    """Of the whole text as a tool read it, so that a later change can be noticed; empty where none did."""
    cited: bool = False
    """Whether the answer used it. A document that was found and not used stays in the list."""
    unverified: bool = False
    """Whether the answer names it although nothing of it was given to the model."""

    @property
    def _strength(self) -> tuple[bool, bool, bool, bool]:
        """Linked by the user, read as a whole, found with some of its text, or at least known by name."""
        return (
            self.reference_type == "direct",
            self.included and self.score is None,
            self.included,
            self.via != "answer",
        )

    def merged_with(self, other: "DocumentReference") -> "DocumentReference":
        """The two as one, there for the stronger reason; the better score and its place are kept."""
        first, second = (other, self) if other._strength > self._strength else (self, other)
        better = second if (second.score or 0.0) > (first.score or 0.0) else first
        return first.model_copy(
            update={
                "score": better.score,
                "snippet": better.snippet or first.snippet or second.snippet,
                "lines": better.lines or first.lines or second.lines,
                "anchor": first.anchor or second.anchor,
                "title": first.title or second.title,
                "summary": first.summary or second.summary,
                "hits": first.hits + second.hits,
                "included": first.included or second.included,
                "digest": other.digest or self.digest,
                "cited": first.cited or second.cited,
                "unverified": first.unverified and second.unverified,
            }
        )
