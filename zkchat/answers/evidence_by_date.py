"""Evidence in the order of time: the newest or oldest that answers, newer before older."""

import re
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from datetime import date, timedelta
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from zkchat.answers.evidence_passages import Candidate, Scope, rarest_idf, search_passages, telling
from zkchat.answers.verification.contradiction import answer_differently
from zkchat.core import DayRange, Evidence, LineRange, NoteDate, NoteDates, VaultError, file_title
from zkchat.index import (
    COVERAGE_WEIGHT,
    FAMILY_WEIGHT,
    Library,
    RankedBlock,
    WeightedQuestion,
    own_terms,
    query_terms,
    rank_blocks,
    terms,
    topic_of,
)
from zkchat.notes import day_of_headings, plus, sentences

MIN_SHARE_OF_OLDER: Final = 0.35
"""The score of a newer passage, as a share of that of an older one, from which it may come first."""
MIN_SENTENCE_SHARE: Final = 0.5
"""Sentences of a passage are compared that hold so much of what the one that holds most of the question does."""
_MIN_FILE_GAP: Final = timedelta(days=1)
"""Between the times of two files, so that one of them counts as newer."""
_WRITTEN_DOWN: Final = frozenset({"name", "frontmatter"})
_DAY: Final = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_NOWHERE: Final = LineRange(first=1, last=1)
_SEARCHED_BY_DATE = 60
"""And where the newest that answer are wanted."""
MIN_SHARE_OF_COVERAGE = 0.85
"""What the newest must meet of what the best meets of the question."""
_WINDOWS = (30, 120, 480)
"""Days in which the newest are looked for, one stretch after the other."""


class DatedPassage(NamedTuple):
    """A passage on a question, and the date of what it says."""

    said: Evidence
    date: NoteDate | None


class Chronology(Struct, frozen=True):
    """How some passages are ordered, and which of them are outdated."""

    order: tuple[int, ...]
    """The numbers of the passages, as they are to be shown."""
    outdated: Mapping[int, int]
    """By number of a passage, that of the newest one that says otherwise."""


def date_of(dates: NoteDates | None, headings: Sequence[str]) -> NoteDate | None:
    """The date of what a note says: of the heading it stands under, the name of the note, its last change, or its
    frontmatter, in this order, as far as they are known."""
    if day := day_of_headings(headings):
        return NoteDate(day, None, "name")
    if found := _DAY.search(" ".join(headings)):
        with suppress(ValueError):
            return NoteDate(date(*map(int, found.groups())), None, "name")
    if dates is None:
        return None
    written, changed = dates.written, dates.updated or dates.changed
    if written.origin == "name" or (written.origin == "frontmatter" and changed.origin not in _WRITTEN_DOWN):
        return written
    return changed


def chronology(question: str, passages: Sequence[DatedPassage]) -> Chronology:
    """Put newer passages before older ones that say otherwise, where both are about as good, and all else as it is."""
    first = passages[:6]
    said = [replace(each.said, text=_on_topic(question, each.said.text)) for each in first]
    newer_than: dict[int, list[int]] = {}
    for newer, mine in enumerate(first):
        for older, theirs in enumerate(first):
            one, another = said[newer], said[older]
            is_one_place = one.relative_path == another.relative_path and one.heading == another.heading
            is_doubted = is_newer(mine.date, theirs.date) and not is_one_place
            if is_doubted and answer_differently(question, one, another):
                newer_than.setdefault(newer, []).append(older)
    order = [*range(len(passages))]
    outdated: dict[int, int] = {}
    days = {number: each.date.day for number, each in enumerate(first) if each.date}
    for newer in sorted(newer_than, key=days.__getitem__):
        beaten = [
            older
            for older in newer_than[newer]
            if said[newer].linked == said[older].linked and said[newer].score >= MIN_SHARE_OF_OLDER * said[older].score
        ]
        place = min((order.index(older) for older in beaten), default=len(order))
        if place < order.index(newer):
            order.remove(newer)
            order.insert(place, newer)
        outdated |= dict.fromkeys(newer_than[newer], newer)
    return Chronology(tuple(order), outdated)


