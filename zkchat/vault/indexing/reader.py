"""Reading notes for the index: some of them at a time, by this process or by others that help."""

import gc
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b, sha1
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from zkchat.errors import NoteNotFound, VaultError
from zkchat.model.index import IndexBatch, IndexedNote, KnownNote, StatedDates
from zkchat.model.note import (
    FileStamp,
    Note,
    NoteWarning,
    PrivacyClass,
    Section,
    WarningKind,
    file_title,
    is_drawing,
    is_note,
)
from zkchat.vault.dates.headings import section_days
from zkchat.vault.dates.names import name_date
from zkchat.vault.dates.properties import stated_dates
from zkchat.vault.documents.document import Document, UnreadableDocument, document_title
from zkchat.vault.links.keys import keys_of_file, keys_of_links
from zkchat.vault.notes.chunker import sections_of
from zkchat.vault.notes.parse import parse_note
from zkchat.vault.privacy.classes import written_class

if TYPE_CHECKING:  # what it brings along would take longer to load than a hundred notes to read, in each process
    from zkchat.model.extracted_text import ExtractedText
    from zkchat.ports.extraction import ExtractedTexts
    from zkchat.ports.note_files import NoteFiles
    from zkchat.ports.note_index import NoteIndex

Listed = tuple[FileStamp, bool]
"""A note that is to be read, and whether the index knows it."""


MAX_PART_NOTES = 4_000
MAX_PART_BYTES = 2_000_000
"""What is read before it is written: it has to find bytes_left in memory."""
_PARSE_BATCH = 100
"""Notes that are read before they are parsed."""


class PartRead(Struct, frozen=True, kw_only=True):
    """What came of a part."""

    notes: int
    """How many were to be read."""
    changed: int
    warnings: tuple[NoteWarning, ...]
    unsettled: tuple[str, ...]
    """Files that have to be looked at again though their stamps stay the same, and those that are gone."""


def parts_of(listed: Sequence[Listed]) -> list[list[Listed]]:
    """Notes in parts that are read, and written, together."""
    parts: list[list[Listed]] = []
    bytes_left = 0
    for stamp, is_known in listed:
        if not parts or bytes_left < stamp.size or len(parts[-1]) >= MAX_PART_NOTES:
            parts.append([])
            bytes_left = MAX_PART_BYTES
        parts[-1].append((stamp, is_known))
        bytes_left -= stamp.size
    return parts


