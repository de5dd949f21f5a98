"""Evidence in the order of time: the newest or oldest that answers, and newer passages before older ones that say
otherwise."""

from collections.abc import Sequence, Set

from msgspec import Struct
from msgspec.structs import replace

from zkchat.model.dates import DayRange, NoteDate, NoteDates
from zkchat.model.note import file_title
from zkchat.vault.dates.calendar_ranges import plus
from zkchat.vault.dates.headings import day_of_headings
from zkchat.vault.dates.question_time import Order
from zkchat.vault.evidence_candidates import Candidate, Scope, rarest_idf, search_passages, telling
from zkchat.vault.library import Library
from zkchat.vault.newest import DatedPassage, are_worth_showing, chronology, date_of
from zkchat.vault.notes_with_names import holding
from zkchat.vault.search.block_ranking import COVERAGE_WEIGHT, FAMILY_WEIGHT, RankedBlock, rank_blocks
from zkchat.vault.search.question_terms import topic_of
from zkchat.vault.search.terms import query_terms
from zkchat.vault.search.weighted_question import WeightedQuestion

_SEARCHED_BY_DATE = 60
"""And where the newest that answer are wanted."""
MIN_SHARE_OF_COVERAGE = 0.85
"""What the newest must meet of what the best meets of the question."""
_WINDOWS = (30, 120, 480)
"""Days in which the newest are looked for, one stretch after the other."""


def by_date(library: Library, asked: str, scope: Scope) -> list[Candidate]:
    """The passages that meet about as much of the question as the best, the newest or oldest note first.

    The newest are looked for among the notes of the last weeks first: in a large vault they would not be among the
    best that are found of all times.
    """
    best = _candidates_of(library, asked, scope)
    if scope.names and not best:
        scope = replace(scope, names=())
        best = _candidates_of(library, asked, scope)
    most = max((each.coverage for each in best), default=0.0)
    dated = max((each.coverage for each in best if each.is_told), default=0.0)
    least = MIN_SHARE_OF_COVERAGE * (dated if dated >= most / 2 else most)
    topic = frozenset(query_terms(topic_of(asked)))
    called = bool(scope.names) and any(each.is_called(topic) for each in best)
    today = library.calendar().today
    windows = [DayRange(plus(today, -days), plus(today, 1)) for days in _WINDOWS] if scope.order == "newest" else []
    for window in (*windows, None):
        found = (
            best
            if window is None
            else _candidates_of(library, asked, replace(scope, period=window.overlap(scope.period)))
        )
        close = [each for each in found if each.coverage >= least and (not called or each.is_called(topic))]
        ordered = _ordered(close, scope.order)
        if window is None or (ordered and ordered[0].is_told):
            return [each.candidate for each in ordered]
    return []


class _Written(Struct, frozen=True):
    """A candidate, and when it was written."""

    candidate: Candidate
    date: NoteDate | None

    @property
    def coverage(self) -> float:
        return self.candidate.ranked.coverage

    @property
    def is_told(self) -> bool:
        """Whether a note says itself when it was written."""
        return self.date is not None and self.date.is_told

    def is_called(self, topic: Set[str]) -> bool:
        """Whether its note has all that is asked for in its name, as `2026-03-05 Meeting with Ann` has."""
        name = f"{self.candidate.ranked.passage.title} {file_title(self.candidate.path)}"
        return self.is_told and topic <= {*query_terms(name)}


def written_date(library: Library, candidate: Candidate) -> NoteDate | None:
    """When a passage was written, by its headings or its note."""
    return _with_dates(library, [candidate])[0].date


def _with_dates(library: Library, candidates: Sequence[Candidate]) -> list[_Written]:
    told = [day_of_headings(each.ranked.heading_path) for each in candidates]
    dates = library.dates({each.path for each, day in zip(candidates, told, strict=True) if not day})
    return [
        _Written(each, NoteDate(day, None, "name") if day else _written(dates.get(each.path)))
        for each, day in zip(candidates, told, strict=True)
    ]


def _written(dates: NoteDates | None) -> NoteDate | None:
    return dates.written if dates else None


def _candidates_of(library: Library, asked: str, scope: Scope) -> list[_Written]:
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
        shares: dict[str, float] = {}
        found = holding(library, names, ranked)
        for _, said in found:
            if said not in shares:
                shares[said] = question.share(question.held(said))
        ranked = [_meeting(each, shares[said]) for each, said in found]
    return _with_dates(library, [*map(Candidate, ranked)])


def _meeting(ranked: RankedBlock, share: float) -> RankedBlock:
    """A block that counts as meeting this share of the question, since its note does."""
    more = max(0.0, share - ranked.coverage)
    return replace(
        ranked, coverage=ranked.coverage + more, score=ranked.score + (COVERAGE_WEIGHT + FAMILY_WEIGHT) * more
    )


def _ordered(candidates: Sequence[_Written], order: Order | None) -> list[_Written]:
    """By the day they were written; those whose file alone has a date come last."""
    sign = 1 if order == "oldest" else -1

    def position(each: _Written) -> tuple[bool, int, float]:
        return not each.is_told, sign * each.date.day.toordinal() if each.date else 0, -each.candidate.score

    return sorted(candidates, key=position)


def with_names_first(library: Library, names: Sequence[str], candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those of notes that hold the names before all others."""
    held = {id(ranked) for ranked, _ in holding(library, names, [each.ranked for each in candidates])}
    return sorted(candidates, key=lambda each: bool(held) and id(each.ranked) not in held)


def newest_first(library: Library, asked: str, candidates: Sequence[Candidate], *, has_links: bool) -> list[Candidate]:
    """The same passages with their dates, and newer ones before older ones that say otherwise.

    What the question links to stays first; what it only names does not where it is outdated.
    """
    dates = library.dates({each.path for each in candidates})
    passages = [
        DatedPassage(
            path=each.path,
            title=each.ranked.passage.title,
            heading=" ".join(each.ranked.heading_path),
            text=each.ranked.block.text,
            score=each.score,
            linked=each.linked and has_links,
            date=date_of(dates.get(each.path), each.ranked.heading_path),
        )
        for each in candidates
    ]
    found = chronology(asked, passages)
    dated = [
        replace(
            each,
            date=passages[number].date,
            outdated_by=passages[found.outdated[number]].path if number in found.outdated else "",
            outdates=tuple(passages[older].path for older, newer in found.outdated.items() if newer == number),
        )
        for number, each in enumerate(candidates)
    ]
    outdated = frozenset() if has_links else {each.path for each in dated if each.outdated_by}
    ordered = (dated[number] for number in found.order)
    return [replace(each, linked=False) if each.path in outdated else each for each in ordered]


def with_useful_dates(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Without the dates that do not help to read them."""
    if are_worth_showing([each.date for each in candidates]):
        return [each if each.date and each.date.origin != "file" else replace(each, date=None) for each in candidates]
    return [each if each.outdated_by or each.outdates else replace(each, date=None) for each in candidates]
