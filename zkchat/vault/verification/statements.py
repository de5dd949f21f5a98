"""The sentences of a text that state something, with their places: no questions, headings, greetings or listings."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from zkchat.lexicon.words import of_all, phrases
from zkchat.vault.notes.markdown import Lines, with_line_feeds
from zkchat.vault.notes.parse import frontmatter_of
from zkchat.vault.notes.sentences import sentences
from zkchat.vault.search.terms import query_words, words
from zkchat.vault.verification.tokens import listed

MAX_CHARACTERS: Final = 200_000
"""Characters of a text that are looked at."""
MAX_STATEMENTS: Final = 300
"""Statements of a text that are checked."""
_MIN_CONTENT: Final = 2
"""Words beside stop words that a statement has."""
_MIN_WORDS: Final = 4
"""Words from which on a sentence states something with one such word: "He was no hermit." """
_MAX_BEGINNING: Final = 2_000
"""Characters of a sentence by which it is seen whether it states something."""
_MAX_GREETING_WORDS: Final = 6
_NO_STATEMENT_ENDS: Final = ("?", "？", ":", "：", "؟", "…:")
_NO_PROSE: Final = ("```", "~~~", "|", "#", "<!--", "%%", "[^")
_SOURCE: Final = re.compile(r"[—–-]{1,3}\s?!?\[\[")
"""A line below a quotation that says where it is from begins so."""
_EMPHASIZED: Final = re.compile(r"(\*\*|__)[^*_]+\1:?")
"""A line that is a heading in all but name."""
_CLOSING: Final = " \t\n\"'”’»)]*_」』）"
_QUOTE_MARKS: Final = "> \t\n"
_LETTER: Final = re.compile(r"\w")
_LINE_ENDS: Final = dict.fromkeys(map(ord, "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), "\n")
"""What else ends a line."""


class Statement(NamedTuple):
    text: str
    start: int
    end: int
    line: int


class ExtractedStatements(NamedTuple):
    """The statements of a text, and whether all of it was looked at."""

    statements: tuple[Statement, ...]
    is_complete: bool


def extract_statements(text: str) -> ExtractedStatements:
    """Find the statements of a text: of one without end, those of its beginning."""
    flat = with_line_feeds(text[:MAX_CHARACTERS]).translate(_LINE_ENDS)
    found: list[Statement] = []
    for statement in _statements(flat):
        if len(found) == MAX_STATEMENTS:
            return ExtractedStatements(tuple(found), is_complete=False)
        found.append(statement)
    return ExtractedStatements(tuple(found), is_complete=len(text) <= MAX_CHARACTERS)


def _statements(flat: str) -> Iterator[Statement]:
    lines = Lines(flat)
    place = frontmatter_of(flat).end
    for sentence in sentences(flat[place:]):
        text = sentence.lstrip(_QUOTE_MARKS)
        start = flat.index(sentence, place) + len(sentence) - len(text)
        place = start + len(text)
        if _states_something(text):
            yield Statement(text, start, place, lines.at(start))


def _states_something(sentence: str) -> bool:
    text = sentence.strip()
    if text.startswith(_NO_PROSE) or _EMPHASIZED.fullmatch(text) or _SOURCE.match(text):
        return False
    bare = text.rstrip(_CLOSING)
    if bare.endswith(_NO_STATEMENT_ENDS) or not _LETTER.search(bare):
        return False
    beginning = text[:_MAX_BEGINNING]
    spoken = words(beginning)
    if len(spoken) <= _MAX_GREETING_WORDS and _is_greeting(spoken, bare):
        return False
    return _is_told(beginning)


def _is_greeting(spoken: list[str], bare: str) -> bool:
    unspaced = tuple(of_all("greetings", spaced=False).split())
    return " ".join(spoken) in _small_talk() or spoken[0] in listed("greetings") or bare.startswith(unspaced)


def _is_told(text: str) -> bool:
    """Whether there is more than stop words and words about the text itself."""
    content = {*query_words(text)}
    has_topic = any(len(word) > 2 or not word.isascii() for word in content - listed("asides"))
    return has_topic and len(content) + (len(words(text)) >= _MIN_WORDS) >= _MIN_CONTENT


@cache
def _small_talk() -> frozenset[str]:
    return frozenset(" ".join(words(phrase)) for phrase in phrases(of_all("small_talk")))
