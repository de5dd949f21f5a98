"""The answer to a step as the user sees it while it comes: without the mark at its end. Pure."""

import re
from typing import Final, NamedTuple

from zkchat.chat.goals.marks import FENCE, MAX_LINES_AFTER, WORDS, mark_at, match_mark, parse_answer
from zkchat.model.patterns import lazy_pattern

_BEGINNINGS: Final = "|".join(word[:length] for word in WORDS for length in range(1, len(word) + 1))
_UNDECIDED: Final = lazy_pattern(rf"[-+•~*_`\[(#\s]*(?:{_BEGINNINGS})?", re.IGNORECASE)
"""The beginning of a line that may become a mark, or the border of a listing."""


class _State(NamedTuple):
    """At the place up to which an answer is shown."""

    shown: int = 0
    """Characters of what was left before."""
    is_listing: bool = False
    is_inside: bool = False
    """Whether it is inside a line, which is no mark."""


class MarkFilter:
    """Holds back what may be the mark of an answer until it is known what follows."""

    def __init__(self, *, is_step: bool = True) -> None:
        """`is_step`: why it is blocked is told elsewhere, as the reason of the step."""
        self._is_step = is_step
        self._text = ""
        """What is shown."""
        self._rest = ""
        """What is not."""
        self._state = _State()

    def feed(self, text: str) -> str:
        """What can be shown once this has come."""
        self._rest += text
        self._state = self._settled()
        shown, self._rest = self._rest[: self._state.shown], self._rest[self._state.shown :]
        self._text += shown
        return shown

    def finish(self) -> str:
        """What is left to be shown at the end: of a mark the words after it, unless the answer said them before."""
        rest, self._rest = self._rest, ""
        lines = rest.splitlines(keepends=True)
        place = None if self._state.is_listing else mark_at(lines)
        if place is None:
            return rest
        before, said = "".join(lines[:place]), parse_answer("".join(lines[place:]))
        text = f"{self._text}{before}"
        is_told = (said.state == "blocked" and self._is_step) or _letters(said.summary) in _letters(text)
        if is_told:
            return before.rstrip()
        gap = "\n" * (2 - text.endswith("\n") - text.endswith("\n\n")) if text.strip() else ""
        return f"{before}{gap}{said.summary}"

    def _settled(self) -> _State:
        """Up to where the rest belongs to no mark, whatever follows."""
        state, is_listing = self._state._replace(shown=0), self._state.is_listing
        place, after = 0, None
        for line in self._rest.splitlines(keepends=True):
            place += len(line)
            is_whole = line != line.splitlines()[0]
            if state.is_inside and not state.shown:
                state = _State(place, is_listing, not is_whole)
                continue
            if not is_whole:
                if after is None and not _is_undecided(line):
                    state = _State(place, is_listing, is_inside=True)
                break
            if FENCE.match(line):
                is_listing = not is_listing
            elif not is_listing and match_mark(line):
                after = 0
                state = _State(place - len(line), is_listing)
                continue
            if after is not None:
                after += bool(line.strip())
            if line.strip() and (after is None or after > MAX_LINES_AFTER):
                after = None
                state = _State(place, is_listing)
        return state


def _is_undecided(line: str) -> bool:
    return bool(match_mark(line) or _UNDECIDED.fullmatch(line))


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
