"""What the note index keeps of a vault: the rows that go in, those that come out, and the vectors of passages."""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from hashlib import blake2b
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import Struct

from zkchat.core.note import Block, DayRange, FileStamp, Heading, Link, Note, PrivacyClass, Resolution, Section

DIGEST_BYTES: Final = 16


class OpenText(str):
    """A text that may go to a server elsewhere: a passage of an open note, or what somebody asked.

    Made only where it is known what the text comes from. What is cut from it or joined to it is a plain `str` again,
    which no server elsewhere is sent.
    """

    __slots__ = ()


def as_open_as(origin: str, text: str) -> str:
    """A text that is made of another one, and of nothing that a note says."""
    return OpenText(text) if isinstance(origin, OpenText) else text


def embedded_text(title: str, text: str) -> str:
    """What is embedded of a passage: its text, which begins with its heading, below the title of its note."""
    return f"{title}\n{text}"


def passage_digest(title: str, text: str) -> bytes:
    """Of what is embedded: passages of the same digest have the same vectors."""
    return blake2b(embedded_text(title, text).encode(errors="surrogatepass"), digest_size=DIGEST_BYTES).digest()


class SimilarityTraits(Struct, frozen=True, kw_only=True):
    """What has to be known of a method to compare its vectors. The defaults suit a model of which nothing is known."""

    min_cosine: float | None = None
    """The cosine from which a passage is shown for its meaning alone; None: learned from the passages of the vault."""
    has_common_direction: bool = True
    """Whether what all vectors of a vault have in common is taken out before they are compared."""
    weight: float = 1.0
    """How much similarities count in the ranking, beside 1 for those of static vectors, which count too."""
    languages: frozenset[str] = frozenset()
    """Codes of the languages that the model knows, where they are few: a question in another one is compared by static
    vectors alone. Empty: any."""


class EmbeddingProgress(Struct, frozen=True, kw_only=True):
    """How far the embedding of a vault's passages has come."""

    done: int
    """Passages that have a vector of `method`; passages with the same title and text count once."""
    total: int
    """Passages that are to have one; those that may not be sent to the method's server are not counted."""
    method: str
    """The method that is wanted."""
    active_method: str
    """The method by which searches compare: the former one, until all passages have a vector of the wanted one."""
    problem: str = ""
    """Why it does not go on at the moment, as a sentence; empty while it does."""

    @property
    def is_complete(self) -> bool:
        return self.done >= self.total


class PassageDigests(Struct, frozen=True, kw_only=True):
    """What the sections of an index hold, by their digests."""

    epoch: int
    """Another one, where the index was begun anew: sections then have other numbers."""
    notes: Sequence[tuple[int, bytes]]
    """The number of the first section of a note, and the digests of all of them, one after the other."""


class VectorBlock(Struct, frozen=True, kw_only=True):
    """Vectors that were stored together."""

    digests: bytes
    sketches: bytes
    start: int
    """Where the first vector begins in the data of the file; the others follow."""


class VectorPosition(NamedTuple):
    """Up to where the vectors of a method are known."""

    generation: tuple[int, ...] = ()
    """Another one, where the file was written anew."""
    end: int = 0
    """Where the next block begins."""


NOTHING_KNOWN: Final = VectorPosition()


class AddedVectors(NamedTuple):
    """What is known after vectors were added."""

    position: VectorPosition
    by_others: frozenset[bytes] = frozenset()
    """The digests of passages whose vectors others have added meanwhile."""


class StoredVectors(Struct, frozen=True, kw_only=True):
    """The vectors of one method, or those of them that were added since somebody last asked."""

    position: VectorPosition
    is_new: bool
    """Whether these are all there are, and nothing that was read before counts any more."""
    vector_bytes: int
    sketch_bytes: int
    blocks: Sequence[VectorBlock]
    data: memoryview
    """The whole file, mapped; empty where there are no blocks."""


class StatedDates(NamedTuple):
    """What a note itself says of its dates, in the form of `DateFacts`, and the id of its content for git."""

    named: str | None = None
    created: str | None = None
    updated: str | None = None
    blob: bytes | None = None


class IndexedNote(NamedTuple):
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
    """A part of the inverted index, written once: the terms of some sections, packed by `index/search/postings`."""

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