@contextmanager
def without_collector() -> Iterator[None]:
    """Pause the garbage collector: many values and no cycles, so that it would look through them and find nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@without_collector()
def read_part(
    files: "NoteFiles",
    index: "NoteIndex",
    extracted: "ExtractedTexts | None",
    part: Sequence[Listed],
    after_each: Callable[[], None] = lambda: None,
    *,
    name_formats: Sequence[str] = (),
) -> PartRead:
    """Read some notes and store what is new of them, in one transaction.

    `name_formats` are those by which Obsidian names daily notes.
    """
    batch = _Batch(files, index, extracted, name_formats)
    for at in range(0, len(part), _PARSE_BATCH):
        listed = part[at : at + _PARSE_BATCH]
        batch.add(listed)
        for _ in listed:
            after_each()
    change = batch.finished()
    index.apply(change)
    notes = [stored.note for stored in change.notes]
    stamps = (*(stored.stamp for stored in change.notes), *change.restamped)
    return PartRead(
        notes=len(part),
        changed=len(notes),
        warnings=tuple(warning for note in notes for warning in note.warnings),
        unsettled=(*(stamp.path for stamp in stamps if not stamp.settled), *change.removed),
    )


class _Changed(NamedTuple):
    """A file that does not say what the index knows of it."""

    stamp: FileStamp
    before: KnownNote | None
    digest: bytes
    text: str
    intact: bool
    trouble: str
    """Why it cannot be read."""
    extracted: "ExtractedText | None" = None


class _Parsed(NamedTuple):
    note: Note
    text: str | None
    """That a search looks at; None if the note is not to be found by one at all."""
    privacy: PrivacyClass
    document: Document | None = None
    """What a file is that is no note."""


class _Batch:
    """Notes that were read, and what the index has to be told of them."""

    def __init__(
        self,
        files: "NoteFiles",
        index: "NoteIndex",
        extracted: "ExtractedTexts | None",
        name_formats: Sequence[str],
    ) -> None:
        self._files = files
        self._index = index
        self._extracted = extracted
        self._name_formats = name_formats
        self._notes: list[IndexedNote] = []
        self._restamped: list[FileStamp] = []
        self._vanished: list[str] = []
        self._names: list[tuple[str, str]] = []
        self._lost_names: list[tuple[str, str]] = []

    def add(self, listed: Sequence[Listed]) -> None:
        """Step by step: what a processor does many times in a row it does faster than in turn with other things."""
        read = [self._read(stamp, self._index.known(stamp.path) if is_known else None) for stamp, is_known in listed]
        changed = [each for each in read if each]
        parsed = [_parsed(each) for each in changed]
        in_sections = [_in_sections(each) for each in parsed]
        for each, (note, sections, privacy) in zip(changed, in_sections, strict=True):
            path = each.stamp.path
            keys, dates = keys_of_links(note.links), self._dates(each, note, privacy)
            stored = IndexedNote(each.stamp, each.digest, note, sections, keys, privacy, dates, section_days(sections))
            if each.before is None or _leads_elsewhere(each.before, stored):
                self._lost_names += names_of_known(path, each.before)
                self._names += names_of_file(path, note.title, note.aliases)
            self._notes.append(stored)

    def _read(self, stamp: FileStamp, before: KnownNote | None) -> _Changed | None:
        if self._extracted and self._extracted.covers(stamp.path):
            return self._find_extracted(self._extracted, stamp, before)
        text, intact, trouble = "", True, ""
        try:
            text, intact = self._files.read_whole(stamp.path)
        except NoteNotFound:
            self._vanished.append(stamp.path)
            self._lost_names += names_of_known(stamp.path, before)
            return None
        except VaultError as error:
            trouble = error.message
            stamp = stamp._replace(settled=False)  # what stands in the way may go without a new stamp
        return self._if_changed(_Changed(stamp, before, _digest(f"{trouble}\0{intact}\0{text}"), text, intact, trouble))

    def _find_extracted(
        self, extracted: "ExtractedTexts", stamp: FileStamp, before: KnownNote | None
    ) -> _Changed | None:
        """A file whose text comes from elsewhere; as long as it is not there, the file is looked at each time."""
        found = extracted.find(stamp)
        stamp = stamp._replace(settled=stamp.settled and found is not None)
        if found is None:
            return self._if_changed(_Changed(stamp, before, _digest(f"waiting\0{stamp.path}"), "", True, ""))
        said = (found.trouble, found.omission, found.title, *(f"{page}\0{title}" for page, title in found.outline))
        content = "\0".join((found.trouble and stamp.path, *said, *found.pages))
        return self._if_changed(_Changed(stamp, before, _digest(content), "", True, found.trouble, found))

    def _if_changed(self, read: _Changed) -> _Changed | None:
        if read.before and read.before.digest == read.digest:
            self._restamped.append(read.stamp)
            return None
        return read

    def _dates(self, changed: _Changed, note: Note, privacy: PrivacyClass) -> StatedDates:
        named = name_date(note.path, self._name_formats)
        if privacy == "never":
            return StatedDates(named)
        return StatedDates(named, *stated_dates(note.frontmatter), _blob_id(changed))

    def finished(self) -> IndexBatch:
        from zkchat.vault.search.postings import SegmentBuilder

        builder = SegmentBuilder()
        for each in self._notes:
            if each.sections:
                builder.add(each.note, each.sections)
        return IndexBatch(
            notes=self._notes,
            restamped=self._restamped,
            removed=self._vanished,
            names=self._names,
            lost_names=self._lost_names,
            segment=builder.build() if builder.slots else None,
        )


def _digest(content: str) -> bytes:
    return blake2b(content.encode(errors="surrogatepass"), digest_size=16).digest()


def _blob_id(changed: _Changed) -> bytes | None:
    """What git calls the content of a file; None where its bytes are not known.

    By its size it is known whether a file begins with a byte order mark, which its text does not hold.
    """
    if changed.extracted or changed.trouble or not changed.intact:
        return None
    content = changed.text.encode(errors="surrogatepass")
    if changed.stamp.size == len(content) + len(BOM_UTF8):
        content = BOM_UTF8 + content
    return sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).digest()


def _parsed(changed: _Changed) -> _Parsed:
    path, text = changed.stamp.path, changed.text
    if not is_note(path):
        return _parsed_document(changed)
    if changed.trouble:
        return _bare(path, changed.trouble)
    try:
        note = parse_note(path, text)
        privacy, is_certain = written_class(text)
    except Exception as error:  # noqa: BLE001 - whatever one note does to the parser, the rest of the vault is served
        return _not_understood(path, error)
    if not is_certain:
        note = _with_warning(note, f"{_MISPLACED}, so the note counts as {privacy}.", "privacy")
    if privacy == "never":
        return _Parsed(Note(path=path, title=file_title(path), warnings=note.warnings), None, privacy)
    if not changed.intact:
        note = _with_warning(note, _NOT_UTF8, "encoding")
    return _Parsed(note, text if is_source(note.frontmatter) else None, privacy)


def _parsed_document(changed: _Changed) -> _Parsed:
    """A file that is no note: open, unless it holds the key of privacy. Without a text it is found by its name."""
    from zkchat.vault.documents.pages import document_of_pages
    from zkchat.vault.documents.readers import read_drawing

    path, trouble = changed.stamp.path, changed.trouble
    privacy = written_class(changed.text).privacy
    if privacy == "never":
        return _Parsed(Note(path=path, title=document_title(path)), None, privacy)
    document = None
    try:
        if changed.extracted and not trouble:
            document = document_of_pages(path, changed.extracted)
        elif is_drawing(path) and not trouble:
            document = read_drawing(path, changed.text)
    except UnreadableDocument as error:
        trouble = f"It {error} and is found by its name only."
    except Exception as error:  # noqa: BLE001 - whatever one file does to its reader, the rest of the vault is served
        trouble = _not_understood_text(error)
    note = document.note if document else Note(path=path, title=document_title(path))
    if trouble:
        note = _with_warning(note, trouble, "extraction" if changed.extracted else "unreadable")
    elif changed.extracted and changed.extracted.omission:
        note = _with_warning(note, changed.extracted.omission, "extraction")
    elif not changed.intact:
        note = _with_warning(note, _NOT_UTF8, "encoding")
    return _Parsed(note, "", privacy, document)


def _with_warning(note: Note, text: str, kind: WarningKind) -> Note:
    return replace(note, warnings=(*note.warnings, NoteWarning(path=note.path, text=text, kind=kind)))


def is_source(frontmatter: Mapping[str, object]) -> bool:
    """Whether answers may rest on a note, without its reader's saying so. What a model said before is none."""
    value = frontmatter.get(WRITTEN_BY_US)
    values = value if isinstance(value, list | tuple) else [value]  # editors may make a list of a property
    return not any(isinstance(each, str) and each.strip().casefold() in SAVED_KINDS for each in values)


