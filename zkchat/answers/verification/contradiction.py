"""Whether an answer contradicts the passages it was given: by a number, a date, a negation or a name.

Precision first: where it is unclear what a sentence says, it contradicts nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import isclose
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from zkchat.answers.verification.claims import LANGUAGES, Claim, Clause, Quantity, content_terms, parse_claim
from zkchat.answers.verification.sentence_parser import listed
from zkchat.core import Evidence
from zkchat.index import stem, topic_of, words
from zkchat.language import any_of, by_code, of_all
from zkchat.notes import detect_language, guess_language, sentences

# Chosen on the first half of benchmarks/retrieval/contradictions.json; benchmarks/retrieval/contradictions.py measures.
MIN_COVERAGE: Final = 0.75
"""The share of the answer's terms that a sentence must hold to be about the same."""
MIN_DENIED_COVERAGE: Final = 0.85
"""The share of a denied clause's terms that the other sentence must hold."""
MIN_SHARED: Final = 1.5
"""The least weight of the terms that both hold."""
MIN_QUESTION_COVERAGE: Final = 0.6
"""The share of the question that a sentence must hold where the answer leaves out what it is about."""
TOLERANCE: Final = 0.1
"""By which a number may differ that is said to be approximate."""
MAX_SENTENCES: Final = 40
"""Sentences of an answer, and of a passage, that are compared."""
_MAX_SENTENCE_CHARS: Final = 500
_NO_STATEMENT_ENDS: Final = ("?", "？", ":", "：")
_CODE: Final = ("```", "~~~", "|")

ContradictionKind = Literal["number", "negation", "name"]


class Contradiction(Struct, frozen=True):
    kind: ContradictionKind
    said: str
    evidence: Evidence
    """The passage that says otherwise."""


class _Source(Struct, frozen=True):
    """A sentence or clause of a passage."""

    text: str
    claim: Claim
    context: frozenset[str]
    """The terms of its title and heading."""
    evidence: Evidence


def find_contradiction(
    answer: str, evidence: Sequence[Evidence], question: str = "", documents: Sequence[str] = ()
) -> Contradiction | None:
    """The first sentence of an answer that contradicts a passage, unless another passage or document supports it."""
    language = language_of("\n".join([question, answer, *(each.text for each in evidence)]))
    if language is None:
        return None
    asked = content_terms(question, language) if question else frozenset()
    given = [text for each in evidence for text in (each.text, each.title, each.heading)]
    known = frozenset(word for text in (question, *given, *documents) for word in words(text))
    supports = [parse_claim(sentence, language) for text in documents for sentence in _statements(text, 400)]
    comparison = _Comparison(language, [*_sources(evidence, language)], supports, asked, known)
    for sentence in _statements(answer):
        if found := comparison.contradiction(sentence):
            return found
    return None


def language_of(text: str) -> str | None:
    """The language of a text: if that is unclear, the one of those that can be compared whose words it holds most."""
    if detected := detect_language(text):
        return detected if detected in LANGUAGES else None
    return guess_language(text, LANGUAGES)


def _statements(text: str, most: int = MAX_SENTENCES) -> list[str]:
    """The sentences that state something: no questions, introductions, code or tables."""
    found = sentences(text[: most * _MAX_SENTENCE_CHARS])[:most]
    return [
        each
        for each in found
        if len(each) <= _MAX_SENTENCE_CHARS and not each.endswith(_NO_STATEMENT_ENDS) and not each.startswith(_CODE)
    ]


def _sources(evidence: Iterable[Evidence], language: str) -> Iterator[_Source]:
    for each in evidence:
        context = content_terms(f"{each.title}; {each.heading}", language)
        for sentence in _statements(each.text):
            yield _Source(sentence, parse_claim(sentence, language), context, each)


