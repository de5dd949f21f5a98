"""The files of one folder of a vault, as the system lists them, and what is remembered of such a listing."""

from array import array
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from zkchat.model.note import FileStamp, NoteWarning

RACY_NS = 2_000_000_000
"""File systems round times to as much as two seconds: a file changed this recently may change again unseen."""


class FolderListing(NamedTuple):
    """The files of a folder, without those of the folders in it, and what in it cannot be used.

    In columns: most listings are only compared with those of the last time, and need no value for each file.
    """

    prefix: str
    """The path of the folder with a slash at its end; empty for the vault itself."""
    names: Sequence[str] = ()
    sizes: Sequence[int] = ()
    times: Sequence[int] = ()
    """When each was changed, in nanoseconds."""
    warnings: Sequence[NoteWarning] = ()
    listed_at: int = 0
    """In nanoseconds."""
    max_bytes: int = 0
    """Of a file that is read."""
    has_links: bool = False
    """Whether there are symbolic links among what it holds."""

    @property
    def is_settled(self) -> bool:
        """Whether no file needs to be looked at again while its stamp stays the same."""
        if not self.names:
            return True
        if max(self.times) < self.listed_at - RACY_NS and max(self.sizes) <= self.max_bytes:
            return True
        return all(map(self._has_settled, self.sizes, self.times))

    def stamps(self) -> list[FileStamp]:
        return [
            FileStamp(self.prefix + name, size, time, self._has_settled(size, time))
            for name, size, time in zip(self.names, self.sizes, self.times, strict=True)
        ]

    def digest(self, rule: bytes) -> bytes:
        """Another one for other files. The `rule` tells how files are read."""
        numbers = array("q", self.sizes)
        numbers.extend(self.times)
        names = "\0".join(self.names).encode(errors="surrogatepass")
        return blake2b(names + numbers.tobytes(), digest_size=16, key=rule).digest()

    def _has_settled(self, size: int, time: int) -> bool:
        return size <= self.max_bytes and not -RACY_NS <= self.listed_at - time <= RACY_NS


class KnownFolder(NamedTuple):
    """What is remembered of a folder whose files are in the index."""

    digest: bytes
    """Of its listing; empty where files of it changed in the index since, or have to be looked at again."""
    notes: int
    """How many notes it holds, where there is a digest."""


class KnownFolders(NamedTuple):
    """All that the index remembers of folders, at one moment."""

    generation: int
    epoch: int
    """Another one, where the index was begun anew."""
    by_prefix: dict[str, KnownFolder]
    """Each that holds files of the index."""

    def unsettled(self) -> list[str]:
        """The prefixes of those that have to be listed whatever changed."""
        return [prefix for prefix, known in self.by_prefix.items() if not known.digest]


class IndexedFiles(NamedTuple):
    """The files of a folder that the index knows."""

    stamps: dict[str, FileStamp]
    """Of those whose text is indexed, by path."""
    attachments: set[str]


def folder_of(path: str) -> str:
    """The prefix of the folder that holds a file."""
    folder, slash, _ = path.rpartition("/")
    return folder + slash
