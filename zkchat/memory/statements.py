"""Whether two facts say the same, or contradict each other. Rather too cautious than too clever. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from zkchat.model.memory import Fact
from zkchat.vault.search.terms import stem, words

_FILLERS: Final = "a an the that please remember der die das ein eine dass bitte le la les un une que el los las una"
_CONNECTOR: Final = re.compile(
    r"\s(?:is|are|was|were|ist|sind|war|heißt|lautet|est|sont|es|è|equals)\s|\s*(?:[:：]\s|=|是|は)", re.IGNORECASE
)
_DWELLING: Final = re.compile(
    r"\s(?:lives? in|live in|works? (?:at|for|in)|wohn\w* in|leb\w+ in|arbeite\w* (?:bei|für|in)|vivo en|vive en"
    r"|habite (?:à|en)|travaille (?:à|chez))\s|住在",
    re.IGNORECASE,
)
"""What somebody does in one place at a time."""
_ONE_VALUE: Final = (
    "name birthday address phone number email mail job age deadline date time day budget price colour color "
    "favourite favorite language goal city home employer boss size version editor title capital rent salary "
    "geburtstag adresse nummer alter frist datum preis farbe sprache ziel stadt größe beruf lieblingsfarbe "
    "nom anniversaire adresse âge date prix couleur langue nombre cumpleaños edad fecha precio idioma"
)
"""Words for what a thing has one of at a time."""
_SIGNS_OF_ONE_VALUE: Final = ("生日", "名字", "地址", "电话", "誕生日", "名前", "住所")
_IN_ADDITION: Final = "also too auch aussi también another sometimes manchmal 也"
_NEGATIONS: Final = "not no never isn doesn don nicht kein keine nie pas jamais nunca 不 没"


@dataclass(frozen=True)
class Placing:
    """How a new fact stands to those there are."""

    same: Fact | None = None
    contradicted: tuple[Fact, ...] = ()


def placing(text: str, facts: Iterable[Fact]) -> Placing:
    """The fact that says the same, else those that say of the same thing something else."""
    contradicted = []
    mine, my_claim = _essence(text), _claim(text)
    for fact in facts:
        if _essence(fact.text) == mine:
            return Placing(same=fact)
        if my_claim and (claim := _claim(fact.text)) and _excludes(my_claim, claim):
            contradicted.append(fact)
    return Placing(contradicted=tuple(contradicted))


@dataclass(frozen=True)
class _Claim:
    """Of what, and what."""

    subject: Sequence[str]
    value: Sequence[str]
    has_one: bool
    """Whether there can be only one value."""


def _essence(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in words(text) if word not in _set(_FILLERS))


def _claim(text: str) -> _Claim | None:
    if not (_set(_IN_ADDITION) | _set(_NEGATIONS)).isdisjoint(words(text)):
        return None
    dwelling = _DWELLING.search(text)
    found = dwelling or _CONNECTOR.search(text)
    if not found:
        return None
    subject, value = _essence(text[: found.start()]), _essence(text[found.end() :])
    if dwelling:
        subject = (*subject, *_essence(found[0]))
    if not subject or not value:
        return None
    has_one = dwelling or any(word in _stems(_ONE_VALUE) for word in subject)
    return _Claim(subject, value, has_one=bool(has_one or any(s in text[: found.start()] for s in _SIGNS_OF_ONE_VALUE)))


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
