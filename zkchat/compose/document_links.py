"""Links to the documents of an answer: where each opens, and whether a click may open it."""

import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from zkchat.model.message import DocumentReference
from zkchat.model.note import NOTE_SUFFIXES

NOTES = frozenset(NOTE_SUFFIXES)
INERT = NOTES | {
    ".txt",
    *(".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".webp"),
    *(".flac", ".m4a", ".mp3", ".mp4", ".oga", ".ogg", ".ogv", ".opus", ".wav", ".webm"),
}
"""What every system shows or plays and none runs. All else is asked about: programs, pages and drawings that hold
scripts (HTML, SVG, PDF), documents with macros, shortcuts, and whatever is not known here."""


@dataclass(frozen=True, slots=True)
class VaultDocumentLinks:
    """Implements `repl.command_context.DocumentLinks` and `render.references.ClickableLinks`.

    A model may have written the names of the documents, so each is checked against the vault.
    """

    vault: Path

    def of(self, reference: DocumentReference) -> str | None:
        """In Obsidian if the vault is used with it, else the file; None where that leads out of the vault."""
        file = self._file(reference)
        if file is None:
            return None
        return f"obsidian://open?path={quote(str(file), safe='')}" if self._has_obsidian else file.as_uri()

    def clickable(self, reference: DocumentReference) -> str | None:
        """The same for what can be shown and nothing else."""
        return self.of(reference) if not self.risk(reference) else None

    def risk(self, reference: DocumentReference) -> str:
        """What the user should know before it is opened; empty where there is nothing to know."""
        file = self._file(reference)
        if file is None:
            return "It leads to no file of this vault."
        try:
            target = file.resolve()
            mode = target.stat().st_mode
        except OSError:
            return "It is not there any more."
        if not stat.S_ISREG(mode):
            return "It is no file."
        for name in (file, target):
            if name.suffix.lower() not in INERT:
                kind = f"a file of the kind {name.suffix}" if name.suffix else "a file without a kind"
                return f"It is {kind}, no note: your system may run it, or what is in it."
        if mode & 0o111 and not self._has_obsidian:
            return "It is marked as a program."
        return ""

    @property
    def _has_obsidian(self) -> bool:
        return (self.vault / ".obsidian").is_dir()

    def _file(self, reference: DocumentReference) -> Path | None:
        if reference.relative_path is None:
            return None
        file = self.vault / reference.relative_path
        try:
            is_inside = file.resolve().is_relative_to(self.vault.resolve())
        except (OSError, RuntimeError, ValueError):  # links in a circle, a name that no file can have
            return None
        return file if is_inside else None  # a session from elsewhere may name any path
