"""How the answer to a step says that it is done or cannot be, and the answer as the user sees it, without that mark."""

import re
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from zkchat.chat.event_stream import Emit
from zkchat.model.events import (
    AnswerReplaced,
    Event,
    EvidenceFound,
    LinksResolved,
    PromptReady,
    ReferenceFound,
    TextDelta,
    ToolStarted,
    TurnFailed,
    TurnFinished,
)
from zkchat.model.patterns import lazy_pattern

DONE: Final = "DONE"
BLOCKED: Final = "BLOCKED"
MAX_LINES_AFTER: Final = 3
"""Lines of text that may follow the mark: where more do, it was no end."""
WORDS: Final = ("done", "blocked", "erledigt", "blockiert", "fait", "hecho")
_MARK: Final = lazy_pattern(
    rf"\s*(?P<bullet>[-*+•]\s+)?[*_`\[(#\s]*(?P<word>{'|'.join(WORDS)})[\])*_`]*"
    r"(?:\s*[:：—–-]+[*_`]*\s*(?P<text>.*)|\s*[.!]?[*_`]*\s*)$",
    re.IGNORECASE,
)
_BLOCKING: Final = frozenset({"blocked", "blockiert"})
FENCE: Final = lazy_pattern(r"\s*(?:```|~~~)")
_EMPHASIS: Final = "*_` "
_BEGINNINGS: Final = "|".join(word[:length] for word in WORDS for length in range(1, len(word) + 1))
_UNDECIDED: Final = lazy_pattern(rf"[-+•~*_`\[(#\s]*(?:{_BEGINNINGS})?", re.IGNORECASE)
"""The beginning of a line that may become a mark, or the border of a listing."""
_NOT_SHOWN_OF_PLAN: Final = (TextDelta, TurnFinished, LinksResolved, EvidenceFound, ReferenceFound)
"""The plan is shown as a checklist, once it is read."""
_ENDS_TEXT: Final = (ToolStarted, PromptReady, AnswerReplaced, TurnFailed, TurnFinished)
"""What comes after these is another text."""


class StepAnswer(Struct, frozen=True):
    """What an answer says of its step."""

    state: Literal["done", "blocked"]
    summary: str
    """What was found or done, or why it was not: in the words after the mark, else the whole answer."""
    text: str
    """The answer without the mark."""
    body: str
    """What stands before the mark, else the words after it."""


def parse_answer(text: str) -> StepAnswer:
    """Read the mark at the end of an answer. Without one, a finished answer is the step's result; an empty one is none.

    A mark inside a quotation or a listing is what a note says, and no mark.
    """
    lines = text.strip().splitlines()
    place = mark_at(lines)
    if place is None:
        whole = text.strip()
        return StepAnswer("done" if whole else "blocked", whole, whole, whole)
    match = match_mark(lines[place])
    assert match is not None
    said = "\n".join([(match["text"] or "").strip(), *lines[place + 1 :]]).strip().rstrip(_EMPHASIS)
    before = "\n".join(lines[:place]).strip()
    is_blocked = match["word"].casefold() in _BLOCKING
    kept = "\n\n".join(filter(None, [before, said]))
    return StepAnswer("blocked" if is_blocked else "done", said or before, kept, before or said)


def match_mark(line: str) -> re.Match[str] | None:
    """A line as a mark, if it is one. An item of a list is none unless it is in capitals: `- Done: 5` is a result."""
    match = _MARK.match(line)
    return match if match and (not match["bullet"] or match["word"].isupper()) else None


def mark_at(lines: list[str]) -> int | None:
    """The line of the last mark, if it ends the answer."""
    found: int | None = None
    is_listing = False
    for place, line in enumerate(lines):
        if FENCE.match(line):
            is_listing = not is_listing
        elif not is_listing and match_mark(line):
            found = place
    if found is None or sum(bool(line.strip()) for line in lines[found + 1 :]) > MAX_LINES_AFTER:
        return None
    return found


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


def without_answer(emit: Emit) -> Emit:
    """Shows nothing of the answer that holds the plan."""

    async def shown(event: Event) -> None:
        if not isinstance(event, _NOT_SHOWN_OF_PLAN):
            await emit(event)

    return shown


def without_mark(emit: Emit, *, is_step: bool = True) -> Emit:
    """Shows the texts of a turn without the mark at their end."""
    marks = MarkFilter(is_step=is_step)

    async def shown(event: Event) -> None:
        nonlocal marks
        if isinstance(event, TextDelta):
            if text := marks.feed(event.text):
                await emit(TextDelta(text=text))
            return
        if isinstance(event, _ENDS_TEXT):
            if text := marks.finish():
                await emit(TextDelta(text=text))
            marks = MarkFilter(is_step=is_step)
        await emit(event)

    return shown
