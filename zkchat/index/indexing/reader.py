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
from zkchat.index.note_index import SqliteNoteIndex
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
_MISPLACED = "The property `zkchat` appears twice, or is not at the top of the note, between two lines of ---"
_NOTHING = Section(heading_path=(), text="", start=0, end=0, first_line=1, last_line=1)
"""The text of a note without any, so that it is still found by its title."""


class PartRead(Struct, frozen=True, kw_only=True):
    notes: int
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
    index: SqliteNoteIndex,
    extracted: ExtractedTexts | None,
    part: Sequence[Listed],
    after_each: Callable[[], None] = lambda: None,
    *,
    name_formats: Sequence[str] = (),
) -> PartRead:
    """Read some notes and store what is new of them, in one transaction.

    `name_formats` are those by which Obsidian names daily notes.
    """
    gc.disable()  # among many values without cycles it would look for a twelfth of the first indexing
    try:
        batch = _batch_of(files, index, extracted, part, after_each, name_formats)
    finally:
        gc.enable()
    index.apply(batch)
    stamps = (*(stored.stamp for stored in batch.notes), *batch.restamped)
    return PartRead(
        notes=len(part),
        changed=len(batch.notes),
        warnings=tuple(warning for stored in batch.notes for warning in stored.note.warnings),
        unsettled=(*(stamp.path for stamp in stamps if not stamp.settled), *batch.removed),
    )


def _batch_of(
    files: NoteFiles,
    index: SqliteNoteIndex,
    extracted: ExtractedTexts | None,
    part: Sequence[Listed],
    after_each: Callable[[], None],
    name_formats: Sequence[str],
) -> IndexBatch:
    from zkchat.index.search.postings import SegmentBuilder

    notes: list[IndexedNote] = []
    restamped: list[FileStamp] = []
    gone: list[str] = []
    names: list[tuple[str, str]] = []
    lost: list[tuple[str, str]] = []
    builder = SegmentBuilder()
    for listed, is_known in part:
        before = index.known(listed.path) if is_known else None
        try:
            is_extracted = extracted is not None and extracted.covers(listed.path)
            read = _extracted(extracted, listed) if extracted and is_extracted else _read(files, listed)
        except NoteNotFound:
            gone.append(listed.path)
            lost += names_of_known(listed.path, before)
        else:
            if before and before.digest == read.digest:
                restamped.append(read.stamp)
            else:
                notes.append(stored := _indexed(read, name_formats))
                if stored.sections:
                    builder.add(stored.note, stored.sections)
                if before is None or _leads_elsewhere(before, stored):
                    lost += names_of_known(listed.path, before)
                    names += names_of_file(listed.path, stored.note.title, stored.note.aliases)
        after_each()
    segment = builder.build() if builder.slots else None
    return IndexBatch(notes=notes, restamped=restamped, removed=gone, names=names, lost_names=lost, segment=segment)


class _Read(NamedTuple):
    """A file as it is now."""

    stamp: FileStamp
    digest: bytes
    text: str
    intact: bool
    trouble: str
    """Why it cannot be read."""
    extracted: ExtractedText | None = None


def _read(files: NoteFiles, stamp: FileStamp) -> _Read:
    """Raises `NoteNotFound`."""
    text, intact, trouble = "", True, ""
    try:
        text, intact = files.read_whole(stamp.path)
    except NoteNotFound:
        raise
    except VaultError as error:
        trouble = error.message
        stamp = stamp._replace(settled=False)  # what stands in the way may go without a new stamp
    return _Read(stamp, _digest(f"{trouble}\0{intact}\0{text}"), text, intact, trouble)


def _extracted(extracted: ExtractedTexts, stamp: FileStamp) -> _Read:
    """A file whose text comes from elsewhere; as long as it is not there, the file is looked at each time."""
    found = extracted.find(stamp)
    if found is None:
        return _Read(stamp._replace(settled=False), _digest(f"waiting\0{stamp.path}"), "", True, "")
    said = (found.trouble, found.omission, found.title, *(f"{page}\0{title}" for page, title in found.outline))
    content = "\0".join((found.trouble and stamp.path, *said, *found.pages))
    return _Read(stamp, _digest(content), "", True, found.trouble, found)


