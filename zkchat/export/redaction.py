"""Keys and passwords in text: noticed by their shape, or because they are known, and never passed on."""

from collections.abc import Iterable
from typing import Final

from zkchat.model.secrets import KEY, NAMED_KEY

REDACTED: Final = "[redacted]"
_SHORTEST_KEY: Final = 8
_SHORTEST_FIND: Final = len("token=") + _SHORTEST_KEY


def redacted(text: str, keys: Iterable[str] = ()) -> str:
    """The text without what looks like a key, and without the keys that are known.

    A known one that is as short as a word is passed over: it would take words with it.
    """
    for key in keys:
        text = text.replace(key, REDACTED) if len(key) >= _SHORTEST_KEY else text
    return text if len(text) < _SHORTEST_FIND else NAMED_KEY.sub(rf"\1{REDACTED}", KEY.sub(REDACTED, text))


def holds_secret(text: str, keys: Iterable[str] = ()) -> bool:
    return redacted(text, keys) != text