def is_newer(mine: NoteDate | None, theirs: NoteDate | None) -> bool:
    """Whether one date is later than another, as far as the two can be compared."""
    if mine is None or theirs is None:
        return False
    if "file" in (mine.origin, theirs.origin):
        return mine.origin == theirs.origin and mine.day - theirs.day > _MIN_FILE_GAP
    return mine.day > theirs.day


def are_worth_showing(dates: Sequence[NoteDate | None]) -> bool:
    """Whether the dates of passages help to read them: two that are written down differ."""
    return len({each.day for each in dates if each and each.origin in _WRITTEN_DOWN}) > 1


def _on_topic(question: str, text: str) -> str:
    """The sentences of a passage that hold most of the question; all of them where none holds any of it."""
    asked = own_terms(question)
    split = sentences(text)
    shares = [len(asked.intersection(terms(sentence))) for sentence in split]
    least = MIN_SENTENCE_SHARE * max(shares, default=0)
    return "\n".join(sentence for sentence, share in zip(split, shares, strict=True) if share >= least)


def by_date(library: Library, asked: str, scope: Scope) -> list[Candidate]:
    """The passages that meet about as much of the question as the best, the newest or oldest note first.

    The newest are looked for among the notes of the last weeks first: in a large vault they would not be among the
    best that are found of all times.
    """
    best = _candidates_of(library, asked, scope)
    if scope.names and not best:
        scope = replace(scope, names=())
        best = _candidates_of(library, asked, scope)
    most = max((each.ranked.coverage for each in best), default=0.0)
    dated = max((each.ranked.coverage for each in best if _is_told(each)), default=0.0)
    least = MIN_SHARE_OF_COVERAGE * (dated if dated >= most / 2 else most)
    topic = frozenset(query_terms(topic_of(asked)))
    called = bool(scope.names) and any(_is_called(each, topic) for each in best)
    today = library.calendar().today
    windows = [DayRange(plus(today, -days), plus(today, 1)) for days in _WINDOWS] if scope.order == "newest" else []
    sign = 1 if scope.order == "oldest" else -1

    def position(each: Candidate) -> tuple[bool, int, float]:
        """By the day they were written; those whose file alone has a date come last."""
        return not _is_told(each), sign * each.date.day.toordinal() if each.date else 0, -each.score

    for window in (*windows, None):
        narrowed = replace(scope, period=window.overlap(scope.period)) if window else None
        found = _candidates_of(library, asked, narrowed) if narrowed else best
        close = [each for each in found if each.ranked.coverage >= least and (not called or _is_called(each, topic))]
        close.sort(key=position)
        if window is None or (close and _is_told(close[0])):
            return [replace(each, date=None) for each in close]
    return []


def _is_told(candidate: Candidate) -> bool:
    """Whether a note says itself when it was written."""
    return candidate.date is not None and candidate.date.is_told


def _is_called(candidate: Candidate, topic: Set[str]) -> bool:
    """Whether its note has all that is asked for in its name, as `2026-03-05 Meeting with Ann` has."""
    name = f"{candidate.ranked.passage.title} {file_title(candidate.path)}"
    return _is_told(candidate) and topic <= {*query_terms(name)}


def written_date(library: Library, candidate: Candidate) -> NoteDate | None:
    """When a passage was written, by its headings or its note."""
    return _with_dates(library, [candidate])[0].date


def _with_dates(library: Library, candidates: Sequence[Candidate]) -> list[Candidate]:
    """With when each was written."""
    told = [day_of_headings(each.ranked.heading_path) for each in candidates]
    dates = library.dates({each.path for each, day in zip(candidates, told, strict=True) if not day})
    written = [
        NoteDate(day, None, "name") if day else dates[each.path].written if each.path in dates else None
        for each, day in zip(candidates, told, strict=True)
    ]
    return [replace(each, date=date) for each, date in zip(candidates, written, strict=True)]


