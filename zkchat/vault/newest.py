"""The newest counts: which of several passages on a question say different things, and which of them is the newest.

Precision first: only passages about the same are told apart, and a date that a copy of the vault would change tells
nothing beside one that is written down.
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Final

from msgspec import Struct

from zkchat.model.dates import NoteDate, NoteDates
from zkchat.model.evidence import Evidence
from zkchat.model.patterns import lazy_pattern
from zkchat.model.references import LineRange
from zkchat.vault.dates.headings import day_of_headings
from zkchat.vault.notes.sentences import sentences
from zkchat.vault.search.question_terms import topic_of, topic_terms
from zkchat.vault.search.terms import terms

MIN_SHARE_OF_OLDER: Final = 0.35
"""The score of a newer passage, as a share of that of an older one, from which it may come first."""
MAX_COMPARED: Final = 6
"""Passages that are compared with each other."""
MIN_SENTENCE_SHARE: Final = 0.5
"""Sentences of a passage are compared that hold so much of what the one that holds most of the question does."""
_MIN_FILE_GAP: Final = timedelta(days=1)
"""Between the times of two files, so that one of them counts as newer."""
_WRITTEN_DOWN: Final = frozenset({"name", "frontmatter"})
_DAY: Final = lazy_pattern(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_NOWHERE: Final = LineRange(first=1, last=1)


class DatedPassage(Struct, frozen=True, kw_only=True):
    """A passage on a question, and the date of what it says."""

    path: str
    title: str
    heading: str
    text: str
    score: float
    linked: bool = False
    date: NoteDate | None = None


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
        try:
            return NoteDate(date(*map(int, found.groups())), None, "name")
        except ValueError:
            pass
    if dates is None:
        return None
    written, changed = dates.written, dates.updated or dates.changed
    if written.origin == "name" or (written.origin == "frontmatter" and changed.origin not in _WRITTEN_DOWN):
        return written
    return changed


def chronology(question: str, passages: Sequence[DatedPassage]) -> Chronology:
    """Put newer passages before older ones that say otherwise, where both are about as good, and all else as it is."""
    first = passages[:MAX_COMPARED]
    said = [_on_topic(question, each.text) for each in first]
    newer_than: dict[int, list[int]] = {}
    for newer, mine in enumerate(first):
        for older, theirs in enumerate(first):
            if is_newer(mine.date, theirs.date) and _disagree(question, (mine, said[newer]), (theirs, said[older])):
                newer_than.setdefault(newer, []).append(older)
    order = [*range(len(passages))]
    for newer in sorted(newer_than, key=lambda number: _day_of(first[number])):
        beaten = [older for older in newer_than[newer] if _may_pass(first[newer], first[older])]
        place = min((order.index(older) for older in beaten), default=len(order))
        if place < order.index(newer):
            order.remove(newer)
            order.insert(place, newer)
    outdated: dict[int, int] = {}
    for newer in sorted(newer_than, key=lambda number: _day_of(first[number])):
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


def _may_pass(newer: DatedPassage, older: DatedPassage) -> bool:
    return newer.linked == older.linked and newer.score >= MIN_SHARE_OF_OLDER * older.score


def _day_of(passage: DatedPassage) -> date:
    return passage.date.day if passage.date else date.min


def _disagree(question: str, one: tuple[DatedPassage, str], another: tuple[DatedPassage, str]) -> bool:
    """Whether what two passages say on the question differs in a number, a date, a name or a negation."""
    if one[0].path == another[0].path and one[0].heading == another[0].heading:
        return False
    from zkchat.vault.verification.differing_answers import answer_differently

    return answer_differently(question, _evidence(*one), _evidence(*another))


def _on_topic(question: str, text: str) -> str:
    """The sentences of a passage that hold most of the question; all of them where none holds any of it."""
    asked = frozenset(topic_terms(topic_of(question)))
    split = sentences(text)
    shares = [len(asked.intersection(terms(sentence))) for sentence in split]
    least = MIN_SENTENCE_SHARE * max(shares, default=0)
    return "\n".join(sentence for sentence, share in zip(split, shares, strict=True) if share >= least)


def _evidence(passage: DatedPassage, text: str) -> Evidence:
    return Evidence(
        text=text,
        relative_path=passage.path,
        title=passage.title,
        wikilink="",
        heading=passage.heading,
        lines=_NOWHERE,
        score=passage.score,
    )