def _indexed(read: _Read, name_formats: Sequence[str]) -> IndexedNote:
    path = read.stamp.path
    try:
        note, sections, privacy = _parsed_note(read) if is_note(path) else _parsed_document(read)
    except Exception as error:  # noqa: BLE001 - whatever one note does to the parser, the rest of the vault is served
        note, sections, privacy = _bare(path, _not_understood(error))
    dates = StatedDates(name_date(path, name_formats))
    if privacy != "never":
        dates = StatedDates(dates.named, *stated_dates(note.frontmatter), _blob_id(read))
    keys = keys_of_links(note.links)
    return IndexedNote(read.stamp, read.digest, note, sections, keys, privacy, dates, section_days(sections))


def _leads_elsewhere(before: KnownNote, stored: IndexedNote) -> bool:
    """Whether links to a note may find other names or places in it than before."""
    now = stored.note
    return (before.title, before.aliases, before.headings, before.blocks, before.is_source) != (
        now.title, now.aliases, now.headings, now.blocks, stored.is_source,
    )  # fmt: skip


def _digest(content: str) -> bytes:
    return blake2b(content.encode(errors="surrogatepass"), digest_size=16).digest()


def _blob_id(read: _Read) -> bytes | None:
    """What git calls the content of a file; None where its bytes are not known.

    By its size it is known whether a file begins with a byte order mark, which its text does not hold.
    """
    if read.extracted or read.trouble or not read.intact:
        return None
    content = read.text.encode(errors="surrogatepass")
    if read.stamp.size == len(content) + len(BOM_UTF8):
        content = BOM_UTF8 + content
    return sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).digest()


_Parsed = tuple[Note, Sequence[Section], PrivacyClass]
"""A note, and what a search looks at: nothing if it is not to be found by one at all."""


def _parsed_note(read: _Read) -> _Parsed:
    path, text = read.stamp.path, read.text
    if read.trouble:
        return _bare(path, read.trouble)
    note = parse_note(path, text)
    privacy, is_certain = written_class(text)
    if not is_certain:
        note = _with_warning(note, f"{_MISPLACED}, so the note counts as {privacy}.", "privacy")
    if privacy == "never":
        return Note(path=path, title=file_title(path), warnings=note.warnings), (), privacy
    if not read.intact:
        note = _with_warning(note, _NOT_UTF8, "encoding")
    return note, (sections_of(note, text) or (_NOTHING,)) if is_source(note.frontmatter) else (), privacy


def _parsed_document(read: _Read) -> _Parsed:
    """A file that is no note: open, unless it holds the key of privacy. Without a text it is found by its name."""
    path, trouble = read.stamp.path, read.trouble
    note, privacy = Note(path=path, title=document_title(path)), written_class(read.text).privacy
    sections: Sequence[Section] = ()
    if privacy == "never":
        return note, (), privacy
    try:
        if not trouble and (read.extracted or is_drawing(path)):
            pages = read.extracted
            document = document_of_pages(path, pages) if pages else read_drawing(path, read.text)
            note, sections = document.note, document.sections
    except UnreadableDocument as error:
        trouble = f"It {error} and is only found by its name."
    except Exception as error:  # noqa: BLE001 - as above, but what it says of its privacy is known
        trouble = _not_understood(error)
    if trouble:
        note = _with_warning(note, trouble, "extraction" if read.extracted else "unreadable")
    elif read.extracted and read.extracted.omission:
        note = _with_warning(note, read.extracted.omission, "extraction")
    elif not read.intact:
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
    return f"It could not be understood ({type(error).__name__}) and is only found by its name."


def _bare(path: str, trouble: str) -> _Parsed:
    """A note of which only the name is known. It may say anything of its privacy, so the name stays here."""
    warning = NoteWarning(path=path, text=trouble, kind="unreadable")
    return Note(path=path, title=file_title(path), warnings=(warning,)), (_NOTHING,), "local"


def names_of_known(path: str, known: KnownNote | None) -> list[tuple[str, str]]:
    return names_of_file(path, known.title, known.aliases) if known else []


def names_of_file(path: str, title: str = "", aliases: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """The keys by which links may look for a file, each with its path."""
    return [(key, path) for key in keys_of_file(path, title, aliases)]
