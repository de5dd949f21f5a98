"""Tokens of a question about the vault: what its words mean in one language, and what means nothing there."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from zkchat.lexicon.quantities import NUMBER_WORDS
from zkchat.lexicon.task_questions import TASK_WORDS
from zkchat.lexicon.vault_questions import VAULT_WORDS
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.dates.tokens import fold
from zkchat.vault.search.terms import UNSPACED_RUN, begins_unspaced

LINK_MARK: Final = "\ue000"
"""Stands for a link in the text."""
PERIOD_MARK: Final = "\ue001"
"""Stands for a time."""
UNKNOWN: Final = "unknown"
MAX_UNKNOWN: Final = 4
"""Tokens that are not understood at which reading ends."""
_HASHTAG: Final = lazy_pattern(r"#[^\s#?!,;:\"'“”„‘’«»()\[\]{}、。？！，：；「」『』]+")
_FOLDER: Final = lazy_pattern(r"(?:[\w.-]+/)+(?=$|[\s?!,;:])")
_NUMBER: Final = lazy_pattern(r"\d{1,4}(?![\w.-]*\d)")
_WORD: Final = lazy_pattern(r"[\w'’/.-]*\w")
_LITERALS: Final[Sequence[tuple[re.Pattern[str], str, Callable[[re.Match[str]], str]]]] = (
    (lazy_pattern(LINK_MARK), "link", lambda found: found[0]),
    (_HASHTAG, "hashtag", lambda found: found[0][1:].rstrip("./")),
    (_FOLDER, "path", lambda found: found[0]),
    (lazy_pattern(PERIOD_MARK), "period", lambda found: found[0]),
    (_NUMBER, "number", lambda found: str(int(found[0]))),
)
"""What is known by its form: pattern, meaning, value."""


class Token(Struct, frozen=True, kw_only=True):
    meanings: tuple[str, ...]
    """What the words may mean; the first is the most frequent."""
    text: str
    start: int
    end: int

    @property
    def meaning(self) -> str:
        return self.meanings[0]

    def may_mean(self, meaning: str) -> bool:
        return meaning in self.meanings


def tokens_of(text: str, language: str, *, for_tasks: bool = False) -> list[Token]:
    """The text without its punctuation, up to what is not understood once too often: that is no question of ours.

    What is not understood next to each other is one token.
    """
    return _Lexer(text, _phrases_of(language, for_tasks)).run()


class _Phrases(Struct, frozen=True):
    meanings: Mapping[str, tuple[str, ...]]
    lengths: Mapping[str, Sequence[int]]
    """By the first letter, those of the phrases, the longest first."""


class _Lexer:
    def __init__(self, text: str, phrases: _Phrases) -> None:
        self._text = text
        self._folded = fold(text)
        self._phrases = phrases
        self._tokens: list[Token] = []
        self._unknown_tokens = 0

    def run(self) -> list[Token]:
        at = 0
        while at < len(self._text) and self._unknown_tokens < MAX_UNKNOWN:
            if self._text[at] == " ":
                at += 1
            elif self._is_inside_word(at):
                at = self._unknown(at)
            else:
                at = self._literal(at) or self._phrase(at) or self._unknown(at)
        return self._tokens

    def _add(self, start: int, end: int, *meanings: str, text: str | None = None) -> int:
        self._tokens.append(
            Token(meanings=meanings, text=self._text[start:end] if text is None else text, start=start, end=end)
        )
        return end

    def _literal(self, at: int) -> int:
        """A link, a tag, a folder, a date or a number; 0 for none of them."""
        for pattern, meaning, value_of in _LITERALS:
            if found := pattern.match(self._text, at):
                return self._add(*found.span(), meaning, text=value_of(found))
        return 0

    def _phrase(self, at: int) -> int:
        for length in self._phrases.lengths.get(self._folded[at], ()):
            end = at + length
            meanings = self._phrases.meanings.get(self._folded[at:end])
            if meanings and end <= len(self._text) and not self._is_inside_word(end):
                first, _, value = meanings[0].partition(":")
                return self._add(at, end, first, *meanings[1:], text=value or None)
        return 0

    def _unknown(self, at: int) -> int:
        sign = self._text[at]
        if not (sign.isalnum() or sign in "_/#@+="):
            return at + 1
        word = None if begins_unspaced(sign) else _WORD.match(self._text, at)
        end = at + 1
        if word:
            unspaced = None if word[0].isascii() else UNSPACED_RUN.search(self._text, at, word.end())
            end = unspaced.start() if unspaced else word.end()
        last = self._tokens[-1] if self._tokens else None
        if last and last.meaning == UNKNOWN and not self._text[last.end : at].strip():
            self._tokens.pop()
            return self._add(last.start, end, UNKNOWN)
        self._unknown_tokens += 1
        return self._add(at, end, UNKNOWN)

    def _is_inside_word(self, at: int) -> bool:
        """Whether letters of one word stand on both sides."""
        if not 0 < at < len(self._text):
            return False
        before, after = self._text[at - 1], self._text[at]
        if not (before.isalnum() and (after.isalnum() or after == "_")):
            return False
        return not (begins_unspaced(before) or begins_unspaced(after))


@cache
def _phrases_of(language: str, for_tasks: bool) -> _Phrases:
    meanings: dict[str, tuple[str, ...]] = {}
    words = (*(TASK_WORDS[language].items() if for_tasks else ()), *VAULT_WORDS[language].items())
    for meaning, phrases in words:
        for phrase in phrases.replace("\n", "|").split("|"):
            if key := phrase.strip():
                meanings[key] = (*meanings.get(key, ()), meaning)
    for pair in NUMBER_WORDS.get(language, "").split():
        word, value = pair.split(":")
        meanings.setdefault(fold(word), (f"number:{value}",))
    lengths: dict[str, set[int]] = {}
    for key in meanings:
        lengths.setdefault(key[0], set()).add(len(key))
    return _Phrases(meanings, {letter: sorted(found, reverse=True) for letter, found in lengths.items()})