class _Comparison(Struct, frozen=True):
    language: str
    sources: Sequence[_Source]
    supports: Sequence[Claim]
    """What else the model was given."""
    asked: frozenset[str]
    """The terms of the question."""
    known: frozenset[str]
    """All words of the question and of what the model was given."""

    def contradiction(self, sentence: str) -> Contradiction | None:
        claim = parse_claim(sentence, self.language)
        for source in self.sources:
            kind = self._kind(claim, source)
            if kind and not (kind == "negation" and self._is_supported(claim)):
                return Contradiction(kind, sentence, source.evidence)
        return None

    def _kind(self, claim: Claim, source: _Source) -> ContradictionKind | None:
        if self._denies(claim, source):
            return "negation"
        if not self._is_about_the_same(claim, source):
            return None
        if self._differs_in_number(claim, source.claim):
            return "number"
        return "name" if self._differs_in_name(claim, source.claim) else None

    def _is_about_the_same(self, claim: Claim, source: _Source) -> bool:
        named = frozenset(word for name in claim.names for word in name.words if word not in self.known)
        terms = frozenset(term for term in claim.terms if not any(word.startswith(term) for word in named))
        held = source.claim.terms | source.context
        units = claim.units & source.claim.units
        covers = coverage(terms | units, held | units) >= MIN_COVERAGE
        return covers and self._shares_enough(terms, held, units)

    def _shares_enough(self, terms: frozenset[str], held: frozenset[str], units: frozenset[str] = frozenset()) -> bool:
        """Whether enough is shared; what the answer leaves out is in the question. Units alone tell little."""
        if _weight(terms & held) >= MIN_SHARED:
            return True
        both = terms | self.asked | units
        is_asked_for = coverage(self.asked, held | units) >= MIN_QUESTION_COVERAGE
        return is_asked_for and _weight(both & (held | units)) >= MIN_SHARED

    # Negation.

    def _denies(self, claim: Claim, source: _Source) -> bool:
        if any(clause.polarity == "unclear" for clause in claim.clauses):
            return False
        denied = [clause for clause in claim.clauses if clause.polarity == "denied"]
        return any(self._excludes(clause, source) for clause in denied) or (
            not denied and self._is_denied_by(claim, source)
        )

    def _excludes(self, denied: Clause, source: _Source) -> bool:
        """Whether a clause of the answer denies what a sentence of a passage affirms."""
        if any(clause.polarity == "denied" for clause in source.claim.clauses):
            return False
        affirmed = [clause for clause in source.claim.clauses if clause.polarity == "affirmed"]
        held = source.context.union(*(clause.terms for clause in affirmed))
        relations = frozenset[str]().union(*(clause.relations for clause in affirmed))
        return (
            bool(affirmed and denied.terms)
            and coverage(denied.terms, held) >= MIN_DENIED_COVERAGE
            and denied.relations <= relations
            and self._shares_enough(denied.terms, held)
        )

    def _is_denied_by(self, claim: Claim, source: _Source) -> bool:
        held = claim.terms | self.asked if len(claim.terms) < 2 else claim.terms
        relations = frozenset(word for clause in claim.clauses for word in clause.relations)
        return any(
            clause.polarity == "denied"
            and bool(clause.terms)
            and coverage(clause.terms, held) >= MIN_DENIED_COVERAGE
            and coverage(claim.terms, clause.terms | source.context) >= MIN_COVERAGE
            and clause.relations <= relations
            and self._shares_enough(claim.terms, clause.terms | source.context)
            for clause in source.claim.clauses
        )

    def _is_supported(self, claim: Claim) -> bool:
        """Whether some passage says the same with the same polarity."""
        denied = {clause.terms for clause in claim.clauses if clause.polarity == "denied"}
        for other in (*(source.claim for source in self.sources), *self.supports):
            is_affirmed = all(clause.polarity == "affirmed" for clause in other.clauses)
            if not denied and is_affirmed and coverage(claim.terms, other.terms) == 1:
                return True
            clauses = (clause.terms for clause in other.clauses if clause.polarity == "denied")
            if any(coverage(terms, held) == 1 for held in clauses for terms in denied):
                return True
        return False

    # Numbers and dates.

    def _differs_in_number(self, claim: Claim, other: Claim) -> bool:
        if claim.months and len(other.months) == 1 and claim.months.isdisjoint(other.months):
            return not any(claim.months & source.claim.months for source in self.sources)
        if claim.weekdays and other.weekdays and claim.weekdays.isdisjoint(other.weekdays):
            return not any(claim.weekdays & source.claim.weekdays for source in self.sources)
        if claim.is_bounded or other.is_bounded:
            return False
        tolerance = TOLERANCE if claim.is_approximate or other.is_approximate else 0.0
        return any(self._is_another(mine, claim, other, tolerance) for mine in claim.quantities)

    def _is_another(self, mine: Quantity, claim: Claim, other: Claim, tolerance: float) -> bool:
        """Whether the other has a different number of the same, and no passage has this one."""
        # What the claim begins with stands before the other number too, unless the question is about it.
        is_asked_for = claim.first in self.asked | mine.after
        theirs = [
            each
            for each in other.quantities
            if each.unit == mine.unit and (is_asked_for or claim.first not in each.after)
        ]
        if not theirs or any(f"{value:g}" in self.known for value in mine.values):
            return False
        claims = (*(source.claim for source in self.sources), *self.supports)
        everywhere = [each for claim in claims for each in claim.quantities]
        is_known = any(are_close(mine, each, tolerance) for each in everywhere)
        values = [value for each in theirs for value in each.values]
        is_between = len(theirs) > 1 and any(min(values) <= value <= max(values) for value in mine.values)
        return not is_known and not is_between

    # Names.

    def _differs_in_name(self, claim: Claim, other: Claim) -> bool:
        unknown = [name for name in claim.names if name.after and name.words.isdisjoint(self.known)]
        said = frozenset(word for name in claim.names for word in name.words)
        missing = [name for name in other.names if name.words.isdisjoint(said | self.asked)]
        if len(unknown) != 1 or len(missing) != 1 or unknown[0].after != missing[0].after:
            return False
        # They stand in the same place, and are not two spellings of one.
        pair = unknown[0].words, missing[0].words
        initials = ["".join(sorted(word[0] for word in each)) for each in pair]
        are_acronyms = any(word == initials[1 - place] for place, each in enumerate(pair) for word in each)
        return not are_acronyms and not any(one[:3] == another[:3] for one in pair[0] for another in pair[1])


