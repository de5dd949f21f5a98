"""Passages that may answer a question, and what is quoted of each note."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    DEFAULT_LIMIT,
    PAGES,
    Ambiguous,
    DayRange,
    Link,
    NoteDate,
    Passage,
    Resolved,
    VaultError,
    is_pdf,
    wide_letters,
)
from zkchat.index import (
    Library,
    RankedBlock,
    blocks_of,
    idf,
    is_source,
    names_in,
    parts_of,
    query_terms,
    terms,
    topic_of,
    wants_number,
    wants_time,
    with_synonyms,
)
from zkchat.notes import Block, Order, blocks, day_of_headings, frontmatter_of, without_cross_references

SEARCHED_PASSAGES = 24
"""Of all notes, or of a long one that is linked."""


class Earlier(Struct, frozen=True):
    """What a question points back to."""

    topic: str = ""
    """What the questions before it were about, in words that it does not repeat."""
    notes: tuple[str, ...] = ()
    """The notes that their answers were from, by path."""


NOTHING_EARLIER: Final = Earlier()


class Scope(Struct, frozen=True):
    """Which notes evidence is looked for in, and which of them come first."""

    period: DayRange | None = None
    order: Order | None = None
    """By the day they were written, among those that answer; None: the best first."""
    names: tuple[str, ...] = ()
    """Notes that hold them come before all others."""
    without_pdfs: bool = False
    """Where it is asked what the user wrote."""
    earlier: Earlier = NOTHING_EARLIER


EVERYWHERE: Final = Scope()


class Candidate(Struct, frozen=True):
    ranked: RankedBlock
    linked: bool = False
    date: NoteDate | None = None
    outdated_by: str = ""
    """The path of the newest note that says otherwise."""
    outdates: tuple[str, ...] = ()
    """The paths of older notes that say otherwise."""

    @property
    def path(self) -> str:
        return self.ranked.passage.path

    @property
    def score(self) -> float:
        return self.ranked.score

    @property
    def is_opening(self) -> bool:
        """Whether it is quoted because the note begins with it, and not for what it says."""
        return self.linked and not self.ranked.best_sentences


def search_passages(library: Library, topic: str, scope: Scope, limit: int = SEARCHED_PASSAGES) -> list[Passage]:
    """The best for the topic of a question, and for what its words could be called instead.

    Without the pages that instruct the model: they are no notes, and may not be approved.
    """
    found = library.search(with_synonyms(topic), limit=limit, period=scope.period)
    within = scope.earlier.notes
    beside = library.search(topic, within=within, limit=DEFAULT_LIMIT) if within else []
    known = {(each.path, each.heading_path) for each in found}
    found += [each for each in beside if (each.path, each.heading_path) not in known]
    return _in_scope(found, scope)


def nearest_passages(library: Library, asked: str, scope: Scope) -> list[Passage]:
    """The nearest to a question by a model; none without one."""
    return _in_scope(library.nearest(asked, limit=10, period=scope.period), scope)


def _in_scope(found: Iterable[Passage], scope: Scope) -> list[Passage]:
    return [each for each in found if each.path not in PAGES and not (scope.without_pdfs and is_pdf(each.path))]


def whole_notes(library: Library, passages: Iterable[Passage]) -> dict[str, Passage]:
    """The best notes by path: what answers may stand beside what was found, in a section that has none of the words."""
    best: dict[str, Passage] = {}
    for each in passages:
        best.setdefault(each.path, each)
    notes: dict[str, Passage] = {}
    for path, first in islice(best.items(), 5):
        with suppress(VaultError):  # it is gone, or cannot be read
            text = library.section(path)
            body = text[frontmatter_of(text).end :]
            if len(body) <= 10_000:
                lines = text.count("\n") + 1
                notes[path] = replace(first, heading_path=(), text=body, first_line=1, last_line=lines, score=0.0)
    return notes


def rarest_idf(library: Library) -> float:
    """The inverse document frequency of a word that one note has."""
    return idf(max(1, library.note_count()), 1)


def telling(ranked: Iterable[RankedBlock]) -> Iterator[RankedBlock]:
    """Without blocks that only point elsewhere: "See also [[Compost]]." answers nothing."""
    return (each for each in ranked if not each.block.is_pointer)


MIN_SHARE_OF_NEIGHBOUR, MIN_SHARE_OF_SECTION = 0.75, 0.85
"""Blocks are quoted as one if the lesser scores this share of the better; the second, where a heading is between."""
MAX_OPENING_CHARACTERS = 20_000
"""Characters of a note in which its first passages are looked for."""


def passages_of(candidates: Sequence[Candidate], notes: Mapping[str, Passage]) -> list[Candidate]:
    """Each candidate with what is quoted together with it, and without those that are quoted already.

    `notes` are those that were read as a whole.
    """
    scores = {(each.path, each.ranked.block.text): each.score for each in candidates}
    cut: dict[str, _CutText] = {}
    quoted: set[tuple[str, str]] = set()

    def is_alike(candidate: Candidate, block: Block) -> bool:
        key = candidate.path, block.text
        if candidate.is_opening:
            return key not in scores
        is_beside = block.heading_path == candidate.ranked.block.heading_path
        least = MIN_SHARE_OF_NEIGHBOUR if is_beside else MIN_SHARE_OF_SECTION
        if key in quoted or scores.get(key, 0.0) < least * candidate.score:
            return False
        return day_of_headings(block.heading_path) == day_of_headings(candidate.ranked.heading_path)

    found: list[Candidate] = []
    for each in (each for each in candidates if (each.path, each.ranked.block.text) not in quoted):
        passage = each.ranked.passage if each.linked else notes.get(each.path, each.ranked.passage)
        if passage.text not in cut:
            cut[passage.text] = _CutText(passage.text, blocks_of(passage.text))
        text = cut[passage.text]
        span = text.span_of(each.ranked.block, {block for path, block in quoted if path == each.path})
        if span and not (each.is_opening and text.tells(span)):
            span = text.with_neighbours(span, partial(is_alike, each))
        if span:
            quoted |= {(each.path, block.text) for block in text.blocks[span[0] : span[1] + 1]}
        found.append(text.quoted(each, passage, span) if span and span[0] < span[1] else each)
    kept: dict[str, Candidate] = {}  # the first of each wording
    for each in found:
        kept.setdefault(" ".join(terms(each.ranked.block.text)), each)
    return [*kept.values()]


def max_characters(text: str) -> int:
    """Of an excerpt of a text: 600 columns, of which a wide letter takes two."""
    return round(600 * len(text) / (len(text) + wide_letters(text)))


class _CutText(Struct, frozen=True):
    """A section or a note, and its blocks."""

    text: str
    blocks: Sequence[Block]

    def span_of(self, block: Block, quoted: Set[str]) -> tuple[int, int] | None:
        """The numbers of the first and last block under the same heading, if they are short and none is quoted already:
        nobody would copy one line of three. Else that of the block; None if it is cut in another way here."""
        place = next((number for number, each in enumerate(self.blocks) if each.text == block.text), None)
        if place is None:
            return None
        path = self.blocks[place].heading_path
        same = [number for number, each in enumerate(self.blocks) if each.heading_path == path and not each.is_pointer]
        if (
            place in same
            and quoted.isdisjoint(self.blocks[each].text for each in same)
            and self._fits(same[0], same[-1])
        ):
            return same[0], same[-1]
        return place, place

    def with_neighbours(self, span: tuple[int, int], is_alike: Callable[[Block], bool]) -> tuple[int, int]:
        """With the blocks before and after it that are alike, as long as all of it is short.

        The ranking cannot tell then which of them answers, and each alone would take the place of another note.
        """
        first, last = span
        while True:
            if last + 1 < len(self.blocks) and is_alike(self.blocks[last + 1]) and self._fits(first, last + 1):
                last += 1
            elif first and is_alike(self.blocks[first - 1]) and self._fits(first - 1, last):
                first -= 1
            else:
                return first, last

    def tells(self, span: tuple[int, int]) -> bool:
        return len(without_cross_references(self.text[slice(*self._characters(*span))])) >= 160

    def quoted(self, candidate: Candidate, passage: Passage, span: tuple[int, int]) -> Candidate:
        start, end = self._characters(*span)
        first = self.blocks[span[0]]
        is_one = all(each.heading_path == first.heading_path for each in self.blocks[span[0] : span[1] + 1])
        kind = candidate.ranked.block.kind if is_one else "paragraph"
        whole = replace(first, text=self.text[start:end], kind=kind, sentences=())
        return replace(candidate, ranked=replace(candidate.ranked, passage=passage, block=whole, best_sentences=()))

    def _fits(self, first: int, last: int) -> bool:
        start, end = self._characters(first, last)
        return 0 <= start < end and end - start <= max_characters(self.text[start:end])

    def _characters(self, first: int, last: int) -> tuple[int, int]:
        start = self.text.find(self.blocks[first].text)
        end = self.text.find(self.blocks[last].text, max(0, start))
        return start, end + len(self.blocks[last].text) if end >= 0 else -1


def of_named(library: Library, asked: str, passages: Sequence[Passage], period: DayRange | None) -> list[Candidate]:
    """How the notes begin whose name is all that the question says; none where it asks for a place in one."""
    topic = frozenset(query_terms(topic_of(asked)))
    if wants_number(asked) or wants_time(asked):
        return []
    others = [each for each in passages if topic and topic != {*query_terms(each.title)}]
    headings = {each: " ".join(said for said in each.heading_path if said != each.title) for each in others}
    with_section = {each.path for each, said in headings.items() if topic <= {*query_terms(said)}}
    paths = _named(library, asked) if not period else []
    if topic:
        found = dict.fromkeys(passage.path for passage in passages)
        paths += [path for path in found if any(topic == {*query_terms(name)} for name in library.names(path))]
    openings: list[list[Candidate]] = []
    for path in (each for each in dict.fromkeys(paths) if each not in with_section):
        with suppress(VaultError):  # it is gone, or cannot be read; others may still speak of it
            if is_source(frontmatter_of(library.read(path)).properties):
                openings.append(opening_of(library, path, ""))
    each_gives = max(1, DEFAULT_LIMIT // len(openings)) if openings else 0
    return [candidate for opening in openings for candidate in opening[:each_gives]]


def _named(library: Library, asked: str) -> list[str]:
    """The notes that have the name, or each of the names, that is all the question says: "Tea vs. coffee"."""
    if whole := _called(library, asked):
        return whole
    parts = parts_of(asked)
    of_each = [_called(library, part) for part in parts] if 1 < len(parts) <= 8 else []
    return [path for paths in of_each for path in paths] if all(of_each) else []


def _called(library: Library, text: str) -> list[str]:
    """The notes with the longest name that may be all that a text says."""
    return next(filter(None, (resolved(library, name) for name in names_in(text))), [])


def resolved(library: Library, name: str) -> list[str]:
    """The notes that have a name."""
    match library.resolve(Link(text=f"[[{name}]]", target=name), suggestions=0):
        case Resolved(path=path) if library.is_indexed(path):
            return [path]
        case Ambiguous(path=path, others=others):
            return [each for each in (path, *others) if library.is_indexed(each)]
        case _:
            return []


def opening_of(library: Library, path: str, anchor: str) -> list[Candidate]:
    """How a note or section begins: the first block of each of its first sections, and more of them if they are few."""
    passage = section_of(library, path, anchor)
    found = blocks(passage.text)
    telling = [block for block in found if not block.is_pointer] or found
    first_of_section: dict[tuple[str, ...], Block] = {}
    for block in telling:
        first_of_section.setdefault(block.heading_path, block)
    chosen = [*islice(first_of_section.values(), DEFAULT_LIMIT)]
    chosen += islice((block for block in telling if block not in chosen), DEFAULT_LIMIT - len(chosen))
    return [
        Candidate(
            RankedBlock(passage=passage, block=block, best_sentences=(), score=1.0, coverage=0.0, own_score=0.0),
            linked=True,
        )
        for block in sorted(chosen, key=lambda block: block.first_line)
    ]


def section_of(library: Library, path: str, anchor: str) -> Passage:
    """The note, or what stands under one of its headings, as a passage."""
    text = library.section(path, anchor)
    return Passage(
        path=path,
        title=library.title(path),
        heading_path=(anchor,) if anchor else (),
        text=text[frontmatter_of(text).end :][:MAX_OPENING_CHARACTERS],
        first_line=1,
        last_line=library.read(path).count("\n") + 1,
        score=1.0,
        snippet="",
        why="linked",
    )
