"""Settings files as text and as TOML: bounded, regular files only, each fault told with the file's name."""

import re
import tomllib
from pathlib import Path
from typing import Final

from zkchat.errors import ConfigError
from zkchat.files import read_small

_LARGEST: Final = 1_000_000
"""Bytes; more is no settings file."""


class UnreadableFile(ConfigError):
    """A settings file is there, but it is no regular file of ours to read, or the system does not let us."""


def read_text(file: Path, *, beneath: Path | None = None) -> str:
    """The file as text with its line ends as they are; empty if there is none. Below `beneath` no link is followed."""
    try:
        return read_small(file, most=_LARGEST, beneath=beneath).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise UnreadableFile(
            f"{file} cannot be read: {error.strerror}.", hint="Put a readable file there, or move it away."
        ) from error
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not a UTF-8 text.", hint="Save it as UTF-8, or move it away.") from None


def read_table(file: Path, *, beneath: Path | None = None) -> dict[str, object]:
    """The file as TOML; empty if there is none. Raises `ConfigError` if it is broken."""
    try:
        return tomllib.loads(read_text(file, beneath=beneath))
    except (ValueError, RecursionError) as error:
        what, line = _what_and_line(str(error))
        raise ConfigError(
            f"{file} is broken at {line}: {what}.",
            hint="Correct it, or move the file away to start from the defaults.",
        ) from None


def _what_and_line(message: str) -> tuple[str, str]:
    # Before Python 3.14 the place stands in the message only.
    match = re.fullmatch(r"(.*) \(at (?:(line \d+), column \d+|end of document)\)", message, re.DOTALL)
    return (match[1], match[2] or "its end") if match else (message, "some place")
