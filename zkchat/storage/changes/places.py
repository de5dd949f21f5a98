"""Names in folders that are held open, so that no link can replace a folder between a look and a change."""

import ctypes
import errno
import os
import stat
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from zkchat.storage.vault_files import FILE_FLAGS

_NO_HARD_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
_NO_FLAGS: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
"""Where a file system, or the system, knows no renaming with flags."""
_ONLY_NEW: Final = 1
_SWAP: Final = 2
"""Flags of renaming on Linux."""


class Place(Struct, frozen=True):
    """A name in a folder that is held open, so that no link can replace it meanwhile."""

    folder: Path
    descriptor: int | None
    """None on Windows, where `folder` is the whole path; else that is empty."""
    name: str

    @property
    def path(self) -> Path:
        return self.folder / self.name

    def beside(self, name: str) -> "Place":
        return Place(self.folder, self.descriptor, name)

    def status(self) -> os.stat_result | None:
        """Of the file, folder or link itself; None where there is none."""
        try:
            return os.stat(self.path, dir_fd=self.descriptor, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def names(self) -> list[str]:
        """All names in the folder."""
        return os.listdir(self.folder if self.descriptor is None else self.descriptor)  # noqa: PTH208 (held open)

    def is_listed(self) -> bool:
        """Whether the folder lists this very name, also where names that differ in case mean one file."""
        own = unicodedata.normalize("NFC", self.name)
        return any(unicodedata.normalize("NFC", name) == own for name in self.names())

    def unlink(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self.path, dir_fd=self.descriptor)

    def rename_to(self, target: "Place") -> None:
        """Over what is there."""
        os.replace(self.path, target.path, src_dir_fd=self.descriptor, dst_dir_fd=target.descriptor)

    def swap_with(self, other: "Place") -> bool:
        """Each gets the name of the other in one step. Returns whether the system can do that."""
        return self._rename_by(_SWAP, other)

    def _rename_by(self, flag: int, target: "Place") -> bool:
        """Rename as the flag says. Returns False, and does nothing, where the system cannot."""
        if self.descriptor is None or target.descriptor is None or sys.platform != "linux":
            return False
        rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        if rename is None:
            return False
        names = os.fsencode(self.path), os.fsencode(target.path)
        if rename(self.descriptor, names[0], target.descriptor, names[1], ctypes.c_uint(flag)) == 0:
            return True
        if (number := ctypes.get_errno()) in _NO_FLAGS:
            return False
        raise OSError(number, os.strerror(number))

    def sync_folder(self) -> None:
        if self.descriptor is not None:
            with suppress(OSError):  # not every system can sync a folder
                os.fsync(self.descriptor)

    @contextmanager
    def opened(self) -> Iterator[int]:
        """The descriptor of the file, to be read."""
        file = os.open(self.path, FILE_FLAGS, dir_fd=self.descriptor)
        try:
            yield file
        finally:
            os.close(file)

    def rename_to_new(self, target: "Place") -> None:
        """Raises `FileExistsError` where something has the new name."""
        if self._rename_by(_ONLY_NEW, target):
            return
        try:
            is_windows = self.descriptor is None  # which cannot be asked not to follow links
            os.link(
                self.path,
                target.path,
                src_dir_fd=self.descriptor,
                dst_dir_fd=target.descriptor,
                follow_symlinks=is_windows,
            )
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            # File systems of cameras and phones have no second names: a look, and then the new name.
            if target.status() is not None:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from error
            self.rename_unchecked(target)
        else:
            self.unlink()

    def rename_unchecked(self, target: "Place") -> None:
        """What happens where something has the new name is up to the system."""
        os.rename(self.path, target.path, src_dir_fd=self.descriptor, dst_dir_fd=target.descriptor)

    def change_case(self, target: "Place", between: "Place") -> None:
        """Where names that differ only in case mean one file, renaming may do nothing: then by way of another name."""
        self.rename_unchecked(target)
        if not target.is_listed():
            self.rename_to(between)
            between.rename_to(target)

    def copy_attributes_to(self, new: int) -> None:
        """The owner and the extended attributes as far as the system lets us, the permissions in any case."""
        # Where the file is gone meanwhile, the comparison of contents will tell.
        with suppress(FileNotFoundError), self.opened() as old:
            status = os.fstat(old)
            if hasattr(os, "fchown"):
                for owner in (-1, status.st_uid):  # the group may be ours to give where the owner is not
                    with suppress(OSError):
                        os.fchown(new, owner, status.st_gid)
            if hasattr(os, "fchmod"):
                os.fchmod(new, stat.S_IMODE(status.st_mode))
            if hasattr(os, "listxattr"):
                with suppress(OSError):
                    for name in os.listxattr(old):
                        with suppress(OSError):
                            os.setxattr(new, name, os.getxattr(old, name))