def are_close(one: Quantity, another: Quantity, tolerance: float) -> bool:
    return any(
        isclose(mine, theirs, rel_tol=tolerance) or (mine.is_integer() and round(theirs) == mine and abs(theirs) > 10)
        for mine in one.values
        for theirs in another.values
    )


def coverage(terms: frozenset[str], held: frozenset[str]) -> float:
    return _weight(terms & held) / _weight(terms) if terms else 0.0


def _weight(terms: Iterable[str]) -> float:
    return sum(0.5 if len(term) == 1 else 1.0 for term in terms)  # a part of a word


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


def answer_differently(question: str, one: Evidence, another: Evidence) -> bool:
    language = language_of("\n".join((question, one.text, another.text)))
    if language is None:
        return False
    plain = [replace(each, text=_plainly(each.text, language)) for each in (one, another)]
    asked = content_terms(re.sub(any_of("amount_asked"), " ", topic_of(question)), language)
    mine, theirs = (_best(each, asked, language) for each in plain)
    if not (mine and theirs):
        return False
    is_same = _is_about_the_same(mine, theirs, asked)
    if _differ_in_words(mine, theirs, asked, language) or (is_same and _differ(mine.claim, theirs.claim)):
        return True
    if not is_same and not _is_about_the_same(_nameless(mine), _nameless(theirs), asked):
        return False
    found = (find_contradiction(said.text, [other], question) for said, other in (plain, plain[::-1]))
    return any(each and (is_same or each.kind == "name") for each in found)


def _plainly(text: str, language: str) -> str:
    """The text with "not" in the place of "no longer"."""
    pattern, plain = (by_code(key).get(language, "") for key in ("no_longer", "not_instead"))
    beginning = text[:MAX_CHARACTERS]
    return re.sub(pattern, plain, beginning, flags=re.IGNORECASE) if pattern else beginning


