"""What the inside asks of the outside. Adapters implement these; nothing inside names an adapter."""

from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec import Struct

from zkchat.model.change import ChangeOrigin, ChangeRecord, ChangeSet, FileMove
from zkchat.model.embeddings import (
    NOTHING_KNOWN,
    AddedVectors,
    PassageDigests,
    SectionRows,
    SimilarityTraits,
    StoredVectors,
    VectorPosition,
)
from zkchat.model.extracted_text import ExtractedText
from zkchat.model.folder import FolderListing, IndexedFiles, KnownFolder, KnownFolders
from zkchat.model.history import Commit, CommittedFiles, HistoryStatus
from zkchat.model.index import (
    CatalogRow,
    DateFacts,
    IndexBatch,
    IndexCounts,
    KnownNote,
    LinkToResolve,
    NoteFilter,
    Segment,
    SegmentHead,
    StoredLink,
    StoredSection,
    StoredTask,
    TermPostings,
    TextLookup,
)
from zkchat.model.memory import Fact, FactSource
from zkchat.model.message import DocumentReference
from zkchat.model.note import FileStamp, NoteWarning, PrivacyClass, Resolution
from zkchat.model.prompt import ModelChunk, ModelInfo, ModelRequest, ToolSpec
from zkchat.model.session import Entry, EntryBody, EntryFilter, IndexedMessage, IndexedUpTo, MessageRow, Session
from zkchat.model.tool_server import ServerAnswer, ServerStatus

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Task = TypeVar("Task")
Done = TypeVar("Done")


class ModelProvider(Protocol):
    """A model that answers. Foreign exceptions never pass: they become `ProviderError`."""

    @property
    def info(self) -> ModelInfo:
        """What is known so far; all there is to know after `connect`."""
        ...

    async def connect(self) -> None:
        """Learn what only the model's server knows. May be called before every turn; asks once."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """The answer as it arrives, ended by `Finish`. Closing the iterator cancels the request."""
        ...


class LocatedModel(Protocol):
    """A model of which it matters only where it runs, such as a `ModelProvider`."""

    @property
    def info(self) -> ModelInfo: ...


class Tokenizer(Protocol):
    @property
    def exact(self) -> bool:
        """Whether counts are a tokenizer's own, or an estimate."""
        ...

    @property
    def problem(self) -> str:
        """Why counts are estimates although they should not be, as a sentence; known once something was counted."""
        ...

    def count(self, text: str) -> int: ...


