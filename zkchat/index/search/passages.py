"""Search: the query language, passages and notes that answer a query, best first, and snippets around the match."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher, get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    PAGES,
    Calendar,
    DayRange,
    NoteFilter,
    Passage,
    StorageDamaged,
    StoredSection,
    TermPostings,
    TextIndex,
    as_open_as,
    file_title,
    is_note,
    unknown_calendar,
)
from zkchat.index.search.terms import (
    MAX_QUERY_CHARACTERS,
    count_words,
    phrase_text,
    query_terms,
    term_spans,
    terms,
    variant_prefixes,
)
from zkchat.index.search.vectors import VectorSearch
from zkchat.notes import (
    BLOCK_ID,
    TIME_FILTERS,
    closes_fence,
    filter_period,
    is_delimiter,
    opens_fence,
    without_quote_marks,
)

if TYPE_CHECKING:
    from zkchat.index.search.ranking import Match, Scores, Signals, TextRanking


MAX_SNIPPET_CHARACTERS = 200
MAX_NEAR = 5
MAX_LONGER = 2
"""Letters by which two words that may be one differ in length."""
MIN_LIKENESS = 0.85
"""Of two words that may be one, in `difflib`'s ratio: one letter of seven may be another."""
_MEANING = "meaning"
_SNIPPET_LEAD = 40
"""Characters shown before the first match."""
_HEADING = re.compile(r"#{1,6}\s")
_PIECE = re.compile(
    r"""(?P<minus>-)? (?: (?P<field>tag|path|on|after|before|during): )?
    (?: "(?P<quoted>[^"]+)" | (?P<plain>[^\s"]+) )""",
    re.VERBOSE | re.IGNORECASE,
)
_MAX_FILTERED_WORDS = 6
"""Words of a query in which a phrase in quotes and `-word` are filters. In a longer one, a sentence, they are text."""


class Query(Struct, frozen=True, kw_only=True):
    words: str = ""
    """What ranks the passages: everything that is no filter."""
    phrases: tuple[str, ...] = ()
    """Each must stand in the passage, word for word."""
    without: tuple[str, ...] = ()
    """None may stand in it: single words in any form, phrases word for word."""
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    period: DayRange | None = None
    """Only notes written on these days."""

    @property
    def ranking(self) -> str:
        return as_open_as(self.words, " ".join((self.words, *self.phrases)).strip())


def parse_query(text: str, calendar: Calendar | None = None) -> Query:
    """Understand `tag:x`, `path:x`, `on:`, `after:`, `before:` and `during:` with a time, `"exact phrase"` and `-word`.
    Never raises.

    In a query of more than six words phrases and `-word` are text like the rest: people quote what they talk about.
    """
    words: list[str] = []
    filters: dict[str, list[str]] = {"phrase": [], "without": [], "tag": [], "path": []}
    period: DayRange | None = None
    today = calendar or unknown_calendar()
    pieces = [(_kind(piece, today), piece) for piece in _PIECE.finditer(text[:MAX_QUERY_CHARACTERS])]
    said = [piece for kind, piece in pieces if kind in {"word", "phrase", "without"}]
    # Something in quotes counts as one word.
    is_sentence = sum(1 if piece["quoted"] else count_words(piece["plain"]) for piece in said) > _MAX_FILTERED_WORDS
    for kind, piece in pieces:
        value = piece["quoted"] or piece["plain"]
        if kind in TIME_FILTERS:
            days = filter_period(kind, value, today)
            period = days.overlap(period) if days else period
        elif kind == "word":
            words.append(piece.group())
        elif is_sentence and kind in {"phrase", "without"}:
            words.append(value)
        else:
            filters[kind].append(value)
    return Query(
        words=as_open_as(text, " ".join(words)),
        phrases=tuple(filters["phrase"]),
        without=tuple(filters["without"]),
        tags=tuple(tag.lstrip("#").rstrip("/") for tag in filters["tag"]),
        paths=tuple(filters["path"]),
        period=period,
    )


def _kind(piece: re.Match[str], calendar: Calendar) -> str:
    field, value = (piece["field"] or "").lower(), piece["quoted"] or piece["plain"]
    if piece["minus"]:
        # `-5` is a number, `--force` an option, `-tag:x` nothing we know.
        return "without" if not field and (value[0].isalpha() or piece["quoted"]) else "word"
    if field in TIME_FILTERS:
        return field if filter_period(field, value, calendar) else "word"
    if field == "tag":
        return "tag" if value.strip("#/") else "word"
    return field or ("phrase" if piece["quoted"] else "word")


