"""The folders that hold agents and rules: one in the vault, one in the user's settings."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from zkchat.errors import OutsideVault, UsageError
from zkchat.model.profile import ProfileFile, ProfileKind

_FOLDERS: Final[dict[ProfileKind, str]] = {"agent": "agents", "rule": "rules"}
_LARGEST: Final = 256_000
"""Bytes; more is no instruction."""

Scope = Literal["vault", "user"]


@dataclass(frozen=True)
class ProfileFolders:
    """The files of both. A link in the vault is not followed out of it."""

    vault: Path
    config: Path

    def files(self) -> Iterator[ProfileFile]:
        for kind in _FOLDERS:
            yield from self._files("vault", kind)
            yield from self._files("user", kind)

    def place(self, scope: Scope, kind: ProfileKind, name: str) -> Path:
        """Where the file of that name belongs. Raises for a name that is no file name, and a link out of the vault."""
        if not name.strip() or name.startswith(".") or any(sign in '/\\:\0"<>|?*' or sign < " " for sign in name):
            raise UsageError(f"{name!r} cannot be the name of a file.", hint="Use letters, digits, spaces, - or _.")
        file = self._folder(scope, kind) / f"{name}.md"
        if scope == "vault" and self._leads_out(file):
            raise OutsideVault(f"{file} leads out of the vault.", hint="Replace the link by a folder.")
        return file

    def _files(self, scope: Scope, kind: ProfileKind) -> Iterator[ProfileFile]:
        for file in sorted(self._folder(scope, kind).glob("*.md")):
            text, trouble = self._read(file, scope)
            name = file.stem
            yield ProfileFile(kind=kind, name=name, origin=scope, path=str(file), text=text, trouble=trouble)

    def _read(self, file: Path, scope: Scope) -> tuple[str, str]:
        """The text, or the reason why there is none."""
        if scope == "vault" and self._leads_out(file):
            return "", "The file is a link that leads out of the vault."
        try:
            if not file.is_file():
                return "", "This is not a file."
            if file.stat().st_size > _LARGEST:
                return "", f"The file is larger than {_LARGEST:,} bytes."
            return file.read_text("utf-8"), ""
        except UnicodeDecodeError:
            return "", "The file is not UTF-8 text."
        except OSError as error:
            return "", f"The file cannot be read: {error.strerror}."

    def _folder(self, scope: Scope, kind: ProfileKind) -> Path:
        return (self.vault / ".zkchat" if scope == "vault" else self.config) / _FOLDERS[kind]

    def _leads_out(self, file: Path) -> bool:
        return not file.resolve().is_relative_to(self.vault.resolve())
