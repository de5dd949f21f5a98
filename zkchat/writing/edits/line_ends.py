"""Line ends of a text: which it has at a place, and offsets that do not depend on them."""

import re
from bisect import bisect_left
from typing import Final

from zkchat.errors import EditRefused
from zkchat.model.patterns import lazy_pattern

_LINE_END: Final = lazy_pattern(r"\r\n|\r|\n")


def checked(new: str) -> str:
    """A text that a file can hold, with `\\n` as its only line end. Raises `EditRefused`."""
    try:
        new.encode()
    except UnicodeEncodeError:
        raise EditRefused("The text holds half a character, which no file can hold.") from None
    return with_line_end(new, "\n")


def line_end_at(text: str, place: int) -> str:
    """The line end that stands before a place, else the first after it; `\\n` in a text of one line."""
    feed, carriage = text.rfind("\n", 0, place), text.rfind("\r", 0, place)
    last = max(feed, carriage)
    if last < 0:
        following = _LINE_END.search(text, place)
        return following[0] if following else "\n"
    if last == carriage:
        return "\r\n" if text.startswith("\n", last + 1) else "\r"
    return "\r\n" if last and text[last - 1] == "\r" else "\n"


def with_line_end(text: str, line_end: str) -> str:
    """The text with one kind of line end."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    return plain if line_end == "\n" else plain.replace("\n", line_end)


class UnifiedText:
    """A text with `\\n` for each of its line ends, whose offsets can be mapped back."""

    def __init__(self, text: str) -> None:
        self.text = with_line_end(text, "\n")
        self._longer = [match.start() - number for number, match in enumerate(re.finditer("\r\n", text))]
        """The offsets in the unified text of the line ends that are two characters long in the original."""

    def original(self, offset: int) -> int:
        """Where an offset of the unified text is in the original one."""
        return offset + bisect_left(self._longer, offset)

    def line(self, offset: int) -> int:
        """The number of the line of an offset in the unified text, from 1."""
        return self.text.count("\n", 0, offset) + 1