class Search:
    """Searches what the index holds at the moment. Every thread may use it."""

    def __init__(
        self, index: TextIndex, vectors: VectorSearch | None = None, calendar: Callable[[], Calendar] = unknown_calendar
    ) -> None:
        self._index = index
        self._calendar = calendar
        self._vectors = vectors
        self._known: tuple[int, TextRanking] | None = None

    def passages(
        self,
        text: str,
        *,
        limit: int,
        within: Collection[str] | None = None,
        period: DayRange | None = None,
        words_only: bool = False,
    ) -> list[Passage]:
        """The passages that answer best, of all notes, or of those `within` or of a `period`.

        With `words_only` it is the same whether or not sections have got their vectors already.
        """
        query = parse_query(text, self._calendar())
        notes = self._filter(query, within, period)
        ranked = self._ranked(query, notes, None if words_only else self._vectors)
        found = self._best_sections(ranked, limit) if ranked else self._listed(notes)
        return _passages(_without_pages(found, notes), ranked.asked if ranked else (), limit)

    def documents(self, text: str, *, limit: int, period: DayRange | None = None) -> list[Passage]:
        query = parse_query(text, self._calendar())
        notes = self._filter(query, None, period)
        ranked = self._ranked(query, notes, self._vectors)
        found = self._best_notes(ranked, limit) if ranked else self._listed(notes)
        return _passages(_without_pages(found, notes), ranked.asked if ranked else (), limit)

    def nearest(self, text: str, *, limit: int, period: DayRange | None = None) -> list[Passage]:
        """The passages that are nearest to a question by the vectors of a model, whatever their words: their scores are
        cosines. None where there is no model."""
        if not self._vectors:
            return []
        notes = NoteFilter(period=period, zone=self._calendar().now.tzinfo)
        with _noticing_damage():
            index, _ = self._look_up(set())
            allowed = index.alive
            if notes.is_about_notes:
                allowed = allowed & index.within(self._index.section_ranges(notes))
            nearest = self._vectors.nearest(text, index.sections, allowed, limit)
        if nearest is None:
            return []
        slots, cosines = nearest
        best = dict(zip(index.sections[slots].tolist(), cosines.tolist(), strict=True))
        found = sorted(self._index.sections([*best]), key=lambda each: (-best[each.id], each.path, each.first_line))
        return _passages(((each, best[each.id]) for each in found), query_terms(text), limit)

    def idf(self, wanted: Iterable[str]) -> dict[str, float]:
        terms_asked = {*wanted}
        if not terms_asked:
            return {}
        with _noticing_damage():
            index, postings = self._look_up(terms_asked)
            return index.idf(postings)

    def spelled(self, word: str) -> str:
        written = f"{word[:-1]}i" if word.endswith("y") else word  # as the stemmer writes it
        starts = {word[:2], word[:1] + word[2:3], word[1::-1]}  # one letter too many, or two that changed places
        with _noticing_damage():
            index, postings = self._look_up(set(), starts)
            others = {each.term for each in postings if abs(len(each.term) - len(written)) <= MAX_LONGER}
            near = get_close_matches(written, others, MAX_NEAR, MIN_LIKENESS)
            common = index.idf(each for each in postings if each.term in near)
        alike = {term: SequenceMatcher(None, term, written).ratio() for term in near if term in common}
        return max(alike, key=lambda term: (alike[term], -common[term], term), default="")

    def _filter(self, query: Query, within: Collection[str] | None, period: DayRange | None) -> NoteFilter:
        return NoteFilter(
            tags=query.tags,
            paths=query.paths,
            within=None if within is None else frozenset(within),
            period=query.period.overlap(period) if query.period else period,
            zone=self._calendar().now.tzinfo,
        )

    def _listed(self, notes: NoteFilter) -> Iterator[tuple[StoredSection, float]]:
        """Where nothing ranks: the first section of each note that the filters let through, the newest first.

        What holds no text comes last.
        """
        if not notes.is_about_notes:
            return
        shown: set[str] = set()
        blank: list[StoredSection] = []
        for first, count in self._index.section_ranges(notes, newest_first=True):
            for section in self._index.sections([first]) if count else ():
                if section.path not in shown:
                    shown.add(section.path)
                    if section.text.strip():
                        yield section, 0.0
                    else:
                        blank.append(section)
        yield from ((section, 0.0) for section in blank)

    def _ranked(self, query: Query, notes: NoteFilter, vectors: VectorSearch | None) -> "_Ranked | None":
        """How well the sections that the query lets through answer it; None if it asks for no words."""
        asked = Counter(query_terms(query.ranking))
        if not asked:
            return None
        from zkchat.index.search.ranking import VECTOR_WEIGHT

        needed = {term for phrase in query.phrases for term in terms(phrase)}
        banned = {terms(word)[0] for word in query.without if len(terms(word)) == 1}
        with _noticing_damage():
            prefixes = variant_prefixes(query.ranking, asked)
            index, postings = self._look_up({*asked, *needed, *banned}, {*prefixes.values()})
            matches, allowed = index.matches(asked, postings, varied=prefixes), index.alive
            signals = index.signals(matches)
            for term in needed:
                allowed = allowed & index.holding(row for row in postings if row.term == term)
            for term in banned:
                allowed = allowed & ~index.holding(row for row in postings if row.term == term)
            if notes.is_about_notes or notes.within is not None:
                allowed = allowed & index.within(self._index.section_ranges(notes))
            scores = index.section_scores(signals)
            if allowed is not index.alive:
                scores *= allowed
            similarities = 0 * scores
            if vectors and (found := vectors.similarities(query.ranking, index.sections, scores, allowed)):
                slots, near = found
                similarities[slots] = near
                scores[slots] += VECTOR_WEIGHT * near
        sought = frozenset(asked).union(*(match.variants for match in matches))
        return _Ranked(sought, index, matches, signals, similarities, scores, _text_filter(query))

    def _best_sections(self, ranked: "_Ranked", at_once: int) -> Iterator[tuple[StoredSection, float]]:
        """Sections with their scores, best first, as many as somebody wants to see."""
        index, fits = ranked.index, ranked.fits
        seen = 0
        while best := {int(index.sections[at]): score for at, score in index.best(ranked.scores, at_once)[seen:]}:
            found = sorted(self._index.sections([*best]), key=lambda each: (-best[each.id], each.path, each.first_line))
            yield from ((section, best[section.id]) for section in found if not fits or fits(section))
            seen += len(best)
            at_once = 4 * max(at_once, seen)

    def _best_notes(self, ranked: "_Ranked", at_once: int) -> Iterator[tuple[StoredSection, float]]:
        """Notes with their scores, each by the best of its sections that fits, best first."""
        index, fits = ranked.index, ranked.fits
        with _noticing_damage():
            scores = index.note_scores(ranked.matches, ranked.signals, ranked.similarities, ranked.scores > 0)
        seen = 0
        while best := index.best(scores, at_once)[seen:]:
            order: dict[int, tuple[float, int]] = {}
            for note, score in best:
                sections = index.sections_of(note, ranked.scores)
                order |= {each: (-score, place) for place, each in enumerate(sections if fits else sections[:1])}
            shown: dict[str, StoredSection] = {}
            for section in sorted(self._index.sections([*order]), key=lambda each: order[each.id]):
                if not fits or fits(section):
                    shown.setdefault(section.path, section)
            for section in sorted(shown.values(), key=lambda each: (order[each.id][0], each.path)):
                yield section, -order[section.id][0]
            seen += len(best)
            at_once = 4 * max(at_once, seen)

    def _look_up(
        self, wanted: set[str], prefixes: Collection[str] = ()
    ) -> "tuple[TextRanking, Sequence[TermPostings]]":
        """Where the terms stand, in an index of the same generation; it is built anew only when there is a new one."""
        from zkchat.index.search.ranking import TextRanking

        known = self._known
        lookup = self._index.look_up(wanted, known[0] if known else None, prefixes)
        if known is None or lookup.segments is not None:
            self._known = known = lookup.generation, TextRanking(lookup.segments or (), lookup.dead)
        return known[1], lookup.postings


