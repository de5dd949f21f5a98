"""Which files besides notes are indexed, and which reader makes a document of each."""

from typing import TYPE_CHECKING

from zkchat.model.note import is_drawing, is_note
from zkchat.vault.documents.document import Document, UnreadableDocument

if TYPE_CHECKING:
    from zkchat.ports.extraction import ExtractedTexts


def is_indexed(path: str, extracted: "ExtractedTexts | None" = None) -> bool:
    """Whether the index holds the text and links of a file: a note, a drawing, or a file whose text is extracted."""
    return is_note(path) or is_drawing(path) or (extracted is not None and extracted.covers(path))


def read_drawing(path: str, text: str) -> Document:
    """A canvas or an Excalidraw drawing. Raises `UnreadableDocument`."""
    from zkchat.vault.documents.canvas import read_canvas
    from zkchat.vault.documents.excalidraw import read_excalidraw

    read = read_canvas if path.lower().endswith(".canvas") else read_excalidraw
    try:
        return read(path, text)
    except RecursionError as error:
        raise UnreadableDocument("is nested too deeply") from error
