"""A vault without a disk: every fault of a file can be had for the asking."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from zkchat.core.errors import NoteNotFound, NoteUnreadable, VaultError
from zkchat.core.note import FolderListing, NoteWarning, folder_of


class MemoryFiles:
    """Implements `ports.note_files.NoteFiles`. Time passes by one with each change, and stands still when told to."""

    def __init__(self, **notes: str) -> None:
        self.now = 1
        self.settled = True
        self.reads: list[str] = []
        self.unlisted: list[NoteWarning] = []
        self._files: dict[str, tuple[str, int]] = {}
        self._troubles: dict[str, VaultError] = {}
        self._vanishing: set[str] = set()
        self._broken: set[str] = set()
        for name, text in notes.items():
            self.write(f"{name}.md", text)

    def write(self, path: str, text: str) -> None:
        self.now += 1
        self._files[path] = (text, self.now)

    def write_unseen(self, path: str, text: str) -> None:
        """Change a file of which size and time stay as they are."""
        before, modified = self._files[path]
        assert len(before) == len(text)
        self._files[path] = (text, modified)

    def remove(self, path: str) -> None:
        del self._files[path]

    def rename(self, path: str, other: str) -> None:
        self._files[other] = self._files.pop(path)

    def fail(self, path: str, trouble: VaultError | None) -> None:
        """From now on the file cannot be read, or can again; nothing in the listing shows it."""
        if trouble:
            self._troubles[path] = trouble
        else:
            del self._troubles[path]

    def vanish(self, path: str) -> None:
        """The file is listed once more, and gone when it is to be read."""
        self._vanishing.add(path)

    def garble(self, path: str) -> None:
        """Some bytes of the file are no text."""
        self._broken.add(path)

    @property
    def notes(self) -> dict[str, str]:
        return {path: text for path, (text, _) in self._files.items()}

    def folders(self) -> Iterator[FolderListing]:
        files = sorted(self._files.items(), key=lambda file: folder_of(file[0]))
        for prefix, group in groupby(files, key=lambda file: folder_of(file[0])):
            listed = [*group]
            yield FolderListing(
                prefix,
                [path.removeprefix(prefix) for path, _ in listed],
                [len(text) for _, (text, _) in listed],
                [modified for _, (_, modified) in listed],
                listed_at=1 << 62,
                max_bytes=(1 << 40) if self.settled else -1,
            )
        if self.unlisted:
            yield FolderListing("unlisted/", warnings=self.unlisted)

    def changed_folders(self, unsettled: Iterable[str]) -> None:
        """It is never known."""

    def identity(self, path: str) -> object | None:
        return self._files.get(path)

    def linked(self, paths: Iterable[str]) -> dict[str, str]:
        return {}  # there are no links without a disk

    def shared(self, path: str) -> None:
        return None

    def read(self, path: str) -> str:
        return self.read_whole(path)[0]

    def read_data(self, path: str, most: int) -> bytes:
        content = self.read(path).encode()
        if len(content) > most:
            raise NoteUnreadable(f"{path} is larger than {most:,} bytes and was not read.")
        return content

    def read_whole(self, path: str) -> tuple[str, bool]:
        self.reads.append(path)
        if path in self._vanishing:
            self._files.pop(path, None)
        if path not in self._files:
            raise NoteNotFound(f"There is no file {path} in the vault.")
        if path in self._troubles:
            raise self._troubles[path]
        return self._files[path][0], path not in self._broken