class _Ranked(Struct, frozen=True):
    asked: frozenset[str]
    index: "TextRanking"
    matches: "Sequence[Match]"
    signals: "Signals"
    similarities: "Scores"
    scores: "Scores"
    """Of all sections, by slot; 0 for those that the filters keep out."""
    fits: Callable[[StoredSection], bool] | None
    """What a section's text has to fulfil besides."""


@contextmanager
def _noticing_damage() -> Iterator[None]:
    try:
        yield
    except (IndexError, ValueError) as error:
        raise StorageDamaged(
            "The search index is damaged.", hint="Rebuild it: zkchat config index --rebuild"
        ) from error


def _text_filter(query: Query) -> Callable[[StoredSection], bool] | None:
    """Whether the phrases stand in a section, word for word, and the unwanted ones do not."""
    wanted = [phrase_text(phrase) for phrase in query.phrases]
    unwanted = [phrase_text(phrase) for phrase in query.without if len(terms(phrase)) != 1]
    if not wanted and not unwanted:
        return None

    def fits(section: StoredSection) -> bool:
        texts = (section.title, *section.aliases, *section.heading_path, section.text)
        said = "\n".join(map(phrase_text, texts))
        return all(phrase in said for phrase in wanted) and not any(phrase in said for phrase in unwanted)

    return fits


