"""What the vault says on a question: passages word for word, and lists from its index."""

from datetime import date as Day

from msgspec import Struct

from zkchat.model.references import DocumentReference, LineRange
from zkchat.model.values import Value

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
