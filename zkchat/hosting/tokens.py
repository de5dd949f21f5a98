"""The token without which nobody on this machine is served over HTTP."""

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from zkchat.core import ConfigError, lazy_pattern, read_bounded, write_atomically

MIN_CHARACTERS: Final = 16
_MAX_CHARACTERS: Final = 1_000
_RANDOM_BYTES: Final = 32
_FORM: Final = lazy_pattern(rf"[A-Za-z0-9._~+/=-]{{{MIN_CHARACTERS},{_MAX_CHARACTERS}}}")
"""What may follow `Bearer` in a header."""


class AccessToken(Struct, frozen=True, kw_only=True):
    text: str
    is_new: bool = False
    """Whether it was made up just now."""
    file: Path | None = None

    def __repr__(self) -> str:
        """Without the token."""
        return f"{type(self).__name__}(file={self.file})"

    def matches(self, given: bytes) -> bool:
        """In a time that does not tell how much of it was right."""
        return secrets.compare_digest(self.text.encode(), given)


def access_token(file: Path | None, variables: Mapping[str, str], variable: str = "ZKCHAT_MCP_TOKEN") -> AccessToken:
    """The token of a file, which is made where there is none; else that of the variable; else a new one.

    Raises `ConfigError`, and `StorageError` where the file cannot be written.
    """
    if file is not None:
        return _of_file(file)
    if text := variables.get(variable, "").strip():
        return AccessToken(text=_checked(text, f"${variable}"))
    return AccessToken(text=secrets.token_urlsafe(_RANDOM_BYTES), is_new=True)


def _of_file(file: Path) -> AccessToken:
    try:
        content = read_bounded(file, max_bytes=2 * _MAX_CHARACTERS)
        if file.stat().st_mode & 0o077:
            raise ConfigError(f"Others on this machine may read {file}.", hint=f"Protect it: chmod 600 {file}")
    except (FileNotFoundError, NotADirectoryError):
        text = secrets.token_urlsafe(_RANDOM_BYTES)
        write_atomically(file, f"{text}\n", mode=0o600)
        return AccessToken(text=text, is_new=True, file=file)
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.", hint="Give another file.") from error
    return AccessToken(text=_checked(content.decode(errors="replace").strip(), str(file)), file=file)


def _checked(text: str, where: str) -> str:
    if not _FORM.fullmatch(text):
        raise ConfigError(
            f"{where} does not hold a usable access token.",
            hint=f"It needs {MIN_CHARACTERS} or more letters, digits and -._~+/= without a space. Without one, "
            "zkchat makes one up.",
        )
    return text