def _without_pages(
    found: Iterable[tuple[StoredSection, float]], notes: NoteFilter
) -> Iterator[tuple[StoredSection, float]]:
    """Without the page that instructs the model, which is sent anyway, unless it is named."""
    is_named = bool(notes.paths) or notes.within is not None
    return (each for each in found if is_named or each[0].path not in PAGES)


def _passages(found: Iterable[tuple[StoredSection, float]], asked: Collection[str], limit: int) -> list[Passage]:
    """Without canvases and other files that hold no text, unless their names or filters find them."""
    passages = (
        Passage(
            path=section.path,
            title=section.title,
            heading_path=section.heading_path,
            text=section.text,
            first_line=section.first_line,
            last_line=section.last_line,
            score=score,
            snippet=snippet(below_heading(section.text), asked),
            why=why(section, asked) or (_MEANING if asked else "filter"),
        )
        for section, score in found
    )
    says = (each for each in passages if each.why != _MEANING or is_note(each.path) or each.text.strip())
    return [*islice(says, limit)]


def below_heading(section: str) -> str:
    """The text of a section without the heading that it begins with, unless there is nothing else in it."""
    first, _, rest = section.partition("\n")
    return rest if _HEADING.match(first) and rest.strip() else section


def snippet(text: str, asked: Collection[str]) -> str:
    """A line or two of the text, where most of the terms asked for stand together."""
    flat = " ".join(text.split())
    if len(flat) <= MAX_SNIPPET_CHARACTERS:
        return flat
    matches = [(start, term) for start, _, term in term_spans(flat) if term in asked]
    start = max(0, _densest(matches) - _SNIPPET_LEAD) if matches else 0
    return _cut(flat, min(start, len(flat) - MAX_SNIPPET_CHARACTERS))


def matches(text: str, query: str) -> list[tuple[int, int]]:
    """Where the words of a search stand in a text, in order and apart from each other."""
    return term_matches(text, frozenset(query_terms(parse_query(query).ranking)).__contains__)


def term_matches(text: str, is_asked: Callable[[str], bool]) -> list[tuple[int, int]]:
    """Where words whose terms are asked for stand in a text, in order and apart from each other."""
    found: list[tuple[int, int]] = []
    for start, end, term in term_spans(text):
        if is_asked(term):
            begin = found.pop()[0] if found and start <= found[-1][1] else start
            found.append((begin, end))
    return found


def _densest(matches: list[tuple[int, str]]) -> int:
    """The first place from which most different terms are within reach."""
    reach = MAX_SNIPPET_CHARACTERS - _SNIPPET_LEAD
    best, most, end = 0, 0, 0
    near: Counter[str] = Counter()  # how often each term stands within reach
    for start, term in matches:
        while end < len(matches) and matches[end][0] < start + reach:
            near[matches[end][1]] += 1
            end += 1
        if len(near) > most:
            best, most = start, len(near)
        near[term] -= 1
        if not near[term]:
            del near[term]
    return best


def _cut(flat: str, start: int) -> str:
    """So many characters from about there, in whole words where there are any."""
    end = start + MAX_SNIPPET_CHARACTERS
    if start:
        space = flat.find(" ", start, start + _SNIPPET_LEAD)
        start = space + 1 if space >= 0 else start
    if end < len(flat):
        space = flat.rfind(" ", end - _SNIPPET_LEAD, end)
        end = space if space >= 0 else end
    return f"{'… ' if start else ''}{flat[start:end]}{' …' if end < len(flat) else ''}"


