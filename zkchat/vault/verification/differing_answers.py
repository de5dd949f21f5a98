"""Whether two passages answer a question differently: with another number, date, name or word, or the opposite.

Precision first: both have to be about what is asked, and one of them about nothing else that the other is not about.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, get_args

from msgspec import Struct
from msgspec.structs import replace

from zkchat.lexicon.words import any_of, by_code, of_all
from zkchat.model.evidence import Evidence
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
from zkchat.vault.verification.tokens import listed

# Chosen on the first half of benchmarks/retrieval/newest.json; benchmarks/retrieval/newest.py measures.
MIN_ASKED: Final = 0.6
"""The share of the question that a passage must hold, with its title and heading, to answer it."""
MIN_OWN_ASKED: Final = 0.5
"""The share that must stand in the clause itself."""
MIN_OWN_WORDS: Final = 0.75
"""The share that both clauses must hold where a plain word is what differs."""
MAX_CHARACTERS: Final = 2_000
"""Of a passage that are looked at."""
_CLAUSE: Final = re.compile(r"[^.!?;:,。！？；：，、–—\n]+(?:[.:,]\d+[^.!?;:,。！？；：，、–—\n]*)*")
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
    asked = content_terms(re.sub(any_of("amount_asked"), " ", topic_of(question)), language)
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
    pattern, plain = (by_code(key).get(language, "") for key in ("no_longer", "not_instead"))
    beginning = text[:MAX_CHARACTERS]
    return re.sub(pattern, plain, beginning, flags=re.IGNORECASE) if pattern else beginning


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
        said |= _asks_for_colour(asked, language) if _colours(text, language) else frozenset()
        own, whole = coverage(asked, said), coverage(asked, said | context)
        dated = wants_date and _gives_date(claim)
        if (own >= MIN_OWN_ASKED and whole >= MIN_ASKED) or (claim.units and own and whole == 1):
            found.append((dated, own, -len(text), _Answer(claim, context, text)))
    return max(found, key=lambda each: each[:3])[3] if found else None


def _gives_date(claim: Claim) -> bool:
    return bool(claim.months or claim.weekdays or not claim.units.isdisjoint(_DATE_UNITS))


def _differ_in_words(mine: _Answer, theirs: _Answer, asked: frozenset[str], language: str) -> bool:
    """Whether they name different colours of the same, or another word in the same sentence."""
    ours, others = (_colours(each.text, language) for each in (mine, theirs))
    if ours and others and ours.isdisjoint(others) and _asks_for_colour(asked, language):
        sides = ((mine, theirs), (theirs, mine))
        held = asked | ours | others
        rests = [_rest(one.claim, another.claim.terms | another.context | held) for one, another in sides]
        polarities = {clause.polarity for each in (mine, theirs) for clause in each.claim.clauses}
        return not any(rests) and "denied" not in polarities
    own = (coverage(asked, each.claim.terms) for each in (mine, theirs))
    return min(own) >= MIN_OWN_WORDS and _differ_in_one_word(mine.text, theirs.text, language)


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
    return claim.terms - matched(claim.terms, held) - _stems("update_words")


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


def _colours(text: str, language: str) -> frozenset[str]:
    """The terms of the colours that a text names."""
    if language in by_code("colours", spaced=False):
        return frozenset(match[0][0] for match in re.finditer(any_of("colours", spaced=False), text))
    return frozenset(stem(word) for word in words(text) if word in listed("colours"))


def _asks_for_colour(asked: frozenset[str], language: str) -> frozenset[str]:
    """The terms of a question that ask for a colour."""
    if language in by_code("colours", spaced=False):
        return asked.intersection(of_all("colour_nouns", spaced=False).split())
    return asked & _stems("colour_nouns")


def _differ_in_one_word(mine: str, theirs: str, language: str) -> bool:
    """Whether two sentences that tell a state are the same but for one word, after a preposition: "in the shed" and
    "in the cellar", not "in the shed" and "in the shed on the left"."""
    ours, others = (_skeleton(text) for text in (mine, theirs))
    if len(ours) != len(others) or not _tell_a_state(ours, language):
        return False
    places = [place for place, pair in enumerate(zip(ours, others, strict=True)) if pair[0] != pair[1]]
    if len(places) != 1 or places[0] == 0:
        return False
    place = places[0]
    return ours[place - 1] in listed("place_words", language) and _are_other_words(ours[place], others[place])


def _skeleton(text: str) -> list[str]:
    """The words of a sentence without articles and those that say when it holds."""
    left_out = listed("articles") | listed("update_words")
    return [word for word in words(text) if word not in left_out]


def _tell_a_state(spoken: Sequence[str], language: str) -> bool:
    denying = listed("negators", language)
    return not listed("state_verbs").isdisjoint(spoken) and denying.isdisjoint(spoken)


def _are_other_words(one: str, another: str) -> bool:
    """Whether they are no two forms of one word, and no numbers."""
    return one.isalpha() and another.isalpha() and min(len(one), len(another)) > 2 and one[:3] != another[:3]


@cache
def _stems(key: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(of_all(key)))
