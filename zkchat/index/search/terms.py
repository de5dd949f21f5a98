"""The tokenizer of search, and variants of terms."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from math import ceil, log
from threading import Lock
from typing import TYPE_CHECKING

from zkchat.core import lazy_pattern
from zkchat.language import STOP_WORDS

if TYPE_CHECKING:
    import Stemmer


UNSPACED_SCRIPTS = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d"  # Chinese, Japanese
    "\uac00-\ud7af"  # Korean has spaces, but glues particles to its words
    "\U00020000-\U0003ffff"
)
"""As a part of a regular expression: the letters of languages that put no spaces between words."""
_ASCII_WORD = lazy_pattern(r"\w+")
_WORD = lazy_pattern(rf"[\w\u0900-\u0dff{UNSPACED_SCRIPTS}]+")
_UNSPACED_LETTER = lazy_pattern(f"[{UNSPACED_SCRIPTS}]")
UNSPACED_RUN = lazy_pattern(f"([{UNSPACED_SCRIPTS}]+)")
"""Letters of languages without spaces. To compile a class of so many letters takes milliseconds: use this one."""
_POINTS = lazy_pattern("[\u0307\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u0640\u064b-\u065f\u0670]")
"""Hebrew and Arabic vowel points, which are rarely written, and the dot that lower-casing a Turkish İ leaves over."""
_ACCENTED = lazy_pattern("[\u00c0-\u024f\u1e00-\u1eff]")
"""Latin letters that many people type without their accents."""

MAX_QUERY_CHARACTERS = 20_000
"""Characters of a question whose words are looked for."""
_MAX_WORD_LETTERS = 64
"""Letters of a word that are looked at; what is longer is data, not language."""

_SCRIPTS = (
    ("\u024f", "english"),  # Latin: English rules do no harm to its other languages, and help some
    ("\u0370", ""),
    ("\u03ff", "greek"),
    ("\u052f", "russian"),
    ("\u058f", "armenian"),
    ("\u05ff", ""),
    ("\u06ff", "arabic"),
    ("\u08ff", ""),
    ("\u097f", "hindi"),
    ("\u0b7f", ""),
    ("\u0bff", "tamil"),
)
"""The last letter of each script, in order, and the rules by which its words are stemmed."""


_ASCII_WORDS = {code: chr(code).lower() if chr(code).isalnum() or code == ord("_") else " " for code in range(128)}


def words(text: str) -> list[str]:
    """The words of a text, in order, in lower case. Runs without spaces give each letter and each pair of letters."""
    if text.isascii():
        return text.translate(_ASCII_WORDS).split()
    lowered = _lowered(text)
    found = _WORD.findall(lowered)
    if not has_unspaced(lowered):
        return found
    runs = (run for each in found for run in _script_runs(each))
    return [word for run in runs for word in ([*run, *_pairs(run)] if begins_unspaced(run) else [run])]


END = b"\xff"
"""No byte of any text."""
_PIECES = bytes(code if code > 127 else ord(_ASCII_WORDS[code]) for code in range(256))


def pieces(texts: Sequence[str]) -> bytes:
    """What stands between spaces and ASCII punctuation, now between spaces alone, with `END` after each text.

    The words of the pieces are those of the texts, and most pieces are one word.
    """
    joined = b" \xff ".join([text.encode(errors="replace") for text in texts])
    return (joined + b" \xff").translate(_PIECES) if texts else b""


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    word = word[:_MAX_WORD_LETTERS]
    if len(word) < 4 or _NO_LANGUAGE.search(word):
        return word
    language = "english" if word.isascii() else next((name for last, name in _SCRIPTS if word[0] <= last), "")
    with _STEMMING:
        return _stemmer(language).stemWord(word) if language else word


def stems(listed: Sequence[str]) -> list[str]:
    """The terms that words count as. Many at once are stemmed in less time than one by one."""
    english = [word for word in listed if 3 < len(word) <= _MAX_WORD_LETTERS and word.isascii() and word.isalpha()]
    with _STEMMING:
        known = dict(zip(english, _stemmer("english").stemWords(english), strict=True))
    return [known.get(word) or stem(word) for word in listed]


def terms(text: str) -> list[str]:
    return [*map(stem, words(text))]


def query_words(question: str) -> list[str]:
    """The words to look for: without stop words, unless there is nothing else, and without letters that pairs cover.

    Of a question without end, such as a file that was piped in, only the beginning is looked at.
    """
    question = question[:MAX_QUERY_CHARACTERS]
    if question.isascii():
        return _content(words(question))
    content = _content(_WORD.findall(_lowered(question)))
    runs = (run for each in content for run in _script_runs(each))
    return [word for run in runs for word in (_pairs(run) or [run] if begins_unspaced(run) else [run])]


def are_all_queried(words: Sequence[str]) -> bool:
    """Whether `query_words` leaves out none of these words, whatever others they stand among."""
    return _ANY_STOP_WORD.isdisjoint(words) and not any(map(begins_unspaced, words))


def query_terms(question: str) -> list[str]:
    return [*map(stem, query_words(question))]


def is_english(question: str) -> bool:
    """Whether nothing speaks against it: no letter that English does not have, and not more stop words of another."""
    if any(not letter.isascii() and letter.isalpha() for letter in question):
        return False
    found = words(question)
    counts = [sum(word in listed for word in found) for listed in _STOP_WORDS.values()]
    return max(counts) < 2 or max(counts) == sum(word in _STOP_WORDS["english"] for word in found)


def idf(documents: int, containing: int) -> float:
    """The inverse document frequency of a term as BM25 defines it: its weight, given how many documents contain it."""
    return log(1 + (documents - containing + 0.5) / (containing + 0.5))


def count_words(text: str) -> int:
    """The words of a text as a reader would count them: where there are no spaces, two letters are about one."""
    return sum((len(run) + 1) // 2 if begins_unspaced(run) else 1 for run in written_words(text))


def written_words(text: str) -> list[str]:
    """The words of a text as they are written; letters of languages without spaces stand apart from others."""
    if text.isascii():
        return _ASCII_WORD.findall(text)
    return [run for word in _WORD.findall(text) for run in _script_runs(word)]


def _script_runs(word: str) -> list[str]:
    """A word in parts: letters of languages without spaces, and others."""
    return [run for run in UNSPACED_RUN.split(word) if run]


def term_spans(text: str) -> Iterator[tuple[int, int, str]]:
    word_pattern = _ASCII_WORD if text.isascii() else _WORD
    for match in word_pattern.finditer(text):
        if match[0].isascii():
            yield *match.span(), stem(match[0].lower())
            continue
        end_of_run = match.start()
        for run in _script_runs(match[0]):
            start, end_of_run = end_of_run, end_of_run + len(run)
            if begins_unspaced(run):
                for place, letter in enumerate(run, start=start):
                    end = min(place + 2, end_of_run)
                    yield place, place + 1, letter
                    yield place, end, text[place:end]
            else:
                yield from ((start, end_of_run, term) for term in terms(run))


def phrase_text(text: str) -> str:
    """The words of a text as written, between single spaces: a phrase stands in it if its spelling is part of this."""
    if text.isascii():
        return " ".join(["", *_ASCII_WORD.findall(text.lower()), ""])
    lowered = _lowered(text)
    apart = _UNSPACED_LETTER.sub(r" \g<0> ", lowered) if has_unspaced(lowered) else lowered
    return " ".join(["", *_WORD.findall(apart), ""])


def begins_unspaced(text: str) -> bool:
    return not text.isascii() and UNSPACED_RUN.match(text) is not None


def has_unspaced(text: str) -> bool:
    return not text.isascii() and UNSPACED_RUN.search(text) is not None


def _lowered(text: str) -> str:
    lowered = _POINTS.sub("", unicodedata.normalize("NFC", text).lower())
    return _ACCENTED.sub(lambda letter: _unaccented(letter[0]), lowered)


@cache
def _unaccented(letter: str) -> str:
    return "".join(part for part in unicodedata.normalize("NFD", letter) if not unicodedata.combining(part))


def _pairs(run: str) -> list[str]:
    return [*map("".join, pairwise(run))]


_STOP_WORDS = {language: frozenset(_lowered(listed).split()) for language, listed in STOP_WORDS.items()}
_ANY_STOP_WORD = frozenset().union(*_STOP_WORDS.values())


def _content(words: list[str]) -> list[str]:
    """The words that are no stop words, or all of them if there is none."""
    if _ANY_STOP_WORD.isdisjoint(words):
        return words
    # Those of the language that the words seem to be in. One word is no proof: `die` and `hat` are English too.
    counts = {language: sum(word in listed for word in words) for language, listed in _STOP_WORDS.items()}
    likeliest = max(counts, key=counts.__getitem__)
    stop_words = _STOP_WORDS[likeliest if counts[likeliest] > 1 else "english"]
    return [word for word in words if word not in stop_words] or words


_NO_LANGUAGE = lazy_pattern(r"[\d_]")
_STEMMING = Lock()
"""A stemmer keeps its place in the word: threads take turns."""


@cache
def _stemmer(language: str) -> "Stemmer.Stemmer":
    import Stemmer

    return Stemmer.Stemmer(language, 0)  # which need not remember: we do


VARIANT_WEIGHT = 0.5
"""Of an occurrence of a variant, beside one of the term itself."""
MAX_VARIANTS = 4
_MIN_LETTERS = 6
"""Of a term with variants. Of a shorter one the beginning says too little, in Vietnamese most of all."""
_MIN_SHARED = 0.6
"""Of the longer of two terms, the share that both begin with."""
_MAX_TERMS = 24
"""Of a question whose variants are looked for."""


def variant_prefixes(question: str, asked: Iterable[str]) -> dict[str, str]:
    """For each term that may have variants, such as inflected forms and compounds, what these begin with.

    The stemmer knows the endings of few languages. English has none: there it does better than a shared beginning.
    """
    # Numbers, and letters of a script without spaces, have no other forms.
    long = [t for t in asked if len(t) >= _MIN_LETTERS and not (_NO_LANGUAGE.search(t) or begins_unspaced(t))]
    return {} if not long or is_english(question) else {term: _prefix(term) for term in long[:_MAX_TERMS]}


def rank_variants(term: str, known: Iterable[str]) -> Sequence[str]:
    prefix = _prefix(term)
    begun = (other for other in known if other.startswith(prefix) and other != term)
    shares = {other: shared_letters(term, other) / max(len(term), len(other)) for other in begun}
    variants = [other for other, share in shares.items() if share >= _MIN_SHARED]
    return sorted(variants, key=lambda each: (-shares[each], each))


def _prefix(term: str) -> str:
    return term[: ceil(_MIN_SHARED * len(term))]


def shared_letters(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (letter, beside) in pairs if letter != beside), min(len(one), len(other)))
