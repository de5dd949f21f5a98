"""Whether two tokens are the same: a word or another form of it, a number however it is written."""

from collections.abc import Iterable
from typing import Final

from zkchat.vault.verification.sentence_parser import beginning
from zkchat.vault.verification.tokens import Token

_MIN_PREFIX: Final = 4
_MIN_PREFIX_SHARE: Final = 0.6
_MAX_ENDING: Final = 4
"""Letters after the beginning that two forms of a word share."""


def canonical_names(mine: Iterable[Token], theirs: Iterable[Token]) -> list[str]:
    """For each token of a statement the name of the token that it is the same as, else its own."""
    by_beginning: dict[str, list[Token]] = {}
    for token in theirs:
        by_beginning.setdefault(beginning(token), []).append(token)
    found: list[str] = []
    for token in mine:
        alike = by_beginning.get(beginning(token), ())
        same = [name_of(each) for each in alike if is_same(token, each)]
        found.append(name_of(token) if not same or name_of(token) in same else same[0])
    return found


def name_of(token: Token) -> str:
    """What tells tokens apart."""
    return f"{token.kind[0]}{token.key}"


def is_same(token: Token, other: Token) -> bool:
    """Whether two tokens mean the same, as far as they can be told."""
    if token.kind != other.kind:
        return False
    if token.kind == "number":
        return token.key == other.key or not token.values.isdisjoint(other.values)
    return token.key == other.key or (token.kind == "word" and _are_forms(token, other))


def _are_forms(token: Token, other: Token) -> bool:
    """Whether two words are forms of one, as far as their beginnings tell; names have to be the same."""
    one, another = token.word, other.word
    if one.isascii() and (token.is_capitalised or other.is_capitalised):
        return False
    shared = next((place for place, pair in enumerate(zip(one, another, strict=False)) if pair[0] != pair[1]), None)
    prefix = min(len(one), len(another)) if shared is None else shared
    longer = max(len(one), len(another))
    return prefix >= _MIN_PREFIX and prefix >= _MIN_PREFIX_SHARE * longer and longer - prefix <= _MAX_ENDING
