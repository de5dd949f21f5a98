"""Redaction of keys and passwords: by their shape, or because they are known."""

from collections.abc import Iterable
from typing import Final

from zkchat.model.secrets import KEY, KEY_MARKS, NAMED_KEY, NAMED_KEY_MARKS

REDACTED: Final = "[redacted]"
_MIN_KEY_LENGTH: Final = 8
_MIN_TEXT_LENGTH: Final = len("token=") + _MIN_KEY_LENGTH


def redact(text: str, keys: Iterable[str] = ()) -> str:
    """Replace what looks like a key, and the keys that are known.

    A known key as short as a word is ignored, since redacting it would remove words.
    """
    for key in keys:
        text = text.replace(key, REDACTED) if len(key) >= _MIN_KEY_LENGTH else text
    if len(text) < _MIN_TEXT_LENGTH:
        return text
    if _has_any(text, KEY_MARKS):
        text = KEY.sub(REDACTED, text)
    return NAMED_KEY.sub(rf"\1{REDACTED}", text) if _has_any(text.casefold(), NAMED_KEY_MARKS) else text


def _has_any(text: str, marks: Iterable[str]) -> bool:
    return any(mark in text for mark in marks)


def contains_secret(text: str, keys: Iterable[str] = ()) -> bool:
    return redact(text, keys) != text
