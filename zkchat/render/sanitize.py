"""Text for terminals: sanitized, measured in cells, and what the terminal can do."""

import codecs
import io
import os
import re
from collections.abc import Mapping
from typing import Final, TextIO


def can_move_cursor(variables: Mapping[str, str]) -> bool:
    """Whether the cursor can be moved, so that rows can be redrawn."""
    return variables.get("TERM", "" if os.name == "posix" else "windows").lower() not in {"", "dumb", "unknown"}


def can_edit_text(variables: Mapping[str, str]) -> bool:
    """Whether a prompt can be drawn in which text is edited; not where a program plays the user."""
    return can_move_cursor(variables) and not variables.get("CI")


def uses_color(variables: Mapping[str, str], color: str) -> bool:
    """Whether to use colour, by the setting `ui.color` and NO_COLOR."""
    return color == "always" or (color == "auto" and not variables.get("NO_COLOR"))


def columns(variables: Mapping[str, str], stream: TextIO | None) -> int:
    """How wide the terminal behind a stream is; `COLUMNS` counts before what it says. 0 where nothing is known."""
    named = variables.get("COLUMNS", "")
    if named.isdecimal() and len(named) < 10 and int(named):
        return int(named)
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream else 0
    except (OSError, ValueError):  # a closed stream, or no terminal behind it that knows its size
        return 0


PROSE_WIDTH: Final = 100
"""Columns of a text at most, unless the setting `ui.width` says otherwise."""
_GAP: Final = re.compile(r"(?<=\S)  +(?=\S)")


def wrap(text: str, width: int, *, prose: int = PROSE_WIDTH, indent: int | None = None) -> str:
    """The text with its lines wrapped between words. No word is broken, however long it is.

    What follows a gap of two or more blanks is a cell of a table: the row may be as wide as the terminal. Where it is
    wider, its gaps are closed, or else it goes on below its last cell. Other lines end after `prose` columns.
    `indent` is for all but the first row of each line; else it is that of the line itself.
    """
    return "\n".join(row for line in text.split("\n") for row in _wrapped(line, max(width, 20), prose, indent))


def _wrapped(line: str, width: int, prose: int, indent: int | None) -> list[str]:
    gaps = [each.end() for each in _GAP.finditer(line)]
    room = width if gaps else min(width, prose)
    if _cells(line) <= room:
        return [line]
    if _cells(narrow := _GAP.sub("  ", line)) <= room:
        return [narrow]
    first = len(line) - len(line.lstrip(" "))
    if indent is None:
        indent = next((_cells(line[:gap]) for gap in reversed(gaps) if _cells(line[:gap]) <= room // 2), first)
    rows = [line[:first]]
    for blank, word in _WORD.findall(line[first:]):
        if rows[-1].strip() and _cells(rows[-1] + blank + word) > room:
            rows.append(" " * indent + word)
        else:
            rows[-1] += blank + word
    return rows


_WORD: Final = re.compile(r"( *)([^ ]+)")


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


_BIDI_CONTROLS: Final = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))


def _translation_table() -> dict[int, str | None]:
    table: dict[int, str | None] = {code: chr(0x2400 + code) for code in range(0x20)}
    del table[ord("\t")], table[ord("\n")]
    # Files from Windows end their lines in \r\n: a symbol for each \r would only be noise.
    table[ord("\r")] = None
    table[0x7F] = "␡"
    # A C1 control is equivalent to an escape and a letter, and is shown as these two.
    table |= {code: "␛" + chr(code - 0x40) for code in range(0x80, 0xA0)}
    table |= dict.fromkeys((0x2028, 0x2029), " ")
    table |= {code: f"<U+{code:04X}>" for code in _BIDI_CONTROLS}
    table |= dict.fromkeys(range(0xE0000, 0xE0080))
    table |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
    return table


_TABLE: Final = _translation_table()


def sanitize_text(text: str) -> str:
    """Drop control characters or make them visible; keep tab and newline."""
    return text.translate(_TABLE)


def sanitize_line(text: str) -> str:
    """Sanitize a title, path or name, and collapse its white space to one line."""
    return " ".join(sanitize_text(text).split())


_IN_PLACE: Final = {code: "\ufffd" if text is None or len(text) > 1 else text for code, text in _TABLE.items()}


def sanitize_in_place(text: str) -> str:
    """Sanitize one character to one character, for text that is being edited, so that the cursor stays in place."""
    return text.translate(_IN_PLACE)


def error_lines(message: str, hint: str = "") -> str:
    return sanitize_text(f"zkchat: {message}\n" + (f"        {hint}\n" if hint else ""))


_ASCII_FALLBACKS: Final = dict(
    zip("…→←↑↓⌕≈×›–—“”‘’•●·│╱─⋮▌█▓▒░▤■□␛␍␡⍽✓✗☑☐☒‼", "~><^v*~x>--\"\"''**.|/-:|#%+=@:o^^^_+!xo-!", strict=True)
)
"""One ASCII character for each, so that the layout keeps its columns."""


def _ascii_fallback(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_ASCII_FALLBACKS.get(character, "?") for character in missing), error.end


_FALLBACK_HANDLER: Final = "zkchat.ascii_fallback"
codecs.register_error(_FALLBACK_HANDLER, _ascii_fallback)


def never_fail_to_encode(stream: TextIO) -> None:
    """Replace characters that the encoding of the stream lacks by ASCII, instead of raising an error."""
    if isinstance(stream, io.TextIOWrapper) and stream.errors != _FALLBACK_HANDLER:
        stream.reconfigure(errors=_FALLBACK_HANDLER)
