"""Notes, links, folders, dates and commits as values. Plain slotted values: a vault holds hundreds of thousands."""

import re
from array import array
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, time, tzinfo
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field

from zkchat.core.choices import LinkVia
from zkchat.core.text import counted

DateOrigin = Literal["name", "frontmatter", "git", "file"]
"""Where a date was found, the most trusted first."""


class NoteDate(NamedTuple):
    """A date of a note, in the user's time zone. A tuple, because a vault has two for each of its notes."""

    day: date
    time: time | None
    """None where only the day is known."""
    origin: DateOrigin

    @property
    def is_told(self) -> bool:
        """Whether the note tells it, by its name or its properties."""
        return self.origin in {"name", "frontmatter"}

    def at(self, zone: tzinfo | None) -> datetime:
        """The point in time; of a day alone, its beginning. The zone is the one that the date is in."""
        return datetime.combine(self.day, self.time or time.min, tzinfo=zone)

    def __str__(self) -> str:
        """`2026-03-08 12:30`, or the day alone."""
        return f"{self.day} {self.time:%H:%M}" if self.time else str(self.day)


class NoteDates(NamedTuple):
    """When a note was written, and when it was last changed."""

    written: NoteDate
    changed: NoteDate
    updated: NoteDate | None = None
    """The last change that its properties tell of, which a commit may be later than."""


def newness(dates: NoteDates) -> tuple[date, time, date]:
    """Greater for a note that changed later; of those of one time, for one that was written on a later day."""
    return dates.changed.day, dates.changed.time or time.min, dates.written.day


class DayRange(Struct, frozen=True):
    """Days from `first` up to, and without, `end`; None is open."""

    first: date | None = None
    end: date | None = None

    def __contains__(self, day: date) -> bool:
        return (self.first is None or self.first <= day) and (self.end is None or day < self.end)

    def overlap(self, other: "DayRange | None") -> "DayRange":
        if other is None:
            return self
        return DayRange(
            first=max(filter(None, (self.first, other.first)), default=None),
            end=min(filter(None, (self.end, other.end)), default=None),
        )


class Calendar(Struct, frozen=True):
    """What "today" and "this week" mean to the user."""

    now: datetime
    """Aware, in the user's time zone."""
    first_weekday: int = 0
    """The day on which weeks begin, Monday being 0."""
    looks_ahead: bool = False
    """Whether a day or month without a year is the coming one and not the latest, as where tasks are due."""

    @property
    def today(self) -> date:
        return self.now.date()


def unknown_calendar() -> Calendar:
    """The calendar of a library that was told none: it is the first day of 1970."""
    return Calendar(datetime(1970, 1, 1, tzinfo=UTC))


class ExtractedText(Struct, frozen=True, kw_only=True):
    """What was extracted of a file, page by page. An empty page is kept, so that pages keep their numbers."""

    pages: tuple[str, ...] = ()
    title: str = ""
    """As the file itself says; empty where it says none."""
    trouble: str = ""
    """Why there is no text, as a sentence for the user; a file without any text has no trouble."""
    outline: tuple[tuple[int, str], ...] = ()
    """Page, from 1 on, and title of each entry of its table of contents, in their order."""
    omission: str = ""
    """What of it was left out, as a sentence for the user."""


LinkSyntax = Literal["wikilink", "markdown"]
PrivacyClass = Literal["open", "local", "never"]
"""How far a note may go: to any model, to one on this machine, nowhere."""

NOTE_SUFFIXES = (".md",)
"""Of the files that are notes, in small letters; all other files are attachments. New notes get the first."""
NOTE_SUFFIX = NOTE_SUFFIXES[0]
PDF_SUFFIX = ".pdf"
_PAGE_HEADING = re.compile(r"Page (\d{1,7})")
_PAGE_ANCHOR = re.compile(r"page=(\d{1,7})(?:&|$)", re.IGNORECASE)
DRAWING_SUFFIXES = (".canvas", ".excalidraw")
"""Of the attachments that are JSON with text and links in it, which the index holds as it does those of notes."""
IMAGES = ("avif", "bmp", "gif", "jpeg", "jpg", "png", "svg", "webp")
_OTHER_IMAGES = ("heic", "heif", "tif", "tiff")
"""Suffixes of images that Obsidian does not show."""
RECORDINGS = ("3gp", "flac", "m4a", "mp3", "ogg", "wav", "mkv", "mov", "mp4", "ogv", "webm")
"""Suffixes of the files that Obsidian shows and plays."""
_KINDS = {"canvas": "canvas", "excalidraw": "drawing", "pdf": "PDF"}
_PICTURES = frozenset((*IMAGES, *_OTHER_IMAGES)) - {"svg"}
_MEDIA = _PICTURES | {*RECORDINGS, "pdf"}