def _candidates_of(library: Library, asked: str, scope: Scope) -> list[Candidate]:
    """With names, only passages of notes that hold them, each by what the whole note meets of the question."""
    names = scope.names
    passages = search_passages(library, topic_of(asked), scope, _SEARCHED_BY_DATE)
    if names:
        known = {(each.path, each.first_line) for each in passages}
        named = search_passages(library, " ".join(names), scope, _SEARCHED_BY_DATE)
        passages += [each for each in named if (each.path, each.first_line) not in known]
    question = WeightedQuestion.of(asked, library.idf, rarest=rarest_idf(library))
    ranked = [*telling(rank_blocks(question, passages))]
    if names:
        found = _holding(library, names, ranked)
        shares = {said: question.share(question.held(said)) for said in {said for _, said in found}}
        ranked = []
        for each, said in found:  # a block counts as meeting the share of the question that its note meets
            more = max(0.0, shares[said] - each.coverage)
            score = each.score + (COVERAGE_WEIGHT + FAMILY_WEIGHT) * more
            ranked.append(replace(each, coverage=each.coverage + more, score=score))
    return _with_dates(library, [*map(Candidate, ranked)])


def with_names_first(library: Library, names: Sequence[str], candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those of notes that hold the names before all others."""
    held = {id(ranked) for ranked, _ in _holding(library, names, [each.ranked for each in candidates])}
    return sorted(candidates, key=lambda each: bool(held) and id(each.ranked) not in held)


def newest_first(library: Library, asked: str, candidates: Sequence[Candidate], *, has_links: bool) -> list[Candidate]:
    """The same passages with their dates, and newer ones before older ones that say otherwise.

    What the question links to stays first; what it only names does not where it is outdated.
    """
    dates = library.dates({each.path for each in candidates})
    passages = [
        DatedPassage(_said(each, has_links=has_links), date_of(dates.get(each.path), each.ranked.heading_path))
        for each in candidates
    ]
    found = chronology(asked, passages)
    dated = [
        replace(
            each,
            date=passages[number].date,
            outdated_by=candidates[found.outdated[number]].path if number in found.outdated else "",
            outdates=tuple(candidates[older].path for older, newer in found.outdated.items() if newer == number),
        )
        for number, each in enumerate(candidates)
    ]
    outdated = frozenset() if has_links else {each.path for each in dated if each.outdated_by}
    ordered = (dated[number] for number in found.order)
    return [replace(each, linked=False) if each.path in outdated else each for each in ordered]


def _said(candidate: Candidate, *, has_links: bool) -> Evidence:
    return Evidence(
        text=candidate.ranked.block.text,
        relative_path=candidate.path,
        title=candidate.ranked.passage.title,
        wikilink="",
        heading=" ".join(candidate.ranked.heading_path),
        lines=_NOWHERE,
        score=candidate.score,
        linked=candidate.linked and has_links,
    )


def with_useful_dates(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Without the dates that do not help to read them."""
    if are_worth_showing([each.date for each in candidates]):
        return [each if each.date and each.date.origin != "file" else replace(each, date=None) for each in candidates]
    return [each if each.outdated_by or each.outdates else replace(each, date=None) for each in candidates]


def _holding(library: Library, names: Sequence[str], ranked: Sequence[RankedBlock]) -> list[tuple[RankedBlock, str]]:
    """The blocks of notes that hold most of the names, in the same order, each with what its note says: path,
    frontmatter and text; of a section that has a date of its own, the section. None where no note holds a name."""
    wanted = [frozenset(query_terms(name)) for name in names]
    texts: dict[str, str] = {}
    found = [(each, _text_of(library, each, texts)) for each in ranked]
    present = {said: frozenset(terms(said)) for said in {said for _, said in found}}
    counts = {said: sum(name <= present[said] for name in wanted) for said in present}
    most = max(counts.values(), default=0)
    return [(each, said) for each, said in found if counts[said] == most > 0]


def _text_of(library: Library, ranked: RankedBlock, texts: dict[str, str]) -> str:
    path, passage = ranked.passage.path, ranked.passage
    folders = path.replace("/", "\n")
    if day_of_headings(ranked.heading_path):
        return "\n".join((folders, passage.title, *ranked.heading_path, passage.text))
    if path not in texts:
        said = passage.text
        with suppress(VaultError):  # it is gone, or cannot be read
            said = library.read(path)[:20_000]
        texts[path] = f"{folders}\n{passage.title}\n{said}"
    return texts[path]
