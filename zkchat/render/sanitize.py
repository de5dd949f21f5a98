"""The one door to the terminal: text of notes, models, tools and servers is shown here, never obeyed.

Each character is looked at by itself, so that a text gives the same result in one piece and in any pieces.
"""

import codecs
import io
from typing import Final, TextIO

_BIDI_CONTROLS: Final = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_TAGS: Final = range(0xE0000, 0xE0080)
_SURROGATES: Final = range(0xD800, 0xE000)


def _translation_table() -> dict[int, str | None]:
    table: dict[int, str | None] = {code: chr(0x2400 + code) for code in range(0x20)}
    del table[ord("\t")], table[ord("\n")]
    # Files from Windows end their lines in \r\n: a picture of each \r would only be noise.
    table[ord("\r")] = None
    table[0x7F] = "␡"
    # A C1 control is short for an escape and a letter, and is shown as these two.
    table |= {code: "␛" + chr(code - 0x40) for code in range(0x80, 0xA0)}
    table |= dict.fromkeys((0x2028, 0x2029), " ")
    table |= {code: f"<U+{code:04X}>" for code in _BIDI_CONTROLS}
    table |= dict.fromkeys(_TAGS)
    table |= dict.fromkeys(_SURROGATES, "\ufffd")
    return table


_TABLE: Final = _translation_table()


def sanitize_text(text: str) -> str:
    """The text with every character that could act on a terminal dropped or made visible; tab and newline stay."""
    return text.translate(_TABLE)


def sanitize_line(text: str) -> str:
    """The same for what must stay on one line: a title, a path, a name."""
    return " ".join(sanitize_text(text).split())


_IN_PLACE: Final = {code: "\ufffd" if text is None or len(text) > 1 else text for code, text in _TABLE.items()}


def sanitize_in_place(text: str) -> str:
    """The same for text that is being edited: each character stays one, so that the cursor stays where it is."""
    return text.translate(_IN_PLACE)


def error_lines(message: str, hint: str = "") -> str:
    """What went wrong, and the way out on a line of its own."""
    return sanitize_text(f"zkchat: {message}\n" + (f"        {hint}\n" if hint else ""))


_LOOK_ALIKES: Final = dict(zip("…→⌕≈›–—“”‘’•·│╱─▌█▓▒░■␛", "~>*~>--\"\"''*.|/-|#%+=:^", strict=True))
"""One character for one, so that what was laid out stays in its columns."""


def _look_alike(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_LOOK_ALIKES.get(character, "?") for character in lacking), error.end


_BY_LOOK_ALIKE: Final = "zkchat.look_alike"
codecs.register_error(_BY_LOOK_ALIKE, _look_alike)


def never_fail_to_encode(stream: TextIO) -> None:
    """A character that the stream's encoding lacks becomes one that looks like it, instead of ending the program."""
    if isinstance(stream, io.TextIOWrapper) and stream.errors != _BY_LOOK_ALIKE:
        stream.reconfigure(errors=_BY_LOOK_ALIKE)
