"""What the model does before and between its words: nothing yet, thinking, and calls of tools."""

from collections.abc import Callable
from typing import Final

from rich.console import Console
from rich.text import Text

from zkchat.render import phrases
from zkchat.render.live import LiveTail, Pace, Row, rows_of
from zkchat.render.sanitize import sanitize_text

_FOLDED_ROWS: Final = 3
_ENOUGH_FOR_THEM: Final = 2_000
"""Characters of a thought that fill these rows on any screen."""


class Thinking:
    """A thought, dimmed: all of it, or its last rows while it comes and one line when it is over."""

    def __init__(self, console: Console, *, folded: bool, clock: Callable[[], float]) -> None:
        self._console = console
        self._is_folded = folded
        self._clock = clock
        self._begun = clock()
        self._pace = Pace(clock)
        self._tail = LiveTail(console)
        self._text = ""

    def feed(self, text: str) -> None:
        self._text += sanitize_text(text)
        self._pace.draw(self._draw_folded if self._is_folded else self._draw_all)

    def finish(self) -> None:
        seconds = self._clock() - self._begun
        self._tail.show(self._rows(f"… thought for {seconds:.0f} s" if self._is_folded else self._text.rstrip("\n")))

    def _draw_all(self) -> None:
        complete, _, arriving = self._text.rpartition("\n")
        self._tail.show(self._rows(complete), self._rows(arriving))
        self._text = arriving

    def _draw_folded(self) -> None:
        self._text = self._text[-_ENOUGH_FOR_THEM:]
        self._tail.show([], self._rows(self._text.strip("\n"))[-_FOLDED_ROWS:])

    def _rows(self, text: str) -> list[Row]:
        return rows_of(self._console, Text(text, style="dim", overflow="fold")) if text else []


class Silence:
    """How long nothing has come from the model, in a row that is gone when something comes."""

    def __init__(self, console: Console, *, clock: Callable[[], float]) -> None:
        self._console = console
        self._clock = clock
        self._tail = LiveTail(console)
        self._since: float | None = None

    def begin(self) -> None:
        self._since = self._clock()

    def end(self) -> None:
        self._since = None

    def draw(self) -> None:
        if self._since is not None:
            waited = Text(f"… waiting, {self._clock() - self._since:.0f} s", style="dim")
            self._tail.show([], rows_of(self._console, waited))

    def hide(self) -> None:
        self._tail.show([])


class ToolCalls:
    """One line for each call, which turns into its result: `⌕ find_excerpts "sleep" → 4 passages`."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._tail = LiveTail(console)
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
        """Calls that nobody answered stay as they are."""
        calls, self._running = list(self._running.values()), {}
        self._draw(*calls)

    def _draw(self, *final: Text) -> None:
        running = [row for call in self._running.values() for row in rows_of(self._console, call + " …")]
        self._tail.show([row for call in final for row in rows_of(self._console, call)], running)


def _call(name: str, arguments: str) -> Text:
    return Text.assemble((f"⌕ {phrases.tool_call(name, arguments)}", "dim"))
