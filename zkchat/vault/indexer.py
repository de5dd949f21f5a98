"""Bringing the index up to what the vault's files say. Only what changed is read again.

Changes go in batches, each of which takes effect whole or not at all, so that an interrupted refresh is simply gone on
with by the next one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import accumulate

from zkchat.errors import NoteNotFound, VaultError
from zkchat.model.index import IndexBatch, IndexedNote, KnownNote
from zkchat.model.note import FileStamp, Note, NoteWarning, Section
from zkchat.ports import NoteFiles, NoteIndex
from zkchat.vault.catalog import LiveCatalog, keys_of_file, keys_of_link
from zkchat.vault.chunker import sections_of
from zkchat.vault.parse import file_title, parse_note
from zkchat.vault.resolver import is_note
from zkchat.vault.segments import tidy

Progress = Callable[[int, int], None]
"""Told how many of how many changed notes are done."""

_BATCH_CHARACTERS = 4_000_000
_BATCH_NOTES = 2_000
_RESOLVED_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What a refresh found."""

    notes: int = 0
    """In the vault, all in all."""
    changed: int = 0
    """New, or with another text than before."""
    removed: int = 0
    links: int = 0
    """Resolved, or resolved again."""
    warnings: tuple[NoteWarning, ...] = ()
    """About what changed, and what now cannot be listed; those of earlier refreshes are not repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Difference:
    """What the files say that the index does not."""

    notes: int
    to_read: Sequence[tuple[FileStamp, bool]]
    """With each whether the index knows the note."""
    removed: Sequence[str]
    added_files: Sequence[str]
    removed_files: Sequence[str]
    unlisted: Sequence[NoteWarning]


class Indexer:
    def __init__(self, files: NoteFiles, index: NoteIndex, catalog: LiveCatalog) -> None:
        self._files = files
        self._index = index
        self._catalog = catalog
        self.unlisted: Sequence[NoteWarning] = ()
        """What could not be listed at the last refresh."""

    def refresh(self, progress: Progress) -> Refreshed:
        difference = self._difference()
        news = [warning for warning in difference.unlisted if warning not in self.unlisted]
        self.unlisted = difference.unlisted
        # What is gone disappears first: it costs no reading.
        self._apply(self._goodbye(difference))
        changed, warnings = self._read(difference.to_read, progress)
        links = self._resolve_links()
        if not self._index.is_complete():
            tidy(self._index)
            self._index.finish()
        return Refreshed(
            notes=difference.notes,
            changed=changed,
            removed=len(difference.removed),
            links=links,
            warnings=(*news, *warnings),
        )

    def _difference(self) -> _Difference:
        known, known_files = self._index.stamps(), self._index.attachments()
        to_read: list[tuple[FileStamp, bool]] = []
        added_files: list[str] = []
        unlisted: list[NoteWarning] = []
        notes = 0
        for found in self._files.scan():
            if isinstance(found, NoteWarning):
                unlisted.append(found)
            elif is_note(found.path):
                notes += 1
                before = known.pop(found.path, None)
                if before != (found.size, found.modified_ns, True):
                    to_read.append((found, before is not None))
            elif found.path in known_files:
                known_files.remove(found.path)
            else:
                added_files.append(found.path)
        return _Difference(
            notes=notes,
            to_read=to_read,
            removed=[*known],
            added_files=added_files,
            removed_files=[*known_files],
            unlisted=unlisted,
        )

    def _goodbye(self, difference: _Difference) -> IndexBatch:
        files = [*difference.added_files, *difference.removed_files]
        touched = {key for path in files for key in keys_of_file(path)}
        for path in difference.removed:
            touched |= _keys_of_known(path, self._index.known(path))
        return IndexBatch(
            removed=difference.removed,
            added_files=difference.added_files,
            removed_files=difference.removed_files,
            touched_keys=frozenset(touched),
        )

    def _read(self, stamps: Sequence[tuple[FileStamp, bool]], progress: Progress) -> tuple[int, list[NoteWarning]]:
        changed = 0
        warnings: list[NoteWarning] = []
        batch = _Batch(self._index, self._files)
        for done, (stamp, is_known) in enumerate(stamps, start=1):
            batch.add(stamp, self._index.known(stamp.path) if is_known else None)
            if batch.is_full or done == len(stamps):
                self._apply(batch.finished())
                changed += len(batch)
                warnings += batch.warnings
                batch = _Batch(self._index, self._files)
            progress(done, len(stamps))
        return changed, warnings

    def _apply(self, batch: IndexBatch) -> None:
        if not batch.is_empty:
            self._catalog.follow(batch, self._index.apply(batch))

    def _resolve_links(self) -> int:
        resolved = 0
        while sources := self._index.notes_to_resolve(_RESOLVED_AT_ONCE):
            generation = self._catalog.catch_up()
            links = self._index.links_from(sources)
            found = [(each.id, self._catalog.resolve(each.link, each.source, suggestions=0)) for each in links]
            if self._index.store_resolutions(generation, sources, found):
                resolved += len(links)
        return resolved


class _Batch:
    """Notes that were read, until there are enough of them to be written."""

    def __init__(self, index: NoteIndex, files: NoteFiles) -> None:
        self._index = index
        self._files = files
        self._notes: list[IndexedNote] = []
        self._restamped: list[FileStamp] = []
        self._vanished: list[str] = []
        self._touched: set[str] = set()
        self._characters = 0

    def __len__(self) -> int:
        return len(self._notes)

    @property
    def is_full(self) -> bool:
        return self._characters >= _BATCH_CHARACTERS or len(self._notes) >= _BATCH_NOTES

    @property
    def warnings(self) -> list[NoteWarning]:
        return [NoteWarning(path=each.note.path, text=text) for each in self._notes for text in each.note.warnings]

    def add(self, stamp: FileStamp, before: KnownNote | None) -> None:
        text, intact, trouble = "", True, ""
        try:
            text, intact = self._files.read_whole(stamp.path)
        except NoteNotFound:
            self._vanished.append(stamp.path)
            self._touched |= _keys_of_known(stamp.path, before)
            return
        except VaultError as error:
            trouble = error.message
            stamp = replace(stamp, settled=False)  # what stands in the way may go without a new stamp
        digest = blake2b(f"{trouble}\0{intact}\0{text}".encode(), digest_size=16).digest()
        if before and before.digest == digest:
            self._restamped.append(stamp)
            return
        note, sections = _bare(stamp.path, trouble) if trouble else _parsed(stamp.path, text, intact)
        if before is None or _leads_elsewhere(before, note):
            self._touched |= _keys_of_known(stamp.path, before) | keys_of_file(stamp.path, note.title, note.aliases)
        link_keys = frozenset(key for link in note.links for key in keys_of_link(link))
        self._notes.append(IndexedNote(stamp=stamp, digest=digest, note=note, sections=sections, link_keys=link_keys))
        self._characters += len(text)

    def finished(self) -> IndexBatch:
        from zkchat.vault.postings import SegmentBuilder

        builder = SegmentBuilder()
        for each in self._notes:
            builder.add(each.note, each.sections)
        first_section = self._index.reserve_sections(builder.slots) if builder.slots else 0
        places = accumulate((len(each.sections) for each in self._notes), initial=first_section)
        return IndexBatch(
            notes=[replace(each, first_section=place) for each, place in zip(self._notes, places, strict=False)],
            restamped=self._restamped,
            removed=self._vanished,
            touched_keys=frozenset(self._touched),
            segment=builder.build(first_section) if builder.slots else None,
        )


def _parsed(path: str, text: str, intact: bool) -> tuple[Note, Sequence[Section]]:
    try:
        note = parse_note(path, text)
        sections = sections_of(note, text)
    except Exception as error:  # noqa: BLE001 - whatever one note does to the parser, the rest of the vault is served
        return _bare(path, f"It could not be understood ({type(error).__name__}) and is found by its name only.")
    if not intact:
        note = replace(note, warnings=(*note.warnings, "Some of its characters are not UTF-8 and are shown as \ufffd."))
    return note, sections or (_NOTHING,)


def _bare(path: str, trouble: str) -> tuple[Note, Sequence[Section]]:
    """A note of which only the name is known."""
    return Note(path=path, title=file_title(path), warnings=(trouble,)), (_NOTHING,)


_NOTHING = Section(heading_path=(), text="", start=0, end=0, first_line=1, last_line=1)
"""The text of a note without any, so that it is still found by its title."""


def _leads_elsewhere(before: KnownNote, now: Note) -> bool:
    """Whether links to a note may find other names or places in it than before."""
    return (before.title, before.aliases, before.headings, before.blocks) != (
        now.title, now.aliases, now.headings, now.blocks,
    )  # fmt: skip


def _keys_of_known(path: str, known: KnownNote | None) -> frozenset[str]:
    return keys_of_file(path, known.title, known.aliases) if known else frozenset()
