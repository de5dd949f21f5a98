"""Text for people: shortened, and counted things."""

from typing import Final

from zkchat.model.patterns import lazy_pattern

_FIRST_WIDE: Final = "\u2e80"
_WIDE_LETTER: Final = lazy_pattern("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60\uffe0-\uffe6]")


def shorten(text: str, length: int, *, whole_words: bool = False) -> str:
    """The text in at most so many characters; where some are left out, an ellipsis ends it."""
    if len(text) <= length:
        return text
    kept = text[: length - 1]
    return (kept.rsplit(" ", 1)[0] if whole_words else kept).rstrip() + "…"


def counted(number: int, thing: str) -> str:
    """`1 note`, `2 notes`, `1,234 notes`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def may_be_wide(text: str) -> bool:
    """Whether there may be a letter as wide as two in it, such as those of Chinese: a look before a slow pattern."""
    return not text.isascii() and max(text) >= _FIRST_WIDE


def wide_letters(text: str) -> int:
    """How many letters are as wide as two others."""
    return len(_WIDE_LETTER.findall(text)) if may_be_wide(text) else 0
