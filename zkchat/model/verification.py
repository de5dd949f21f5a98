"""What the notes say of each statement of a text."""

from typing import Final, Literal

from zkchat.model.references import LineRange
from zkchat.model.values import Value

Verdict = Literal["quoted", "supported", "contradicted", "unsupported"]
"""`quoted`: it stands in a note word for word. `supported`: nearly so, with the same numbers, names and negation.
`contradicted`: a note says the same with another number or name, or denies it. `unsupported`: no note says it."""
VERDICTS: Final[tuple[Verdict, ...]] = ("quoted", "supported", "contradicted", "unsupported")

Difference = Literal["number", "name", "negation"]


class SourcePlace(Value, frozen=True, kw_only=True):
    """Where a note says something."""

    path: str
    title: str
    wikilink: str
    """The link that opens the note."""
    heading: str = ""
    """The innermost heading above it, unless it only repeats the title."""
    lines: LineRange
    quote: str
    """As it is written in the note."""
    score: float
    """The share of the statement that it holds, 1 at most."""


class CheckedStatement(Value, frozen=True, kw_only=True):
    """A sentence of the text that states something."""

    text: str
    """As it is written."""
    start: int
    """Where it begins and ends in the text, in characters."""
    end: int
    line: int
    """On which line it begins, from 1."""
    verdict: Verdict
    places: tuple[SourcePlace, ...] = ()
    """What supports it, best first, or the passage that says otherwise; empty if it is unsupported."""
    difference: Difference | None = None
    """In what a passage says otherwise."""
    nearest: SourcePlace | None = None
    """Of an unsupported statement: the sentence that holds most of it, if that is nearly all."""

    @property
    def is_supported(self) -> bool:
        return self.verdict in {"quoted", "supported"}


class Verification(Value, frozen=True, kw_only=True):
    """The statements of a text in order, without questions, headings, greetings, listings and tables."""

    statements: tuple[CheckedStatement, ...] = ()
    is_complete: bool = True
    """Whether all of the text was looked at: one without end only in part."""

    @property
    def is_supported(self) -> bool:
        """Whether the notes say all that the text says."""
        return self.is_complete and all(each.is_supported for each in self.statements)

    def count(self, verdict: Verdict) -> int:
        return sum(each.verdict == verdict for each in self.statements)
