"""A vault as it will be: files, names and links with changes that are staged and not yet made.

Searches go by the index, and so by what is on disk.
"""

from codecs import BOM_UTF8
from collections.abc import Collection, Iterable
from typing import Protocol

from msgspec.structs import replace

from zkchat.core import (
    TRASH,
    Ambiguous,
    CatalogRow,
    DateFacts,
    ExtractedText,
    IndexCounts,
    KnownNote,
    Link,
    Missing,
    NoteCatalog,
    NoteFiles,
    NoteNotFound,
    NotesOfDays,
    NoteWarning,
    PrivacyClass,
    Resolution,
    Resolved,
    StoredTask,
    file_title,
    is_drawing,
)
from zkchat.index.guarded import VaultPorts, targets_of
from zkchat.notes import (
    Anchors,
    Catalog,
    CatalogEntry,
    LinkResolver,
    UnreadableDocument,
    name_date,
    parse_note,
    read_drawing,
    resolve,
)


class Overlay(Protocol):
    """Changes of files that are not yet made."""

    @property
    def revision(self) -> int:
        """A number that grows with every change, also when all are taken back."""
        ...

    @property
    def new_paths(self) -> list[str]: ...

    def __bool__(self) -> bool: ...

    def staged_bytes(self, path: str) -> bytes | None:
        """What a file will hold, where that is not what it holds on disk."""
        ...

    def path_on_disk(self, path: str) -> str | None:
        """Where a file is; None where nothing of the disk will have this path."""
        ...

    def path_after(self, path: str) -> str: ...


def overlaid(ports: VaultPorts, overlay: Overlay) -> VaultPorts:
    notes = OverlaidCatalog(ports.notes, overlay)
    files, extracted = OverlaidFiles(ports.files, overlay), ports.extracted

    def extracted_on_disk(path: str) -> ExtractedText | None:
        on_disk = overlay.path_on_disk(path)  # a file that is moved has the text it had
        return extracted(on_disk) if extracted and on_disk is not None else None

    return replace(
        ports,
        files=files,
        notes=notes,
        links=OverlaidLinks(ports.links, notes, files, overlay),
        extracted=extracted_on_disk if extracted else None,
    )


class OverlaidFiles:
    """Implements `NoteFiles`."""

    def __init__(self, files: NoteFiles, overlay: Overlay) -> None:
        self._files = files
        self._overlay = overlay

    def read_whole(self, path: str) -> tuple[str, bool]:
        staged = self._overlay.staged_bytes(path)
        if staged is not None:
            return staged.removeprefix(BOM_UTF8).decode(), True
        return self._files.read_whole(self._on_disk(path))

    def read_data(self, path: str, most: int) -> bytes:
        staged = self._overlay.staged_bytes(path)
        return self._files.read_data(self._on_disk(path), most) if staged is None else staged

    def _on_disk(self, path: str) -> str:
        on_disk = self._overlay.path_on_disk(path)
        if on_disk is None:
            raise NoteNotFound(f"There is no file {path} in the vault.")
        return on_disk

    def identity(self, path: str) -> object | None:
        staged, on_disk = self._overlay.staged_bytes(path), self._overlay.path_on_disk(path)
        if staged is not None or on_disk is None:
            return staged
        return self._files.identity(on_disk)

    def shared(self, path: str) -> object | None:
        on_disk = self._overlay.path_on_disk(path)
        return None if on_disk is None else self._files.shared(on_disk)

    def linked(self, paths: Iterable[str]) -> dict[str, str]:
        by_path = {path: self._overlay.path_on_disk(path) or path for path in paths}
        found = self._files.linked(dict.fromkeys(by_path.values()))
        places = {path: found.get(on_disk, on_disk) for path, on_disk in by_path.items()}
        return {path: place for path, place in places.items() if place != path}  # a file is where it was, until moved


