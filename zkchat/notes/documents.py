"""A file besides notes as it is read: a text in the place of its content, with headings and links."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from zkchat.core import (
    ExtractedText,
    ExtractedTexts,
    Heading,
    Note,
    Section,
    is_drawing,
    is_note,
    lazy_pattern,
    page_heading,
)
from zkchat.notes.markdown import sections_of


class Document(Struct, frozen=True, kw_only=True):
    note: Note
    """With the places of headings and links in `text`."""
    text: str
    """What users and models read."""
    own_sections: Sequence[Section] | None = None
    """What is searched, where that is not all of the text under its headings."""

    ends: Mapping[int, int] = field(default_factory=dict)
    """By the line of a heading the last line of its section, where that is not the next heading of its level."""

    @property
    def sections(self) -> Sequence[Section]:
        return sections_of(self.note, self.text) if self.own_sections is None else self.own_sections


class UnreadableDocument(ValueError):
    """A file that is not what its suffix says. The message is the end of a sentence about it: `is no JSON`."""


def document_title(path: str) -> str:
    """The name of a file, without folders and suffix."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def is_indexed(path: str, extracted: ExtractedTexts | None = None) -> bool:
    """Whether the index holds the text and links of a file: a note, a drawing, or a file whose text is extracted."""
    return is_note(path) or is_drawing(path) or (extracted is not None and extracted.covers(path))


_MAX_TITLE: Final = 150
_NO_TITLE: Final = lazy_pattern(
    r"untitled|anonymous|unnamed|document\d*|microsoft word|powerpoint|presentation|slide ?\d*|title|layout \d+"
    r"|print|scan|unbenannt|sans titre|sin título|[\w-]+\.(?:docx?|tex|dvi|indd|pptx?|xlsx?|rtf|odt|html?|pdf|ps)"
    r"|microsoft (?:word|powerpoint|excel) - .*|https?://.*|[\d\W_]+",
    re.IGNORECASE,
)
"""What programs write where nobody gave a title."""


_MARKUP: Final = lazy_pattern(r"^(?=#{1,6}(?:\s|$)|```|~~~|<!--|\$\$|%%)", re.MULTILINE)
"""Where a line of a page would begin a heading, a listing or a comment, and so hide on which page it stands."""


def document_of_pages(path: str, extracted: ExtractedText) -> Document:
    """The text of a file, in which `#page=7` is the heading `Page 7`, and no line of a page is one."""
    headings: list[Heading] = []
    pieces: list[str] = []
    start, line = 0, 1
    for number, page in enumerate(extracted.pages, start=1):
        heading = page_heading(number)
        headings.append(Heading(text=heading, level=1, line=line, start=start))
        text = _MARKUP.sub(r"\\", page.strip())
        pieces.append(f"# {heading}\n\n{text}\n\n" if text else f"# {heading}\n\n")
        start += len(pieces[-1])
        line += pieces[-1].count("\n")
    title = " ".join(extracted.title.split())  # unless a program wrote it there, else the name of the file
    if not 4 <= sum(map(str.isalpha, title)) <= len(title) <= _MAX_TITLE or _NO_TITLE.fullmatch(title.strip("()[]<> ")):
        title = document_title(path)
    note = Note(path=path, title=title, headings=tuple(headings), line_count=max(1, line - 1))
    text = "".join(pieces)
    return Document(note=note, text=text, own_sections=[*_sections(note, text, extracted.outline)])


def without_escape(line: str) -> str:
    """A line of such a text as it stands on its page."""
    return line[1:] if line.startswith("\\") and _MARKUP.match(line[1:]) else line


def _sections(note: Note, text: str, outline: Sequence[tuple[int, str]]) -> Iterator[Section]:
    """What stands on each page, without the heading that only the text has, below the chapter that it is part of."""
    chapters = _chapters(outline, len(note.headings))
    for section in sections_of(note, text):
        heading = section.heading_path[0]
        mark = f"# {heading}"
        if section.text == mark:
            continue
        chapter = chapters.get(heading, "")
        placed = section._replace(heading_path=(chapter, heading) if chapter else (heading,))
        if section.text.startswith(f"{mark}\n\n"):
            past = len(mark) + 2
            shown, start = section.text[past:], section.start + past
            placed = placed._replace(text=shown, start=start, first_line=section.first_line + 2)
        yield placed


def _chapters(outline: Sequence[tuple[int, str]], pages: int) -> dict[str, str]:
    """By the heading of a page, the entry of the outline that it is part of: the first on it, or the last before it."""
    chapters: dict[str, str] = {}
    first, last = dict(reversed(outline)), dict(outline)
    current = ""
    for page in range(1, pages + 1):
        if chapter := first.get(page, current):
            chapters[page_heading(page)] = chapter
        current = last.get(page, current)
    return chapters