def _best(passage: Evidence, asked: frozenset[str], language: str) -> _Source | None:
    """The sentence or clause that holds most of the question, the shortest of them; None where it holds too little.

    One that gives a number or date may leave a part of the question to the title: "The budget is 900 euros".
    """
    context = content_terms(f"{passage.title}; {passage.heading}", language)
    found: list[tuple[float, int, _Source]] = []
    for text in _clauses(passage.text):
        claim = parse_claim(text, language)
        said = claim.terms | claim.units
        said |= _asks_for_colour(asked, language) if _colours(text, language) else frozenset()
        own, whole = coverage(asked, said), coverage(asked, said | context)
        if (own >= MIN_OWN_ASKED and whole >= MIN_ASKED) or (claim.units and own and whole == 1):
            found.append((own, -len(text), _Source(text, claim, context, passage)))
    return max(found, key=lambda each: each[:2])[2] if found else None


def _differ_in_words(mine: _Source, theirs: _Source, asked: frozenset[str], language: str) -> bool:
    """Whether they name different colours of the same, or another word in the same sentence."""
    ours, others = (_colours(each.text, language) for each in (mine, theirs))
    if ours and others and ours.isdisjoint(others) and _asks_for_colour(asked, language):
        polarities = {clause.polarity for each in (mine, theirs) for clause in each.claim.clauses}
        return not any(_rests(mine, theirs, asked | ours | others)) and "denied" not in polarities
    own = (coverage(asked, each.claim.terms) for each in (mine, theirs))
    return min(own) >= MIN_OWN_WORDS and _differ_in_one_word(mine.text, theirs.text, language)


def _clauses(text: str) -> Iterator[str]:
    for sentence in sentences(text):
        if not sentence.endswith(("?", "？")):
            yield sentence
            pieces = [match[0].strip() for match in _CLAUSE.finditer(sentence)]
            yield from pieces if len(pieces) > 1 else ()


def _is_about_the_same(mine: _Source, theirs: _Source, asked: frozenset[str]) -> bool:
    """Whether one of them says nothing beside the question that the other does not say too.

    The other, if it says more, has to repeat what is asked: "The garage costs 80 euros" under "Workshop" does not.
    """
    rests = _rests(mine, theirs, asked)
    return not all(rests) and all(
        not rest or coverage(asked, side.claim.terms | side.claim.units) == 1
        for rest, side in zip(rests, (mine, theirs), strict=True)
    )


def _nameless(answer: _Source) -> _Source:
    """Without the names that it gives, which may be what differs."""
    named = frozenset(stem(word) for name in answer.claim.names for word in name.words)
    return replace(answer, claim=replace(answer.claim, terms=answer.claim.terms - named))


def _rests(mine: _Source, theirs: _Source, asked: frozenset[str]) -> list[frozenset[str]]:
    """What each of the two says beside the question that the other does not."""
    held = asked | _stems("update_words")
    sides = ((mine, theirs), (theirs, mine))
    return [one.claim.terms - another.claim.terms - another.context - held for one, another in sides]


def _differ(mine: Claim, theirs: Claim) -> bool:
    if mine.is_bounded or theirs.is_bounded:
        return False
    for ours, others in ((mine.months, theirs.months), (mine.weekdays, theirs.weekdays)):
        if ours and others and ours.isdisjoint(others):
            return True
    tolerance = TOLERANCE if mine.is_approximate or theirs.is_approximate else 0.0
    for each in mine.quantities:
        same = [other for other in theirs.quantities if other.unit == each.unit]
        if len(same) == 1 and not are_close(each, same[0], tolerance):
            return True
    polarities = [{clause.polarity for clause in claim.clauses if clause.terms} for claim in (mine, theirs)]
    return {"affirmed"} in polarities and {"denied"} in polarities


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
    left_out = listed("articles") | listed("update_words")
    ours, others = ([word for word in words(text) if word not in left_out] for text in (mine, theirs))
    tells_a_state = not listed("state_verbs").isdisjoint(ours) and listed("negators", language).isdisjoint(ours)
    if len(ours) != len(others) or not tells_a_state:
        return False
    places = [place for place, pair in enumerate(zip(ours, others, strict=True)) if pair[0] != pair[1]]
    if len(places) != 1 or places[0] == 0:
        return False
    before, one, another = ours[places[0] - 1], ours[places[0]], others[places[0]]
    are_words = one.isalpha() and another.isalpha() and min(len(one), len(another)) > 2
    return before in listed("place_words", language) and are_words and one[:3] != another[:3]


@cache
def _stems(key: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(of_all(key)))
