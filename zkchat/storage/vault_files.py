"""The files of a vault: listed, counted and read without following a link, and watched; templates, agents, rules."""

import errno
import json
import os
import re
import stat
import struct
import sys
import time
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, Final

from msgspec import Struct

from zkchat.core import (
    RACY_NS,
    FileStamp,
    FolderListing,
    NameGlobs,
    NoteNotFound,
    NoteUnreadable,
    NoteWarning,
    OutsideVault,
    ProfileFile,
    ProfileKind,
    Scope,
    UsageError,
    VaultError,
    is_note,
    list_names,
    read_bounded,
    resolve_link,
    write_atomically,
)

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
            raise VaultError(f"There is no folder {self._root}.", hint="Give the vault with --vault.")
        waiting = [("", str(self._root), False)]
        while waiting:
            listing, below = self._list(*waiting.pop())
            waiting += below
            yield listing

    def changed_folders(self, unsettled: Iterable[str]) -> list[FolderListing] | None:  # noqa: ARG002 - nobody tells
        return None

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
                        problem = f"It cannot be read: {_reason(error)}."
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
            return "Its name is not UTF-8: rename it, so that zkchat can read it."
        if entry.is_symlink():
            target = Path(os.path.realpath(entry.path))
            if not self._contains(target):
                return "It is a symbolic link that leads out of the vault."
            if not target.exists():
                return "It is a symbolic link that leads nowhere."
            if target.is_dir() and (linked or Path(entry.path).parent.is_relative_to(target)):
                return f"It is a symbolic link {'inside a linked folder' if linked else 'to a folder around it'}."
        return "" if entry.is_dir() or entry.is_file() else "It is not a regular file."

    def _contains(self, target: Path) -> bool:
        """Whether a path without links lies in the vault, and not in a part that is left out."""
        return target.is_relative_to(self._root) and self._is_included(target.relative_to(self._root).parts)

    def _is_included(self, parts: Sequence[str]) -> bool:
        paths = ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
        return not any(map(is_left_out, parts)) and not any(map(self._exclude.match, paths))

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

    def _status(self, path: str) -> os.stat_result | None:
        try:
            return self._root.joinpath(*self._parts(path)).stat()
        except (OSError, VaultError):
            return None

    def shared(self, path: str) -> object | None:
        status = self._status(path)
        return (status.st_dev, status.st_ino) if status and status.st_nlink > 1 else None

    def identity(self, path: str) -> object | None:
        status = self._status(path)
        if status is None or time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) <= RACY_NS:
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def read(self, path: str) -> str:
        return self.read_whole(path)[0]

    def read_whole(self, path: str) -> tuple[str, bool]:
        """The text, without a byte-order mark, and whether it is what the file holds to the last byte."""
        content = self.read_data(path)
        encoding = "utf-16" if content.startswith(_UTF16_MARKS) else "utf-8"
        if encoding != "utf-16" and b"\0" in content:
            raise NoteUnreadable(f"{path} contains binary data.")
        content = content.removeprefix(BOM_UTF8)  # the codec that would do so is a slow one
        try:
            return content.decode(encoding), True
        except UnicodeDecodeError:
            return content.decode(encoding, errors="replace"), False

    def read_data(self, path: str, most: int | None = None) -> bytes:
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
                hint="Hidden files and those in vault.exclude are not read.",
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
        if os.open not in os.supports_dir_fd:  # Windows, where whoever may make links is an administrator
            path = self._root.joinpath(*parts)
            if not path.resolve().is_relative_to(self._root):
                raise _outside("/".join(parts))
            return os.open(path, FILE_FLAGS)
        folder = os.open(self._root, FOLDER_FLAGS)
        try:
            for part in parts[:-1]:
                inner = os.open(part, FOLDER_FLAGS, dir_fd=folder)
                os.close(folder)
                folder = inner
            return os.open(parts[-1], FILE_FLAGS, dir_fd=folder)
        finally:
            os.close(folder)

    def _read_content(self, file: int, path: str, most: int | None = None) -> bytes:
        """What an open file holds, which may be `most` bytes, or those of a note."""
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise NoteUnreadable(f"{path} is not a regular file.")
        limit = most or self._max_note_bytes
        if (expected := status.st_size) <= limit:
            content = os.read(file, expected + 1)
            while expected < len(content) <= limit and (more := os.read(file, limit + 1 - len(content))):
                content += more  # it has grown, or has no size of its own
            if len(content) <= limit:
                return content
        raise NoteUnreadable(
            f"{path} is larger than {limit:,} bytes and was not read.",
            hint="" if most else "Raise vault.max_note_bytes in the settings, or split the note.",
        )


def _is_text(name: str) -> bool:
    """Whether a name is free of the surrogates that stand for undecodable bytes."""
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)


