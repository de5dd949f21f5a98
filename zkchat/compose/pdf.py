"""The texts of the PDFs of a vault: whether they are read, by what, and where they are kept."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from zkchat.compose.databases import DatabasePaths
from zkchat.compose.workspace import Workspace
from zkchat.errors import PdfUnread
from zkchat.extras import install_command
from zkchat.model.extracted_text import ExtractedText
from zkchat.model.note import FileStamp
from zkchat.ports.extraction import ExtractedTexts
from zkchat.ports.note_files import NoteFiles
from zkchat.ports.note_index import NoteIndex
from zkchat.storage.pdf.limits import PdfLimits
from zkchat.storage.pdf.process import PdfExtractor
from zkchat.storage.pdf.texts import SqliteExtractedTexts
from zkchat.vault.indexing.extraction import TextExtraction

PACKAGE: Final = "pypdfium2"
NOT_INSTALLED: Final = f"The text of PDFs needs the package {PACKAGE}, which is not installed."
TURNED_OFF: Final = "PDFs are not read, because vault.pdf is off."
TURN_ON: Final = "Let them be read: zkchat config set vault.pdf true"
MAX_SECONDS_BEFORE_SEARCH: Final = 1.0
"""That a search or a question waits for texts of PDFs. `zkchat index` extracts all."""


def is_installed() -> bool:
    return find_spec(PACKAGE) is not None


def unread_reason(workspace: Workspace) -> tuple[str, str] | None:
    """Why PDFs are not read here, and what helps; None where they are."""
    if not workspace.settings.vault.pdf:
        return TURNED_OFF, TURN_ON
    return None if is_installed() else (NOT_INSTALLED, f"Install it: {install_command('pdf')}")


class PdfTexts(NamedTuple):
    store: ExtractedTexts
    extraction: Callable[[NoteFiles, NoteIndex], TextExtraction] | None = None


class UnreadPdfs:
    """Implements `ports.extraction.ExtractedTexts` where PDFs are not read: who asks for one is told why."""

    def __init__(self, message: str, hint: str) -> None:
        self._message = message
        self._hint = hint

    def covers(self, path: str) -> bool:  # noqa: ARG002 - a PDF is an attachment like any other
        return False

    def find(self, stamp: FileStamp) -> ExtractedText | None:  # noqa: ARG002
        return None

    def latest(self, path: str) -> ExtractedText | None:
        raise PdfUnread(f"{path}: {self._message}", hint=self._hint)


def open_pdf_texts(workspace: Workspace, index: Path, stack: ExitStack) -> PdfTexts:
    """The texts, in a file beside the index, and what extracts them, unless PDFs are not read here."""
    settings = workspace.settings.vault
    if reason := unread_reason(workspace):
        return PdfTexts(UnreadPdfs(*reason))
    limits = PdfLimits(
        max_bytes=settings.max_pdf_bytes, max_pages=settings.max_pdf_pages, max_seconds=settings.max_pdf_seconds
    )
    own = DatabasePaths(workspace).cache("pdf.db")
    path = own if index.parent == own.parent else index.with_name("pdf.db")
    store = stack.enter_context(closing(SqliteExtractedTexts(path, limits.max_bytes)))
    variables = workspace.environment.variables
    return PdfTexts(
        store,
        lambda files, index: TextExtraction(files, index, store, lambda: PdfExtractor(limits, variables)),
    )
