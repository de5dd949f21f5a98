"""The files of a vault: listed and read without following a link out of it, also one that is swapped in meanwhile."""

import errno
import os
import re
import stat
import time
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from zkchat.errors import NoteNotFound, NoteUnreadable, OutsideVault, VaultError
from zkchat.model.folder import RACY_NS, FolderListing
from zkchat.model.globs import NameGlobs
from zkchat.model.note import FileStamp, NoteWarning, is_note

_EXCLUDED_FOLDERS = frozenset({"node_modules"})
"""Folders that hold no notes. Hidden ones, such as `.git` and `.trash`, are known by their first letter."""

_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
FILE_FLAGS = _OPEN_FLAGS | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Opening a pipe must not wait for somebody to write into it."""
FOLDER_FLAGS = _OPEN_FLAGS | getattr(os, "O_DIRECTORY", 0)

LINK_ERRORS = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})
"""Error numbers for opening a symbolic link with O_NOFOLLOW, by system."""

_Folder = tuple[str, str, bool]
"""To be walked: its prefix, where it is, and whether a link leads there."""

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def is_left_out(name: str) -> bool:
    """Whether a file or folder of this name is never indexed, whatever the settings."""
    return name[0] == "." or name in _EXCLUDED_FOLDERS


class VaultFiles:
    """Implements `ports.note_files.NoteFiles` for a folder."""

    def __init__(self, root: Path, *, exclude: Sequence[str], max_note_bytes: int) -> None:
        self._root = root.resolve()
        self._exclude = NameGlobs(exclude)
        self._max_note_bytes = max_note_bytes

    def exclude(self, globs: Sequence[str]) -> None:
        """Leave out these files and folders from now on, and no others."""
        self._exclude = NameGlobs(globs)

    def scan(self) -> Iterator[FileStamp | NoteWarning]:
        for listing in self.folders():
            yield from listing.stamps()
            yield from listing.warnings

    def folders(self) -> Iterator[FolderListing]:
        if not self._root.is_dir():
            raise VaultError(f"There is no folder {self._root}.", hint="Name the vault with --vault.")
        waiting = [("", str(self._root), False)]
        while waiting:
            listing, below = self._list(*waiting.pop())
            waiting += below
            yield listing

    def changed_folders(self, unsettled: Iterable[str]) -> list[FolderListing] | None:  # noqa: ARG002 - nobody tells
        return None

    def list_folder(self, prefix: str) -> FolderListing:
        """One folder as it is now."""
        return self._list(prefix, str(self._root / prefix), linked=False)[0]

    def _list(self, prefix: str, folder: str, linked: bool) -> tuple[FolderListing, list[_Folder]]:
        """What is in a folder, and the folders to walk below it."""
        now = time.time_ns()
        names: list[str] = []
        sizes: list[int] = []
        times: list[int] = []
        warnings: list[NoteWarning] = []
        below: list[_Folder] = []
        has_globs, has_links = bool(self._exclude), False
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    name = entry.name
                    if is_left_out(name) or (has_globs and self._exclude.match(prefix + name)):
                        continue
                    try:
                        is_plain = entry.is_file(follow_symlinks=False) and name.isascii()
                        has_links |= not is_plain and entry.is_symlink()
                        problem = "" if is_plain else self._problem(entry, linked)
                        if not (is_plain or problem) and entry.is_dir():
                            below.append((f"{prefix}{name}/", entry.path, linked or entry.is_symlink()))
                            continue
                        if not problem:
                            status = entry.stat()
                            names.append(name)
                            sizes.append(status.st_size)
                            times.append(status.st_mtime_ns)
                            continue
                    except OSError as error:
                        problem = f"It cannot be looked at: {_reason(error)}."
                    if is_note(name) or Path(entry.path).is_dir():
                        path = _printable(prefix + name)
                        warnings.append(NoteWarning(path=path, text=problem, kind="unlisted"))
        except OSError as error:
            problem = f"The folder cannot be listed: {_reason(error)}."
            warnings.append(NoteWarning(path=prefix.rstrip("/") or ".", text=problem, kind="unlisted"))
        return FolderListing(prefix, names, sizes, times, warnings, now, self._max_note_bytes, has_links), below

    def _problem(self, entry: os.DirEntry[str], linked: bool) -> str:
        """Why an entry cannot be used; empty when it can."""
        if not _is_text(entry.name):
            return "The name is not UTF-8; rename it to use it."
        if entry.is_symlink():
            target = Path(os.path.realpath(entry.path))
            if not self._contains(target):
                return "It is a link that leads out of the vault."
            if not target.exists():
                return "It is a link to nothing."
            if target.is_dir() and (linked or Path(entry.path).parent.is_relative_to(target)):
                return "It is a link that leads round in a circle, or from one linked folder to another."
        return "" if entry.is_dir() or entry.is_file() else "It is not a regular file."

    def _contains(self, target: Path) -> bool:
        """Whether a path without links lies in the vault, and not in a part that is left out."""
        return target.is_relative_to(self._root) and self._is_included(target.relative_to(self._root).parts)

    def _is_included(self, parts: Sequence[str]) -> bool:
        return not any(self._is_excluded(part, "/".join(parts[: depth + 1])) for depth, part in enumerate(parts))

    def _is_excluded(self, name: str, path: str) -> bool:
        return is_left_out(name) or self._exclude.match(path)

    def linked(self, paths: Iterable[str]) -> dict[str, str]:
        by_folder: dict[str, list[str]] = {}
        for path in paths:
            folder, _, name = path.rpartition("/")
            by_folder.setdefault(folder, []).append(name)
        return {
            path: target
            for folder, names in by_folder.items()
            for path, target in self._linked_in(folder, names)
            if target != path
        }

    def _linked_in(self, folder: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        path = self._root / folder
        real = Path(os.path.realpath(path))
        try:
            with os.scandir(real) as entries:
                links = {entry.name for entry in entries if entry.is_symlink()}
        except OSError:
            links = set(names)  # each of them is looked at by itself
        for name in names if real != path else links.intersection(names):
            target = Path(os.path.realpath(path / name))
            if target.is_relative_to(self._root):
                yield f"{folder}/{name}".lstrip("/"), target.relative_to(self._root).as_posix()

    def shared(self, path: str) -> object | None:
        try:
            status = self._root.joinpath(*self._parts(path)).stat()
        except (OSError, VaultError):
            return None
        return (status.st_dev, status.st_ino) if status.st_nlink > 1 else None

    def identity(self, path: str) -> object | None:
        try:
            status = self._root.joinpath(*self._parts(path)).stat()
        except (OSError, VaultError):
            return None
        changed = max(status.st_mtime_ns, status.st_ctime_ns)
        if time.time_ns() - changed <= RACY_NS:
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def read(self, path: str) -> str:
        return self.read_whole(path)[0]

    def read_whole(self, path: str) -> tuple[str, bool]:
        return _decode(self._bytes(path), path)

    def read_data(self, path: str, most: int) -> bytes:
        return self._bytes(path, most)

    def _bytes(self, path: str, most: int | None = None) -> bytes:
        parts = self._parts(path)
        try:
            file = self._open(parts, path)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoteNotFound(f"There is no file {path} in the vault.") from error
        except OSError as error:
            raise NoteUnreadable(f"{path} cannot be read: {_reason(error)}.", hint="Check its permissions.") from error
        try:
            return self._read_content(file, path, most)
        except OSError as error:
            raise NoteUnreadable(f"{path} cannot be read: {_reason(error)}.") from error
        finally:
            os.close(file)

    def _parts(self, path: str) -> list[str]:
        """The components of a path that can only lead inside; hidden and excluded files count as missing."""
        parts = path.split("/")
        if "\0" in path or path.startswith(("/", "\\")) or (".." in path and ".." in re.split(r"[/\\]", path)):
            raise _outside(path)
        if re.match(r"[A-Za-z]:([/\\]|$)", path) or (parts[0].startswith("~") and (len(parts) > 1 or path == "~")):
            raise _outside(path)
        if not all(parts) or not _is_text(path) or not self._is_included(parts):
            raise NoteNotFound(
                f"There is no file {_printable(path)!r} in the vault.",
                hint="Hidden files and those of vault.exclude do not count.",
            )
        return parts

    def _open(self, parts: list[str], path: str) -> int:
        """A descriptor of the file. Links are followed only by name, once, and what they lead to holds none."""
        try:
            return self._open_without_links(parts)
        except OSError as error:
            if error.errno not in LINK_ERRORS:
                raise
        target = Path(os.path.realpath(self._root.joinpath(*parts)))
        if not self._contains(target):
            raise _outside(path)
        return self._open_without_links(list(target.relative_to(self._root).parts))

    def _open_without_links(self, parts: list[str]) -> int:
        """Open component by component, following no link, so that nothing can be swapped between check and use."""
        if os.open not in os.supports_dir_fd:
            return self._open_resolved(parts)
        folder = os.open(self._root, FOLDER_FLAGS)
        try:
            for part in parts[:-1]:
                inner = os.open(part, FOLDER_FLAGS, dir_fd=folder)
                os.close(folder)
                folder = inner
            return os.open(parts[-1], FILE_FLAGS, dir_fd=folder)
        finally:
            os.close(folder)

    def _open_resolved(self, parts: list[str]) -> int:
        """The same where folders cannot be held open (Windows): whoever may make links there is an administrator."""
        path = self._root.joinpath(*parts)
        if not path.resolve().is_relative_to(self._root):
            raise _outside("/".join(parts))
        return os.open(path, FILE_FLAGS)

    def _read_content(self, file: int, path: str, most: int | None = None) -> bytes:
        """What an open file holds, which may be `most` bytes, or those of a note."""
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise NoteUnreadable(f"{path} is not a regular file.")
        limit = most or self._max_note_bytes
        if status.st_size <= limit:
            content = _read_all(file, status.st_size, limit)
            if len(content) <= limit:  # it may have grown
                return content
        raise NoteUnreadable(
            f"{path} is larger than {limit:,} bytes and was not read.",
            hint="" if most else "Raise vault.max_note_bytes in the settings, or split the note.",
        )


def _read_all(file: int, expected: int, most: int) -> bytes:
    """The bytes of an open file; one more than `most` where there are more."""
    content = os.read(file, expected + 1)
    while len(content) > expected and len(content) <= most and (more := os.read(file, most + 1 - len(content))):
        content += more
    return content


def _decode(content: bytes, path: str) -> tuple[str, bool]:
    """The text, without a byte-order mark, and whether it is what the file holds to the last byte."""
    encoding = "utf-16" if content.startswith(_UTF16_MARKS) else "utf-8"
    if encoding != "utf-16" and b"\0" in content:
        raise NoteUnreadable(f"{path} holds binary data.")
    content = content.removeprefix(BOM_UTF8)  # the codec that would do so is a slow one
    try:
        return content.decode(encoding), True
    except UnicodeDecodeError:
        return content.decode(encoding, errors="replace"), False


def _is_text(name: str) -> bool:
    """Whether a name is free of the surrogates that stand for undecodable bytes."""
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)


def _printable(path: str) -> str:
    return path.encode("utf-8", errors="replace").decode("utf-8")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _outside(path: str) -> OutsideVault:
    return OutsideVault(f"{_printable(path)!r} leads out of the vault.", hint="Give a path inside the vault.")
