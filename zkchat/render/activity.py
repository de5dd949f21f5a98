"""Sections of the screen for what a model does besides answering: wait, think, call tools."""

from collections.abc import Callable
from typing import Final

from rich.console import Console
from rich.text import Text

from zkchat.render import phrases
from zkchat.render.live import LiveRegion, Row, Throttle, render_rows
from zkchat.render.sanitize import sanitize_text

_FOLDED_ROWS: Final = 3
_MAX_FOLDED_CHARS: Final = 2_000
"""Enough to fill these rows on any screen."""


class ThinkingSection:
    """Thinking, dimmed: all of it, or its last rows while it streams and one line at the end.

    `folded` is asked whenever something comes: what was folded is drawn whole once it is not any more.
    """

    def __init__(self, console: Console, *, folded: Callable[[], bool], clock: Callable[[], float]) -> None:
        self._console = console
        self._is_folded = folded
        self._clock = clock
        self._begun = clock()
        self._throttle = Throttle(clock)
        self._tail = LiveRegion(console)
        self._text = ""

    def feed(self, text: str) -> None:
        self._text += sanitize_text(text)
        self._throttle.draw(self._draw_folded if self._is_folded() else self._draw_all)

    def finish(self) -> None:
        seconds = self._clock() - self._begun
        self._tail.show(self._rows(f"… thought for {seconds:.0f} s" if self._is_folded() else self._text.rstrip("\n")))

    def _draw_all(self) -> None:
        complete, _, arriving = self._text.rpartition("\n")
        self._tail.show(self._rows(complete), self._rows(arriving))
        self._text = arriving

    def _draw_folded(self) -> None:
        end = self._text[-_MAX_FOLDED_CHARS:]
        self._tail.show([], self._rows(end.strip("\n"))[-_FOLDED_ROWS:])

    def _rows(self, text: str) -> list[Row]:
        return render_rows(self._console, Text(text, style="dim", overflow="fold")) if text else []


class WaitIndicator:
    """A row that shows how long the model has been silent, erased when something arrives."""

    def __init__(self, console: Console, *, clock: Callable[[], float]) -> None:
        self._console = console
        self._clock = clock
        self._tail = LiveRegion(console)
        self._since: float | None = None

    def begin(self) -> None:
        self._since = self._clock()

    def end(self) -> None:
        self._since = None

    def draw(self) -> None:
        if self._since is not None:
            waited = Text(f"… waiting, {self._clock() - self._since:.0f} s", style="dim")
            self._tail.show([], render_rows(self._console, waited))

    def hide(self) -> None:
        self._tail.show([])


class ToolCallSection:
    """One line per call, to which its result is added: `⌕ find_excerpts "sleep" → 4 passages`."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._tail = LiveRegion(console)
        self._running: dict[str, Text] = {}

    @property
    def is_running(self) -> bool:
        return bool(self._running)

    def started(self, call_id: str, name: str, arguments: str) -> None:
        self._running[call_id] = _call(name, arguments)
        self._draw()

    def finished(self, call_id: str, name: str, summary: str, *, failed: bool) -> None:
        call = self._running.pop(call_id, _call(name, ""))
        result = phrases.tool_result(summary, failed=failed)
        self._draw(call.append(" → ").append(result, style="yellow" if failed else "none"))

    def finish(self) -> None:
        """Leave unanswered calls on the screen as they are."""
        calls, self._running = list(self._running.values()), {}
        self._draw(*calls)

    def _draw(self, *final: Text) -> None:
        running = [row for call in self._running.values() for row in render_rows(self._console, call + " …")]
        self._tail.show([row for call in final for row in render_rows(self._console, call)], running)


def _call(name: str, arguments: str) -> Text:
    return Text.assemble((f"⌕ {phrases.tool_call(name, arguments)}", "dim"))
