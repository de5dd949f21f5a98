"""Names of notes that stand in a text without being links: which notes they mean, and where they are."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from math import exp
from typing import Final, NamedTuple

from zkchat.core import CatalogRow, file_title, lazy_pattern
from zkchat.index.library import Library
from zkchat.index.search.terms import UNSPACED_SCRIPTS, stem
from zkchat.index.search.terms import words as terms_words
from zkchat.language import of_all
from zkchat.notes import blank, name_key, running_text

MAX_SHARE: Final = 0.004
"""Of the sections of a vault that may hold a word which is a name; chosen by `benchmarks.links.mentions`."""
_MIN_SECTIONS: Final = 15
"""Sections that hold a word before it counts as common, however small the vault is."""


def common_names(names: Iterable[str], library: Library, max_share: float = MAX_SHARE) -> set[str]:
    """Those that are ordinary words, by lists of words, and by how often the vault itself has a word."""
    single, common = {}, set()
    for name in names:
        found = name.split()
        if all(word in _listed() for word in found):
            common.add(name)
        elif len(found) == 1 and len(terms_words(name)) == 1:
            single[name] = stem(terms_words(name)[0])
    # How many sections contain a term tells its inverse document frequency.
    sections = library.counts().sections
    rarities = {term: exp(idf) for term, idf in library.idf(set(single.values())).items()}
    counts = {term: (sections + 1) / rarity - 0.5 for term, rarity in rarities.items()}
    limit = max(_MIN_SECTIONS, max_share * sections)
    return common | {name for name, term in single.items() if counts.get(term, 0) > limit}


@cache
def _listed() -> frozenset[str]:
    listed = of_all("common_titles") + of_all("time_words", spaced=True) + of_all("stop_words")
    return frozenset(name_key(word) for word in listed.split())


_KOREAN: Final = "\uac00-\ud7af"
_KANA: Final = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d"
_KATAKANA: Final = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9d"
_SOUTHEAST_ASIAN: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_MARKS: Final = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff"
_WORD: Final = lazy_pattern(rf"[{UNSPACED_SCRIPTS}]|(?:(?![{UNSPACED_SCRIPTS}])[^\W_]|[{_MARKS}])+")
"""A word, or one letter of a script without spaces."""
_SIMPLE_WORD: Final = lazy_pattern(r"[^\W_]+")
_ASCII_WORD: Final = lazy_pattern(r"[a-z0-9]+")
_NOT_SIMPLE: Final = lazy_pattern(f"[{_MARKS}{UNSPACED_SCRIPTS}]")
_ASCII_WORDS: Final = bytes(
    code if code > 127 else ord(chr(code).lower() if chr(code).isalnum() else " ") for code in range(256)
)
_UNSPACED: Final = lazy_pattern(f"[{UNSPACED_SCRIPTS}]")
_ALL_KANA: Final = lazy_pattern(f"[{_KANA}]+")
_IS_KATAKANA: Final = lazy_pattern(f"[{_KATAKANA}]")
_IS_KOREAN: Final = lazy_pattern(f"[{_KOREAN}]")
_ALL_SOUTHEAST_ASIAN: Final = lazy_pattern(f"[{_SOUTHEAST_ASIAN}]+")
_GLUE_BEFORE: Final = frozenset("-–'’.@/\\")
"""Between two letters these make one word, path or address of them; after a name an apostrophe does not."""
_GLUE_AFTER: Final = frozenset("-–.@/\\")
_NEVER_BEFORE: Final = frozenset("!#@$\\=&~^[<{/")
_NEVER_AFTER: Final = frozenset("@\\=~]>}")
_ELISION: Final = lazy_pattern(r"(?<!\w)(?:[lcdjmnst]|qu|un|all|dall|dell|nell|sull)['’]\Z", re.IGNORECASE)
"""An article or pronoun of French, Italian or Catalan that has lost its vowel."""
_EMPHASIS: Final = frozenset("_*")
_MAX_MARKS: Final = 8
_MIN_DIGITS: Final = 8
"""Of a name that is nothing but a number: a date or an id, not a quantity."""
_NO_PROSE: Final = (
    ("#", re.compile(r"^[ \t>]*(?:[-*+] +)?#{1,6}[ \t][^\n]*|(?<!\S)#[^\s\0#]+", re.MULTILINE)),
    # what a reference means, the kind of a callout, a hyperlink that is written wrongly, a link that does not end
    (
        "[",
        re.compile(
            r"^ {0,3}\[[^\]\n]+\]:[^\n]*|^[ \t>]*\[![^\]\n]*\][+-]?|\[[^\[\]\n]*\]\([^()\n]*\)|\[\[[^\n]*",
            re.MULTILINE,
        ),
    ),
    ("{{", re.compile(r"\{\{[^\n]{0,200}?\}\}")),  # what templates fill in
    ("<%", re.compile(r"<%[^\n]{0,200}?%>")),
    ("://", re.compile(r"(?<![a-zA-Z0-9])[a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^\s\0]+")),
    ("www.", re.compile(r"\bwww\.[^\s\0]+")),
    ("@", re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+\.[\w.-]+")),
    ("::", re.compile(r"^[^\n:\0]{1,60}::|\[[^\[\]\n:]{1,60}::", re.MULTILINE)),  # the key of an inline field
)
"""Where a link would be wrong, each with what such a place contains."""
_ANCHOR: Final = lazy_pattern(r"<a\b[^\n]{0,500}?</a>", re.IGNORECASE)


class Mention(NamedTuple):
    start: int
    end: int
    path: str
    """Of the note that it names."""
    name: str
    """As that note is called."""
    is_common: bool = False
    """Whether it is a word that is more often used otherwise."""


class _Name(NamedTuple):
    key: str
    lead: int
    """Characters before its first word."""
    trail: int
    paths: tuple[str, ...]
    name: str
    is_exact: bool
    """Whether only this spelling is the name: `IT`, not `it`."""
    is_common: bool


class NoteNames:
    """The names of all notes, to be looked for in texts in time proportional to their length."""

    def __init__(self, notes: Iterable[CatalogRow], common: Callable[[Iterable[str]], set[str]] | None = None) -> None:
        """`common` says which keys of names are ordinary words."""
        paths: dict[str, list[str]] = {}
        spelled: dict[str, str] = {}
        for note in notes:
            for name in dict.fromkeys((file_title(note.path), note.title, *note.aliases)):
                key = " ".join(name_key(name).split())
                if key and note.path not in paths.setdefault(key, []):
                    paths[key].append(note.path)
                    spelled.setdefault(key, " ".join(name.split()))
        ordinary = common(paths) if common else set()
        self._names: dict[tuple[str, ...], list[_Name]] = {}
        for key, meant in paths.items():
            matches = [*_words_in(key)]
            words = tuple(_key_of(match[0]) for match in matches)
            if not words or not _is_distinct(spelled[key], words):
                continue
            first, last = matches[0].start(), matches[-1].end()
            is_exact = _is_acronym(spelled[key])
            known = _Name(key, first, len(key) - last, tuple(meant), spelled[key], is_exact, key in ordinary)
            self._names.setdefault(words, []).append(known)
        for names in self._names.values():
            names.sort(key=lambda name: -len(name.key))
        uses = Counter(word for words in self._names for word in words)
        self._by_rarest_word: dict[str, list[tuple[str, ...]]] = {}
        for words in self._names:
            self._by_rarest_word.setdefault(min(words, key=lambda word: (uses[word], -len(word))), []).append(words)

    def find(self, text: str, source: str) -> list[Mention]:
        """The mentions in a note's text, in order: of two that overlap the longer one, none of the note itself.

        A name that several notes have is none, and nothing inside of it is one either.
        """
        if not self._lengths_in(text, source):
            return []
        prose = prose_for_links(text)
        if not (lengths := self._lengths_in(prose, source)):
            return []
        folded = prose.casefold()
        if len(folded) == len(prose) and unicodedata.is_normalized("NFC", folded):
            words = [(match[0], *match.span()) for match in _words_in(folded)]
        else:
            words = [(_key_of(match[0]), *match.span()) for match in _words_in(prose)]
        found: list[Mention] = []
        number = 0
        while number < len(words):
            counts = lengths.get(words[number][0])
            match = self._match(prose, words, number, counts) if counts else None
            if match is None:
                number += 1
                continue
            name, start, end, count = match
            number += count
            if len(name.paths) == 1 and name.paths[0] != source:
                found.append(Mention(start, end, name.paths[0], name.name, name.is_common))
        return found

    def _lengths_in(self, text: str, source: str) -> dict[str, list[int]]:
        """By first word, how many words the names have whose words all occur in a text, the most first.

        Nothing where these are names of the note itself only.
        """
        present = _word_set(text)
        lengths: dict[str, set[int]] = {}
        has_others = False
        for word in present & self._by_rarest_word.keys():
            for words in self._by_rarest_word[word]:
                if present.issuperset(words):
                    lengths.setdefault(words[0], set()).add(len(words))
                    has_others = has_others or any(name.paths != (source,) for name in self._names[words])
        if not has_others:
            return {}
        return {first: sorted(counts, reverse=True) for first, counts in lengths.items()}

    def _match(
        self, prose: str, words: Sequence[tuple[str, int, int]], number: int, counts: Iterable[int]
    ) -> tuple[_Name, int, int, int] | None:
        """The longest name that begins with this word, where it stands, and how many words it has."""
        for count in counts:
            these = words[number : number + count]
            for name in self._names.get(tuple([word for word, _, _ in these]), ()):
                start, end = these[0][1] - name.lead, these[-1][2] + name.trail
                written = prose[max(start, 0) : end]
                if " ".join(name_key(written).split()) != name.key or "\n" in written:
                    continue
                is_spelled = start >= 0 and (not name.is_exact or written == name.name)
                if is_spelled and _begins(prose, start) and _ends(prose, end):
                    return name, start, end, count
        return None


def named_in(texts: Iterable[str], notes: Iterable[CatalogRow]) -> list[CatalogRow]:
    """Those of the notes that may be named in one of the texts, by the words of their names.

    For a few texts of a large vault: names that cannot be in them need not be prepared.
    """
    present = {word for text in texts for word in _word_set(text)}

    def may_occur(name: str) -> bool:
        return not name.isascii() or present.issuperset(_ASCII_WORD.findall(name.lower()))

    return [note for note in notes if any(map(may_occur, (file_title(note.path), note.title, *note.aliases)))]


def prose_for_links(text: str) -> str:
    """The text of a note as far as a link may be put there; all else is blanked out, offsets are preserved.

    Headings, comments, tags, addresses, keys of inline fields and labels of what is a link already are left out.
    """
    rest = running_text(text)
    if "</a" in text:
        rest = blank(rest, [match.span() for match in _ANCHOR.finditer(text)])
    for mark, pattern in _NO_PROSE:
        if mark in rest:
            rest = blank(rest, [match.span() for match in pattern.finditer(rest)])
    return rest


def _word_set(text: str) -> set[str]:
    """The words of a text. Most are found as bytes, which takes a fraction of the time."""
    pieces = {*text.encode(errors="replace").translate(_ASCII_WORDS).decode().split()}
    if text.isascii():
        return pieces
    odd = {piece for piece in pieces if not piece.isascii()}
    return (pieces - odd) | {_key_of(word) for piece in odd for word in _WORD.findall(piece)}


def _words_in(prose: str) -> Iterator[re.Match[str]]:
    is_simple = prose.isascii() or not _NOT_SIMPLE.search(prose)
    return (_SIMPLE_WORD if is_simple else _WORD).finditer(prose)


def _key_of(word: str) -> str:
    return word.lower() if word.isascii() else name_key(word)


def _is_acronym(name: str) -> bool:
    """Whether small letters would make another word of it."""
    return len(name) <= 5 and name.isupper() and name.isalpha()


def _is_distinct(name: str, words: Sequence[str]) -> bool:
    """Whether a name is long enough to be told from the text around it."""
    letters = "".join(words)
    if letters.isdecimal():
        return len(letters) >= _MIN_DIGITS
    if _ALL_KANA.fullmatch(letters):
        return len(letters) >= 3
    if _ALL_SOUTHEAST_ASIAN.fullmatch(letters):
        return len(letters) >= 4
    if _UNSPACED.match(letters) or len(words) > 1:
        return len(letters) >= 2
    return len(name) >= 3 or (len(name) == 2 and _is_acronym(name))


def _begins(prose: str, start: int) -> bool:
    before, first = prose[start - 1 : start], prose[start]
    if _UNSPACED.match(first):
        beside = _IS_KATAKANA.match(first) and _IS_KATAKANA.match(before)
        glued = _IS_KOREAN.match(first) and _IS_KOREAN.match(before)
        return not (beside or glued or before in _NEVER_BEFORE) or not before
    if before in _EMPHASIS:
        outside = prose[max(0, start - _MAX_MARKS) : start].rstrip("_*")[-1:] if before == "_" else ""
        return not _is_letter(outside)
    if before and before in _GLUE_BEFORE and _is_letter(prose[start - 2 : start - 1]):
        return bool(_ELISION.search(prose[max(0, start - 8) : start]))
    return not before or not (_is_letter(before) or before in _NEVER_BEFORE)


def _ends(prose: str, end: int) -> bool:
    after, last = prose[end : end + 1], prose[end - 1]
    if not after:
        return True
    if unicodedata.combining(after) or after in _NEVER_AFTER or prose.startswith("::", end):
        return False
    if _UNSPACED.match(last):
        return not (_IS_KATAKANA.match(last) and _IS_KATAKANA.match(after)) and unicodedata.category(after)[0] != "M"
    if after == "_":
        return not _is_letter(prose[end : end + _MAX_MARKS].lstrip("_")[:1])
    if after in _GLUE_AFTER and _is_letter(prose[end + 1 : end + 2]):
        return False
    return not _is_letter(after)


def _is_letter(character: str) -> bool:
    """Whether a character makes a longer word of a word beside it. Scripts without spaces do not."""
    return (
        bool(character)
        and (character.isalnum() or bool(unicodedata.combining(character)))
        and not (_UNSPACED.match(character))
    )
