"""The text of a note as its owner reads it on the screen: without frontmatter, comments and a title that repeats."""

import re
from typing import Final

from msgspec import Struct

from zkchat.errors import UsageError
from zkchat.model.note import Link, Note, file_title, is_note, is_pdf, page_heading, page_of_anchor
from zkchat.model.prompt import ModelInfo
from zkchat.vault.documents.document import without_escape
from zkchat.vault.library import Library
from zkchat.vault.notes.parse import parse_note

_PAGE: Final = re.compile(r"# Page \d+")
_MARKUP: Final = re.compile(r"[\\`*_{}\[\]<>#|~$&!]|^[-+=]|(?<=^\d)[.)]")


class _OnThisMachine:
    """Stands for the user's own machine, where only notes that are never to be read are kept back."""

    info = ModelInfo(provider="", id="", on_this_machine=True)


class ReadableNote(Struct, frozen=True, kw_only=True):
    names: tuple[str, ...]
    """The title of the note, and the headings of the section that was asked for."""
    tags: tuple[str, ...]
    text: str
    """As in the file, without comments."""
    body: str
    """The text to be drawn, line for line as in the file."""


def read_note(library: Library, path: str, anchor: str = "") -> ReadableNote:
    """Read a note, a section of it, or another file with text.

    Raises `UsageError` for what cannot be shown, `NoteNotFound` or `NoteUnreadable` for what cannot be read.
    """
    if reason := library.guarded_for(_OnThisMachine()).withheld(Link(text=path, target=f"/{path}")):
        raise UsageError(f"{path} {reason} by zkchat, and is not shown.", hint="Open it in a program of your own.")
    if not library.may_hold_text(path):
        raise UsageError(f"{path} is no text.", hint="Open it in a program of your own.")
    text = library.section(path, anchor)
    if not library.is_indexed(path):
        return ReadableNote(names=(file_title(path),), tags=(), text=text, body=_as_code(text, path))
    if is_pdf(path):
        page = page_of_anchor(anchor)
        shown = (page_heading(page),) if page else ()
        body = _as_prose(text, *shown)
        return ReadableNote(names=(library.title(path), *shown), tags=(), text=text, body=body)
    names = (library.title(path), *filter(None, anchor.split("#")))
    if not is_note(path):
        return ReadableNote(names=names, tags=(), text=text, body=text)
    note = parse_note(path, text)
    return ReadableNote(names=names, tags=note.tags, text=text, body=_body(text, note, names[-1]))


def _body(text: str, note: Note, title: str) -> str:
    """The text without its frontmatter, and without the title that stands above it on the screen."""
    first = note.headings[0] if note.headings else None
    if first and first.text == title and not text[note.body_start : first.start].strip():
        end = text.find("\n", first.start)
        text = _blanked(text, first.start, end if end >= 0 else len(text))
    return _blanked(text, 0, note.body_start)


def _blanked(text: str, start: int, end: int) -> str:
    """The text without a part of it, but with its line ends, so that lines keep their numbers."""
    return text[:start] + "\n" * text.count("\n", start, end) + text[end:]


def _as_prose(text: str, title: str = "") -> str:
    """The pages of a PDF as Markdown in which nothing but their headings is markup, without one that is the title."""
    text = text.removeprefix(f"# {title}") if title else text
    lines = (
        line if _PAGE.fullmatch(line) else _MARKUP.sub(r"\\\g<0>", without_escape(line)) for line in text.split("\n")
    )
    return "\n".join(lines)


def _as_code(text: str, path: str) -> str:
    """A file that is no note, as a code block that nothing in it can end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{path.rpartition('.')[2]}\n{text.rstrip()}\n{fence}\n"