def why(section: StoredSection, asked: Collection[str]) -> str:
    """Where the terms asked for stand: `title, text`."""
    places = {
        "title": f"{section.title}\n{file_title(section.path)}",
        "alias": "\n".join(section.aliases),
        "heading": "\n".join(section.heading_path),
        "text": section.text,
    }
    return ", ".join(place for place, text in places.items() if not set(asked).isdisjoint(terms(text)))


_BOXES: Final = {" ": "☐ ", "x": "☑ ", "X": "☑ "}
_ITEM: Final = re.compile(r"\s*(?:[-*+]|(\d{1,9}[.)]))(?:\s+\[(.)\](?=\s|$))?(?:\s+|$)")
_CALLOUT: Final = re.compile(r"\s*\[!([^\[\]|]{1,40})(?:\|[^\[\]]*)?\][-+]?")
_PREVIEWS_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s+")
_RULER: Final = re.compile(r"\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$")
_CELL_END: Final = re.compile(r"(?<!\\)\|")
_STRONG: Final = re.compile(r"(\*\*|==)(?=\S)([^*=]+?)(?<=\S)\1")
_SEPARATOR: Final = "·"


class Hit(Struct, frozen=True, kw_only=True):
    """A passage, and how many others have the same text."""

    passage: Passage
    repetitions: int = 0


def hits_of(passages: Sequence[Passage]) -> list[Hit]:
    """The passages in their order, each text once. What was found by a note's name is always listed."""
    hits: dict[object, Hit] = {}
    for number, passage in enumerate(passages):
        places = {*passage.why.split(", ")}
        by_text_only = "text" in places and places.isdisjoint(("title", "alias"))
        key = readable(below_heading(passage.text)) if by_text_only else number
        known = hits.get(key)
        hits[key] = replace(known, repetitions=known.repetitions + 1) if known else Hit(passage=passage)
    return [*hits.values()]


def preview_of(passage: Passage, query: str) -> str:
    """A line or two of a passage as plain text, around the words of the query."""
    asked = frozenset(query_terms(parse_query(query).ranking))
    return snippet(readable(below_heading(passage.text)), asked)


def line_of(passage: Passage, query: str) -> int:
    """The line of a passage where most words of the query stand together; its first where none does."""
    asked, below = frozenset(query_terms(parse_query(query).ranking)), below_heading(passage.text)
    found = [(start, term) for start, _, term in term_spans(below) if term in asked]
    above = len(passage.text) - len(below)
    return passage.first_line + (passage.text.count("\n", 0, above + _densest(found)) if found else 0)


def readable(markdown: str) -> str:
    """Markdown as plain text on one line: items and cells apart, tasks with a box, code without its fence.

    Wikilinks and addresses stay as they are written.
    """
    return " ".join(" ".join(_readable_lines(markdown)).split()).removeprefix(f"{_SEPARATOR} ")


def _readable_lines(markdown: str) -> Iterator[str]:
    fence = ""
    for written in markdown.splitlines():
        line = without_quote_marks(written)
        marks = opens_fence(line)
        if fence:
            if closes_fence(line, fence):
                fence = ""
            else:
                yield line
        elif marks:
            fence = marks
        elif not is_delimiter(line) and not _RULER.match(line):
            yield _readable_line(line, is_quoted=line is not written)


def _readable_line(line: str, *, is_quoted: bool) -> str:
    line = _STRONG.sub(r"\2", BLOCK_ID.sub("", line)).replace("![[", "[[")
    if is_quoted and (callout := _CALLOUT.match(line)):
        title = line[callout.end() :].strip() or callout[1].strip().capitalize()
        return title if title.endswith((".", "!", "?", ":")) else f"{title}:"
    if item := _ITEM.match(line):
        number, task = item.groups()
        mark = _BOXES.get(task, f"[{task}] ") if task else ""
        return f"{number or ('' if task else _SEPARATOR)} {mark}{line[item.end() :]}"
    if line.lstrip().startswith("|"):
        cells = (cell.strip().replace(r"\|", "|") for cell in _CELL_END.split(line))
        return f"{_SEPARATOR} {f' {_SEPARATOR} '.join(filter(None, cells))}"
    return _PREVIEWS_HEADING.sub("", line, count=1)
