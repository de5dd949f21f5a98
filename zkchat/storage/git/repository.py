"""Where the repository of a vault lies, and which commit it is at, read from its files.

A repository comes with its vault, and its configuration can name programs to run, so git itself never gets to see it.
"""

import os
import re
import stat
from pathlib import Path
from typing import Final

from msgspec import Struct

from zkchat.files import read_bounded
from zkchat.model.patterns import lazy_pattern

_MAX_SMALL_FILE: Final = 4096
_MAX_PACKED_REFS: Final = 20_000_000
_MAX_SHALLOW: Final = 1_000_000
_MAX_REFERENCES: Final = 5
"""From one name to the next, until there is a commit."""
_COMMIT: Final = lazy_pattern(r"[0-9a-f]{40}")
_LONG_COMMIT: Final = lazy_pattern(r"[0-9a-f]{64}")
_REFERENCE: Final = lazy_pattern(r"refs(?:/[^\x00-\x20\x7f~^:?*\[\\/.][^\x00-\x20\x7f~^:?*\[\\/]*)+")


class UnusableRepository(Exception):
    """There is a repository that is not used; the text says why, as the end of a sentence."""


class Repository(Struct, frozen=True, kw_only=True):
    git_folder: Path
    """Where `HEAD` is."""
    common_folder: Path
    """Where objects and names are; another one in an added worktree."""
    prefix: str = ""
    """The folder of the vault in it, with a slash at its end; empty where the vault is all of it."""

    @property
    def objects(self) -> Path:
        return self.common_folder / "objects"

    def head(self) -> str:
        """The id of the commit that is checked out; empty before the first one. Raises `UnusableRepository`."""
        name = "HEAD"
        for _ in range(_MAX_REFERENCES):
            text = self._reference(name)
            if _COMMIT.fullmatch(text):
                return text
            if _LONG_COMMIT.fullmatch(text):
                raise UnusableRepository("its format is SHA-256")
            name = text.removeprefix("ref:").strip()
            if not text:
                return ""
            if not text.startswith("ref:") or not _REFERENCE.fullmatch(name) or ".." in name:
                break
        raise UnusableRepository("its HEAD is not understood")

    def _reference(self, name: str) -> str:
        folder = self.git_folder if name == "HEAD" else self.common_folder
        try:
            return _text(folder / name, beneath=folder)
        except FileNotFoundError:
            if name == "HEAD":
                raise UnusableRepository("it has no HEAD") from None
        except (OSError, ValueError):
            raise UnusableRepository(f"{name} cannot be read") from None
        return self._packed(name)

    def _packed(self, name: str) -> str:
        if (self.common_folder / "reftable").exists():
            raise UnusableRepository("it keeps its names in a reftable")
        try:
            packed = read_bounded(
                self.common_folder / "packed-refs", max_bytes=_MAX_PACKED_REFS, beneath=self.common_folder
            )
        except FileNotFoundError:
            return ""
        except OSError:
            raise UnusableRepository("packed-refs cannot be read") from None
        found = re.search(rb"^([0-9a-f]+) %b$" % re.escape(name.encode(errors="surrogateescape")), packed, re.MULTILINE)
        return found[1].decode() if found else ""

    def shallow_commits(self) -> frozenset[str]:
        """Those whose parents are not there, because the clone was made without them."""
        try:
            listed = _text(self.common_folder / "shallow", beneath=self.common_folder, most=_MAX_SHALLOW)
        except FileNotFoundError:
            return frozenset()
        except (OSError, ValueError):
            raise UnusableRepository("its list of shallow commits cannot be read") from None
        return frozenset(line for line in listed.split() if _COMMIT.fullmatch(line))


def find_repository(vault: Path) -> Repository | None:
    """The repository that a vault is, or is a folder of; None where there is none. Raises `UnusableRepository`."""
    root = vault.resolve()
    try:
        device = root.stat().st_dev
        for folder in (root, *root.parents):
            if folder.stat().st_dev != device:
                return None
            if (folder / ".git").is_symlink() or (folder / ".git").exists():
                prefix = root.relative_to(folder).as_posix()
                return _opened(folder / ".git", "" if prefix == "." else f"{prefix}/")
    except OSError:
        return None
    return None


def _opened(entry: Path, prefix: str) -> Repository:
    status = entry.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise UnusableRepository("its folder .git is a link")
    _require_own(status)
    if stat.S_ISDIR(status.st_mode):
        repository = Repository(git_folder=entry, common_folder=entry, prefix=prefix)
    else:
        repository = _linked(entry, prefix)
    _require_own_objects(repository)
    return repository


def _linked(entry: Path, prefix: str) -> Repository:
    """Of an added worktree or a submodule, whose `.git` is a file; only where the other side agrees."""
    elsewhere = UnusableRepository("its file .git leads elsewhere")
    try:
        text = _text(entry, beneath=entry.parent)
        if not text.startswith("gitdir:"):
            raise elsewhere
        folder = (entry.parent / text.removeprefix("gitdir:").strip()).resolve(strict=True)
        _require_own(folder.stat())
        if not (folder / "commondir").exists():
            if not _is_submodule(entry, folder):
                raise elsewhere
            return Repository(git_folder=folder, common_folder=folder, prefix=prefix)
        common = (folder / _text(folder / "commondir", beneath=folder)).resolve(strict=True)
        _require_own(common.stat())
        back = Path(_text(folder / "gitdir", beneath=folder))
        if folder.parent != common / "worktrees" or (folder / back).resolve() != entry.resolve():
            raise elsewhere
    except (OSError, ValueError, RuntimeError):
        raise elsewhere from None
    return Repository(git_folder=folder, common_folder=common, prefix=prefix)


def _is_submodule(entry: Path, folder: Path) -> bool:
    """Whether the folder is where a repository around the file's keeps its submodules."""
    return any(
        folder.is_relative_to(above / ".git" / "modules") and not (above / ".git").is_symlink()
        for above in entry.parent.parents
    )


def _require_own(status: os.stat_result) -> None:
    """As git does: a folder of another user could be planted above the vault."""
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise UnusableRepository("it belongs to another user")


def _require_own_objects(repository: Repository) -> None:
    try:
        if not stat.S_ISDIR(repository.objects.lstat().st_mode):
            raise UnusableRepository("its objects are elsewhere")
        for name in ("alternates", "http-alternates"):
            if (repository.objects / "info" / name).exists():
                raise UnusableRepository("it borrows objects from another repository")
    except OSError:
        raise UnusableRepository("it has no objects") from None


def _text(file: Path, *, beneath: Path, most: int = _MAX_SMALL_FILE) -> str:
    return read_bounded(file, max_bytes=most, beneath=beneath).decode(errors="surrogateescape").strip()