class TextEmbedder(Protocol):
    """Texts as directions, near each other where the texts are near in meaning. Every thread may use it."""

    @property
    def name(self) -> str:
        """Model and method: vectors of different names cannot be compared."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """A row of length 1 for each text; of length 0 for a text of which nothing is known.

        Raises `ProviderError`, and `TextRefused` where the model takes no such text, whatever is tried again.
        """
        ...


class Embedder(TextEmbedder, Protocol):
    """Passages and questions as directions, computed here or by a server."""

    @property
    def traits(self) -> SimilarityTraits: ...

    @property
    def is_on_this_machine(self) -> bool:
        """Whether texts stay on this machine: passages of local notes go nowhere else."""
        ...

    @property
    def needs_server(self) -> bool:
        """Whether `embed` and `embed_query` may have to wait for another process."""
        ...

    @property
    def batch_size(self) -> int:
        """Passages that are embedded at once; when the work is killed, no more than these are embedded again."""
        ...

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """The direction of a question, by the conventions that the model has for questions. Raises as `embed`."""
        ...


class VectorCache(Protocol):
    """Vectors of short texts, kept from one run to the next. Any of its methods may raise `StorageError`."""

    def vectors(self, method: str, digests: Sequence[str]) -> dict[str, bytes]:
        """Those that are there, made by this method, by the digest of their texts."""
        ...

    def keep_vectors(self, method: str, vectors: Mapping[str, bytes]) -> None: ...


class MemoryStore(Protocol):
    """Facts on disk. What `add` returned from is there after a crash. Any of its methods may raise `StorageError`."""

    def facts(self) -> tuple[Fact, ...]:
        """Those that hold, the oldest first. The same tuple while nothing changes."""
        ...

    def add(
        self, text: str, source: FactSource, session_id: str = "", replaces: Sequence[str] = (), *, local: bool = False
    ) -> Fact:
        """Keep a fact; those with the ids in `replaces` do not hold any more."""
        ...

    def confirm(self, fact_id: str) -> Fact:
        """It was said again: it is as fresh as a new one."""
        ...

    def used(self, fact_ids: Sequence[str]) -> None:
        """They went into a request."""
        ...

    def forget(self, fact_id: str) -> None:
        """Remove a fact for good, with those that it took the place of."""
        ...


class ToolOutcome(Struct, frozen=True, kw_only=True):
    """What a tool gives back: text for the model, and the documents it came from."""

    text: str
    references: tuple[DocumentReference, ...] = ()
    summary: str = ""
    """For the user, in a few words: `4 passages`."""
    warning: str = ""
    """A sentence that the user has to read, once in a turn."""
    failed: bool = False
    may_repeat: bool = False
    """Whether the same call may be made again, and be answered otherwise."""
    stages_change: bool = False
    """Whether a change of notes was staged, so that earlier calls may be answered otherwise now."""


class Tool(Protocol):
    @property
    def spec(self) -> ToolSpec: ...

    async def call(self, arguments: str) -> ToolOutcome:
        """Run with JSON arguments as the model wrote them. Bad arguments give a failed outcome, not an exception."""
        ...


class ToolServers(Protocol):
    """The MCP servers of a conversation. No method raises for what a server does: it becomes a sentence."""

    def start(self) -> None:
        """Begin to connect to all of them; returns at once. A second time it does nothing."""
        ...

    def statuses(self) -> tuple[ServerStatus, ...]:
        """By name, as far as they are connected now. Never waits."""
        ...

    async def call(self, server: str, tool: str, arguments: Mapping[str, object]) -> ServerAnswer: ...

    async def read(self, server: str, uri: str) -> ServerAnswer: ...

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> ServerAnswer: ...


class NoteFiles(Protocol):
    """The files of one vault, and nothing outside it."""

    def read(self, path: str) -> str:
        """The text of a note. Raises `NoteNotFound`, `NoteUnreadable` or `OutsideVault`."""
        ...

    def read_whole(self, path: str) -> tuple[str, bool]:
        """The same, and whether every byte of it was text; what is none is shown as U+FFFD."""

    def read_data(self, path: str, most: int) -> bytes:
        """What any file holds. Raises `NoteUnreadable` where that are more than `most` bytes, else as `read`."""
        ...

    def identity(self, path: str) -> object | None:
        """A value that is another one after every change of the file; None where that cannot be promised."""

    def linked(self, paths: Iterable[str]) -> dict[str, str]:
        """Those of the paths that are symbolic links, or go through one, and where in the vault they lead."""
        ...


class ListedFiles(NoteFiles, Protocol):
    """The files of one vault, which can also be listed."""

    def folders(self) -> Iterable[FolderListing]:
        """Every folder of the vault, each once, in no particular order."""
        ...

    def changed_folders(self, unsettled: Iterable[str]) -> Sequence[FolderListing] | None:
        """The folders in which files changed since the last look, and those that are unsettled.

        None where that is not known: then all are to be listed, and what changes meanwhile is told at the next call.
        """
        ...


class ExtractedTexts(Protocol):
    """The texts of files that are extracted in the background, such as PDFs. Every thread may use it, and it can be
    pickled for other processes."""

    def covers(self, path: str) -> bool:
        """Whether files of this kind are extracted here, by the suffix. Costs nothing."""
        ...

    def find(self, stamp: FileStamp) -> ExtractedText | None:
        """The text of a file with this path, size and time; None as long as it is not extracted. Reads no file."""
        ...

    def latest(self, path: str) -> ExtractedText | None:
        """The text of a file as it was last extracted."""
        ...


class ExtractionStore(ExtractedTexts, Protocol):
    """Extracted texts by the digest of their files, so that a file that is renamed is not extracted again."""

    def missing(self, stamps: Sequence[FileStamp]) -> list[FileStamp]:
        """The files of which there is no text that was made as texts are made now."""
        ...

    def attach(self, stamp: FileStamp, digest: bytes) -> bool:
        """From now on the file has the text of this digest; returns whether there is one."""
        ...

    def keep(self, digest: bytes, text: ExtractedText) -> None: ...

    def forget_failures(self) -> None:
        """Drop what could not be extracted, so that it is tried again."""
        ...

    def prune(self, paths: Collection[str]) -> None:
        """Drop the texts of all files but these."""
        ...


class TextExtractor(Protocol):
    """Extracts texts, one file after the other. No file does any harm to this process."""

    @property
    def max_bytes(self) -> int:
        """Of a file; larger ones are not extracted."""
        ...

    def extract(self, data: bytes) -> ExtractedText | None:
        """The text of a file with this content, or the trouble with it; None where it was stopped."""
        ...

    def stop(self) -> None:
        """Let the `extract` that runs, and all later ones, return None. Every thread may call it."""
        ...

    def close(self) -> None: ...


class ChangeableFiles(Protocol):
    """The files of a vault to the last byte, as a change needs them. Raises `OutsideVault` for a path that leads out,
    and `VaultError` for one that no change may touch: hidden files and folders, those of `vault.exclude`."""

    def read_bytes(self, path: str) -> bytes | None:
        """What a file holds; None where there is none. Raises `NoteUnreadable`."""
        ...

    def is_taken(self, path: str) -> bool:
        """Whether a file, folder or link has this path; where names ignore case, also one that differs only in it."""
        ...


class ChangeStore(ChangeableFiles, Protocol):
    """The files of a vault, changed so that every change is in the journal first and can be undone."""

    def apply(self, changes: ChangeSet, origin: ChangeOrigin) -> ChangeRecord:
        """Make all of the changes or none.

        Raises `FilesChanged` where a file is not what `before` says, `VaultError` for a target that is taken or out of
        reach, `StorageError` where the disk refuses; nothing is changed then.
        """
        ...

    def undo(self, record_id: int) -> ChangeRecord:
        """Restore what a change replaced, to the last byte. Raises `FilesChanged` where a file changed since."""
        ...

    def records(
        self, *, since: datetime | None = None, limit: int | None = None, with_contents: bool = True
    ) -> list[ChangeRecord]:
        """The journal, the latest change first. Without contents, what files held is empty in it."""
        ...

    def record(self, record_id: int) -> ChangeRecord:
        """One change of the journal. Raises `UsageError` where there is none of this number."""
        ...

    def last_move(self, move: FileMove) -> ChangeSet | None:
        """The last change set in force that made this move."""
        ...


class NoteCatalog(Protocol):
    """What is known of the notes themselves."""

    def generation(self) -> int:
        """A number that grows whenever notes change, whoever changed them."""
        ...

    def counts(self) -> IndexCounts: ...

    def stamps(self) -> dict[str, tuple[int, int, bool]]:
        """By path: size and time of the notes as they were last read, and whether those can be trusted."""
        ...

    def known(self, path: str) -> KnownNote | None: ...

    def date_facts(self, paths: Collection[str] | None = None) -> dict[str, DateFacts]:
        """By path, what is known of the dates of these notes, or of all."""
        ...

    def private(self) -> dict[str, PrivacyClass]:
        """By path, the notes that by their own word may not go to every model."""
        ...

    def copies(self) -> list[list[str]]:
        """Notes with the same text, those of one text together. Empty ones are no copies of each other."""
        ...

    def catalog(self) -> list[CatalogRow]:
        """Notes and attachments, as links look for them."""
        ...

    def tags(self) -> dict[str, list[str]]:
        """By tag, in lower case, the paths of the notes that have it, in order; tags below it are tags of their own."""
        ...

    def tasks(self) -> list[StoredTask]:
        """The open tasks of all notes, by path and line."""
        ...

    def warnings(self) -> list[NoteWarning]:
        """About notes, and about what could not be listed, by path."""
        ...


class LinkTargets(Protocol):
    """The files that links may lead to."""

    def generation(self) -> int: ...

    def known(self, path: str) -> KnownNote | None: ...

    def files_with_keys(self, keys: Collection[str]) -> list[CatalogRow]:
        """Notes and attachments for which a link with one of these keys may look; some of them others besides."""
        ...

    def catalog(self) -> list[CatalogRow]:
        """All of them."""
        ...


class LinkIndex(Protocol):
    """What is known of the links between notes."""

    def links_from(self, paths: Sequence[str]) -> list[StoredLink]: ...

    def links_to(self, path: str) -> list[StoredLink]: ...

    def notes_with_keys(self, keys: Collection[str]) -> list[str]:
        """The notes that hold a link with one of these keys, and those of which no links are known."""
        ...

    def doubtful_links(self) -> list[StoredLink]:
        """Those that lead nowhere, to one of several files, or to a place that the note does not have."""
        ...

    def edges(self, touching: Collection[str] | None = None) -> list[tuple[str, str]]:
        """Which note leads to which other one, each pair once: all of them, or those that some notes are part of."""
        ...


class TextIndex(Protocol):
    """The sections of notes, and the postings of their terms."""

    def look_up(self, terms: Collection[str], known: int | None, prefixes: Collection[str] = ()) -> TextLookup:
        """Where terms stand, and all that begin with one of the prefixes.

        The segments themselves are told only if they are not of the generation `known`.
        """
        ...

    def sections(self, numbers: Sequence[int]) -> list[StoredSection]:
        """Those that are still there, in no particular order."""
        ...

    def section_ranges(self, wanted: NoteFilter, *, newest_first: bool = False) -> list[tuple[int, int]]:
        """First section and count for each note that the filter lets through.

        `newest_first`: by when they were written if the filter is about that, else by their last change.
        """
        ...


class SegmentStore(Protocol):
    """The segments of the inverted index, to be merged."""

    def segment_sizes(self) -> dict[int, int]:
        """How many slots each segment has."""
        ...

    def segment_heads(self) -> list[SegmentHead]: ...

    def dead_count(self) -> int:
        """How many sections of segments are in the vault no more."""
        ...

    def dead_sections(self) -> list[int]: ...

    def load_segments(self, segments: Sequence[int]) -> tuple[list[tuple[SegmentHead, list[TermPostings]]], list[int]]:
        """Those that are there, with their postings, and the dead sections."""
        ...

    def replace_segments(self, old: Sequence[int], new: Segment, dropped: Sequence[int]) -> None:
        """Put one segment in the place of several, unless somebody else already did; `dropped` are gone from it."""
        ...


class LinkQueue(Protocol):
    """Links whose targets are to be looked up, again or for the first time."""

    def notes_to_resolve(self, limit: int) -> list[str]:
        """Notes whose links may lead elsewhere now, some of them."""
        ...

    def links_to_resolve(self, paths: Sequence[str]) -> list[LinkToResolve]:
        """The links of these notes."""
        ...

    def store_resolutions(
        self, generation: int, sources: Sequence[str], resolutions: Iterable[tuple[int, Resolution]]
    ) -> bool:
        """What the links of these notes lead to, by the links' numbers. Refused if notes changed since `generation`."""
        ...


