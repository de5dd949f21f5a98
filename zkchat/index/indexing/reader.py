"""Reading notes for the index: some of them at a time, by this process or by others that help."""

import gc
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b, sha1
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    ExtractedText,
    ExtractedTexts,
    FileStamp,
    IndexBatch,
    IndexedNote,
    KnownNote,
    Note,
    NoteFiles,
    NoteIndex,
    NoteNotFound,
    NoteWarning,
    PrivacyClass,
    Section,
    StatedDates,
    VaultError,
    WarningKind,
    file_title,
    is_drawing,
    is_note,
)
from zkchat.notes import (
    UnreadableDocument,
    document_of_pages,
    document_title,
    keys_of_file,
    keys_of_links,
    name_date,
    parse_note,
    read_drawing,
    section_days,
    sections_of,
    stated_dates,
    written_class,
)

Listed = tuple[FileStamp, bool]
"""A note that is to be read, and whether the index knows it."""


MAX_PART_NOTES = 4_000
MAX_PART_BYTES = 2_000_000
"""What is read before it is written: it has to find bytes_left in memory."""

WRITTEN_BY_US = "zkchat-note"
"""The property of notes that `/save` and `/export` write."""
SAVED_KINDS = frozenset({"answer", "conversation"})
_NOT_UTF8 = "Some of its characters are not UTF-8 and are shown as \ufffd."
_MISPLACED = "`zkchat` is not written once, as a property between two lines of ---"
_NOTHING = Section(heading_path=(), text="", start=0, end=0, first_line=1, last_line=1)
"""The text of a note without any, so that it is still found by its title."""


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


def read_part(
    files: NoteFiles,
    index: NoteIndex,
    extracted: ExtractedTexts | None,
    part: Sequence[Listed],
    after_each: Callable[[], None] = lambda: None,
    *,
    name_formats: Sequence[str] = (),
) -> PartRead:
    """Read some notes and store what is new of them, in one transaction.

    `name_formats` are those by which Obsidian names daily notes.
    """
    batch = _Batch(files, index, extracted, name_formats)
    gc.disable()  # among many values without cycles it would look for a twelfth of the first indexing
    try:
        for stamp, is_known in part:
            batch.add(stamp, index.known(stamp.path) if is_known else None)
            after_each()
        change = batch.finished()
    finally:
        gc.enable()
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
    extracted: ExtractedText | None = None


class _Batch:
    """Notes that were read, and what the index has to be told of them."""

    def __init__(
        self,
        files: NoteFiles,
        index: NoteIndex,
        extracted: ExtractedTexts | None,
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

    def add(self, stamp: FileStamp, before: KnownNote | None) -> None:
        changed = self._read(stamp, before)
        if not changed:
            return
        note, sections, privacy = _parsed(changed)
        keys, dates = keys_of_links(note.links), self._dates(changed, note, privacy)
        stored = IndexedNote(
            changed.stamp, changed.digest, note, sections, keys, privacy, dates, section_days(sections)
        )
        if before is None or _leads_elsewhere(before, stored):
            self._lost_names += names_of_known(stamp.path, before)
            self._names += names_of_file(stamp.path, note.title, note.aliases)
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

    def _find_extracted(self, extracted: ExtractedTexts, stamp: FileStamp, before: KnownNote | None) -> _Changed | None:
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
        from zkchat.index.search.postings import SegmentBuilder

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


_Parsed = tuple[Note, Sequence[Section], PrivacyClass]
"""A note, and what a search looks at: nothing if it is not to be found by one at all."""


def _parsed(changed: _Changed) -> _Parsed:
    try:
        return _parsed_note(changed) if is_note(changed.stamp.path) else _parsed_document(changed)
    except Exception as error:  # noqa: BLE001 - whatever one note does to the parser, the rest of the vault is served
        return _bare(changed.stamp.path, _not_understood(error))


def _parsed_note(changed: _Changed) -> _Parsed:
    path, text = changed.stamp.path, changed.text
    if changed.trouble:
        return _bare(path, changed.trouble)
    note = parse_note(path, text)
    privacy, is_certain = written_class(text)
    if not is_certain:
        note = _with_warning(note, f"{_MISPLACED}, so the note counts as {privacy}.", "privacy")
    if privacy == "never":
        return Note(path=path, title=file_title(path), warnings=note.warnings), (), privacy
    if not changed.intact:
        note = _with_warning(note, _NOT_UTF8, "encoding")
    return note, (sections_of(note, text) or (_NOTHING,)) if is_source(note.frontmatter) else (), privacy


def _parsed_document(changed: _Changed) -> _Parsed:
    """A file that is no note: open, unless it holds the key of privacy. Without a text it is found by its name."""
    path, trouble = changed.stamp.path, changed.trouble
    note, privacy = Note(path=path, title=document_title(path)), written_class(changed.text).privacy
    sections: Sequence[Section] = ()
    if privacy == "never":
        return note, (), privacy
    try:
        if not trouble and (changed.extracted or is_drawing(path)):
            pages = changed.extracted
            document = document_of_pages(path, pages) if pages else read_drawing(path, changed.text)
            note, sections = document.note, document.sections
    except UnreadableDocument as error:
        trouble = f"It {error} and is found by its name only."
    except Exception as error:  # noqa: BLE001 - as above, but what it says of its privacy is known
        trouble = _not_understood(error)
    if trouble:
        note = _with_warning(note, trouble, "extraction" if changed.extracted else "unreadable")
    elif changed.extracted and changed.extracted.omission:
        note = _with_warning(note, changed.extracted.omission, "extraction")
    elif not changed.intact:
        note = _with_warning(note, _NOT_UTF8, "encoding")
    return note, sections or (_NOTHING,), privacy


def _with_warning(note: Note, text: str, kind: WarningKind) -> Note:
    return replace(note, warnings=(*note.warnings, NoteWarning(path=note.path, text=text, kind=kind)))


def is_source(frontmatter: Mapping[str, object]) -> bool:
    """Whether answers may rest on a note, without its reader's saying so. What a model said before is none."""
    value = frontmatter.get(WRITTEN_BY_US)
    values = value if isinstance(value, list | tuple) else [value]  # editors may make a list of a property
    return not any(isinstance(each, str) and each.strip().casefold() in SAVED_KINDS for each in values)


def _not_understood(error: Exception) -> str:
    return f"It could not be understood ({type(error).__name__}) and is found by its name only."


def _bare(path: str, trouble: str) -> _Parsed:
    """A note of which only the name is known. It may say anything of its privacy, so the name stays here."""
    warning = NoteWarning(path=path, text=trouble, kind="unreadable")
    return Note(path=path, title=file_title(path), warnings=(warning,)), (_NOTHING,), "local"


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