def is_note(path: str) -> bool:
    return path.lower().endswith(NOTE_SUFFIXES)


def file_kind(path: str) -> str:
    """What a file besides notes is whose text may be in the index: `canvas`, `drawing`, `PDF`; empty for others."""
    return _KINDS.get(path.rpartition(".")[2].lower(), "")


def line_place(path: str, line: int) -> str:
    """`path:line`, as editors open it; of a canvas or PDF, whose lines are no lines of the file, the path."""
    return path if file_kind(path) else f"{path}:{line}"


def is_drawing(path: str) -> bool:
    """Whether the file at this path is a canvas or an Excalidraw drawing, by its suffix."""
    return path.lower().endswith(DRAWING_SUFFIXES)


def is_pdf(path: str) -> bool:
    return path.lower().endswith(PDF_SUFFIX)


def page_heading(number: int) -> str:
    """The heading of a page of a PDF; `#page=7` leads there, because headings are compared by letters and digits."""
    return f"Page {number}"


def page_of(path: str, heading_path: Sequence[str]) -> int | None:
    """The page that a section of a PDF stands on; None for any other file."""
    found = _PAGE_HEADING.fullmatch(heading_path[-1]) if heading_path and is_pdf(path) else None
    return int(found[1]) if found else None


def anchor_of(path: str, heading_path: Sequence[str]) -> str:
    """What a link to a section has after its `#`: the innermost heading, or `page=7`, as other programs say it."""
    page = page_of(path, heading_path)
    return f"page={page}" if page else heading_path[-1] if heading_path else ""


def page_of_anchor(anchor: str) -> int | None:
    """The page that an anchor such as `page=7` or `page=7&selection=1,2,3,4` names."""
    found = _PAGE_ANCHOR.match(anchor)
    return int(found[1]) if found else None


def page_named(path: str | None, anchor: str) -> int | None:
    """The page of a PDF that a link with this anchor leads to; None for any other file."""
    return page_of_anchor(anchor) if path and is_pdf(path) else None


def without_suffix(path: str) -> str:
    """The path of a note as links write it; any other path as it is."""
    return path.rpartition(".")[0] if is_note(path) else path


def file_title(path: str) -> str:
    """The name of a note's file, without folders and suffix."""
    return without_suffix(path.rpartition("/")[2])


def counted_files(paths: Collection[str], which: str = "") -> str:
    """`3 other notes` for `which` being `other `; files, where one of them is no note."""
    return counted(len(paths), f"{which}{'note' if all(map(is_note, paths)) else 'file'}")


def may_hold_text(path: str) -> bool:
    """Whether a file may be read as text, by its suffix: no folder, picture, recording or PDF."""
    return not path.endswith("/") and path.rpartition(".")[2].lower() not in _MEDIA


def is_image(path: str) -> bool:
    """Whether the file at this path is an image by its suffix, but for SVG, which is text."""
    return path.rpartition(".")[2].lower() in _PICTURES


class FileStamp(NamedTuple):
    """A file as a directory listing shows it; when it is unchanged, the file is not read again.

    A tuple, because every look at a vault makes one for each of its files.
    """

    path: str
    """Relative to the vault, with forward slashes, spelled as on disk."""
    size: int
    modified_ns: int
    settled: bool = True
    """False for a file that has to be looked at again though its stamp stays the same: it changed so recently that it
    might change again unseen, or it cannot be read."""


class Heading(NamedTuple):
    text: str
    level: int
    line: int
    start: int
    """Character offset in the note."""


class Block(NamedTuple):
    """A paragraph, list item or other block that has an id (`^id`)."""

    id: str
    line: int
    """Where the id stands."""
    first_line: int = 0
    last_line: int = 0
    """The lines of the block itself, which may stand above its id."""


