"""Evidence for questions that ask for a time: of its days, or the newest; of all notes where these say nothing.

Where no passage answers any question: the words that were looked for, and whether the notes are in another language.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from msgspec.structs import replace

from zkchat.answers import evidence
from zkchat.answers.evidence import MAX_EVIDENCE
from zkchat.answers.evidence_passages import NOTHING_EARLIER, Earlier, Scope
from zkchat.core import (
    DEFAULT_LIMIT,
    Ambiguous,
    DayRange,
    Findings,
    Link,
    NotesOfDays,
    Resolved,
    VaultError,
    as_open_as,
    place_of,
)
from zkchat.index import (
    Library,
    company_in,
    language_of,
    misspelled,
    notes_by_day,
    terms,
    topic_of,
    topic_terms,
    written_words,
)
from zkchat.language import LANGUAGE_NAMES
from zkchat.notes import (
    TimeInQuestion,
    asks_for_own_writing,
    detect_language,
    impossible_times,
    missing_day,
    of_period,
    time_in_question,
    unknown_times,
)

FEW_NOTES: Final = 10
"""Notes of a time that are shown although none of them answers."""


def find_evidence(
    library: Library,
    question: str,
    linked: Sequence[tuple[str, str]],
    *,
    earlier: Earlier = NOTHING_EARLIER,
    limit: int = DEFAULT_LIMIT,
    skip: int = 0,
) -> Findings:
    """Passages for a question without its links; where it asks for a time and links no note, of that time.

    `earlier` is what it points back to, the topic of which is part of it.
    """
    calendar = library.calendar()
    if impossible := impossible_times(question, calendar):
        return Findings(remark=impossible)
    meant = misspelled(question, library.idf, library.spelled) if topic_terms(question) else {}
    asked = question
    for word, known in meant.items():
        asked = asked.replace(word, known)  # which a note says: no longer the user's words alone
    found = _find_evidence(library, asked, linked, earlier, limit, skip)
    texts = [f"{each.title} {each.heading} {each.text}" for each in found.evidence]
    used = (
        {term: word.lower() for text in texts for word in written_words(text) for term in terms(word)} if meant else {}
    )
    used |= {pair: pair for pair in meant.values() if " " in pair and texts}
    new = {word: known for word, known in meant.items() if known in used and word not in earlier.topic}
    told = [f"“{word}” was read as “{used[known]}”." for word, known in new.items()]
    remarks = [*told, unknown_times(question, calendar), found.remark]
    if not found.evidence and topic_terms(question):
        found = replace(found, searched_for=tuple(islice(dict.fromkeys(topic_of(question).split()), 50)))
        remarks.append("" if found.remark else _other_language(library, question))
    return replace(found, remark=" ".join(filter(None, remarks)))


def _other_language(library: Library, question: str) -> str:
    """A sentence where most notes are in another language than the question; else empty."""
    asked = language_of(question)
    paths = [each.path for each in library.notes()] if asked else []
    spoken = Counter[str]()
    for path in library.open_among(paths[:: 1 + len(paths) // 40]):  # some 40 of them are enough
        with suppress(VaultError):  # it is gone, or cannot be read
            spoken.update(filter(None, [detect_language(library.section(path)[:2_000])]))
    if not asked or not spoken:
        return ""
    main, notes = spoken.most_common(1)[0]
    if main == asked or notes <= spoken.total() / 2:
        return ""
    there, here = LANGUAGE_NAMES[main], LANGUAGE_NAMES[asked]
    return f"Your notes are mostly in {there}, the question is in {here}: try it in {there}."


def _find_evidence(
    library: Library, question: str, linked: Sequence[tuple[str, str]], earlier: Earlier, limit: int, skip: int
) -> Findings:
    if not linked and (missing := missing_day(question, library.calendar())):
        found = evidence.find_undated_evidence(library, question, (), limit=limit, skip=skip)
        return replace(found if topic_terms(missing.topic) else Findings(), remark=f"There is no {missing.words}.")
    time = None if linked else time_of(library, question)
    is_own = not linked and asks_for_own_writing(question)
    if time is None:
        scope = Scope(without_pdfs=is_own, earlier=earlier)
        found = evidence.find_undated_evidence(library, question, linked, limit=limit, skip=skip, scope=scope)
        if is_own and not found.evidence:
            return evidence.find_undated_evidence(library, question, linked, limit=limit, skip=skip)
        return found
    if not (topic_terms(time.topic) and topic_of(time.topic)):
        found = _of_days(library, time, limit, skip)
        if not found.evidence and time.period:
            return _of_nearest_days(library, time.period)
    else:
        scope = Scope(time.period, time.order, company_in(time.rest), is_own, earlier)
        topic = as_open_as(question, time.topic)
        found = evidence.find_undated_evidence(library, topic, (), limit=limit, skip=skip, scope=scope)
        days = time.period
        is_one_day = bool(days and days.first and days.end and (days.end - days.first).days == 1)
        if not found.evidence and found.nearest and is_one_day:
            found = Findings(found.nearest, is_doubtful=True)
    if found.evidence:
        return replace(found, remark=_remark(library, time, found))
    return _of_other_days(library, question, time, limit, skip)


def time_of(library: Library, question: str) -> TimeInQuestion | None:
    """The time that a question asks for; the name of a note is none."""

    def is_name(text: str) -> bool:
        resolved = library.resolve(Link(text=f"[[{text}]]", target=text), suggestions=0)
        return isinstance(resolved, Resolved | Ambiguous)

    found = time_in_question(question, library.calendar(), is_name)
    is_small_talk = found is not None and not found.is_certain and not topic_terms(found.rest)
    return None if is_small_talk else found


def _notes_of(library: Library, time: TimeInQuestion, most: int) -> list[str]:
    """The first notes of a time, the newest first unless the oldest are wanted."""
    wanted = NotesOfDays(
        days=time.period or DayRange(), by_change=time.is_about_changes, oldest_first=time.order == "oldest", most=most
    )
    return [*notes_by_day(library, wanted)]


def _of_days(library: Library, time: TimeInQuestion, limit: int, skip: int) -> Findings:
    """How the notes of a time begin."""
    paths = library.confirmed(_notes_of(library, time, 1 if time.order else MAX_EVIDENCE))
    shown = paths[skip : skip + limit]
    return Findings(evidence.openings(library, shown), more=max(0, len(paths) - skip - len(shown)))


def _of_nearest_days(library: Library, period: DayRange) -> Findings:
    """That no note is of these days, and which are of the days before and after them."""
    before = NotesOfDays(days=DayRange(None, period.first), most=1) if period.first else None
    after = NotesOfDays(days=DayRange(period.end), oldest_first=True, most=1) if period.end else None
    found = (notes_by_day(library, wanted) for wanted in (before, after) if wanted)
    nearest = [path for notes in found for path, each in notes.items() if each.written.is_told]
    shown = evidence.openings(library, library.confirmed(nearest))
    is_to_come = ", which is in the future" if period.first and period.first > library.calendar().today else ""
    return Findings(
        nearest=tuple({each.relative_path: each for each in reversed(shown)}.values())[::-1],
        remark=f"No note is {_dated(period)}{is_to_come}.",
    )


def _dated(period: DayRange) -> str:
    """A period to be read after "is"."""
    return of_period(period).replace("of ", "dated ", 1)


def _remark(library: Library, time: TimeInQuestion, found: Findings) -> str:
    of_days = f"Notes {of_period(time.period)}." if time.period else ""
    if not time.order:
        return of_days
    path = found.evidence[0].relative_path
    dates = library.dates([path])
    day = found.day or (dates[path].written.day if path in dates else None)
    if day is None:
        return of_days
    if time.asks_when and found.is_doubtful:
        return f"No note says exactly when. The {time.order} passage found is from {day:%A}, {day}."
    if time.asks_when:
        return f"The {'last' if time.order == 'newest' else 'first'} time was on {day:%A}, {day}."
    return f"The {time.order} passage found is from {day}. {of_days}".strip()


def _of_other_days(library: Library, question: str, time: TimeInQuestion, limit: int, skip: int) -> Findings:
    """What notes of all days say, and that none of that time does; where these are few and it is in doubt, how they
    begin first. A question that may be about the world, at a time that no note is of, asked for none."""
    found = evidence.find_undated_evidence(library, question, (), limit=limit)
    notes = _notes_of(library, time, FEW_NOTES + 1) if time.period else []
    is_few = 0 < len(notes) <= FEW_NOTES and time.is_certain and not time.order
    if time.period and is_few and (found.is_doubtful or not found.evidence):
        topic = topic_terms(time.topic)
        said_of = (each for each in found.evidence if topic.intersection(terms(f"{each.title} {each.text}")))
        others = dict.fromkeys(place_of(each) for each in said_of if each.relative_path not in notes)
        said = f"Notes {of_period(time.period)} say nothing about “{topic_of(time.topic)}”; this is how they begin."
        said += f" From other days: {', '.join(others)}." if others else ""
        return replace(_of_days(library, time, limit, skip), is_doubtful=True, remark=said)
    if skip:
        found = evidence.find_undated_evidence(library, question, (), limit=limit, skip=skip)
    if time.period is None or not (notes or time.is_certain):
        return found
    days = of_period(time.period)
    said = f"Notes {days} say nothing about this." if notes else f"No note is {_dated(time.period)}."
    return replace(found, remark=f"{said} These are from other days." if found.evidence else said)
