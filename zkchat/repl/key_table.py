"""The table of keys behind `/help keys`, the same as in docs/keys.md."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Final

_MIN_TEXT_CELLS: Final = 24
"""Where less is left beside the keys, what they do is on the next line."""
SECTIONS: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "Sending and stopping": (
        ("Enter", "send; inside an open code fence, begin a new line"),
        ("Alt-Enter, Ctrl-J, \\ Enter, Shift-Enter", "begin a new line"),
        ("Ctrl-C", "stop the answer; at the prompt, empty it (Up brings it back)"),
        ("Ctrl-D", "leave, at an empty prompt"),
        ("Ctrl-Z", "suspend zkchat; fg resumes it"),
    ),
    "Writing": (
        ("Ctrl-X Ctrl-E, Ctrl-G", "write in your editor ($VISUAL or $EDITOR)"),
        ("Esc Esc", "empty the prompt (Up brings it back); if it is empty, change the last message"),
        ("Up, Down", "earlier messages; lines of a long one"),
        ("Ctrl-R", "search earlier messages; Enter takes one"),
        ("Ctrl-A, Ctrl-E", "go to the beginning, to the end of the line"),
        ("Ctrl-W, Ctrl-U, Ctrl-K", "delete a word, back to the beginning, on to the end"),
        ("Ctrl-Y, Ctrl-_", "insert what was deleted; undo"),
    ),
    "Completing": (
        ("[[", "notes by title or alias; [[Note# its headings, [[Note#^ its blocks"),
        ("@", "agents, notes, files and folders; / after a folder shows what is in it"),
        ("#", "tags of your notes, with how many have them"),
        ("/", "commands and their arguments, at the beginning of a line"),
        ("Tab, Down", "take the first row of the menu, the next one; Enter keeps it"),
    ),
    "The screen": (
        ("Ctrl-L", "clear the screen; what you typed stays"),
        ("Ctrl-T", "show the thinking of the last answer and of those to come; again: fold it"),
    ),
    "In a list (/resume)": (
        ("letters", "search"),
        ("Up, Down, PageUp, PageDown", "move"),
        ("Enter", "choose"),
        ("Esc, Ctrl-C", "leave the list"),
    ),
}
"""Keys that do the same, and what they do, by sections."""
VI: Final = (
    'With ui.keys = "vi" the keys of vi count, the bar shows the mode, and Esc is vi\'s own; '
    "/edit changes the last message."
)


def help_lines(width: int) -> list[str]:
    """The table for `/help keys`, wrapped to the width."""
    start = max(len(keys) for rows in SECTIONS.values() for keys, _ in rows) + 4
    lines: list[str] = []
    for title, rows in SECTIONS.items():
        lines.append(title)
        for keys, does in rows:
            if width - start < _MIN_TEXT_CELLS:
                lines += [f"  {keys}", *(f"    {line}" for line in wrap(does, width - 4))]
            else:
                first, *others = wrap(does, width - start)
                lines += [f"  {keys}".ljust(start) + first, *(" " * start + line for line in others)]
    return [*lines, *wrap(VI, width)]
