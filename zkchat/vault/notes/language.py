"""Detect the language of a text, well enough to see that a summary is in another one than its conversation."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from zkchat.lexicon.languages import LANGUAGE_OF_SCRIPT, STOP_WORDS_BY_CODE

_SHARED_BY = Counter(word for listed in STOP_WORDS_BY_CODE.values() for word in listed)


_NOT_PROSE = re.compile(r"```.*?```|`[^`]*`|\[\[[^\[\]]{1,300}\]\]|\b\w+://\S+", re.DOTALL)
"""Code, links and addresses keep their words whatever the language around them."""
_WORD = re.compile(r"[^\W\d_]+")
MAX_CHARS = 20_000
"""Characters that are looked at."""
_JAPANESE_SHARE = 0.1
"""Of kana among the letters: a Chinese text may quote a Japanese name."""
MIN_HITS = 1.0
MIN_LEAD = 1.15
"""How far the likeliest language must be ahead of the next."""


def detect_language(text: str) -> str | None:
    """The language by its ISO 639-1 code, None if it is unclear: by its script, else by its stop words."""
    prose = unicodedata.normalize("NFC", _NOT_PROSE.sub(" ", text[:MAX_CHARS])).lower()
    scripts = Counter(_script(letter) for letter in prose if letter.isalpha())
    if not scripts:
        return None
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    if kana and kana > _JAPANESE_SHARE * scripts.total() and kana + scripts["CJK"] > scripts.total() / 2:
        return "ja"
    script, letters = scripts.most_common(1)[0]
    if script in LANGUAGE_OF_SCRIPT:
        return LANGUAGE_OF_SCRIPT[script] if letters > scripts.total() / 2 else None
    return _by_stop_words(_WORD.findall(prose))


def guess_language(text: str, codes: Iterable[str]) -> str | None:
    """The one of these languages of whose stop words a text holds most, however few; None if it holds none."""
    spoken = _WORD.findall(unicodedata.normalize("NFC", text[:MAX_CHARS]).lower())
    hits = {code: sum(word in STOP_WORDS_BY_CODE.get(code, ()) for word in spoken) for code in sorted(codes)}
    likeliest = max(hits, key=hits.__getitem__)
    return likeliest if hits[likeliest] else None


def _by_stop_words(words: list[str]) -> str | None:
    """A word that several languages have counts for each of them, and the less the more they are."""
    hits = {
        code: sum(1 / _SHARED_BY[word] for word in words if word in listed)
        for code, listed in STOP_WORDS_BY_CODE.items()
    }
    likeliest, next_likeliest = sorted(hits, key=hits.__getitem__, reverse=True)[:2]
    is_clear = hits[likeliest] >= MIN_HITS and hits[likeliest] >= MIN_LEAD * hits[next_likeliest]
    return likeliest if is_clear else None


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]
