"""Single steps that change a vault's files, by the rules of paths by which they are read. No link leads one out."""

import ctypes
import errno
import os
import stat
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from zkchat.core import TRASH, FileMove, NoteNotFound, NoteUnreadable, OutsideVault, VaultError
from zkchat.storage import FILE_FLAGS, FOLDER_FLAGS, LINK_ERRORS, VaultFiles
from zkchat.writing.changes.journal import ContentChange, changed

_NO_HARD_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
_NO_FLAGS: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
"""Where a file system, or the system, knows no renaming with flags."""
_ONLY_NEW: Final = 1
_SWAP: Final = 2
"""Flags of renaming on Linux."""
_NEW_FILE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_HAS_FOLDER_HANDLES: Final = os.mkdir in os.supports_dir_fd


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

    def is_listed(self) -> bool:
        """Whether the folder lists this very name, also where names that differ in case mean one file."""
        names = os.listdir(self.folder if self.descriptor is None else self.descriptor)  # noqa: PTH208 (held open)
        return unicodedata.normalize("NFC", self.name) in {unicodedata.normalize("NFC", name) for name in names}

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
        own, other = os.fsencode(self.path), os.fsencode(target.path)
        if rename(self.descriptor, own, target.descriptor, other, ctypes.c_uint(flag)) == 0:
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


