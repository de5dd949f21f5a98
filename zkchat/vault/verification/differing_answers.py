"""Whether two passages answer a question differently: with another number, date, name or word, or the opposite.

Precision first: both have to be about what is asked, and one of them about nothing else that the other is not about.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, get_args

from msgspec import Struct
from msgspec.structs import replace

from zkchat.lexicon.changed_states import NO_LONGER, UNSPACED_AMOUNT_ASKED, UPDATE_WORDS
from zkchat.model.evidence import Evidence
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.notes.sentences import sentences
from zkchat.vault.search.question_terms import topic_of, wants_time
from zkchat.vault.search.terms import stem, words
from zkchat.vault.verification.claims import Claim, Quantity, content_terms, parse_claim
from zkchat.vault.verification.contradiction import (
    TOLERANCE,
    ContradictionKind,
    are_close,
    coverage,
    find_contradiction,
    language_of,
    matched,
)
from zkchat.vault.verification.differing_words import asks_for_colour, colours, differ_in_one_word

# Chosen on the first half of benchmarks/retrieval/newest.json; benchmarks/retrieval/newest.py measures.
MIN_ASKED: Final = 0.6
"""The share of the question that a passage must hold, with its title and heading, to answer it."""
MIN_OWN_ASKED: Final = 0.5
"""The share that must stand in the clause itself."""
MIN_OWN_WORDS: Final = 0.75
"""The share that both clauses must hold where a plain word is what differs."""
MAX_CHARACTERS: Final = 2_000
"""Of a passage that are looked at."""
_CLAUSE: Final = lazy_pattern(r"[^.!?;:,。！？；：，、–—\n]+(?:[.:,]\d+[^.!?;:,。！？；：，、–—\n]*)*")
"""Up to the next mark; one between digits ends no clause."""

_DATE_UNITS: Final = frozenset({"year", "day of the month", "年", "日"})
_CONTRADICTIONS: Final = frozenset(get_args(ContradictionKind))


class _Answer(Struct, frozen=True):
    """What a passage says on the question, at most a clause of it."""

    claim: Claim
    context: frozenset[str]
    """The terms of its title and heading."""
    text: str


def answer_differently(question: str, one: Evidence, another: Evidence) -> bool:
    """Whether two passages say different things on a question."""
    language = language_of("\n".join((question, one.text, another.text)))
    if language is None:
        return False
    plain = [replace(each, text=_plainly(each.text, language)) for each in (one, another)]
    asked = content_terms(re.sub(UNSPACED_AMOUNT_ASKED, " ", topic_of(question)), language)
    mine, theirs = (_best(each, asked, language, wants_date=wants_time(question)) for each in plain)
    if not (mine and theirs):
        return False
    if _differ_in_words(mine, theirs, asked, language):
        return True
    if _is_about_the_same(mine, theirs, asked):
        if _differ(mine.claim, theirs.claim):
            return True
        kinds = _CONTRADICTIONS
    elif _is_about_the_same(_nameless(mine), _nameless(theirs), asked):
        kinds = frozenset({"name"})
    else:
        return False
    found = (find_contradiction(said.text, [other], question) for said, other in (plain, plain[::-1]))
    return any(each.kind in kinds for each in found if each)


def _plainly(text: str, language: str) -> str:
    """The text with "not" in the place of "no longer"."""
    pattern, plain = NO_LONGER.get(language, ("(?!)", ""))
    return re.sub(pattern, plain, text[:MAX_CHARACTERS], flags=re.IGNORECASE)


def _best(passage: Evidence, asked: frozenset[str], language: str, *, wants_date: bool) -> _Answer | None:
    """The sentence or clause that holds most of the question, the shortest of them; None where it holds too little.

    One that gives a number or date may leave a part of the question to the title: "The budget is 900 euros". Where a
    date is asked for, one that gives a date comes first.
    """
    context = content_terms(f"{passage.title}; {passage.heading}", language)
    found: list[tuple[bool, float, int, _Answer]] = []
    for text in _clauses(passage.text):
        claim = parse_claim(text, language)
        said = claim.terms | claim.units
        said |= asks_for_colour(asked, language) if colours(text, language) else frozenset()
        own, whole = coverage(asked, said), coverage(asked, said | context)
        dated = wants_date and _gives_date(claim)
        if (own >= MIN_OWN_ASKED and whole >= MIN_ASKED) or (claim.units and own and whole == 1):
            found.append((dated, own, -len(text), _Answer(claim, context, text)))
    return max(found, key=lambda each: each[:3])[3] if found else None


def _gives_date(claim: Claim) -> bool:
    return bool(claim.months or claim.weekdays or not claim.units.isdisjoint(_DATE_UNITS))


def _differ_in_words(mine: _Answer, theirs: _Answer, asked: frozenset[str], language: str) -> bool:
    """Whether they name different colours of the same, or another word in the same sentence."""
    ours, others = (colours(each.text, language) for each in (mine, theirs))
    if ours and others and ours.isdisjoint(others) and asks_for_colour(asked, language):
        sides = ((mine, theirs), (theirs, mine))
        held = asked | ours | others
        rests = [_rest(one.claim, another.claim.terms | another.context | held) for one, another in sides]
        polarities = {clause.polarity for each in (mine, theirs) for clause in each.claim.clauses}
        return not any(rests) and "denied" not in polarities
    own = (coverage(asked, each.claim.terms) for each in (mine, theirs))
    return min(own) >= MIN_OWN_WORDS and differ_in_one_word(mine.text, theirs.text, language)


def _clauses(text: str) -> Iterator[str]:
    for sentence in sentences(text):
        if not sentence.endswith(("?", "？")):
            yield sentence
            pieces = [match[0].strip() for match in _CLAUSE.finditer(sentence)]
            yield from pieces if len(pieces) > 1 else ()


def _is_about_the_same(mine: _Answer, theirs: _Answer, asked: frozenset[str]) -> bool:
    """Whether one of them says nothing beside the question that the other does not say too.

    The other, if it says more, has to repeat what is asked: "The garage costs 80 euros" under "Workshop" does not.
    """
    sides = ((mine, theirs), (theirs, mine))
    rests = [_rest(one.claim, another.claim.terms | another.context | asked) for one, another in sides]
    return not all(rests) and all(
        not rest or coverage(asked, side.claim.terms | side.claim.units) == 1
        for rest, side in zip(rests, (mine, theirs), strict=True)
    )


def _nameless(answer: _Answer) -> _Answer:
    """Without the names that it gives, which may be what differs."""
    named = frozenset(stem(word) for name in answer.claim.names for word in name.words)
    return replace(answer, claim=replace(answer.claim, terms=answer.claim.terms - named))


def _rest(claim: Claim, held: frozenset[str]) -> frozenset[str]:
    return claim.terms - matched(claim.terms, held) - _update_terms()


@cache
def _update_terms() -> frozenset[str]:
    return frozenset(stem(word) for word in words(UPDATE_WORDS))


def _differ(mine: Claim, theirs: Claim) -> bool:
    if mine.is_bounded or theirs.is_bounded:
        return False
    for ours, others in ((mine.months, theirs.months), (mine.weekdays, theirs.weekdays)):
        if ours and others and ours.isdisjoint(others):
            return True
    tolerance = TOLERANCE if mine.is_approximate or theirs.is_approximate else 0.0
    if any(_is_another(each, [*theirs.quantities], tolerance) for each in mine.quantities):
        return True
    polarities = [{clause.polarity for clause in claim.clauses if clause.terms} for claim in (mine, theirs)]
    return {"affirmed"} in polarities and {"denied"} in polarities


def _is_another(mine: Quantity, theirs: Sequence[Quantity], tolerance: float) -> bool:
    same_unit = [each for each in theirs if each.unit == mine.unit]
    return len(same_unit) == 1 and not are_close(mine, same_unit[0], tolerance)