def _printable(path: str) -> str:
    return path.encode("utf-8", errors="replace").decode("utf-8")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _outside(path: str) -> OutsideVault:
    return OutsideVault(f"{_printable(path)!r} leads out of the vault.", hint="Give a path inside the vault.")


MAX_FILES: Final = 50_000
"""Names looked at, folders included: a tenth of a second on a local disk."""


class FolderCount(Struct, frozen=True, kw_only=True):
    notes: int
    files: int
    is_complete: bool
    """False where a bound was reached, so that there may be more."""


def count_notes(folder: Path, *, max_notes: int, max_files: int = MAX_FILES) -> FolderCount:
    """Count without following links, and without what is never indexed; what cannot be listed counts as empty."""
    notes = files = seen = 0
    folders = [str(folder)]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if notes > max_notes or seen >= max_files:
                    return FolderCount(notes=notes, files=files, is_complete=False)
                seen += 1
                if is_left_out(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    files += 1
                    notes += is_note(entry.name)
    return FolderCount(notes=notes, files=files, is_complete=True)


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
            text, error_text = "", ""
            try:
                if number < _MAX_FILES:
                    text = read_bounded(file, max_bytes=_MAX_BYTES, beneath=self._beneath(scope)).decode("utf-8")
                else:
                    error_text = f"Only the first {_MAX_FILES} files are read."
            except UnicodeDecodeError:
                error_text = "The file is not UTF-8 text."
            except OSError as error:
                error_text = f"The file cannot be read: {error.strerror}."
            yield ProfileFile(kind=kind, name=file.stem, origin=scope, path=str(file), text=text, read_error=error_text)

    def _folder(self, scope: Scope, kind: ProfileKind) -> Path:
        return (self.vault / ".zkchat" if scope == "vault" else self.config) / _FOLDERS[kind]

    def _beneath(self, scope: Scope) -> Path | None:
        """The user's own folders may be links: many people keep such files elsewhere."""
        return self.vault if scope == "vault" else None


_SETTINGS: Final[Mapping[str, str]] = {
    "templates.json": "folder",
    "plugins/templater-obsidian/data.json": "templates_folder",
}
"""By file in `.obsidian/`, the name of the setting."""


def template_folders(vault: Path) -> list[str]:
    """Relative paths, each with a slash at its end; none for settings that are not there or cannot be read."""
    found: list[str] = []
    for file, name in _SETTINGS.items():
        with suppress(OSError, ValueError, RecursionError):
            content = read_bounded(vault / ".obsidian" / file, max_bytes=1_000_000, beneath=vault)
            settings = json.loads(content)
            value = settings.get(name) if isinstance(settings, dict) else None
            if isinstance(value, str) and (folder := value.strip().strip("/")):
                found.append(f"{folder}/")
    return found


MAX_FOLDERS: Final = 50_000
"""Folders that are watched; in a vault with more of them, nothing is."""
_USUAL_FOLDERS: Final = 5_000
_MAX_SHARE: Final = 1 / 4
"""Of what the system lets a user watch, which other programs need too: no more in a vault of many folders."""
_LIMIT: Final = Path("/proc/sys/fs/inotify/max_user_watches")
_FILE_SYSTEMS: Final = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "tmpfs", "overlay"})
"""On which all changes are made by this machine. Those of a network drive are told to nobody."""
_CHANGES: Final = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
"""Content, attributes, names and presence of files, and of the folder itself; see inotify(7)."""
_ABOUT_FOLDERS: Final = 0x40000000 | 0x400 | 0x800 | 0x2000 | 0x4000 | 0x8000
"""A folder in the folder, or the folder itself; more happened than is told; the folder is watched no longer."""
_EVENT: Final = struct.Struct("iIII")
_MOUNTS: Final = Path("/proc/self/mountinfo")