class IndexWriter(Protocol):
    """Changing what is known of the notes. Each change is one consistent state."""

    def folders(self) -> KnownFolders: ...

    def files_in(self, prefix: str) -> IndexedFiles:
        """What the index holds of a folder, without the folders in it."""
        ...

    def store_folders(self, generation: int, folders: Mapping[str, KnownFolder], gone: Iterable[str]) -> bool:
        """Remember listings of folders, and forget folders. Refused if notes changed since `generation`."""
        ...

    def has_attachment_ending(self, suffix: str) -> bool: ...

    def stamps_ending(self, suffix: str) -> list[FileStamp]:
        """Of the files whose names end so, in any case, as they were last read."""
        ...

    def apply(self, batch: IndexBatch) -> int:
        """Change the index, all or nothing, and return the new generation. It counts as unfinished until `finish`."""
        ...

    def unlisted(self) -> list[NoteWarning]:
        """What could not be listed at the last refresh."""
        ...

    def store_unlisted(self, warnings: Sequence[NoteWarning]) -> None: ...

    def is_complete(self) -> bool:
        """False while a refresh is under way, and after one that was interrupted."""
        ...

    def finish(self) -> None: ...

    def reset(self) -> None:
        """Throw everything away."""
        ...


class CommitHistory(Protocol):
    """The git repository that a vault is, or is a part of. Every thread may use it."""

    def status(self) -> HistoryStatus: ...

    def head(self) -> str:
        """The commit that is checked out; empty where there is no repository that can be read."""
        ...

    def read(self, head: str, known: str) -> CommittedFiles:
        """The last commit of each file up to the commit `head`; at best only what came to it after `known`."""
        ...

    def commits_of(self, path: str, limit: int) -> list[Commit]:
        """The commits that changed a file, the latest first, at most so many."""
        ...


