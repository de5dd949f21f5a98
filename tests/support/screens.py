"""Terminals in memory: consoles to draw on, and what the characters that were written look like on a screen."""

import io
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pyte
from rich.console import Console, RenderableType

from zkchat.core.choices import ContextUsage
from zkchat.core.message import ChatMessage, DocumentReference, TextPart
from zkchat.core.values import from_plain
from zkchat.render.console import Matches, console_for
from zkchat.render.links import NO_LINKS, ClickableLinks
from zkchat.render.markdown import MarkdownStream

_OUR_SEQUENCES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\]8;[^\x1b]*\x1b\\")
_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class GoneReader(io.StringIO):
    def write(self, _text: str) -> int:
        raise BrokenPipeError


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def terminal(width: int = 80, height: int = 24, *, color: str = "auto") -> Console:
    """A console that writes into memory and takes it for a terminal."""
    variables = {"TERM": "xterm-256color", "COLUMNS": str(width), "LINES": str(height)}
    return console_for(io.StringIO(), is_tty=True, variables=variables, color=color)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def drawn(renderable: RenderableType, width: int = 80, *, color: str = "never") -> str:
    """The renderable as text, without the sequences that give it colour."""
    console = terminal(width, color=color)
    console.print(renderable)
    return without_sequences(written(console))


def streamed(
    chunks: Iterable[str],
    width: int = 80,
    height: int = 24,
    *,
    color: str = "auto",
    matches: Matches | None = None,
    links: ClickableLinks = NO_LINKS,
) -> str:
    """What is written while the chunks arrive, slowly enough that each of them is drawn."""
    console, clock = terminal(width, height, color=color), Clock()
    stream = MarkdownStream(console, clock=clock, matches=matches, links=links)
    for chunk in chunks:
        clock.now += 1
        stream.feed(chunk)
    stream.finish()
    return written(console)


def in_chunks(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def without_sequences(text: str) -> str:
    """The text without the sequences that the application itself writes; anything else that acts is left in."""
    return _OUR_SEQUENCES.sub("", text)


def what_acts_on_a_terminal(text: str) -> set[str]:
    """Characters of the text, our own sequences aside, that a terminal or a reader would not simply show."""
    return set(_ACTIVE.findall(without_sequences(text).replace("\r", "")))


class Screen:
    """A terminal with a scrollback."""

    def __init__(self, width: int = 80, height: int = 24) -> None:
        self._screen = pyte.HistoryScreen(width, height, history=10_000, ratio=1)
        self._stream = pyte.Stream(self._screen)

    def write(self, text: str) -> None:
        self._stream.feed(text.replace("\n", "\r\n"))

    def resize(self, width: int, height: int) -> None:
        self._screen.resize(height, width)

    @property
    def rows(self) -> list[str]:
        """Everything from the top of the scrollback to the last row that is not blank."""
        lines: list[Any] = [*self._screen.history.top, *(self._screen.buffer[y] for y in range(self._screen.lines))]
        rows = ["".join(line[x].data for x in range(self._screen.columns)).rstrip() for line in lines]
        while rows and not rows[-1]:
            rows.pop()
        return rows


def underlined(written: str, width: int = 80) -> list[str]:
    """The runs of underlined characters that are on a screen at the end."""
    screen = pyte.Screen(width, 24)
    pyte.Stream(screen).feed(written.replace("\n", "\r\n"))
    cells = [screen.buffer[y][x] for y in range(screen.lines) for x in range(width)]
    return "".join(cell.data if cell.underscore else "\n" for cell in cells).split()


def on_screen(text: str, width: int = 80, height: int = 24) -> list[str]:
    screen = Screen(width, height)
    screen.write(text)
    return screen.rows


def a_usage(**parts: Any) -> ContextUsage:
    known = {"system": 320, "tools": 410, "references": 2200, "messages": 504, "window": 8192, "reserve": 512}
    return from_plain(ContextUsage, known | parts)


def an_answer(text: str = "", *references: DocumentReference, **more: Any) -> ChatMessage:
    return ChatMessage(
        id="m1",
        session_id="s1",
        role="assistant",
        parts=(TextPart(text=text),),
        references=references,
        created_at=datetime(2025, 1, 1, tzinfo=UTC),
        provider="scripted",
        model="play",
        **more,
    )
