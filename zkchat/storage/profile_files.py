"""The folders that hold agents and rules: one in the vault, one in the user's settings."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from zkchat.errors import UsageError
from zkchat.files import list_names, read_bounded, resolve_link, write_atomically
from zkchat.model.choices import Scope
from zkchat.model.profile import ProfileFile, ProfileKind

_FOLDERS: Final[dict[ProfileKind, str]] = {"agent": "agents", "rule": "rules"}
_MAX_BYTES: Final = 256_000
"""Of one file; more is no instruction."""

_MAX_FILES: Final = 200
"""Of one folder; nobody chooses among more."""


class ProfileFolders(Struct, frozen=True):
    """The files of both. In the vault no link is followed."""

    vault: Path
    config: Path

    def files(self) -> Iterator[ProfileFile]:
        for kind in _FOLDERS:
            yield from self._files("vault", kind)
            yield from self._files("user", kind)

    def path_of(self, scope: Scope, kind: ProfileKind, name: str) -> Path:
        """Where the file of that name belongs. Raises `UsageError` for a name that is no file name."""
        if not name.strip() or name.startswith(".") or any(sign in '/\\:\0"<>|?*' or sign < " " for sign in name):
            raise UsageError(f"{name!r} cannot be the name of a file.", hint="Use letters, digits, spaces, - or _.")
        return self._folder(scope, kind) / f"{name}.md"

    def write(self, scope: Scope, file: Path, text: str) -> None:
        """Write a file of one of the folders, the folder too if it is missing. Raises `StorageError`."""
        write_atomically(
            file if scope == "vault" else resolve_link(file), text, mode=0o644, beneath=self._beneath(scope)
        )

    def _files(self, scope: Scope, kind: ProfileKind) -> Iterator[ProfileFile]:
        folder = self._folder(scope, kind)
        try:
            names = [name for name in list_names(folder, beneath=self._beneath(scope)) if name.endswith(".md")]
        except OSError as error:
            error_text = f"The folder is not read: {error.strerror}."
            yield ProfileFile(kind=kind, name=folder.name, origin=scope, path=str(folder), read_error=error_text)
            return
        for number, name in enumerate(names):
            file = folder / name
            text, error_text = (
                self._read(file, scope) if number < _MAX_FILES else ("", f"It is beyond the first {_MAX_FILES}.")
            )
            yield ProfileFile(kind=kind, name=file.stem, origin=scope, path=str(file), text=text, read_error=error_text)

    def _read(self, file: Path, scope: Scope) -> tuple[str, str]:
        """The text, or the reason why there is none."""
        try:
            return read_bounded(file, max_bytes=_MAX_BYTES, beneath=self._beneath(scope)).decode("utf-8"), ""
        except UnicodeDecodeError:
            return "", "The file is not UTF-8 text."
        except OSError as error:
            return "", f"The file cannot be read: {error.strerror}."

    def _folder(self, scope: Scope, kind: ProfileKind) -> Path:
        return (self.vault / ".zkchat" if scope == "vault" else self.config) / _FOLDERS[kind]

    def _beneath(self, scope: Scope) -> Path | None:
        """The user's own folders may be links: many people keep such files elsewhere."""
        return self.vault if scope == "vault" else None
