"""Whether two facts say the same or contradict each other; in doubt, neither. Pure."""

from collections.abc import Iterable, Sequence
from functools import cache

from msgspec import Struct

from zkchat.lexicon.claims import (
    ADDITIONS,
    FACT_STOP_WORDS,
    LINKING_VERB,
    NEGATIONS,
    ONE_PLACE_VERB,
    SINGLE_VALUED,
    UNSPACED_SINGLE_VALUED,
)
from zkchat.model.memory import Fact
from zkchat.vault.search.terms import stem, words


class FactComparison(Struct, frozen=True):
    """How a new fact relates to the known ones."""

    same: Fact | None = None
    contradicted: tuple[Fact, ...] = ()


def compare_fact(text: str, facts: Iterable[Fact]) -> FactComparison:
    """The known fact that says the same, else those that it contradicts."""
    contradicted = []
    mine, my_claim = _essence(text), _claim(text)
    for fact in facts:
        if _essence(fact.text) == mine:
            return FactComparison(same=fact)
        if my_claim and (claim := _claim(fact.text)) and _excludes(my_claim, claim):
            contradicted.append(fact)
    return FactComparison(contradicted=tuple(contradicted))


class _Claim(Struct, frozen=True):
    """Of what, and what."""

    subject: Sequence[str]
    value: Sequence[str]
    has_one: bool
    """Whether there can be only one value."""


def _essence(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in words(text) if word not in _set(FACT_STOP_WORDS))


def _claim(text: str) -> _Claim | None:
    if not (_set(ADDITIONS) | _set(NEGATIONS)).isdisjoint(words(text)):
        return None
    dwelling = ONE_PLACE_VERB.search(text)
    found = dwelling or LINKING_VERB.search(text)
    if not found:
        return None
    subject, value = _essence(text[: found.start()]), _essence(text[found.end() :])
    if dwelling:
        subject = (*subject, *_essence(found[0]))
    if not subject or not value:
        return None
    has_one = dwelling or any(word in _stems(SINGLE_VALUED) for word in subject)
    return _Claim(
        subject, value, has_one=bool(has_one or any(s in text[: found.start()] for s in UNSPACED_SINGLE_VALUED))
    )


def _excludes(new: _Claim, old: _Claim) -> bool:
    if new.subject != old.subject or new.value == old.value:
        return False
    return new.has_one or (_is_quantity(new.value) and _is_quantity(old.value))


@cache
def _set(listed: str) -> frozenset[str]:
    return frozenset(words(listed))


@cache
def _stems(listed: str) -> frozenset[str]:
    return frozenset(map(stem, words(listed)))


def _is_quantity(value: Sequence[str]) -> bool:
    return any(word.isdigit() for word in value)