class OverlaidCatalog:
    """Implements `NoteCatalog`."""

    def __init__(self, notes: NoteCatalog, overlay: Overlay) -> None:
        self._notes = notes
        self._overlay = overlay

    def generation(self) -> int:
        return self._notes.generation() + self._overlay.revision

    def counts(self) -> IndexCounts:
        return self._notes.counts()

    def stamps(self) -> dict[str, tuple[int, int, bool]]:
        if not self._overlay:
            return self._notes.stamps()
        return {after: stamp for path, stamp in self._notes.stamps().items() if (after := _place(self._overlay, path))}

    def known(self, path: str) -> KnownNote | None:
        on_disk = self._overlay.path_on_disk(path)
        return None if on_disk is None or path in self._overlay.new_paths else self._notes.known(on_disk)

    def date_facts(self, paths: Collection[str] | None = None) -> dict[str, DateFacts]:
        """Of files that are on disk; a moved one is dated by its new name."""
        if paths is None:
            facts = self._notes.date_facts()
            places = {after: path for path in facts if (after := _place(self._overlay, path))}
        else:
            places = {path: on_disk for path in paths if (on_disk := self._overlay.path_on_disk(path)) is not None}
            facts = self._notes.date_facts([*places.values()])
        return {
            path: facts[on_disk] if path == on_disk else facts[on_disk]._replace(named=name_date(path))
            for path, on_disk in places.items()
            if on_disk in facts
        }

    def facts_of_days(self, wanted: NotesOfDays) -> dict[str, DateFacts]:
        return self.date_facts() if self._overlay else self._notes.facts_of_days(wanted)

    def private(self) -> dict[str, PrivacyClass]:
        return {
            after: privacy for path, privacy in self._notes.private().items() if (after := _place(self._overlay, path))
        }

    def copies(self) -> list[list[str]]:
        return self._notes.copies()

    def catalog(self) -> list[CatalogRow]:
        rows = self._notes.catalog()
        if not self._overlay:
            return rows
        return [*self._changed(rows), *(row for row in rows if _place(self._overlay, row.path) == row.path)]

    def changed(self) -> list[CatalogRow]:
        return self._changed(self._notes.catalog())

    def _changed(self, rows: Iterable[CatalogRow]) -> list[CatalogRow]:
        moved = [
            replace(row, path=after) for row in rows if (after := _place(self._overlay, row.path)) not in {"", row.path}
        ]
        return [*moved, *(CatalogRow(path=path, title=file_title(path)) for path in self._overlay.new_paths)]

    def tags(self) -> dict[str, list[str]]:
        if not self._overlay:
            return self._notes.tags()
        return {
            tag: [after for path in paths if (after := _place(self._overlay, path))]
            for tag, paths in self._notes.tags().items()
        }

    def tasks(self) -> list[StoredTask]:
        """As they are on disk, where their notes will be."""
        tasks = self._notes.tasks()
        if not self._overlay:
            return tasks
        return [task._replace(path=after) for task in tasks if (after := _place(self._overlay, task.path))]

    def warnings(self) -> list[NoteWarning]:
        return self._notes.warnings()


class OverlaidLinks:
    """Implements `LinkResolver`. A file that is moved can still be named as it was."""

    def __init__(self, links: LinkResolver, notes: OverlaidCatalog, files: OverlaidFiles, overlay: Overlay) -> None:
        self._links = links
        self._notes = notes
        self._files = files
        self._overlay = overlay
        self._changed: tuple[int, Catalog] | None = None

    def resolve(self, link: Link, source: str | None, *, suggestions: int = 3) -> Resolution:
        found = self._links.resolve(link, source, suggestions=suggestions)
        if not self._overlay or link.external:
            return found
        changed = resolve(self._catalog(), link, source, suggestions=0)
        if not isinstance(found, Resolved | Ambiguous):
            return changed if isinstance(changed, Resolved | Ambiguous) else found
        new = targets_of(changed)
        kept = [path for path in targets_of(found) if not new or self._overlay.path_after(path) == path]
        first, *others = dict.fromkeys([*new, *(_place(self._overlay, path) for path in kept)] or [""])
        if not first:
            return Missing(target=link.target)
        at = changed if first in new and isinstance(changed, Resolved | Ambiguous) else found
        if others:
            return Ambiguous(path=first, via=at.via, others=(*others,), anchor_found=at.anchor_found, line=at.line)
        return Resolved(path=first, via=at.via, anchor_found=at.anchor_found, line=at.line)

    def _catalog(self) -> Catalog:
        """The names of files that are not on disk, or elsewhere."""
        generation = self._notes.generation()
        if self._changed is None or self._changed[0] != generation:
            rows = self._notes.changed()
            entries = [CatalogEntry(row.path, row.title, row.aliases, row.is_source) for row in rows]
            self._changed = generation, Catalog(entries, self._anchors)
        return self._changed[1]

    def _anchors(self, path: str) -> Anchors:
        try:
            text, _ = self._files.read_whole(path)
            note = read_drawing(path, text).note if is_drawing(path) else parse_note(path, text)
        except (NoteNotFound, UnreadableDocument):
            return Anchors()
        return Anchors(note.headings, note.blocks)


def _place(overlay: Overlay, path: str) -> str:
    """Where a file that is on disk will be; empty for the trash."""
    after = overlay.path_after(path)
    return "" if after.startswith(f"{TRASH}/") else after