def _in_sections(parsed: _Parsed) -> tuple[Note, Sequence[Section], PrivacyClass]:
    note, text, privacy, document = parsed
    if text is None:
        return note, (), privacy
    try:
        sections = document.sections if document else sections_of(note, text)
        return note, sections or (_NOTHING,), privacy
    except Exception as error:  # noqa: BLE001 - see above
        note, _, privacy, _ = _not_understood(note.path, error)
        return note, (_NOTHING,), privacy


def _not_understood(path: str, error: Exception) -> _Parsed:
    return _bare(path, _not_understood_text(error))


def _not_understood_text(error: Exception) -> str:
    return f"It could not be understood ({type(error).__name__}) and is found by its name only."


def _bare(path: str, trouble: str) -> _Parsed:
    """A note of which only the name is known. It may say anything of its privacy, so the name stays here."""
    warning = NoteWarning(path=path, text=trouble, kind="unreadable")
    return _Parsed(Note(path=path, title=file_title(path), warnings=(warning,)), "", "local")


WRITTEN_BY_US = "zkchat-note"
"""The property of notes that `/save` and `/export` write."""
_NOT_UTF8 = "Some of its characters are not UTF-8 and are shown as \ufffd."
SAVED_KINDS = frozenset({"answer", "conversation"})
_MISPLACED = "`zkchat` is not written once, as a property between two lines of ---"
_NOTHING = Section(heading_path=(), text="", start=0, end=0, first_line=1, last_line=1)
"""The text of a note without any, so that it is still found by its title."""


def _leads_elsewhere(before: KnownNote, stored: IndexedNote) -> bool:
    """Whether links to a note may find other names or places in it than before."""
    now = stored.note
    return (before.title, before.aliases, before.headings, before.blocks, before.is_source) != (
        now.title, now.aliases, now.headings, now.blocks, stored.is_source,
    )  # fmt: skip


def names_of_known(path: str, known: KnownNote | None) -> list[tuple[str, str]]:
    return names_of_file(path, known.title, known.aliases) if known else []


def names_of_file(path: str, title: str = "", aliases: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """The keys by which links may look for a file, each with its path."""
    return [(key, path) for key in keys_of_file(path, title, aliases)]
