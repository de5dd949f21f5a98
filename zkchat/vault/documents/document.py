"""A file besides notes as it is read: a text in the place of its content, with headings and links."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from zkchat.model.note import Note, Section
from zkchat.vault.notes.chunker import sections_of


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
