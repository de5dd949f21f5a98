"""What the vault asks of the outside: files, the index, vectors, extracted texts, commits, other processes."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from zkchat.core.index import (
    CatalogRow,
    DateFacts,
    IndexCounts,
    KnownNote,
    NoteFilter,
    NotesOfDays,
    SimilarityTraits,
    StoredLink,
    StoredSection,
    StoredTask,
    TextLookup,
)
from zkchat.core.note import ExtractedText, FileStamp, FolderListing, NoteWarning, PrivacyClass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TextEmbedder(Protocol):
    """Texts as directions, near each other where the texts are near in meaning. Every thread may use it."""

    @property
    def name(self) -> str:
        """Model and method: vectors of different names cannot be compared."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """A row of length 1 for each text; of length 0 for a text of which nothing is known.

        Raises `ProviderError`, `TextRefused` where the model takes no such text, whatever is tried again, and
        `TextKeptHere` where a text that is no `OpenText` would leave this machine.
        """


class Embedder(TextEmbedder, Protocol):
    """Passages and questions as directions, computed here or by a server."""

    @property
    def traits(self) -> SimilarityTraits: ...

    @property
    def is_on_this_machine(self) -> bool:
        """Whether texts stay on this machine: what is no `OpenText` goes nowhere else."""

    @property
    def needs_server(self) -> bool:
        """Whether `embed` and `embed_query` take so long that nobody should wait for them: a model computes them."""

    @property
    def is_in_process(self) -> bool:
        """Whether it is this process that computes: then half of the time in the background is left to others."""

    @property
    def batch_size(self) -> int:
        """Passages that are embedded at once; when the work is killed, no more than these are embedded again."""

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """The direction of a question, by the conventions that the model has for questions. Raises as `embed`."""


class ExtractedTexts(Protocol):
    """The texts of files that are extracted in the background, such as PDFs. Every thread may use it, and it can be
    pickled for other processes."""

    def covers(self, path: str) -> bool:
        """Whether files of this kind are extracted here, by the suffix. Costs nothing."""

    def find(self, stamp: FileStamp) -> ExtractedText | None:
        """The text of a file with this path, size and time; None as long as it is not extracted. Reads no file."""

    def latest(self, path: str) -> ExtractedText | None:
        """The text of a file as it was last extracted."""


class TextExtractor(Protocol):
    """Extracts texts, one file after the other. No file does any harm to this process."""

    @property
    def max_bytes(self) -> int:
        """Of a file; larger ones are not extracted."""

    def extract(self, data: bytes) -> ExtractedText | None:
        """The text of a file with this content, or the trouble with it; None where it was stopped."""

    def stop(self) -> None:
        """Let the `extract` that runs, and all later ones, return None. Every thread may call it."""

    def close(self) -> None: ...


class NoteFiles(Protocol):
    """The files of one vault, and nothing outside it."""

    def read_whole(self, path: str) -> tuple[str, bool]:
        """The text of a note, and whether every byte of it was text; what is none is shown as U+FFFD.

        Raises `NoteNotFound`, `NoteUnreadable` or `OutsideVault`.
        """

    def read_data(self, path: str, most: int) -> bytes:
        """What any file holds. Raises `NoteUnreadable` where that are more than `most` bytes, else as `read_whole`."""

    def identity(self, path: str) -> object | None:
        """A value that is another one after every change of the file; None where that cannot be promised."""

    def linked(self, paths: Iterable[str]) -> dict[str, str]:
        """Those of the paths that are symbolic links, or go through one, and where in the vault they lead."""

    def shared(self, path: str) -> object | None:
        """What is the same for all names of a file (hard links); None where it has no other name."""


class ListedFiles(NoteFiles, Protocol):
    """The files of one vault, which can also be listed."""

    def folders(self) -> Iterable[FolderListing]:
        """Every folder of the vault, each once, in no particular order."""

    def changed_folders(self, unsettled: Iterable[str]) -> Sequence[FolderListing] | None:
        """The folders in which files changed since the last look, and those that are unsettled.

        None where that is not known: then all are to be listed, and what changes meanwhile is told at the next call.
        """


Task = TypeVar("Task")
Done = TypeVar("Done")


class Workers(Protocol):
    """Other processes, to share long work with."""

    def map(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[Done]:
        """What comes of each task, as they get done. Work, tasks and results have to be such as can be pickled."""


class NoteCatalog(Protocol):
    """What is known of the notes themselves."""

    def generation(self) -> int:
        """A number that grows whenever notes change, whoever changed them."""

    def counts(self) -> IndexCounts: ...

    def stamps(self) -> dict[str, tuple[int, int, bool]]:
        """By path: size and time of the notes as they were last read, and whether those can be trusted."""

    def known(self, path: str) -> KnownNote | None: ...

    def date_facts(self, paths: Collection[str] | None = None) -> dict[str, DateFacts]:
        """By path, what is known of the dates of these notes, or of all."""

    def facts_of_days(self, wanted: NotesOfDays) -> dict[str, DateFacts]:
        """By path, what is known of the dates of the notes that are wanted, in whichever time zone their days are
        meant; of others besides."""

    def private(self) -> dict[str, PrivacyClass]:
        """By path, the notes that by their own word may not go to every model."""

    def copies(self) -> list[list[str]]:
        """Notes with the same text, those of one text together. Empty ones are no copies of each other."""

    def catalog(self) -> list[CatalogRow]:
        """Notes and attachments, as links look for them."""

    def tags(self) -> dict[str, list[str]]:
        """By tag, in lower case, the paths of the notes that have it, in order; tags below it are tags of their own."""

    def tasks(self) -> list[StoredTask]:
        """The open tasks of all notes, by path and line."""

    def warnings(self) -> list[NoteWarning]:
        """About notes, and about what could not be listed, by path."""


class LinkTargets(Protocol):
    """The files that links may lead to."""

    def generation(self) -> int: ...

    def known(self, path: str) -> KnownNote | None: ...

    def files_with_keys(self, keys: Collection[str]) -> list[CatalogRow]:
        """Notes and attachments for which a link with one of these keys may look; some of them others besides."""

    def catalog(self) -> list[CatalogRow]:
        """All of them."""


class LinkIndex(Protocol):
    """What is known of the links between notes."""

    def links_from(self, paths: Sequence[str]) -> list[StoredLink]: ...

    def links_to(self, path: str) -> list[StoredLink]: ...

    def notes_with_keys(self, keys: Collection[str]) -> list[str]:
        """The notes that hold a link with one of these keys, and those of which no links are known."""

    def doubtful_links(self) -> list[StoredLink]:
        """Those that lead nowhere, to one of several files, or to a place that the note does not have."""

    def edges(self, touching: Collection[str] | None = None) -> list[tuple[str, str]]:
        """Which note leads to which other one, each pair once: all of them, or those that some notes are part of."""


class TextIndex(Protocol):
    """The sections of notes, and the postings of their terms."""

    def look_up(self, terms: Collection[str], known: int | None, prefixes: Collection[str] = ()) -> TextLookup:
        """Where terms stand, and all that begin with one of the prefixes.

        The segments themselves are told only if they are not of the generation `known`.
        """

    def sections(self, numbers: Sequence[int]) -> list[StoredSection]:
        """Those that are still there, in no particular order."""

    def section_ranges(self, wanted: NoteFilter, *, newest_first: bool = False) -> list[tuple[int, int]]:
        """First section and count for each note that the filter lets through.

        `newest_first`: by when they were written if the filter is about that, else by their last change.
        """
