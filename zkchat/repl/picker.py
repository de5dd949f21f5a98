"""A picker at the terminal: type to search a list, arrows to move, Enter to choose, Esc to leave it."""

from collections.abc import Sequence
from typing import Final

from prompt_toolkit.application import Application, get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, VSplit, Window
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from zkchat.render.sanitize import sanitize_line
from zkchat.repl.pick_list import PickList, PickRow, row_line, truncate_cells

_MAX_ROWS: Final = 15
_OTHER_LINES: Final = 4
"""Lines of the screen that are no rows: title, search, keys, and the one above them all."""
_ESCAPE_SECONDS: Final = 0.05
"""After which Esc is a key by itself and not the beginning of an arrow."""
_HINT: Final = "↑↓ move · Enter choose · Esc back"
_STYLE: Final = Style.from_dict({"title": "bold", "selected": "reverse", "hint": "dim", "search": "bold"})


async def pick(title: str, rows: Sequence[PickRow], *, selected: int = 0, color: bool = True) -> int | None:
    """Let the user choose one of the rows and return its number; None if the user leaves without choosing.

    Needs a terminal that can be drawn on. The picker is gone from the screen when this returns.
    """
    listed = PickList(rows)
    listed.move(selected)
    return await _application(title, listed, color=color).run_async()


def _application(title: str, listed: PickList, *, color: bool) -> Application[int | None]:
    search = Buffer(multiline=False, on_text_changed=lambda buffer: listed.search(buffer.text))
    shown = _ShownList(title, listed)
    mark = FormattedTextControl([("class:search", "› ")])
    rows = FormattedTextControl(shown.rows, show_cursor=False, get_cursor_position=lambda: Point(0, listed.position))
    body = HSplit(
        [
            Window(FormattedTextControl(shown.title), height=1),
            VSplit([Window(mark, width=2, height=1), Window(BufferControl(search), height=1)]),
            Window(rows, height=shown.height),
            Window(FormattedTextControl([("class:hint", _HINT)]), height=1),
        ]
    )
    application: Application[int | None] = Application(
        layout=Layout(body, focused_element=search),
        key_bindings=_bindings(listed),
        style=_STYLE,
        color_depth=None if color else ColorDepth.DEPTH_1_BIT,
        erase_when_done=True,
    )
    application.ttimeoutlen = _ESCAPE_SECONDS
    return application


class _ShownList:
    """The lines of the picker, as wide as the terminal is at the moment."""

    def __init__(self, title: str, listed: PickList) -> None:
        self._title = sanitize_line(title)
        self._listed = listed

    def title(self) -> StyleAndTextTuples:
        found, total = len(self._listed.matches), len(self._listed.rows)
        count = f"{total:,}" if found == total else f"{found:,} of {total:,}"
        return [("class:title", truncate_cells(self._title, _width() - len(count) - 2)), ("class:hint", f"  {count}")]

    def rows(self) -> StyleAndTextTuples:
        width, selected = _width() - 2, self._listed.selected
        if selected is None:
            return [("class:hint", truncate_cells("  Nothing matches. Backspace widens the search.", width))]
        return [
            ("class:selected", f"› {line}\n") if number == selected else ("", f"  {line}\n")
            for number in self._listed.matches
            for line in (row_line(self._listed.rows[number], width),)
        ]

    def height(self) -> int:
        """The same for all that is typed, so that nothing jumps."""
        lines = get_app().output.get_size().rows - _OTHER_LINES
        return max(1, min(_MAX_ROWS, lines, len(self._listed.rows)))


def _width() -> int:
    return get_app().output.get_size().columns


def _bindings(listed: PickList) -> KeyBindings:
    keys = KeyBindings()
    steps = {
        "up": -1,
        "c-p": -1,
        "s-tab": -1,
        "down": 1,
        "c-n": 1,
        "tab": 1,
        "pageup": -_MAX_ROWS,
        "pagedown": _MAX_ROWS,
    }
    for key, by in steps.items():
        keys.add(key)(lambda _event, by=by: listed.move(by))

    @keys.add("enter", eager=True)
    def _choose(event: KeyPressEvent) -> None:
        if listed.selected is not None:
            event.app.exit(result=listed.selected)

    @keys.add("escape", eager=True)
    @keys.add("c-c")
    @keys.add("c-d")
    @keys.add(Keys.SIGINT)
    def _leave(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    return keys
