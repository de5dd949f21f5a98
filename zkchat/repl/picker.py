"""A picker at the terminal: type to search a list, arrows to move, Enter to choose, Esc to leave it."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from msgspec import Struct
from prompt_toolkit.application import Application, get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, VSplit, Window
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth

from zkchat.core import Session, SessionStore, counted, shown_model
from zkchat.render import sanitize_line
from zkchat.repl.note_names import normalize_name

QUESTION = "Continue which session?"
_GAP: Final = 2
_SEPARATOR: Final = " · "
_MAX_NUMBERED: Final = 30
_MAX_ROWS: Final = 15
_ESCAPE_SECONDS: Final = 0.05
"""After which Esc is a key by itself and not the beginning of an arrow."""
_STYLE: Final = Style.from_dict({"title": "bold", "selected": "reverse", "hint": "dim", "search": "bold"})


class PickRow(Struct, frozen=True, kw_only=True):
    """A row to choose. Its texts are sanitized where they are shown."""

    name: str
    about: tuple[str, ...] = ()
    """What stands beside the name, the most important first: a narrow screen drops the last of it."""
    search: str = ""
    """Further text that is not shown; the search finds its words by their beginnings."""
    is_current: bool = False


Further: TypeAlias = Callable[[str], Iterable[int]]
"""The numbers of rows that what was typed also finds, the best first."""


class PickList:
    """The rows that match what was typed, the one of them that is selected, and how they are shown."""

    def __init__(self, rows: Sequence[PickRow], title: str = "", further: Further = lambda _: ()) -> None:
        self.rows = rows
        self._further = further
        self._title = sanitize_line(title)
        self._searched = [
            (normalize_name(" ".join((row.name, *row.about))), f" {normalize_name(row.search)}") for row in rows
        ]
        self.matches: list[int] = [*range(len(rows))]
        """The numbers of the rows that match, in their order."""
        self.position = 0
        """The place of the selected row among the matches."""

    @property
    def selected(self) -> int | None:
        """The number of the selected row; None where no row matches."""
        return self.matches[self.position] if self.matches else None

    def search(self, typed: str) -> None:
        """Keep the rows that contain every word, in any order, whatever the case and the accents; then further ones."""
        words = normalize_name(typed).split()
        self.matches = [
            number
            for number, (shown, hidden) in enumerate(self._searched)
            if all(word in shown or f" {word}" in hidden for word in words)
        ]
        further = self._further(typed) if len(typed.strip()) >= 3 else ()  # characters, so that few messages hold them
        self.matches = [*dict.fromkeys([*self.matches, *further])]
        self.position = 0

    def move(self, by: int) -> None:
        """Select another row, the last one at most."""
        self.position = max(0, min(self.position + by, len(self.matches) - 1))

    def title(self) -> StyleAndTextTuples:
        found, total = len(self.matches), len(self.rows)
        count = f"{total:,}" if found == total else f"{found:,} of {total:,}"
        return [("class:title", truncate_cells(self._title, _width() - len(count) - 2)), ("class:hint", f"  {count}")]

    def lines(self) -> StyleAndTextTuples:
        width, selected = _width() - 2, self.selected
        if selected is None:
            return [("class:hint", truncate_cells("  Nothing matches.", width))]
        lines = {number: row_line(self.rows[number], width) for number in self.matches}
        return [
            ("class:selected", f"› {line}\n") if number == selected else ("", f"  {line}\n")
            for number, line in lines.items()
        ]

    def height(self) -> int:
        """The same for all that is typed, so that nothing jumps."""
        lines = get_app().output.get_size().rows - 4  # title, search, keys, and the one above them all
        return max(1, min(_MAX_ROWS, lines, len(self.rows)))


def _width() -> int:
    return get_app().output.get_size().columns


def row_line(row: PickRow, width: int) -> str:
    """A row in at most so many cells: the name, and as much of the rest as fits at the right."""
    name = f"{'* ' if row.is_current else ''}{sanitize_line(row.name)}"
    pieces = [piece for text in row.about if (piece := sanitize_line(text))]
    for count in range(len(pieces), 0, -1):
        about = _SEPARATOR.join(pieces[:count])
        room = width - get_cwidth(about) - _GAP
        if room >= min(16, get_cwidth(name)):
            shown = truncate_cells(name, room)
            return f"{shown}{' ' * (width - get_cwidth(shown) - get_cwidth(about))}{about}"
    return truncate_cells(name, width)


def numbered_lines(rows: Sequence[PickRow], width: int) -> list[str]:
    """The first rows with their numbers from 1, for where nothing can be drawn."""
    digits, more = len(str(_MAX_NUMBERED)), len(rows) - _MAX_NUMBERED
    lines = [
        f"{number:>{digits}}. {row_line(row, width - digits - 2)}"
        for number, row in enumerate(rows[:_MAX_NUMBERED], start=1)
    ]
    return [*lines, f"… and {more:,} more"] if more > 0 else lines


def truncate_cells(text: str, cells: int) -> str:
    if get_cwidth(text) <= cells:
        return text
    while text and get_cwidth(text) > cells - 1:
        text = text[:-1]
    return f"{text.rstrip()}…" if cells > 0 else ""


_UNITS: Final = (("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1)))


def sessions_to_resume(store: SessionStore) -> list[Session]:
    """Sessions with messages that lists show, most recently used first."""
    return [session for session in store.sessions() if session.message_count and session.listed]


def session_rows(
    sessions: Iterable[Session], *, now: datetime, current: str = "", with_ids: bool = False
) -> list[PickRow]:
    """A row for each session, in their order: title, when it was used last, number of messages, model."""
    return [
        PickRow(
            name=session.title or "(untitled)",
            about=(
                *([session.id] if with_ids else []),
                ago(now - session.updated_at),
                counted(session.message_count, "message"),
                shown_model(session.model),
            ),
            search=f"{session.id} {session.first_words}",
            is_current=session.id == current,
        )
        for session in sessions
    ]


def ago(past: timedelta) -> str:
    for unit, length in _UNITS:
        if (count := past // length) > 0:
            return f"{counted(count, unit)} ago"
    return "just now"


def where_said(sessions: Sequence[Session], said: Callable[[str], Iterable[str]]) -> Further:
    """The numbers of those sessions in which words were said."""
    numbers = {session.id: number for number, session in enumerate(sessions)}
    return lambda words: (numbers[found] for found in said(words) if found in numbers)


async def pick(
    title: str, rows: Sequence[PickRow], further: Further = lambda _: (), *, typed: str = "", color: bool = True
) -> int | None:
    """Let the user choose one of the rows and return its number; None if the user leaves without choosing.

    `typed` is searched for to begin with. Needs a terminal that can be drawn on, from which the picker is gone when
    this returns.
    """
    listed = PickList(rows, title, further)
    search = Buffer(multiline=False, on_text_changed=lambda buffer: listed.search(buffer.text))
    search.insert_text(typed)
    mark = FormattedTextControl([("class:search", "› ")])
    lines = FormattedTextControl(listed.lines, show_cursor=False, get_cursor_position=lambda: Point(0, listed.position))
    body = HSplit(
        [
            Window(FormattedTextControl(listed.title), height=1),
            VSplit([Window(mark, width=2, height=1), Window(BufferControl(search), height=1)]),
            Window(lines, height=listed.height),
            Window(FormattedTextControl([("class:hint", "↑↓ move · Enter choose · Esc back")]), height=1),
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
    return await application.run_async()


def _bindings(listed: PickList) -> KeyBindings:
    keys = KeyBindings()
    steps = {-1: "up c-p s-tab", 1: "down c-n tab", -_MAX_ROWS: "pageup", _MAX_ROWS: "pagedown"}
    for by, names in steps.items():
        for key in names.split():
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
