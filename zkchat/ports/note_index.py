"""The index of a vault, in the parts that its users need."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from zkchat.model.folder import IndexedFiles, KnownFolder, KnownFolders
from zkchat.model.history import CommittedFiles
from zkchat.model.index import (
    CatalogRow,
    DateFacts,
    IndexBatch,
    IndexCounts,
    KnownNote,
    LinkToResolve,
    NoteFilter,
    NotesOfDays,
    Segment,
    SegmentHead,
    StoredLink,
    StoredSection,
    StoredTask,
    TermPostings,
    TextLookup,
)
from zkchat.model.note import FileStamp, NoteWarning, PrivacyClass, Resolution


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


class SegmentStore(Protocol):
    """The segments of the inverted index, to be merged."""

    def segment_sizes(self) -> dict[int, int]:
        """How many slots each segment has."""

    def segment_heads(self) -> list[SegmentHead]: ...

    def dead_count(self) -> int:
        """How many sections of segments are in the vault no more."""

    def dead_sections(self) -> list[int]: ...

    def load_segments(self, segments: Sequence[int]) -> tuple[list[tuple[SegmentHead, list[TermPostings]]], list[int]]:
        """Those that are there, with their postings, and the dead sections."""

    def replace_segments(self, old: Sequence[int], new: Segment, dropped: Sequence[int]) -> None:
        """Put one segment in the place of several, unless somebody else already did; `dropped` are gone from it."""


class LinkQueue(Protocol):
    """Links whose targets are to be looked up, again or for the first time."""

    def notes_to_resolve(self, limit: int) -> list[str]:
        """Notes whose links may lead elsewhere now, some of them."""

    def links_to_resolve(self, paths: Sequence[str]) -> list[LinkToResolve]:
        """The links of these notes."""

    def store_resolutions(
        self, generation: int, sources: Sequence[str], resolutions: Sequence[tuple[int, Resolution]]
    ) -> bool:
        """What the links of these notes lead to, by the links' numbers. Refused if notes changed since `generation`."""


class IndexWriter(Protocol):
    """Changing what is known of the notes. Each change is one consistent state."""

    def folders(self) -> KnownFolders: ...

    def files_in(self, prefix: str) -> IndexedFiles:
        """What the index holds of a folder, without the folders in it."""

    def store_folders(self, generation: int, folders: Mapping[str, KnownFolder], gone: Iterable[str]) -> bool:
        """Remember listings of folders, and forget folders. Refused if notes changed since `generation`."""

    def has_attachment_ending(self, suffix: str) -> bool: ...

    def stamps_ending(self, suffix: str) -> list[FileStamp]:
        """Of the files whose names end so, in any case, as they were last read."""

    def apply(self, batch: IndexBatch) -> int:
        """Change the index, all or nothing, and return the new generation. It counts as unfinished until `finish`."""

    def unlisted(self) -> list[NoteWarning]:
        """What could not be listed at the last refresh."""

    def store_unlisted(self, warnings: Sequence[NoteWarning]) -> None: ...

    def is_complete(self) -> bool:
        """False while a refresh is under way, and after one that was interrupted."""

    def finish(self) -> None: ...

    def reset(self) -> None:
        """Throw everything away."""

    def take_damage(self) -> bool:
        """Whether it was found damaged when it was opened, and begun anew; told once."""


class DateStore(Protocol):
    """What is kept of the dates of notes besides what each note says."""

    def name_rule(self) -> int:
        """The number of the rule by which dates were found in names; 0 at first."""

    def store_names(self, rule: int, days: Mapping[str, str | None]) -> int:
        """By path, the dates in names by another rule. Returned is the generation of the index."""

    def commits_read(self) -> tuple[str, str]:
        """The commit up to which the history was read, and what was in the way."""

    def store_commits(self, commits: CommittedFiles) -> int:
        """The last and first commits of files. Returned is the generation of the index."""


class NoteIndex(
    NoteCatalog, LinkIndex, LinkTargets, TextIndex, SegmentStore, LinkQueue, DateStore, IndexWriter, Protocol
):
    """The whole index: a cache, so any of its methods may raise `StorageDamaged`, and `reset` helps.

    Every thread may use it. Each method sees, or makes, one consistent state. Ask for the part that you need.
    """