class VaultTree(VaultFiles):
    """Implements `ChangeableFiles`, and the steps by which a plan is carried out.

    Raises `VaultError`, and `OSError` where the disk refuses.
    """

    def read_bytes(self, path: str) -> bytes | None:
        try:
            return self.read_data(path)
        except NoteNotFound:
            self._changeable_parts(path)
            return None

    def content_to_move(self, path: str) -> bytes | None:
        """What a file holds, also in the trash; None where it is no regular file, or too large for a note."""
        if not self.is_file(path):
            return None
        try:
            with self._entry(path) as place:
                return self._content_of(place, path)
        except (OSError, NoteUnreadable):
            return None

    def is_taken(self, path: str) -> bool:
        return self._status(path) is not None

    def is_file(self, path: str) -> bool:
        """Whether a regular file has this path."""
        status = self._status(path)
        return status is not None and stat.S_ISREG(status.st_mode)

    def _status(self, path: str) -> os.stat_result | None:
        try:
            with self._entry(path) as place:
                return place.status()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # no file can have it
                return None
            raise

    def require_changeable(self, path: str, *, or_trash: bool = False) -> None:
        """Raises `VaultError` for a path that no change may touch; in the trash are places for whole files."""
        self._changeable_parts(path, or_trash=or_trash and path != TRASH)

    def require_writable(self, path: str) -> None:
        """Raises `VaultError` for a file that is marked as read-only: replacing it would not ask for permission."""
        with self._file(path) as place:
            status = place.status()
        if status is not None and not status.st_mode & 0o222:
            raise VaultError(f"{path} is read-only, and was not changed.", hint="Nothing was changed.")

    def require_movable(self, move: FileMove) -> None:
        """Raises `VaultError` for a link that would lead elsewhere, or nowhere, from its new place."""
        with self._entry(move.source) as place:
            status = place.status()
            if status is None or not stat.S_ISLNK(status.st_mode):
                return
            link = os.readlink(place.path, dir_fd=place.descriptor)
        if not Path(link).is_absolute() and move.source.rpartition("/")[0] != move.target.rpartition("/")[0]:
            raise VaultError(
                f"{move.source} is a symbolic link to {link}, which would break in another folder.",
                hint="Move the file that it leads to.",
            )

    def is_one_file(self, path: str, other: str) -> bool:
        """Whether two names mean one file, as those that differ only in case do on some disks."""
        found, status = self._status(path), self._status(other)
        return found is not None and status is not None and os.path.samestat(found, status)

    def make_folder(self, path: str) -> None:
        with self._entry(path) as place:
            with suppress(FileExistsError):
                os.mkdir(place.path, dir_fd=place.descriptor)
            place.sync_folder()

    def remove_folder(self, path: str) -> None:
        """Unless something is in it."""
        with suppress(OSError), self._entry(path) as place:
            os.rmdir(place.path, dir_fd=place.descriptor)
            place.sync_folder()

    def prepare(self, change: ContentChange, temporary: str) -> None:
        """Write the new content of a file beside it, with the owner, permissions and attributes that it has."""
        assert change.after is not None
        with self._file(change.path) as place:
            self._write(place, place.beside(temporary), change.after, has_attributes=change.before is not None)

    def put(self, change: ContentChange, temporary: str) -> None:
        """Give a file its prepared content, or remove it, if it holds what it should. Raises `FilesChanged`."""
        with self._file(change.path) as place:
            if change.before is None:
                try:
                    place.beside(temporary).rename_to_new(place)
                except FileExistsError:
                    raise changed(change, self._content_if_readable(place, change.path)) from None
            elif change.after is None:
                self._remove(change, place, place.beside(temporary))
            else:
                self._replace(change, place, place.beside(temporary))

    def sync_folder_of(self, path: str) -> None:
        with suppress(OSError), self._file(path) as place:
            place.sync_folder()

    def move(self, move: FileMove, temporary: str) -> None:
        """Give a file or folder another path. Raises `FileExistsError` where something else has it."""
        with self._entry(move.source) as source, self._entry(move.target) as target:
            status, found = source.status(), target.status()
            if status is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            if found is not None and not (is_only_case(move) and os.path.samestat(status, found)):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            if found is not None:
                source.rename_unchecked(target)
                if not target.is_listed():  # names that differ only in case may mean one file: by way of another name
                    between = source.beside(temporary)
                    source.rename_to(between)
                    between.rename_to(target)
            elif stat.S_ISDIR(status.st_mode):
                source.rename_unchecked(target)
            else:
                source.rename_to_new(target)
            source.sync_folder()
            target.sync_folder()

    def move_back(self, move: FileMove, temporary: str) -> str:
        """Revert a move that was made, made in part, or not made. Returns what was left alone, as a sentence."""
        with self._entry(move.source) as source, self._entry(move.target) as target:
            between = source.beside(temporary)
            if between.status() is not None and source.status() is None:
                between.rename_to(source)
                return ""
            status, found = source.status(), target.status()
            if status is not None and (not is_only_case(move) or source.is_listed()):
                if found is None or is_only_case(move):
                    return ""
                if not os.path.samestat(status, found):
                    return f"{move.source} and {move.target} both exist, and were not changed."
                target.unlink()  # it had both names for a moment
                return ""
            if found is None:
                return f"zkchat moved {move.source} to {move.target}, but it is no longer there."
        self.move(move.reversed(), temporary)
        return ""

    def sweep(self, path: str, *temporary: str) -> None:
        """Remove the temporary files of these names that are beside a file."""
        with suppress(OSError, VaultError), self._file(path) as place:
            for name in temporary:
                place.beside(name).unlink()

    def _changeable_parts(self, path: str, *, or_trash: bool = False) -> list[str]:
        if or_trash and path == TRASH:
            return [TRASH]
        if or_trash and (name := path.removeprefix(f"{TRASH}/")) != path and "/" not in name:
            return [TRASH, *self._changeable_parts(name)]
        try:
            parts = self._parts(path)
        except NoteNotFound as error:
            raise VaultError(f"{path!r} is not a name for a note.", hint=error.hint) from error
        visible = ((each for each in part if unicodedata.category(each) != "Cf") for part in parts)
        if not path.isascii() and any(next(letters, ".") == "." for letters in visible):  # as HFS+ takes them
            raise VaultError(f"{path!r} is not a name for a note.", hint="It begins with an invisible character.")
        return parts

    @contextmanager
    def _file(self, path: str) -> Iterator[Place]:
        """The place of a file; where a link has its name, that of the file in the vault that it leads to."""
        parts = self._changeable_parts(path)
        with self._folder(parts, path) as place:
            status = place.status()
            if status is None or not stat.S_ISLNK(status.st_mode):
                yield place
                return
        with self._folder(self._resolved(parts, path), path) as place:
            status = place.status()
            if status is not None and stat.S_ISLNK(status.st_mode):
                raise _changing_link(path)
            yield place

    def _entry(self, path: str) -> AbstractContextManager[Place]:
        """The place of a file, folder or link itself, also in the trash."""
        return self._folder(self._changeable_parts(path, or_trash=True), path)

    @contextmanager
    def _folder(self, parts: Sequence[str], path: str) -> Iterator[Place]:
        """The folder of a path, held open, and the name in it. Links to folders of the vault are followed once."""
        try:
            place = self._open_folder(parts)
        except OSError as error:
            if error.errno not in LINK_ERRORS or parts[0] == TRASH:
                raise
            place = self._open_linked_folder(parts, path)
        try:
            yield place
        finally:
            if place.descriptor is not None:
                os.close(place.descriptor)

    def _open_linked_folder(self, parts: Sequence[str], path: str) -> Place:
        above = self._resolved(parts[:-1], path)
        try:
            return self._open_folder([*above, parts[-1]])
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise _changing_link(path) from None
            raise

    def _resolved(self, parts: Sequence[str], path: str) -> list[str]:
        try:
            target = Path(os.path.realpath(self._root.joinpath(*parts)))
        except OSError:  # what was a link when it was looked at is none when it is read
            raise _changing_link(path) from None
        if not self._contains(target):
            raise OutsideVault(f"{path} leads out of the vault through a symbolic link.", hint="Give another file.")
        return list(target.relative_to(self._root).parts)

    def _open_folder(self, parts: Sequence[str]) -> Place:
        *folders, name = parts
        if not _HAS_FOLDER_HANDLES:  # Windows: whoever may make links there is an administrator
            whole = self._root.joinpath(*folders)
            if whole.resolve() != whole:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            return Place(whole, None, name)
        descriptor = os.open(self._root, FOLDER_FLAGS)
        try:
            for folder in folders:
                inner = os.open(folder, FOLDER_FLAGS, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
        except BaseException:
            os.close(descriptor)
            raise
        return Place(Path(), descriptor, name)

    def _content_of(self, place: Place, path: str) -> bytes | None:
        try:
            with place.opened() as file:
                return self._read_content(file, path)
        except FileNotFoundError:
            return None

    def _content_if_readable(self, place: Place, path: str) -> bytes | None:
        with suppress(OSError, NoteUnreadable):
            return self._content_of(place, path)
        return None

    @staticmethod
    def _require(change: ContentChange, found: bytes | None) -> None:
        if found != change.before:
            raise changed(change, found)

    def _write(self, place: Place, new: Place, content: bytes, *, has_attributes: bool) -> None:
        with os.fdopen(os.open(new.path, _NEW_FILE_FLAGS, 0o666, dir_fd=new.descriptor), "wb") as stream:
            stream.write(content)
            stream.flush()
            if has_attributes:
                place.copy_attributes_to(stream.fileno())
            os.fsync(stream.fileno())

    def _replace(self, change: ContentChange, place: Place, new: Place) -> None:
        """The old file and the new one swap their names, and then the old one is looked at.

        What somebody else put there since the last look comes out instead, and is swapped back. That ends as soon as
        nobody does so between two swaps.
        """
        self._require(change, self._content_of(place, change.path))
        put, replaced = change.after, change.before
        while True:
            try:
                if not new.swap_with(place):
                    self._replace_unless_changed(change, place, new)
                    return
            except FileNotFoundError:
                raise changed(change, None) from None
            found = self._content_if_readable(new, change.path)
            if found == replaced:
                break
            put, replaced = found, put
        new.unlink()
        if put != change.after:
            raise changed(change, put)

    def _replace_unless_changed(self, change: ContentChange, place: Place, new: Place) -> None:
        """Where names cannot be swapped: the last look and the new name are as close to each other as can be.

        What is written into the file in between is put back. A new file that another program puts there in between is
        lost.
        """
        if place.descriptor is None:  # Windows replaces no file that is open
            self._require(change, self._content_of(place, change.path))
            new.rename_to(place)
            return
        try:
            with place.opened() as file:
                self._require(change, self._read_content(file, change.path))
                status = place.status()
                if status is None or not os.path.samestat(status, os.fstat(file)):
                    raise changed(change, self._content_of(place, change.path))
                new.rename_to(place)
                os.lseek(file, 0, os.SEEK_SET)
                written = self._read_content(file, change.path)
                if written != change.before:
                    self._write(place, new, written, has_attributes=True)
                    new.rename_to(place)
                    raise changed(change, written)
        except FileNotFoundError:
            raise changed(change, None) from None

    def _remove(self, change: ContentChange, place: Place, aside: Place) -> None:
        """The file gets another name first: what is looked at then is what is removed."""
        if place.status() is None:
            raise changed(change, None)
        place.rename_to(aside)
        try:
            self._require(change, self._content_of(aside, change.path))
        except BaseException:
            aside.rename_to_new(place)
            raise
        aside.unlink()


def _changing_link(path: str) -> VaultError:
    return VaultError(f"{path} goes through a symbolic link that just changed, so the file was left alone.")


def is_only_case(move: FileMove) -> bool:
    return move.source != move.target and move.source.casefold() == move.target.casefold()
