"""What must stay on this machine: whether a text that is to leave it holds a passage or a name of a local note."""

from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import unquote_plus

from msgspec import Struct

from zkchat.chat.privacy import ConversationPrivacy, Elsewhere
from zkchat.errors import VaultError
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.library import GuardedLibrary, Library

SENT_WORDS: Final = 5
"""Words in a row that are no coincidence in the arguments of a call, which are short."""
RECEIVED_WORDS: Final = 12
"""Words in a row that are none in what a server answers, which may be long."""
MAX_READ: Final = 200
"""Local notes that are compared; of more, those that a search for the text finds."""
_MIN_NAME: Final = 4
"""Letters of a name: shorter ones stand everywhere."""
_MIN_CODE: Final = 6
"""Characters of a code or a password that tells by itself where it is from."""
_MAX_QUERY: Final = 2_000
_WORD: Final = lazy_pattern(r"\w+")
_RUN: Final = lazy_pattern(rf"[^\s\"'<>,;()\[\]{{}}`|]{{{_MIN_CODE},}}")
_DIGIT: Final = lazy_pattern(r"\d")
_DAY: Final = lazy_pattern(r"\d{4}-\d\d-\d\d")


class ConversationLocalTexts(Struct, frozen=True, kw_only=True):
    """Implements `tools.server_approval.LocalTexts` for one conversation."""

    privacy: ConversationPrivacy
    library: GuardedLibrary

    def was_disclosed(self) -> bool:
        return self.privacy.keeps_local()

    def are_withheld(self) -> bool:
        return self.privacy.withholds()

    def are_sent_in(self, text: str) -> bool:
        """Compares words, not meanings: what is translated, or encoded otherwise than in a URL, is not found."""
        whole, hidden = self.library.whole, self._hidden()
        sought = _Sought(f"{text}\n{unquote_plus(text)}", SENT_WORDS)
        if any(sought.names(name) for path in hidden for name in (path, *whole.names(path))):
            return True
        return any(sought.shares(note) or sought.shares_code(note) for note in _texts_of(whole, hidden, text))

    def are_received_in(self, text: str) -> bool:
        whole, hidden = self.library.whole, self._hidden()
        sought = _Sought(text, RECEIVED_WORDS)
        return any(map(sought.shares, _texts_of(whole, hidden, text)))

    def _hidden(self) -> frozenset[str]:
        return self.library.whole.guarded_for(Elsewhere()).hidden()


def _texts_of(whole: Library, hidden: frozenset[str], text: str) -> Iterator[str]:
    paths: Iterable[str] = sorted(hidden) if text.strip() else ()
    if len(hidden) > MAX_READ:
        found = whole.search(text[:_MAX_QUERY], limit=MAX_READ, within=hidden, words_only=True)
        paths = dict.fromkeys(passage.path for passage in found)
    for path in paths:
        try:
            yield whole.read(path)
        except VaultError:
            continue


class _Sought:
    """A text, to be compared with many."""

    def __init__(self, text: str, passage_words: int) -> None:
        words = _words(text)
        self._line = f" {' '.join(words)} "
        self._length = passage_words
        self._passages = _passages(words, passage_words)
        self._codes = {*_codes(text)}

    def names(self, name: str) -> bool:
        words = " ".join(_words(name))
        return len(words) >= _MIN_NAME and f" {words} " in self._line

    def shares(self, other: str) -> bool:
        return bool(self._passages) and not self._passages.isdisjoint(_passages(_words(other), self._length))

    def shares_code(self, other: str) -> bool:
        return bool(self._codes) and not self._codes.isdisjoint(_codes(other))


def _codes(text: str) -> Iterator[str]:
    """What may be a code or a password: it holds a digit, and is not just a day."""
    for found in _RUN.finditer(text):
        if _DIGIT.search(found[0]) and not _DAY.fullmatch(found[0]):
            yield found[0].casefold()


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _passages(words: list[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}
