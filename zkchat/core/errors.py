"""Every error that zkchat raises on purpose, with a hint and an exit code; how an extra is added."""

import shlex
import sys
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path

from msgspec import Struct


def install_command(extra: str) -> str:
    """The command for this installation: in environments of pipx and uv, pip would miss it or is not there."""
    package, environment = f"'zkchat[{extra}]'", Path(sys.prefix)
    if (environment / "pipx_metadata.json").exists():
        return f"pipx inject zkchat {package}"
    if (environment / "uv-receipt.toml").exists():
        return f"uv pip install --python {shlex.quote(sys.executable)} {package}"
    return f"pip install {package}"


class ExitCode(IntEnum):
    OK = 0
    BUG = 1
    USAGE = 2
    CONFIG = 3
    VAULT = 4
    SESSION = 5
    MODEL = 6
    NO_ANSWER = 7
    STORAGE = 8
    OUTPUT = 9
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


class ZkchatError(Exception):
    """Base of every error that zkchat raises on purpose; anything else is a bug."""

    exit_code = ExitCode.BUG

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(ZkchatError):
    """The command was called in a way that it does not understand."""

    exit_code = ExitCode.USAGE


class ConfigError(ZkchatError):
    """A settings file, variable or flag holds something that cannot be used."""

    exit_code = ExitCode.CONFIG


class UnknownProfile(ConfigError):
    """There is no agent or rule of that name."""


class VaultError(ZkchatError):
    """The vault, or a note of it, cannot be used."""

    exit_code = ExitCode.VAULT


class UnconfirmedVault(VaultError):
    """Nobody has said yet that the folder is a vault."""


class LostDefaultVault(VaultError):
    """The user's default vault cannot be used."""


class NoteNotFound(VaultError):
    """There is no such note in the vault."""


class NoteUnreadable(VaultError):
    """The note is there but cannot be read."""


class PdfUnread(NoteUnreadable):
    """PDFs are not read here: the extra is not installed, or the settings say so."""

    exit_code = ExitCode.CONFIG


class ImageUnusable(VaultError):
    """An image that cannot be sent to a model."""


class OutsideVault(VaultError):
    """The path leads out of the vault."""


class EditRefused(VaultError):
    """A change of a note that cannot be made as it was asked for. The hint shows what is there instead."""


class FileConflict(Struct, frozen=True, kw_only=True):
    """A file that is no longer what a change or its undoing expects. None: the file is not there."""

    path: str
    expected: bytes | None
    wanted: bytes | None
    """What it would have become."""
    found: bytes | None


class FilesChanged(VaultError):
    """Files are not what a change expects; nothing was written."""

    def __init__(self, message: str, *, hint: str = "", conflicts: Sequence[FileConflict] = ()) -> None:
        super().__init__(message, hint=hint)
        self.conflicts = tuple(conflicts)


class SessionError(ZkchatError):
    """The session asked for cannot be used."""

    exit_code = ExitCode.SESSION


class SessionNotFound(SessionError):
    """No session, or more than one, answers to that name."""


class StorageError(ZkchatError):
    """Something could not be written to, or read from, zkchat's own files."""

    exit_code = ExitCode.STORAGE


class StorageFull(StorageError):
    """The disk has no room left."""


class StorageDamaged(StorageError):
    """A database is corrupt."""


class StorageTooNew(StorageError):
    """A database was written by a newer zkchat."""


class ProviderError(ZkchatError):
    """The model could not be reached or did not do its part."""

    exit_code = ExitCode.MODEL


class PromptTooLong(ProviderError):
    """The model's server counted more tokens than it can take."""


class TextRefused(ProviderError):
    """A model takes no text like this one; it is of no use to send it again."""


class TextKeptHere(ProviderError):
    """A text that is not known to be open is not sent to a server elsewhere."""


class NoAnswer(ZkchatError):
    """No answer came."""

    exit_code = ExitCode.NO_ANSWER
