"""Thinking that a model writes into its answer, told apart from the answer."""

from collections.abc import Iterator
from typing import Literal

from zkchat.model.prompt import TextChunk, ThinkingChunk

OPENING = "<think>"
CLOSING = "</think>"


class ThinkingSplitter:
    """Takes an answer piece by piece, wherever it was cut, and says which is `<think>…</think>` and which is not.

    The tags count only where the answer has not begun: later on somebody may well be told about them.
    """

    def __init__(self) -> None:
        self._state: Literal["before", "thinking", "after", "answer"] = "before"
        self._held = ""
        """What may still turn out to be a tag."""

    def feed(self, text: str) -> Iterator[TextChunk | ThinkingChunk]:
        self._held += text
        while self._held and self._state != "answer":
            state = self._state
            if state == "thinking":
                yield from self._think()
            else:
                self._begin()
            if self._state == state:
                return
        yield from self.end()

    def end(self) -> Iterator[TextChunk | ThinkingChunk]:
        """What was held back, once nothing more can come to complete a tag."""
        held, self._held = self._held, ""
        if held:
            yield ThinkingChunk(text=held) if self._state == "thinking" else TextChunk(text=held)

    def _begin(self) -> None:
        """Only white space so far: does this begin with thinking, or with the answer?"""
        beginning = self._held.lstrip()
        if beginning.startswith(OPENING):
            self._held = beginning.removeprefix(OPENING)
            self._state = "thinking"
            return
        if self._state == "after":  # the blank lines between the thinking and the answer
            self._held = beginning
        if not OPENING.startswith(beginning):
            self._state = "answer"

    def _think(self) -> Iterator[ThinkingChunk]:
        thought, closed, rest = self._held.partition(CLOSING)
        if closed:
            self._held = rest
            self._state = "after"
        else:
            kept = len(thought) - _tag_begun(thought)
            thought, self._held = thought[:kept], thought[kept:]
        if thought:
            yield ThinkingChunk(text=thought)


def _tag_begun(text: str) -> int:
    """How many of the last characters may be the beginning of the closing tag."""
    return next((size for size in range(len(CLOSING) - 1, 0, -1) if text.endswith(CLOSING[:size])), 0)
