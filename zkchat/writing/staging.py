"""Staged changes: the files of a vault as they will be once the user agrees."""

from collections.abc import Iterator

from zkchat.errors import EditRefused, NoteNotFound, VaultError
from zkchat.model.change import TRASH, ChangeSet, FileMove, FileWrite
from zkchat.ports import ChangeableFiles


class StagedChanges:
    """Changes that grow, one on top of the other, and become one change set. Nothing is written here."""

    def __init__(self, files: ChangeableFiles) -> None:
        self._files = files
        self._moves: list[FileMove] = []
        self._before: dict[str, bytes | None] = {}
        """By present path, what the files that are written hold on disk; None for new ones."""
        self._after: dict[str, bytes] = {}
        self.titles: list[str] = []
        """What each change does, in a few words."""

    def __bool__(self) -> bool:
        return bool(self._moves or self._after)

    def read(self, path: str) -> str | None:
        """The text of a file as it will be, every character of it; None where there will be no file.

        Raises `NoteUnreadable`, and `EditRefused` for what is no UTF-8, which could not be written back as it was.
        """
        content = self.read_bytes(path)
        try:
            return None if content is None else content.decode()
        except UnicodeDecodeError:
            raise EditRefused(f"{path} is not UTF-8 throughout, and is left as it is.") from None

    def read_bytes(self, path: str) -> bytes | None:
        if path in self._after:
            return self._after[path]
        on_disk = self.path_on_disk(path)
        return None if on_disk is None else self._files.read_bytes(on_disk)

    def is_taken(self, path: str) -> bool:
        """Whether there will be something at this path."""
        if path in self._after or any(each.startswith(f"{path}/") for each in self._after):
            return True
        on_disk = self.path_on_disk(path)
        return on_disk is not None and self._files.is_taken(on_disk)

    def is_new(self, path: str) -> bool:
        """Whether this file is only staged, and not on disk."""
        return path in self._after and self._before[path] is None

    def path_on_disk(self, path: str) -> str | None:
        """Where a file is before the staged moves; None where they leave nothing at this path."""
        for move in reversed(self._moves):
            if moved := _follow(path, move.target, move.source):
                path = moved
            elif _follow(path, move.source, move.target):
                return None
        return path

    def path_after(self, path: str) -> str:
        """Where a file that is on disk will be."""
        for move in self._moves:
            path = _follow(path, move.source, move.target) or path
        return path

    def write(self, path: str, text: str, *, title: str) -> None:
        """Give a file that will be there a new text. One that stays the same is not written."""
        if path not in self._before:
            self._before[path] = self.read_bytes(path)
        if self._before[path] is None and path not in self._after:
            del self._before[path]
            raise NoteNotFound(f"There is no file {path} in the vault.")
        self._put(path, text.encode())
        self.titles.append(title)

    def create(self, path: str, text: str, *, title: str) -> None:
        """Add a file. Raises `VaultError` where something has that path."""
        if self.is_taken(path):
            raise VaultError(f"{path} is there already, and was left as it is.", hint="Choose another name.")
        self._before[path] = None
        self._after[path] = text.encode()
        self.titles.append(title)

    def move(self, source: str, target: str, *, title: str) -> None:
        """Give a file, or a folder, another path. Raises `VaultError` where nothing is, or something is at the target.

        A name that differs only in case is another name, also where the disk ignores case.
        """
        if not self.is_taken(source):
            raise NoteNotFound(f"There is no file {source} in the vault.")
        if self.is_taken(target) and not _is_same_but_for_case(source, target):
            raise VaultError(f"{target} is there already, and was left as it is.", hint="Choose another name.")
        on_disk = self.path_on_disk(source)
        if on_disk is not None and self._files.is_taken(on_disk):
            self._moves.append(FileMove(source=source, target=target))
        for path in [*self._before]:
            if moved := _follow(path, source, target):
                self._before[moved] = self._before.pop(path)
                if path in self._after:
                    self._after[moved] = self._after.pop(path)
        self.titles.append(title)

    def trash(self, path: str, *, title: str) -> None:
        """Move a file to the trash of the vault as it is on disk; one that was only staged is gone."""
        is_new = self._before.get(path, b"") is None
        if not is_new:
            self.move(path, self._free_place_in_trash(path.rpartition("/")[2]), title=title)
            path = self._moves[-1].target
        else:
            self.titles.append(title)
        self._before.pop(path, None)
        self._after.pop(path, None)

    def change_set(self) -> ChangeSet:
        """All that is staged."""
        return ChangeSet(
            title=self._title(),
            moves=tuple(self._moves),
            writes=tuple(
                FileWrite(path=path, before=self._before[path], after=after) for path, after in self._after.items()
            ),
        )

    def clear(self) -> None:
        self._moves.clear()
        self._before.clear()
        self._after.clear()
        self.titles.clear()

    def _put(self, path: str, content: bytes) -> None:
        if self._before[path] == content:
            self._after.pop(path, None)
            del self._before[path]
        else:
            self._after[path] = content

    def _title(self) -> str:
        first, *others = [*dict.fromkeys(self.titles)] or ["Nothing"]
        return f"{first}, and {len(others)} more" if others else first

    def _free_place_in_trash(self, name: str) -> str:
        return next(place for place in _places_in_trash(name) if not self.is_taken(place))


def _follow(path: str, source: str, target: str) -> str | None:
    """Where a move takes a path; None for one that it does not concern."""
    if path == source:
        return target
    return f"{target}{path[len(source) :]}" if path.startswith(f"{source}/") else None


def _is_same_but_for_case(path: str, other: str) -> bool:
    return path != other and path.casefold() == other.casefold()


def _places_in_trash(name: str) -> Iterator[str]:
    stem, dot, suffix = name.rpartition(".")
    yield f"{TRASH}/{name}"
    number = 2
    while True:
        yield f"{TRASH}/{stem} {number}.{suffix}" if dot and stem else f"{TRASH}/{name} {number}"
        number += 1
