"""The files of a vault in a process that looks at them again and again, told of changes where the system can."""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, Final

from zkchat.core import FolderListing
from zkchat.storage.vault_files import VaultFiles, is_left_out

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
_READ_BYTES: Final = 65_536
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
                events = os.read(self._descriptor, _READ_BYTES)
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
    """Begins to watch at the second look: a process that looks once has no use for it."""

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
        listings = [self.list_folder(prefix) for prefix in walked]
        return None if any(listing.has_links for listing in listings) else listings

    def close(self) -> None:
        if self._watch:
            self._watch.close()