class FolderWatch:
    """Watches the folders below a root, without those that are never indexed. One thread uses it at a time."""

    def __init__(self, root: Path, library: Any) -> None:
        self._root = root
        self._library = library
        self._descriptor = -1
        self._prefixes: dict[int, str] = {}
        """Of the folders that are watched, by their numbers."""

    @classmethod
    def over(cls, root: Path) -> "FolderWatch | None":
        """None where the system, or the file system of the folder, does not tell of every change."""
        root = root.resolve()
        if sys.platform != "linux" or _file_system_of(root) not in _FILE_SYSTEMS:
            return None
        import ctypes

        library = ctypes.CDLL(None)
        return cls(root, library) if hasattr(library, "inotify_init1") else None

    def begin(self) -> bool:
        """Forget what happened; what changes from now on is noticed. Whether all folders could be watched."""
        self.close()
        self._descriptor = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor >= 0 and not self._watch_all():
            self.close()
        return self._descriptor >= 0

    def is_quiet(self) -> bool:
        """Whether it is certain that nothing changed since `begin`."""
        if self._descriptor < 0:
            return False
        try:
            return not os.read(self._descriptor, 4096)
        except BlockingIOError:
            return True
        except OSError:
            return False

    def changed_folders(self) -> set[str] | None:
        """The prefixes of the folders in which files changed since the last call, or since `begin`.

        None where that is not certain, or the folders themselves are others: then it is to be begun anew.
        """
        found: set[str] = set()
        try:
            while self._descriptor >= 0:
                events = os.read(self._descriptor, 65_536)
                position = 0
                while position < len(events):
                    folder, mask, _, name_bytes = _EVENT.unpack_from(events, position)
                    if mask & _ABOUT_FOLDERS or folder not in self._prefixes:
                        return None
                    found.add(self._prefixes[folder])
                    position += _EVENT.size + name_bytes
        except BlockingIOError:
            return found
        except OSError:
            return None
        return None

    def close(self) -> None:
        if self._descriptor >= 0:
            with suppress(OSError):
                os.close(self._descriptor)
        self._descriptor = -1

    def _watch_all(self) -> bool:
        """Whether each folder could be watched. A folder is listed after that, so that none appears in between."""
        folders, most = [str(self._root)], _max_folders()
        self._prefixes = {}
        try:
            device = self._root.stat().st_dev
            while folders:
                folder = folders.pop()
                number = self._library.inotify_add_watch(self._descriptor, os.fsencode(folder), _CHANGES)
                if number < 0 or len(self._prefixes) >= most:
                    return False
                self._prefixes[number] = f"{folder[len(str(self._root)) + 1 :]}/".lstrip("/")
                with os.scandir(folder) as entries:
                    folders_in = [each for each in entries if each.is_dir(follow_symlinks=False)]
                below = [each.path for each in folders_in if not is_left_out(each.name)]
                if any(os.stat(each).st_dev != device for each in below):  # noqa: PTH116 - one of thousands
                    return False
                folders += below
        except OSError:  # one is gone meanwhile, or may not be listed
            return False
        return True


def _max_folders() -> int:
    try:
        limit = int(_LIMIT.read_text("ascii"))
    except (OSError, ValueError):
        limit = 0
    return min(MAX_FOLDERS, max(_USUAL_FOLDERS, int(limit * _MAX_SHARE)))


def _file_system_of(root: Path) -> str:
    """The kind of the file system that holds a folder; empty where that cannot be told."""
    try:
        device = root.stat().st_dev
        number = f"{os.major(device)}:{os.minor(device)}"
        lines = [line.split() for line in _MOUNTS.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return ""
    return next((line[line.index("-") + 1] for line in lines if line[2] == number and "-" in line[:-1]), "")


MAX_UNLISTED_SECONDS: Final = 60.0
"""How long folders are not listed in which the system tells of no change. What it cannot see is found then: a write
through a hard link elsewhere, or into mapped memory."""


class WatchedFiles(VaultFiles):
    """Files that begin to be watched at the second look: a process that looks once has no use for it."""

    def __init__(self, root: Path, *, exclude: Sequence[str], max_note_bytes: int) -> None:
        super().__init__(root, exclude=exclude, max_note_bytes=max_note_bytes)
        self._watch: FolderWatch | None = None
        self._may_watch = True
        self._listed_at: float | None = None
        """When all folders were last listed with the watch at work."""

    def exclude(self, globs: Sequence[str]) -> None:
        super().exclude(globs)
        self._listed_at = None  # so that all folders are listed again

    def folders(self) -> Iterator[FolderListing]:
        started, self._listed_at = monotonic(), None
        has_links = False
        for listing in super().folders():
            has_links |= listing.has_links
            yield listing
        if self._watch and not has_links:  # what a link shows may change where nobody looks
            self._listed_at = started

    def changed_folders(self, unsettled: Iterable[str]) -> list[FolderListing] | None:
        changed = self._watch.changed_folders() if self._watch else None
        if changed is None:
            # Watch from now on, unless the system does not tell, or there are too many folders.
            if self._may_watch:
                self._watch = self._watch or FolderWatch.over(self._root)
                self._may_watch = self._watch is not None and self._watch.begin()
            return None
        if self._listed_at is None or monotonic() - self._listed_at > MAX_UNLISTED_SECONDS:
            return None
        prefixes = sorted({*changed, *unsettled})
        walked = [each for each in prefixes if not each or self._is_included(each[:-1].split("/"))]
        listings = [self._list(prefix, str(self._root / prefix), linked=False)[0] for prefix in walked]
        return None if any(listing.has_links for listing in listings) else listings

    def close(self) -> None:
        if self._watch:
            self._watch.close()
