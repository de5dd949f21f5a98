"""Notes, links, and what a search finds. Plain slotted values: a vault holds hundreds of thousands of them.

What stands in a note is a named tuple, which is made in a fraction of the time of a frozen dataclass.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from zkchat.model.choices import LinkVia
from zkchat.model.text import counted

LinkSyntax = Literal["wikilink", "markdown"]
PrivacyClass = Literal["open", "local", "never"]
"""How far a note may go: to any model, to one on this machine, nowhere."""

NOTE_SUFFIXES = (".md",)
"""Of the files that are notes, in small letters; all other files are attachments. New notes get the first."""
NOTE_SUFFIX = NOTE_SUFFIXES[0]
IMAGES = ("avif", "bmp", "gif", "jpeg", "jpg", "png", "svg", "webp")
RECORDINGS = ("3gp", "flac", "m4a", "mp3", "ogg", "wav", "mkv", "mov", "mp4", "ogv", "webm")
"""Suffixes of the files that Obsidian shows and plays."""
_MEDIA = frozenset((*IMAGES, *RECORDINGS, "pdf")) - {"svg"}


def is_note(path: str) -> bool:
    """Whether the file at this path is a note, by its suffix."""
    return path.lower().endswith(NOTE_SUFFIXES)


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


class Section(NamedTuple):
    """A stretch of a note under one heading path, small enough to be shown to a model as a passage."""

    heading_path: tuple[str, ...]
    text: str
    start: int
    end: int
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A parsed note."""

    path: str
    title: str
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    frontmatter: Mapping[str, Any] = field(default_factory=dict)
    headings: tuple[Heading, ...] = ()
    blocks: tuple[Block, ...] = ()
    links: tuple[Link, ...] = ()
    body_start: int = 0
    """Character offset where the frontmatter ends."""
    line_count: int = 0
    comments: tuple[tuple[int, int], ...] = ()
    """Where `%% … %%` stands, as character offsets; its text is not shown to a model."""
    warnings: tuple["NoteWarning", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    path: str
    via: LinkVia
    anchor_found: bool = True
    line: int | None = None
    """Where the heading or block stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambiguous:
    """Several notes answer; `path` is the one that the rules prefer, `others` the rest."""

    path: str
    via: LinkVia
    others: tuple[str, ...]
    anchor_found: bool = True
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    target: str
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class External:
    address: str


Resolution = Resolved | Ambiguous | Missing | External


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
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


WarningKind = Literal["frontmatter", "encoding", "excess", "privacy", "unreadable", "unlisted", "setting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteWarning:
    """A file that could not be used as it is, and why; the rest of the vault works."""

    path: str
    text: str
    kind: WarningKind
