"""Separates the thinking that a model writes into its answer from the answer."""

from collections.abc import Iterator
from typing import Literal

from msgspec.structs import replace

from zkchat.model.prompt import Finish, TextChunk, ThinkingChunk

OPENING = "<think>"
CLOSING = "</think>"
UNCLOSED = "The model did not say where its thinking ends, so all of it is shown as the answer."
MAX_LEADING_SPACE = 10_000
"""Characters of white space before an answer that are buffered."""


class ThinkingSplitter:
    """Splits a streamed answer, wherever it was cut, into `<think>…</think>` and the rest.

    Tags count only before the answer has begun: later the answer may be about them.
    """

    def __init__(self) -> None:
        self._state: Literal["before", "thinking", "after", "answer"] = "before"
        self._held = ""
        """What may still turn out to be a tag."""
        self._open: list[str] = []
        """What was thought since the tag that opened it."""

    @property
    def unclosed(self) -> str:
        """What was thought, if nothing said where the thinking ends: the answer may be a part of it."""
        return "".join(self._open) if self._state == "thinking" else ""

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
        if held and self._state == "thinking":
            yield self._thought(held)
        elif held:
            yield TextChunk(text=held)

    def _begin(self) -> None:
        """Only white space so far: does this begin with thinking, or with the answer?"""
        beginning = self._held.lstrip()
        if len(self._held) - len(beginning) > MAX_LEADING_SPACE:
            self._state = "answer"
            return
        if beginning.startswith(OPENING):
            self._held = beginning.removeprefix(OPENING)
            self._state = "thinking"
            self._open.clear()
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
            yield self._thought(thought)

    def _thought(self, text: str) -> ThinkingChunk:
        self._open.append(text)
        return ThinkingChunk(text=text)


def finish_chunks(splitter: ThinkingSplitter, finish: Finish) -> Iterator[TextChunk | Finish]:
    """The end of an answer. One that is nothing but thinking without an end is shown: what is asked for is in it."""
    if finish.reason == "stop" and (thought := splitter.unclosed):
        yield TextChunk(text=thought)
        finish = replace(finish, warning=f"{UNCLOSED} {finish.warning}".strip())
    yield finish


def _tag_begun(text: str) -> int:
    """How many of the last characters may be the beginning of the closing tag."""
    return next((size for size in range(len(CLOSING) - 1, 0, -1) if text.endswith(CLOSING[:size])), 0)
