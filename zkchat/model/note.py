"""Notes, links, and what a search finds. Plain slotted values: a vault holds hundreds of thousands of them.

What stands in a note is a named tuple, which is made in a fraction of the time of a frozen dataclass.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field

from zkchat.model.choices import LinkVia
from zkchat.model.text import counted

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
    """Whether the file at this path is a note, by its suffix."""
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
    """A parsed note."""

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
