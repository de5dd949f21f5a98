"""Links to the notes that an answer uses or names: where each opens, and whether a click may open it."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    NOTE_SUFFIXES,
    Ambiguous,
    DocumentReference,
    External,
    Link,
    Missing,
    OpenWith,
    StorageError,
    VaultError,
    page_named,
)
from zkchat.index import Library
from zkchat.notes import scan
from zkchat.render import UNKNOWN, LinkTarget

NOTES = frozenset(NOTE_SUFFIXES)
INERT = NOTES | {
    ".txt",
    *(".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".webp"),
    *(".flac", ".m4a", ".mp3", ".mp4", ".oga", ".ogg", ".ogv", ".opus", ".wav", ".webm"),
}
"""What every system shows or plays and none runs. All else is asked about: programs, pages and drawings that hold
scripts (HTML, SVG, PDF), documents with macros, shortcuts, and whatever is not known here."""


class VaultDocumentLinks(Struct, frozen=True):
    """Implements `repl.command_context.DocumentLinks` and `render.links.ClickableLinks`.

    A model may have written the names of the documents, so each is checked against the vault.
    """

    vault: Path
    library: Library
    open_with: OpenWith = "auto"

    def target_of(self, written: str, source: str | None = None) -> LinkTarget:
        """What a wikilink leads to for the user, who may see every note; unknown where the index does not answer."""
        link = next(iter(scan(written)), None)
        if link is None or not link.target.strip("./"):
            return UNKNOWN
        try:
            return self._target(link, source)
        except (StorageError, VaultError):
            return UNKNOWN

    def _target(self, link: Link, source: str | None) -> LinkTarget:
        library = self.library.whole
        found = library.resolve(link, source, suggestions=0)
        if isinstance(found, External):
            return UNKNOWN
        if isinstance(found, Missing):
            # From the note that it stands in, a relative link may lead somewhere all the same.
            return LinkTarget(is_missing=source is not None or not link.target.startswith("."))
        address = self.clickable(DocumentReference(wikilink=link.text, relative_path=found.path, anchor=link.anchor))
        name = Link(text="", target=link.target.rpartition("/")[2])
        is_shared = name.target != link.target and isinstance(library.resolve(name, suggestions=0), Ambiguous)
        return LinkTarget(address=address, shares_name=is_shared)

    def of(self, reference: DocumentReference) -> str | None:
        """In Obsidian if the vault is used with it, else the file; None where that leads out of the vault."""
        file = self._file(reference)
        if file is None:
            return None
        place = f"#page={page}" if (page := page_named(reference.relative_path, reference.anchor)) else ""
        if self._uses_obsidian:
            return f"obsidian://open?path={quote(f'{file}{place}', safe='')}"
        return f"{file.as_uri()}{place}"

    def clickable(self, reference: DocumentReference) -> str | None:
        """The same for what can be shown and nothing else."""
        return self.of(reference) if not self.risk(reference) else None

    def current(self, references: Sequence[DocumentReference]) -> tuple[DocumentReference, ...]:
        """The same documents as the vault is now: those that are gone are missing."""

        def is_gone(reference: DocumentReference) -> bool:
            file = self._file(reference)
            return file is not None and reference.via != "proposed" and not os.path.lexists(file)

        return tuple(replace(each, status="missing") if is_gone(each) else each for each in references)

    def risk(self, reference: DocumentReference) -> str:
        """What the user should know before it is opened; empty where there is nothing to know."""
        file = self._file(reference)
        if file is None:
            return "It does not lead to a file in this vault."
        try:
            target = file.resolve()
            mode = target.stat().st_mode
        except OSError:
            return "It no longer exists."
        if not stat.S_ISREG(mode):
            return "It is not a file."
        for name in (file, target):
            if name.suffix.lower() not in INERT:
                kind = f"a {name.suffix} file" if name.suffix else "a file without an extension"
                return f"It is {kind}, not a note: opening it may run a program."
        if mode & 0o111 and not self._uses_obsidian:
            return "It is executable, so opening it may run it."
        return ""

    @property
    def _uses_obsidian(self) -> bool:
        if self.open_with in {"desktop", "obsidian"}:
            return self.open_with == "obsidian"
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
