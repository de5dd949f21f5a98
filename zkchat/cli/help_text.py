"""The help of a command as text."""

import sys
from collections.abc import Mapping, Sequence
from textwrap import TextWrapper

from msgspec import Struct

from zkchat.render import columns

Rows = Sequence[tuple[str, str]]

_WIDTHS = (24, 78)
_MAX_NAME_WIDTH = 24
"""Of the column with names; a longer name stands on a line of its own."""
_MIN_USAGE_WIDTH = 20
"""Columns for the arguments; where fewer are left beside the command, they stand below it."""
_INDENT = "  "
_AS_IT_IS = "\b"
"""The first line of a paragraph that is not to be wrapped, as in Click."""


class CommandHelp(Struct, frozen=True, kw_only=True):
    """What is said of one command, in the order in which it is shown."""

    usage: str
    """Without the name of the command."""
    paragraphs: list[str]
    examples: list[str]
    arguments: Rows
    options: Rows
    sections: Mapping[str, Rows]
    """Its commands, under the headings of their sections."""
    epilog: str


def draw(path: str, described: CommandHelp, width: int) -> str:
    """Blocks with an empty line between them. Examples are not wrapped, because they are to be copied."""
    tables = {"Arguments": described.arguments, **described.sections, "Options": described.options}
    blocks = [_usage(path, described.usage, width)]
    blocks += [_fill(each, width, _INDENT, _INDENT) for each in described.paragraphs]
    blocks += [f"{heading}:\n{_table(rows, width)}" for heading, rows in tables.items() if rows]
    if described.examples:
        blocks.append("\n".join(["Examples:", *(f"{_INDENT}{line}" for line in described.examples)]))
    if described.epilog:
        blocks.append("\n".join(f"{_INDENT}{line}" for line in described.epilog.splitlines()))
    return "\n\n".join(blocks) + "\n"


def help_width(variables: Mapping[str, str]) -> int:
    """The columns for a help on this terminal; `COLUMNS` counts before what the terminal says."""
    least, most = _WIDTHS
    # Without a standard output `sys.__stdout__` is None, or closed.
    measured = columns(variables, sys.__stdout__)
    return max(least, min(most, measured - 2)) if measured else most


def _usage(path: str, usage: str, width: int) -> str:
    before = f"Usage: {path} "
    if width >= len(before) + _MIN_USAGE_WIDTH:
        return _fill(usage, width, before, " " * len(before))
    below = " " * (len("Usage: ") + 4)
    return f"{before}\n{_fill(usage, width, below, below)}"


def _table(rows: Rows, width: int) -> str:
    names = min(max(len(name) for name, _ in rows), _MAX_NAME_WIDTH, width // 3)
    indent = _INDENT + " " * (names + 2)
    lines = []
    for name, about in rows:
        text = _fill(about, max(width - names - 4, 10) + len(indent), indent, indent)
        if len(name) > names and about:
            lines.append(f"{_INDENT}{name}\n{text}")
        else:
            lines.append(f"{_INDENT}{name}{text[len(_INDENT) + len(name) :]}")
    return "\n".join(lines)


class _Wrapper(TextWrapper):
    """Cuts a word that is longer than a line where the line ends, also where only a space is left of that."""

    def _handle_long_word(self, reversed_chunks: list[str], cur_line: list[str], cur_len: int, width: int) -> None:
        left = max(width - cur_len, 1)
        cur_line.append(reversed_chunks[-1][:left])
        reversed_chunks[-1] = reversed_chunks[-1][left:]


def _fill(text: str, width: int, first: str, others: str) -> str:
    lines = text.splitlines()
    if lines[:1] == [_AS_IT_IS]:
        return "\n".join(f"{others}{line}" for line in lines[1:])
    joined = " ".join(line.lstrip() for line in lines)
    return _Wrapper(width, initial_indent=first, subsequent_indent=others).fill(joined)
