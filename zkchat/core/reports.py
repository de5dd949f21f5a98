"""What is reported of a vault: the daily brief, a timeline, a verification, quotations."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date
from typing import Final, Generic, Literal, Protocol, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.core.message import Evidence, LineRange, MessageExcerpt
from zkchat.core.note import NoteDate
from zkchat.core.prompt import RemarkChunk, TextChunk
from zkchat.core.text import shorten, without_block_ids
from zkchat.core.values import Value

ELSEWHERE: Final = RemarkChunk(text="Elsewhere in your notes:", is_heading=True)
DOUBT: Final = RemarkChunk(text="No passage answers this for certain. The closest:")
NOTHING: Final = "Your notes say nothing about "
"""How the answer begins where there is none; then comes what was looked for."""
_MAX_SOUGHT: Final = 100
"""Characters of the words that were looked for."""
_SENTENCE_ENDS: Final = (".", "!", "?", "…", "。", "！", "？")
_BACKTICKS: Final = re.compile(r"`{3,}")
_LINE_END: Final = re.compile(r"\r\n?|\n")
_LINK: Final = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]")


def quotations(
    passages: Iterable[Evidence], *, after_text: bool = False, after_linked: bool = False
) -> Iterator[TextChunk | RemarkChunk]:
    """Pieces of one text: the linked notes first, all passages of a note together, and each place named once.

    `after_text` says that the text has begun before, `after_linked` that passages of linked notes were shown before.
    """
    places: dict[str, dict[str, list[Evidence]]] = {}
    for passage in sorted(passages, key=lambda passage: not passage.linked):
        source = " · ".join(filter(None, (place_of(passage), time_of(passage))))
        places.setdefault(passage.relative_path, {}).setdefault(source, []).append(passage)
    before, was_linked = "\n" if after_text else "", after_linked
    for place, quoted in ((place, quoted) for note in places.values() for place, quoted in note.items()):
        if was_linked and not quoted[0].linked:
            yield ELSEWHERE
        yield TextChunk(text=before + "\n".join(map(_quoted, quoted)) + f"\n— {place}\n")
        before, was_linked = "\n", quoted[0].linked


def excerpts(found: Sequence[MessageExcerpt]) -> Iterator[TextChunk]:
    """Pieces of one text: what of a message answers its question, lines that follow each other together."""
    blocks: list[list[MessageExcerpt]] = []
    for each in found:
        if blocks and each.first_line - blocks[-1][-1].last_line <= 1:
            blocks[-1].append(each)
        else:
            blocks.append([each])
    before = ""
    for block in blocks:
        first, last = block[0].first_line, block[-1].last_line
        place = f"line {first:,}" if first == last else f"lines {first:,}–{last:,}"
        yield TextChunk(text=f"{before}{_as_written([each.text for each in block])}\n— your text, {place}\n")
        before = "\n"


def _as_written(lines: Sequence[str]) -> str:
    """Sentences as a quotation; lines of logs, tables and code, which must not flow together, as a listing."""
    if all(line.rstrip().endswith(_SENTENCE_ENDS) and "\n" not in line for line in lines):
        return "".join(f"> {line.strip()}\n" for line in lines)
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    return f"{fence}\n{text}\n{fence}\n"


def no_answer(nearest: Sequence[Evidence], searched_for: Sequence[str] = ()) -> str:
    """The answer where no passage answers: which come nearest, or that there is nothing on the words looked for."""
    if places := ", ".join(dict.fromkeys(map(place_of, nearest))):
        return f"No passage answers this. Closest: {places}.\n"
    words = shorten(", ".join(searched_for), _MAX_SOUGHT)
    return f"{NOTHING}“{words}”.\n" if words else f"{NOTHING}this.\n"


def _quoted(passage: Evidence) -> str:
    lines = _LINE_END.split(without_block_ids(passage.text).strip("\r\n"))
    return "".join(f"> {line}\n" if line.strip() else ">\n" for line in lines)


def time_of(passage: Evidence) -> str:
    """The date of a passage where it has one that its place does not tell, and which newer note says otherwise."""
    day = passage.date.isoformat() if passage.date else ""
    day = "" if day in place_of(passage) else day
    if not passage.outdated_by:
        return day
    newer = "a newer passage" if passage.outdated_by == passage.wikilink else f"the newer {passage.outdated_by}"
    return " · ".join(filter(None, (day, f"{newer} says otherwise")))


def place_of(passage: Evidence) -> str:
    """`[[Note]] › Heading`, without a heading that only repeats the title."""
    heading = heading_of(passage.heading)
    is_said = heading.casefold() == passage.title.casefold() or passage.wikilink.endswith(f"#{heading}]]")
    return f"{passage.wikilink} › {heading}" if heading and not is_said else passage.wikilink


def heading_of(written: str) -> str:
    """A heading on one line, with its links as they are shown."""
    return " ".join(_LINK.sub(r"\1", written).split())


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


Priority = Literal["highest", "high", "medium", "normal", "low", "lowest"]
"""Of tasks, as the plugin Tasks has them."""
PastDay = Literal["year", "month", "week"]
"""How long ago the notes of this day were written: whole years, or a month, or a week."""


class OfNote(Protocol):
    @property
    def path(self) -> str: ...


Item = TypeVar("Item", bound=OfNote)


class FirstOf(Struct, Generic[Item], frozen=True):
    """The first of some things that stand in notes, and how many there are."""

    items: Sequence[Item] = ()
    total: int = 0

    @property
    def more(self) -> int:
        return self.total - len(self.items)

    def within(self, paths: Collection[str]) -> "FirstOf[Item]":
        """Those of these notes."""
        return FirstOf([item for item in self.items if item.path in paths], self.total)


class BriefNote(Struct, frozen=True, kw_only=True):
    path: str
    title: str
    date: NoteDate
    """When it was changed; of a note of an earlier year, when it was written."""
    is_new: bool = False
    """Whether it was written in these days."""
    beginning: str = ""
    """A line of what it says."""


class OpenTask(Struct, frozen=True, kw_only=True):
    path: str
    title: str
    line: int
    text: str
    """Without its dates and its priority."""
    is_begun: bool = False
    priority: Priority = "normal"
    due: date | None = None
    scheduled: date | None = None
    start: date | None = None
    """Before this day it is not to be done."""

    @property
    def day(self) -> date | None:
        """The day it is to be done by; where none is set, on which it is to be done."""
        return self.due or self.scheduled


class UnlinkedMention(Struct, frozen=True, kw_only=True):
    """A line of a note that names another one without a link."""

    path: str
    line: int
    name: str
    """As the other note is called."""
    target: str
    """The path of the note that is named."""


class OpenTasks(Struct, frozen=True, kw_only=True):
    overdue: FirstOf[OpenTask] = field(default_factory=FirstOf)
    due: FirstOf[OpenTask] = field(default_factory=FirstOf)
    """Today and in the next days."""
    undated: FirstOf[OpenTask] = field(default_factory=FirstOf)
    """Without a date, of notes that changed in these days."""
    later: int = 0
    """How many are due later, or may not begin yet."""
    older: int = 0
    """How many have no date and stand in notes that did not change in these days."""


class DailyBrief(Struct, frozen=True, kw_only=True):
    today: date
    days: int
    """That it looks back, and ahead."""
    week_begins: date
    changed: FirstOf[BriefNote] = field(default_factory=FirstOf)
    """The last changed first."""
    changed_today: int = 0
    changed_yesterday: int = 0
    tasks: OpenTasks = field(default_factory=OpenTasks)
    past: FirstOf[BriefNote] = field(default_factory=FirstOf)
    """Notes of this day."""
    past_day: PastDay = "year"
    orphans: FirstOf[BriefNote] = field(default_factory=FirstOf)
    """Of the changed notes, those without links."""
    mentions: FirstOf[UnlinkedMention] = field(default_factory=FirstOf)
    """In the changed notes."""

    @property
    def paths(self) -> list[str]:
        """The notes with tasks that are due, then those that changed, with other tasks, and of this day; each once."""
        tasks = self.tasks
        items = (tasks.overdue, tasks.due, self.changed, tasks.undated, self.past)
        return [*dict.fromkeys(item.path for found in items for item in found.items)]

    def within(self, paths: Collection[str]) -> "DailyBrief":
        """The same of some notes only, without what is not linked."""
        tasks = self.tasks
        return replace(
            self,
            changed=self.changed.within(paths),
            tasks=replace(
                tasks,
                overdue=tasks.overdue.within(paths),
                due=tasks.due.within(paths),
                undated=tasks.undated.within(paths),
            ),
            past=self.past.within(paths),
            orphans=FirstOf(),
            mentions=FirstOf(),
        )