class Link(NamedTuple):
    """A link as it stands in a text; `start:end` is its exact place, brackets included."""

    text: str
    target: str
    """Before `#` and `|`; empty for a link into the note itself; a whole address when `external`."""
    anchor: str = ""
    """After the first `#`, without it: `Heading`, `Heading#Sub` or `^block`."""
    display: str = ""
    size: str = ""
    """Of an embedded image: `300` or `300x200`."""
    syntax: LinkSyntax = "wikilink"
    embed: bool = False
    external: bool = False
    start: int = 0
    end: int = 0
    line: int = 1
    in_comment: bool = False
    in_frontmatter: str = ""
    """The name of the property it stands in."""

    @staticmethod
    def split(written: str) -> tuple[str, str, str]:
        """What is written before an anchor, the sign between them, and the anchor."""
        return written.partition("#")


class Section(NamedTuple):
    """A stretch of a note under one heading path, small enough to be shown to a model as a passage."""

    heading_path: tuple[str, ...]
    text: str
    start: int
    end: int
    first_line: int
    last_line: int


class TaskLine(NamedTuple):
    """A task of a list that is not done: `- [ ] text`."""

    line: int
    state: str
    """The character in its box: a space, or `/` for one that is begun."""
    text: str
    """What stands after the box, as it is written."""


class Note(Struct, frozen=True, kw_only=True):
    path: str
    title: str
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    frontmatter: Mapping[str, Any] = field(default_factory=dict)
    headings: tuple[Heading, ...] = ()
    blocks: tuple[Block, ...] = ()
    links: tuple[Link, ...] = ()
    tasks: tuple[TaskLine, ...] = ()
    """Those that are open."""
    body_start: int = 0
    """Character offset where the frontmatter ends."""
    line_count: int = 0
    comments: tuple[tuple[int, int], ...] = ()
    """Where `%% … %%` stands, as character offsets; its text is not shown to a model."""
    warnings: tuple["NoteWarning", ...] = ()


class Resolved(Struct, frozen=True, kw_only=True):
    path: str
    via: LinkVia
    anchor_found: bool = True
    line: int | None = None
    """Where the heading or block stands."""


class Ambiguous(Struct, frozen=True, kw_only=True):
    """Several notes answer; `path` is the one that the rules prefer, `others` the rest."""

    path: str
    via: LinkVia
    others: tuple[str, ...]
    anchor_found: bool = True
    line: int | None = None


class Missing(Struct, frozen=True, kw_only=True):
    target: str
    suggestions: tuple[str, ...] = ()


class External(Struct, frozen=True, kw_only=True):
    address: str


Resolution = Resolved | Ambiguous | Missing | External


class Passage(Struct, frozen=True, kw_only=True):
    """A section that a search found."""

    path: str
    title: str
    heading_path: tuple[str, ...]
    text: str
    first_line: int
    last_line: int
    score: float
    snippet: str
    """A line or two around the match."""
    why: str
    """In a few words: `title`, `heading`, `text`, `similar`."""


WarningKind = Literal[
    "frontmatter",
    "encoding",
    "excess",
    "privacy",
    "unreadable",
    "extraction",
    "waiting",
    "unlisted",
    "setting",
    "damaged",
]


class NoteWarning(Struct, frozen=True, kw_only=True):
    """A file that could not be used as it is, and why; the rest of the vault works."""

    path: str
    text: str
    kind: WarningKind


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


class CommittedFile(NamedTuple):
    """The last and the first commit that changed a file."""

    blob: bytes
    """The id of the content that it gave the file."""
    seconds: int
    """Since 1970, as its author's clock said."""
    first_seconds: int
    """Those of the first commit that was read of the file, under whichever name."""
    first_path: str
    """Its path in that commit: another one where it was renamed and its content stayed."""


class CommittedFiles(Struct, frozen=True, kw_only=True):
    head: str
    """The commit up to which the history was read; empty where there is none."""
    files: Mapping[str, CommittedFile] = field(default_factory=dict)
    """By path in the vault."""
    is_whole: bool = True
    """Whether it is all there is, and not only what came to an earlier reading."""
    trouble: str = ""
    """Why some or all of the history could not be read, as the end of a sentence."""


class Commit(Struct, frozen=True, kw_only=True):
    id: str
    seconds: int
    subject: str


class HistoryStatus(Struct, frozen=True, kw_only=True):
    """Whether dates come from git."""

    is_repository: bool
    reason: str = ""
    """Why it is not used, as the end of a sentence; empty where it is used, or where there is no repository."""
