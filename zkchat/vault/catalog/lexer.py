"""Tokens of a question about the vault: what its words mean in one language, and what means nothing there."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from zkchat.vault.dates.lexer import Phrases, Token, fold
from zkchat.vault.search.terms import UNSPACED_RUN, begins_unspaced

LINK_MARK: Final = "\ue000"
"""Stands for a link in the text."""
PERIOD_MARK: Final = "\ue001"
"""Stands for a time."""
UNKNOWN: Final = "unknown"
MAX_UNKNOWN: Final = 4
"""Tokens that are not understood at which reading ends."""
_WORD: Final = re.compile(r"[\w'’/.-]*\w")
_LITERALS: Final[Sequence[tuple[re.Pattern[str], str, Callable[[str], str]]]] = (
    (re.compile(LINK_MARK), "link", str),
    (re.compile(r"#[^\s#?!,;:\"'“”„‘’«»()\[\]{}、。？！，：；「」『』]+"), "hashtag", lambda tag: tag[1:].rstrip("./")),
    (re.compile(r"(?:[\w.-]+/)+(?=$|[\s?!,;:])"), "path", str),
    (re.compile(PERIOD_MARK), "period", str),
    (re.compile(r"\d{1,4}(?![\w.-]*\d)"), "number", str),
)
"""What is known by its form: pattern, meaning, value."""


def tokens_of(text: str, language: str, *, for_tasks: bool = False) -> list[Token]:
    """The text without its punctuation, up to what is not understood once too often: that is no question of ours.

    What is not understood next to each other is one token.
    """
    folded, phrases = fold(text), _phrases_of(language, for_tasks)
    tokens: list[Token] = []
    at = 0
    while at < len(text) and sum(token.meaning == UNKNOWN for token in tokens) < MAX_UNKNOWN:
        if text[at] == " ":
            at += 1
            continue
        known = None if _is_inside_word(text, at) else _literal(text, at)
        if known is None and not _is_inside_word(text, at):
            known = phrases.longest(folded, at, _is_inside_word)
        end = known.end if known else _end_of_unknown(text, at)
        if known:
            tokens.append(known)
        elif end:
            last = tokens[-1] if tokens else None
            is_one = last and last.meaning == UNKNOWN and not text[last.end : at].strip()
            start = tokens.pop().start if is_one else at
            tokens.append(Token(start, end, text[start:end], {UNKNOWN: ""}))
        at = end or at + 1
    return tokens


def _literal(text: str, at: int) -> Token | None:
    """A link, a tag, a folder, a date or a number."""
    for pattern, meaning, value_of in _LITERALS:
        if found := pattern.match(text, at):
            value = value_of(found[0])
            return Token(at, found.end(), value, {meaning: value})
    return None


def _end_of_unknown(text: str, at: int) -> int:
    """Where a word ends that is not understood; 0 for punctuation."""
    if not (text[at].isalnum() or text[at] in "_/#@+="):
        return 0
    word = None if begins_unspaced(text[at]) else _WORD.match(text, at)
    if not word:
        return at + 1
    unspaced = UNSPACED_RUN.search(text, at, word.end())
    return unspaced.start() if unspaced else word.end()


def _is_inside_word(text: str, at: int) -> bool:
    """Whether letters of one word stand on both sides."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if not (before.isalnum() and (after.isalnum() or after == "_")):
        return False
    return not (begins_unspaced(before) or begins_unspaced(after))


@cache
def _phrases_of(language: str, for_tasks: bool) -> Phrases:
    return Phrases(language, *(("tasks",) if for_tasks else ()), "catalog")
