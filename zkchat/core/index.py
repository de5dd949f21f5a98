"""What the note index keeps of a vault: the rows that go in, and those that come out."""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct

from zkchat.core.note import Block, DayRange, FileStamp, Heading, Link, Note, PrivacyClass, Resolution, Section


class StatedDates(NamedTuple):
    """What a note itself says of its dates, in the form of `DateFacts`, and the id of its content for git."""

    named: str | None = None
    created: str | None = None
    updated: str | None = None
    blob: bytes | None = None


class IndexedNote(NamedTuple):
    """A note as it is to be stored."""

    stamp: FileStamp
    digest: bytes
    note: Note
    sections: Sequence[Section] = ()
    link_keys: frozenset[str] = frozenset()
    """The names by which its links look for their targets."""
    privacy: PrivacyClass = "open"
    """By its own word. Of a note that is never to be read only this and the path are stored."""
    dates: StatedDates = StatedDates()
    section_days: Mapping[int, str] = MappingProxyType({})
    """By place in `sections`, the day that the headings of a section tell, in ISO form."""

    @property
    def is_source(self) -> bool:
        """Whether answers may rest on it: what zkchat saved of a conversation has no sections."""
        return bool(self.sections) or self.privacy == "never"


class Segment(Struct, frozen=True, kw_only=True):
    """A part of the inverted index, written once: the terms of some sections, packed by `vault.search.postings`."""

    slots: int
    """How many sections, dead ones included."""
    sections: bytes
    lengths: bytes
    names: bytes
    terms: Sequence[str]
    """In order."""
    section_postings: bytes
    """The sections that contain each term, one term after the other, and the byte at which each ends."""
    section_ends: Sequence[int]
    name_postings: bytes
    """Likewise for names."""
    name_ends: Sequence[int]


class IndexBatch(Struct, frozen=True, kw_only=True):
    """Changes that take effect together or not at all."""

    notes: Sequence[IndexedNote] = ()
    """New, or in the place of those with the same path."""
    restamped: Sequence[FileStamp] = ()
    """Files whose stamp changed and whose content did not."""
    removed: Sequence[str] = ()
    added_files: Sequence[str] = ()
    """Attachments; of them only the path is known."""
    removed_files: Sequence[str] = ()
    names: Sequence[tuple[str, str]] = ()
    """Keys by which links may look for a file, each with its path, of files that are new or called otherwise."""
    lost_names: Sequence[tuple[str, str]] = ()
    """Those that files had before. Links that look for a key of either are to be resolved again."""
    segment: Segment | None = None
    """Of the sections of the notes. The index puts its own numbers, which run through the vault, in their place."""


class SegmentHead(Struct, frozen=True, kw_only=True):
    """A segment without its postings."""

    id: int
    slots: int
    sections: bytes
    lengths: bytes
    names: bytes


class TermPostings(Struct, frozen=True, kw_only=True):
    segment: int
    term: str
    sections: bytes
    names: bytes


class TextLookup(Struct, frozen=True, kw_only=True):
    """Where some terms stand, and, unless the asker has them, the segments that the answer refers to."""

    generation: int
    postings: Sequence[TermPostings]
    segments: Sequence[SegmentHead] | None = None
    dead: Sequence[int] = ()
    """Sections that are still in a segment, but not in the vault."""


class CatalogRow(Struct, frozen=True, kw_only=True):
    """What is needed to resolve links to a file."""

    path: str
    title: str = ""
    aliases: tuple[str, ...] = ()
    is_source: bool = True
    """Not so for what zkchat saved of a conversation."""


class KnownNote(Struct, frozen=True, kw_only=True):
    """What is needed to see whether a note changed, and to find places in it."""

    digest: bytes
    title: str
    aliases: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    blocks: tuple[Block, ...] = ()
    is_source: bool = True


class DateFacts(NamedTuple):
    """All that is known of the dates of a note, in whichever time zone the user is.

    Days and times as they were written are in ISO form, without a zone; those in UTC end in `Z`.
    """

    named: str | None
    """By the name of its file."""
    created: str | None
    """By its frontmatter, like the next."""
    updated: str | None
    committed: int | None
    """Seconds since 1970: the last commit of the file, where it holds what was committed."""
    first_committed: int | None
    """Seconds since 1970: the first commit of the file, whatever it holds now."""
    modified_ns: int
    """The time of the file."""


class NotesOfDays(Struct, frozen=True, kw_only=True):
    """Which notes are wanted by their days."""

    days: DayRange = DayRange()
    by_change: bool = False
    """By the days on which they were last changed, and not by those on which they were written."""
    oldest_first: bool = False
    most: int | None = None
    """So many of them, the newest or the oldest, with all others of the same days. Where it is asked when they were
    written, those whose names or properties tell it count before all others."""


class LinkToResolve(NamedTuple):
    """What decides where a stored link leads. A tuple, because a first refresh makes one for each link of the vault."""

    id: int
    source: str
    target: str
    anchor: str
    external: bool


class StoredLink(Struct, frozen=True, kw_only=True):
    """A link with the note it stands in and what it leads to; None until it was resolved."""

    id: int
    source: str
    link: Link
    resolution: Resolution | None = None


class StoredTask(NamedTuple):
    """An open task of a note. A tuple, because a vault may have tens of thousands."""

    path: str
    line: int
    state: str
    text: str


class StoredSection(Struct, frozen=True, kw_only=True):
    id: int
    path: str
    title: str
    aliases: tuple[str, ...]
    heading_path: tuple[str, ...]
    first_line: int
    last_line: int
    text: str


class NoteFilter(Struct, frozen=True, kw_only=True):
    """Which notes a search may look at. Empty: all."""

    tags: tuple[str, ...] = ()
    """All of them, or tags below them."""
    paths: tuple[str, ...] = ()
    """Pieces of the path, case ignored."""
    within: frozenset[str] | None = None
    period: DayRange | None = None
    """The days on which they were written: notes as a whole, but for sections whose headings tell another day."""
    zone: tzinfo | None = None
    """The time zone that the days are of; None: the system's."""

    @property
    def is_about_notes(self) -> bool:
        """Whether it asks anything of a note, beside being one of those within which is looked."""
        return bool(self.tags or self.paths or self.period)


class IndexCounts(Struct, frozen=True, kw_only=True):
    notes: int = 0
    links: int = 0
    sections: int = 0
    attachments: int = 0
    bytes: int = 0
    """That the index itself takes on disk."""
    changed_at: datetime | None = None
    """When the index was last written to."""