class DateStore(Protocol):
    """What is kept of the dates of notes besides what each note says."""

    def name_rule(self) -> int:
        """The number of the rule by which dates were found in names; 0 at first."""
        ...

    def store_names(self, rule: int, days: Mapping[str, str | None]) -> int:
        """By path, the dates in names by another rule. Returned is the generation of the index."""
        ...

    def commits_read(self) -> tuple[str, str]:
        """The commit up to which the history was read, and what was in the way."""
        ...

    def store_commits(self, commits: CommittedFiles) -> int:
        """The last and first commits of files. Returned is the generation of the index."""
        ...


class NoteIndex(
    NoteCatalog, LinkIndex, LinkTargets, TextIndex, SegmentStore, LinkQueue, DateStore, IndexWriter, Protocol
):
    """The whole index: a cache, so any of its methods may raise `StorageDamaged`, and `reset` helps.

    Every thread may use it. Each method sees, or makes, one consistent state. Ask for the part that you need.
    """


class Workers(Protocol):
    """Other processes, to share long work with."""

    def map(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[Done]:
        """What comes of each task, as they get done. Work, tasks and results have to be such as can be pickled."""
        ...


class VectorIndex(Protocol):
    """Vectors of passages, by the digest of what was embedded and by method, beside the note index that they outlive.

    Several processes may use it at once.
    """

    def passages(self, after: int = 0) -> PassageDigests:
        """The digests of all sections whose notes begin after this number, in the order of their numbers."""
        ...

    def sections(self, numbers: Sequence[int]) -> list[StoredSection]:
        """Those that are still there."""
        ...

    def methods(self) -> list[str]:
        """Those that have vectors, the one written last first."""
        ...

    def active(self) -> str:
        """The method that searches go by; empty where none was chosen."""
        ...

    def activate(self, method: str) -> None: ...

    def stamp(self, method: str) -> object:
        """Another one, where there is something new to read; asked at every search."""
        ...

    def read(self, method: str, known: VectorPosition = NOTHING_KNOWN) -> StoredVectors | None:
        """What was added since, or all where what is known does not count any more; None where there is nothing."""
        ...

    def add(
        self,
        method: str,
        digests: Sequence[bytes],
        sketches: bytes,
        vectors: bytes,
        known: VectorPosition = NOTHING_KNOWN,
    ) -> AddedVectors:
        """Keep vectors, all or none, but not those that others have added since.

        Where they are of another size than those that are there, these are thrown away.
        """
        ...

    def retain(self, method: str, digests: Collection[bytes]) -> int:
        """Forget all others, and those that are damaged; returned is how many there are."""
        ...

    def section_rows(self, method: str) -> SectionRows | None:
        """What was kept; whether it still fits the vectors and the index is to be seen."""
        ...

    def keep_section_rows(self, method: str, rows: SectionRows | None) -> None:
        """For the next process that asks; None: forget what was kept."""
        ...

    def is_intact(self, method: str) -> bool:
        """Whether every vector is as it was written. Reads all of them."""
        ...

    def remove(self, method: str) -> None: ...

    def claim(self, method: str) -> AbstractContextManager[bool]:
        """Whether nobody else embeds by this method meanwhile."""
        ...


class SessionStore(Protocol):
    """Sessions on disk. What `append` returned from is there after a crash."""

    def create(self, title: str = "") -> Session: ...

    def add(self, session_id: str, bodies: Sequence[EntryBody]) -> bool:
        """Add a session that was held elsewhere, under this id and with the times of its messages, all or nothing.

        False if there is one of that id, or was one that the user deleted.
        """
        ...

    def append(self, session_id: str, bodies: Sequence[EntryBody]) -> list[Entry]:
        """Add entries in order, all or none. Raises `SessionNotFound`, `StorageFull`, `StorageDamaged`."""
        ...

    def entries(self, session_id: str, wanted: EntryFilter | None = None) -> list[Entry]: ...

    def sessions(self) -> list[Session]:
        """All of them, the last used first."""
        ...

    def get(self, session_id: str) -> Session: ...

    def find(self, name: str) -> Session:
        """By id, the beginning of an id, or title. Raises `SessionNotFound` with the closest ones as a hint."""
        ...

    def delete(self, session_id: str) -> None: ...

    def enter(self, session_id: str) -> bool:
        """Say that a session is open here, until the store is closed. False if another process has it open."""
        ...


class MessageIndex(Protocol):
    """What was said in sessions: a cache, so any of its methods may raise `StorageDamaged`, and `reset` helps."""

    def known(self) -> dict[str, IndexedUpTo]:
        """The sessions it holds, and how much of each."""
        ...

    def add(self, session: str, messages: Sequence[IndexedMessage], up_to: IndexedUpTo) -> None:
        """All or nothing. A message that is already there keeps its place."""
        ...

    def rows(self, session: str, after: int) -> list[MessageRow]:
        """The messages that changed after that entry, by place."""
        ...

    def messages(self, session: str, ids: Collection[str]) -> list[IndexedMessage]:
        """Those that are there, in no particular order."""
        ...

    def forget(self, session: str) -> None: ...

    def reset(self) -> None:
        """Throw everything away."""
        ...
