"""The table of keys behind `/help keys` and docs/keys.md: `python -m zkchat.repl.key_table docs/keys.md` renews it."""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Final

from msgspec import Struct

BEGIN: Final = "<!-- keys: made from zkchat/repl/key_table.py -->"
END: Final = "<!-- end of keys -->"
_MIN_TEXT_CELLS: Final = 24
"""Where less is left beside the keys, what they do is on the next line."""


class KeyRow(Struct, frozen=True, kw_only=True):
    """Keys that do the same, and what they do."""

    keys: tuple[str, ...]
    does: str


class KeySection(Struct, frozen=True, kw_only=True):
    title: str
    rows: tuple[KeyRow, ...]


SECTIONS: Final[Sequence[KeySection]] = (
    KeySection(
        title="Sending and stopping",
        rows=(
            KeyRow(keys=("Enter",), does="send; inside an open code fence, begin a new line"),
            KeyRow(keys=("Alt-Enter", "Ctrl-J", "\\ Enter", "Shift-Enter"), does="begin a new line"),
            KeyRow(keys=("Ctrl-C",), does="stop the answer; at the prompt, empty it (Up brings it back)"),
            KeyRow(keys=("Ctrl-D",), does="leave, at an empty prompt"),
            KeyRow(keys=("Ctrl-Z",), does="suspend zkchat; fg resumes it"),
        ),
    ),
    KeySection(
        title="Writing",
        rows=(
            KeyRow(keys=("Ctrl-X Ctrl-E", "Ctrl-G"), does="write in your editor ($VISUAL or $EDITOR)"),
            KeyRow(
                keys=("Esc Esc",), does="empty the prompt (Up brings it back); if it is empty, change the last message"
            ),
            KeyRow(keys=("Up", "Down"), does="earlier messages; lines of a long one"),
            KeyRow(keys=("Ctrl-R",), does="search earlier messages; Enter takes one"),
            KeyRow(keys=("Ctrl-A", "Ctrl-E"), does="go to the beginning, to the end of the line"),
            KeyRow(keys=("Ctrl-W", "Ctrl-U", "Ctrl-K"), does="delete a word, back to the beginning, on to the end"),
            KeyRow(keys=("Ctrl-Y", "Ctrl-_"), does="insert what was deleted; undo"),
        ),
    ),
    KeySection(
        title="Completing",
        rows=(
            KeyRow(keys=("[[",), does="notes by title or alias; [[Note# its headings, [[Note#^ its blocks"),
            KeyRow(keys=("@",), does="agents, notes, files and folders; / after a folder shows what is in it"),
            KeyRow(keys=("#",), does="tags of your notes, with how many have them"),
            KeyRow(keys=("/",), does="commands and their arguments, at the beginning of a line"),
            KeyRow(keys=("Tab", "Down"), does="take the first row of the menu, the next one; Enter keeps it"),
        ),
    ),
    KeySection(
        title="The screen",
        rows=(
            KeyRow(keys=("Ctrl-L",), does="clear the screen; what you typed stays"),
            KeyRow(keys=("Ctrl-T",), does="show the thinking of the last answer and of those to come; again: fold it"),
        ),
    ),
    KeySection(
        title="In a list (/resume)",
        rows=(
            KeyRow(keys=("letters",), does="search"),
            KeyRow(keys=("Up", "Down", "PageUp", "PageDown"), does="move"),
            KeyRow(keys=("Enter",), does="choose"),
            KeyRow(keys=("Esc", "Ctrl-C"), does="leave the list"),
        ),
    ),
)
_VI: Final = (
    'With ui.keys = "vi" the keys of vi count, the bar shows the mode, and Esc is vi\'s own; '
    "/edit changes the last message."
)


def help_lines(width: int) -> list[str]:
    """The table for `/help keys`, wrapped to the width."""
    start = max(len(_joined(row)) for section in SECTIONS for row in section.rows) + 4
    lines: list[str] = []
    for section in SECTIONS:
        lines.append(section.title)
        for row in section.rows:
            lines += _row_lines(row, start, width)
    return [*lines, *wrap(_VI, width)]


def _row_lines(row: KeyRow, start: int, width: int) -> Iterator[str]:
    first = f"  {_joined(row)}"
    if width - start < _MIN_TEXT_CELLS:
        yield first
        yield from (f"    {line}" for line in wrap(row.does, width - 4))
        return
    for line in wrap(row.does, width - start):
        yield f"{first:<{start}}{line}"
        first = ""


def _joined(row: KeyRow) -> str:
    return ", ".join(row.keys)


def table() -> str:
    """The same as Markdown, for the page."""
    return "\n\n".join("\n".join(_section_lines(section)) for section in SECTIONS) + f"\n\n{_VI}"


def _section_lines(section: KeySection) -> Iterator[str]:
    yield from (f"## {section.title}", "", "| key | what it does |", "|---|---|")
    for row in section.rows:
        yield f"| {', '.join(f'`{key}`' for key in row.keys)} | {row.does} |"


def renewed(page: str) -> str:
    """The page with the table between its markers made anew."""
    between = f"{BEGIN}\n{table()}\n{END}"
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: between, page, flags=re.DOTALL)


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
