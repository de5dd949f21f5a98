"""Whether anything changed in the folders of a vault: Linux tells it at no cost; elsewhere it is not known."""

import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from zkchat.storage.vault_files import is_left_out

MAX_FOLDERS: Final = 5_000
"""Folders that are watched; in a vault with more of them, nothing is."""
_FILE_SYSTEMS: Final = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "tmpfs", "overlay"})
"""On which all changes are made by this machine. Those of a network drive are told to nobody."""
_CHANGES: Final = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
"""Content, attributes, names and presence of files, and of the folder itself; see inotify(7)."""
_MOUNTS: Final = Path("/proc/self/mountinfo")


class FolderWatch:
    """Watches the folders below a root, without those that are never indexed. One thread uses it at a time."""

    def __init__(self, root: Path, library: Any) -> None:
        self._root = root
        self._library = library
        self._descriptor = -1

    @classmethod
    def over(cls, root: Path) -> "FolderWatch | None":
        """None where the system, or the file system of the folder, does not tell of every change."""
        root = root.resolve()
        if sys.platform != "linux" or _file_system_of(root) not in _FILE_SYSTEMS:
            return None
        library = ctypes.CDLL(None)
        return cls(root, library) if hasattr(library, "inotify_init1") else None

    def begin(self) -> None:
        """Forget what happened; what changes from now on is noticed."""
        self.close()
        self._descriptor = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor >= 0 and not self._watch_all():
            self.close()

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

    def close(self) -> None:
        if self._descriptor >= 0:
            with suppress(OSError):
                os.close(self._descriptor)
        self._descriptor = -1

    def _watch_all(self) -> bool:
        """Whether each folder could be watched. A folder is listed after that, so that none appears in between."""
        folders, watched = [str(self._root)], 0
        try:
            device = self._root.stat().st_dev
            while folders:
                folder = folders.pop()
                watched += 1
                path = os.fsencode(folder)
                if watched > MAX_FOLDERS or self._library.inotify_add_watch(self._descriptor, path, _CHANGES) < 0:
                    return False
                with os.scandir(folder) as entries:
                    below = [each.path for each in entries if each.is_dir(follow_symlinks=False) and _is_seen(each)]
                if any(os.stat(each).st_dev != device for each in below):  # noqa: PTH116 - one of thousands
                    return False
                folders += below
        except OSError:  # one is gone meanwhile, or may not be listed
            return False
        return True


def _is_seen(entry: os.DirEntry[str]) -> bool:
    return not is_left_out(entry.name)


def _file_system_of(root: Path) -> str:
    """The kind of the file system that holds a folder; empty where that cannot be told."""
    try:
        device = root.stat().st_dev
        number = f"{os.major(device)}:{os.minor(device)}"
        lines = [line.split() for line in _MOUNTS.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return ""
    return next((line[line.index("-") + 1] for line in lines if line[2] == number and "-" in line[:-1]), "")
