"""The vault as the rest of zkchat knows it: notes to read, links to follow, passages to find."""

from collections.abc import Callable, Collection, Iterable, Sequence
from time import monotonic

from msgspec import Struct

from zkchat.core import (
    PDF_SUFFIX,
    Ambiguous,
    Calendar,
    CatalogRow,
    Commit,
    DayRange,
    ExtractedTexts,
    HistoryStatus,
    IndexCounts,
    KnownNote,
    Link,
    ListedFiles,
    LocatedModel,
    Missing,
    NoteDates,
    NoteFiles,
    NoteNotFound,
    NotesOfDays,
    NoteUnreadable,
    NoteWarning,
    Passage,
    Resolution,
    Resolved,
    StoredLink,
    StoredTask,
    VaultError,
    Workers,
    file_title,
    is_drawing,
    is_note,
    is_pdf,
    may_hold_text,
    page_of,
    unknown_calendar,
    without_suffix,
)
from zkchat.index.guarded import VaultPorts, guarded
from zkchat.index.indexing.background import IndexMaintenance, TextExtraction
from zkchat.index.indexing.embedding import EmbeddingWork
from zkchat.index.indexing.indexer import NO_DATES, DateSources, Indexer
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.overlay import Overlay, overlaid
from zkchat.index.search.passages import Search
from zkchat.index.search.vectors import UNKNOWN_SIMILARITY, Answer, VectorSearch
from zkchat.notes import (
    MAX_LISTED,
    Document,
    Folders,
    LiveCatalog,
    PrivacyGuard,
    UnreadableDocument,
    all_dates,
    describe_folder,
    document_of_pages,
    is_folder,
    parse_note,
    read_drawing,
    rows_in,
    section_lines,
    shown_text,
    without_comments,
    without_templates,
)


class LibraryOptions(Struct, frozen=True, kw_only=True):
    local_only: Sequence[str] = ()
    """The folders whose notes go to no model but one on this machine."""
    templates: Callable[[], Sequence[str]] = tuple
    calendar: Callable[[], Calendar] = unknown_calendar
    extracted: ExtractedTexts | None = None
    """The texts of PDFs, where there is a program that reads them."""
    dates: DateSources = NO_DATES
    """Where dates of notes come from that the notes do not say."""
    extraction: Callable[[NoteFiles, SqliteNoteIndex], TextExtraction] | None = None


class Library:
    """Answers from its ports as they stand; `refresh` brings the index up to the files. Every thread may use it.

    What it may not know is filtered by the ports, so that no method has to think of it.
    """

    def __init__(
        self,
        ports: VaultPorts,
        maintenance: IndexMaintenance,
        local_only: Sequence[str] = (),
        templates: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._ports = ports
        self._maintenance = maintenance
        self._local_only = local_only
        self._templates = templates
        self.refresh = maintenance.refresh
        self.refresh_within = maintenance.background.within
        self.refresh_in_background = maintenance.background.start
        self.prefetch = maintenance.prefetch
        self.rebuild = maintenance.rebuild
        self.embed = maintenance.embed
        self.embed_by_server = maintenance.embed_by_server
        self.embed_in_background = maintenance.embed_in_background
        self.embedding_progress = maintenance.embedding_progress
        self.embedding_notice = maintenance.embedding_notice
        self.extract = maintenance.extract
        self.extract_in_background = maintenance.extract_in_background
        self.close = maintenance.close
        self._without_overlay = self
        self._known_folders: tuple[int, Folders] | None = None
        """By the generation of the index."""

    @classmethod
    def over(
        cls,
        files: ListedFiles,
        index: SqliteNoteIndex,
        vectors: VectorSearch | None = None,
        *,
        workers: Workers | None = None,
        clock: Callable[[], float] = monotonic,
        options: "LibraryOptions | None" = None,
    ) -> "Library":
        """The library of the user, over all notes. The `clock` counts seconds."""
        options = options or LibraryOptions()
        templates, calendar = options.templates, options.calendar
        links = LiveCatalog(index)
        indexer = Indexer(files, index, links, workers, templates, options.extracted, options.dates)
        ports = VaultPorts(
            files=files,
            notes=index,
            link_index=index,
            links=links,
            text=index,
            vectors=vectors,
            search=Search(index, vectors, calendar),
            calendar=calendar,
            covers=options.extracted.covers if options.extracted else lambda _: False,
            extracted=options.extracted.latest if options.extracted else None,
        )
        embedding = EmbeddingWork(vectors, index, files, options.local_only) if vectors else None
        extraction = options.extraction(files, index) if options.extraction else None
        maintenance = IndexMaintenance(index, indexer, vectors, embedding, clock, extraction)
        return Library(ports, maintenance, options.local_only, templates)

    def guarded_for(self, model: LocatedModel) -> "GuardedLibrary":
        """The library as a model gets it: without the notes that it may not see."""
        return GuardedLibrary(self.whole, model)

    @property
    def whole(self) -> "Library":
        """The library with all that the user may see."""
        return self

    def overlaid(self, overlay: Overlay) -> "Library":
        """The library of the user as it will be with changes that are staged; a model's library is made of that."""
        ports = overlaid(self._ports, overlay)
        library = Library(ports, self._maintenance, self._local_only, self._templates)
        library._without_overlay = self
        return library

    @property
    def is_overlaid(self) -> bool:
        return self.on_disk is not self.whole

    @property
    def on_disk(self) -> "Library":
        """The library of the user, without changes that are only staged."""
        return self.whole._without_overlay

    def withheld(self, link: Link, source: str | None = None) -> str:  # noqa: ARG002 - a guarded library has its reasons
        """Why the note that a link leads to is kept back, as the end of a sentence; empty where none is."""
        return ""

    def confirmed(self, paths: Iterable[str]) -> list[str]:
        """Those of the notes that may be named to the model at hand, by what their files say now."""
        return [*paths]

    def open_among(self, paths: Sequence[str]) -> list[str]:
        """Those of the notes that may go anywhere: who reads them has read nothing local."""
        return [*paths]

    def unextracted(self) -> int:
        extraction = self._maintenance.extraction
        return len(self._answer(extraction.missing)) if extraction else 0

    def has_unread_pdf(self) -> bool:
        """Whether there is a PDF that is known by its name alone, because no program reads it."""
        return self._answer(lambda: self._maintenance.has_attachment_ending(PDF_SUFFIX))

    def calendar(self) -> Calendar:
        """What `today` means now, where the user is."""
        return self._ports.calendar()

    def note_count(self) -> int:
        return self.counts().notes

    def counts(self) -> IndexCounts:
        return self._answer(self._ports.notes.counts)

    def warnings(self) -> tuple[NoteWarning, ...]:
        """All there is to say about files that cannot be used as they are."""
        return tuple(without_templates(self._answer(self._ports.notes.warnings), self._templates))

    def read(self, path: str, *, suggests: bool = True) -> str:
        """The text of a file as it is now; of a folder, the list of what it holds. Of a canvas, a drawing or a PDF it
        is a text to be read, not what the file holds.

        Raises `NoteNotFound`, `NoteUnreadable` or `OutsideVault`. The hint of the first names what is called alike,
        unless it `suggests` nothing: to find that takes time in a large vault.
        """
        if is_folder(path):
            rows = rows_in(path, self.files())
            first = rows[:MAX_LISTED]
            shown = {*self.confirmed(row.path for row in first)}
            listed = [row for row in first if row.path in shown]
            if not listed:
                near = [each for each in self._folders().nearest(path) if self.find_folder(each)]
                hint = f"Closest: {', '.join(f'@{each}' for each in near)}." if near else ""
                raise NoteNotFound(f"There is no folder {path} in the vault.", hint=hint)
            return describe_folder(path, listed, len(rows) - len(first) + len(listed))
        try:
            return self._read_file(path)
        except NoteNotFound as error:
            found = self.resolve(Link(text=f"[[{path}]]", target=path)) if suggests else None
            if not isinstance(found, Missing) or not found.suggestions:
                raise
            names = ", ".join(f"[[{name}]]" for name in found.suggestions)
            raise NoteNotFound(error.message, hint=f"Closest: {names}.") from error

    def may_hold_text(self, path: str) -> bool:
        """Whether a file may have a text to be read, by its suffix."""
        return may_hold_text(path) or self._is_document(path)

    def has_text(self, path: str) -> bool:
        """Whether a file with text has this path, also one that is too new for the index."""
        try:
            self._read_file(path)
        except VaultError:
            return False
        return True

    def _read_file(self, path: str) -> str:
        return self._document(path).text if self._is_document(path) else self.read_raw(path)

    def _is_document(self, path: str) -> bool:
        """Whether a file is not a note, and is read as a document nevertheless."""
        return is_drawing(path) or (is_pdf(path) and self._ports.extracted is not None)

    def _document(self, path: str) -> Document:
        if is_drawing(path):
            try:
                return read_drawing(path, self.read_raw(path))
            except UnreadableDocument as error:
                raise NoteUnreadable(f"{path} {error}.", hint="Open it with another program.") from error
        extracted = self._answer(lambda: self._ports.extracted and self._ports.extracted(path))
        if not extracted:
            if path not in {row.path for row in self.files()}:
                raise NoteNotFound(f"There is no file {path} in the vault.")
            extracted = self._maintenance.extract_now(path) if self.confirmed([path]) else None
        if not extracted:
            raise NoteUnreadable(
                f"The text of {path} has not been extracted yet.", hint="zkchat config index extracts it."
            )
        if extracted.trouble:
            raise NoteUnreadable(f"{path}: {extracted.trouble}", hint="Open it with another program.")
        return document_of_pages(path, extracted)

    def read_raw(self, path: str) -> str:
        """What a file with text holds, whatever it is. Raises as `read` does."""
        text, is_intact = self._answer(lambda: self._ports.files.read_whole(path))
        if not (is_intact or is_note(path)):
            raise NoteUnreadable(f"{path} is not UTF-8 text.", hint="Save it as UTF-8 to use it.")
        return text

    def read_data(self, path: str, most: int) -> bytes:
        """What a file holds that need not be text. Raises `NoteUnreadable` where that are more than `most` bytes."""
        return self._answer(lambda: self._ports.files.read_data(path, most))

    def find_folder(self, name: str) -> str:
        """The folder that a name means, with a slash at its end; empty where there is none."""
        return self._folders().find(name) if "/" in name else ""

    def _folders(self) -> Folders:
        generation = self.generation()
        if self._known_folders is None or self._known_folders[0] != generation:
            self._known_folders = generation, Folders(row.path for row in self.files())
        return self._known_folders[1]

    def files(self) -> list[CatalogRow]:
        return self._answer(self._ports.notes.catalog)

    def notes(self) -> list[CatalogRow]:
        return sorted((row for row in self.files() if is_note(row.path)), key=lambda row: row.path)

    def indexed(self) -> list[CatalogRow]:
        """Every file whose text and links are known, by path: notes, canvases and drawings, PDFs that are read."""
        return sorted((row for row in self.files() if self.is_indexed(row.path)), key=lambda row: row.path)

    def is_indexed(self, path: str) -> bool:
        """Whether the text and links of such a file are known, by its suffix."""
        return is_note(path) or is_drawing(path) or self._ports.covers(path)

    def is_empty(self) -> bool:
        return not self.note_count() and not self.counts().sections

    def without_templates(self, paths: Iterable[str]) -> list[str]:
        """Those of the notes that lie in no folder of templates."""
        folders = tuple(self._templates())
        return [path for path in paths if not path.startswith(folders)]

    def title(self, path: str) -> str:
        return self.names(path)[0]

    def names(self, path: str) -> tuple[str, ...]:
        """What a note is called, each name once: its title, the name of its file, its aliases."""
        known = self.outline(path) if self.confirmed([path]) else None
        named = (known.title, file_title(path), *known.aliases) if known else (file_title(path),)
        return tuple(dict.fromkeys(named))

    def section(self, path: str, anchor: str = "") -> str:
        """What stands under a heading or in a block, without comments; the whole note where there is no such place.

        Of what is no note, all of it.
        """
        if self._is_document(path):
            return self._section_of(self._document(path), anchor)
        text = self.read(path)
        if not is_note(path):
            return text
        if not anchor:
            return shown_text(text)
        return self._section_of(Document(note=parse_note(path, text), text=text), anchor)

    def _section_of(self, document: Document, anchor: str) -> str:
        note, text = document.note, document.text
        lines = without_comments(text, note.comments).splitlines(keepends=True)
        place = section_lines(note, anchor) if anchor else None
        if not place:
            return "".join(lines)
        first, last = place
        return "".join(lines[first - 1 : min(last, document.ends.get(first, last))])

    def resolve(self, link: Link, source: str | None = None, *, suggestions: int = 3) -> Resolution:
        """What a link leads to, written in the note `source` or by the user. Suggestions take time in a large vault."""
        return self._answer(lambda: self._ports.links.resolve(link, source, suggestions=suggestions))

    def link_into(self, path: str, heading_path: Sequence[str]) -> str:
        """The wikilink that leads to the page of a PDF; for any other file as `link_to`."""
        link = self.link_to(path)
        page = page_of(path, heading_path)
        return f"{link.removesuffix(']]')}#page={page}]]" if page else link

    def link_to(self, path: str) -> str:
        """The shortest wikilink that leads to a file; a mention of a folder."""
        if is_folder(path):
            return f'@"{path}"' if " " in path else f"@{path}"
        stem = without_suffix(path)
        name = stem.rpartition("/")[2]
        found = self.resolve(Link(text=f"[[{name}]]", target=name))
        if isinstance(found, Resolved) and found.path == path:
            return f"[[{name}]]"
        leads_elsewhere = isinstance(found, Resolved | Ambiguous) and found.path != path
        return f"[[/{stem}]]" if leads_elsewhere and stem == name else f"[[{stem}]]"

    def links_from(self, *paths: str) -> list[StoredLink]:
        return self._answer(lambda: self._ports.link_index.links_from(paths))

    def links_to(self, path: str) -> list[StoredLink]:
        return self._answer(lambda: self._ports.link_index.links_to(path))

    def notes_with_keys(self, keys: Collection[str]) -> list[str]:
        return self._answer(lambda: self._ports.link_index.notes_with_keys(keys))

    def linked_files(self, paths: Iterable[str]) -> dict[str, str]:
        asked = [*paths]
        return self._answer(lambda: self._ports.files.linked(asked))

    def doubtful_links(self) -> list[StoredLink]:
        return self._answer(self._ports.link_index.doubtful_links)

    def edges(self, touching: Collection[str] | None = None) -> list[tuple[str, str]]:
        return self._answer(lambda: self._ports.link_index.edges(touching))

    def copies(self) -> list[list[str]]:
        return self._answer(self._ports.notes.copies)

    def tags(self) -> dict[str, list[str]]:
        return self._answer(self._ports.notes.tags)

    def tasks(self) -> list[StoredTask]:
        """The open tasks of notes as they were last read, by path and line, without those of templates.

        Of a library for a model, whoever names notes of the list has them confirmed first.
        """
        folders = tuple(self._templates())
        tasks = self._answer(self._ports.notes.tasks)
        return [task for task in tasks if not task.path.startswith(folders)] if folders else tasks

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        within: Collection[str] | None = None,
        period: DayRange | None = None,
        words_only: bool = False,
    ) -> list[Passage]:
        """The passages that answer best, of the whole vault or of the notes `within`, of all times or of the `period`.

        With `words_only` it is the same whether or not sections have got their vectors already. A query that is no
        `OpenText` is compared by what is on this machine.
        """
        search = self._ports.search
        return self._answer(
            lambda: search.passages(query, limit=limit, within=within, period=period, words_only=words_only)
        )

    def documents(self, query: str, *, limit: int = 10, period: DayRange | None = None) -> list[Passage]:
        return self._answer(lambda: self._ports.search.documents(query, limit=limit, period=period))

    def nearest(self, question: str, *, limit: int = 10, period: DayRange | None = None) -> list[Passage]:
        """The passages nearest in meaning, whatever their words, with cosines for scores; none without a model."""
        return self._answer(lambda: self._ports.search.nearest(question, limit=limit, period=period))

    def idf(self, terms: Iterable[str]) -> dict[str, float]:
        return self._answer(lambda: self._ports.search.idf(terms))

    def spelled(self, word: str) -> str:
        """The word of the notes, as a term, that one is likely meant as which they do not have; else empty."""
        return self._answer(lambda: self._ports.search.spelled(word))

    def similarities(self, question: str, texts: Sequence[str]) -> list[float]:
        """How near each text is to the question in meaning, 1 at most."""
        vectors = self._ports.vectors
        return vectors.compare(question, texts) if vectors else [UNKNOWN_SIMILARITY] * len(texts)

    def likenesses(self, question: str, texts: Sequence[str]) -> list[float]:
        """How near each text is to the question by the vectors of a model; none without one."""
        vectors = self._ports.vectors
        return vectors.likenesses(question, texts) if vectors else []

    def generation(self) -> int:
        return self._answer(self._ports.notes.generation)

    def stamps(self) -> dict[str, tuple[int, int, bool]]:
        return self._answer(self._ports.notes.stamps)

    def dates(self, paths: Collection[str] | None = None) -> dict[str, NoteDates]:
        """By path, when these notes, or all, were written and changed; nothing for what is not in the index."""
        zone = self._ports.calendar().now.tzinfo
        return self._answer(lambda: all_dates(self._ports.notes.date_facts(paths), zone))

    def dates_of_days(self, wanted: NotesOfDays) -> dict[str, NoteDates]:
        """By path, the dates of the notes and other files that are wanted, and of some of the days around."""
        zone = self._ports.calendar().now.tzinfo
        return self._answer(lambda: all_dates(self._ports.notes.facts_of_days(wanted), zone))

    def commits(self, path: str, limit: int) -> list[Commit]:
        return self._maintenance.dating.commits_of(path, limit)

    def history_status(self) -> HistoryStatus:
        return self._answer(self._maintenance.dating.history_status)

    def outline(self, path: str) -> KnownNote | None:
        """The headings and blocks of a note, as it was last read."""
        return self._answer(lambda: self._ports.notes.known(path))

    def sources_of(self, links: Collection[str], paths: Sequence[str]) -> dict[str, str]:
        """By link, one of these notes that holds it word for word; nothing for those that stand in none of them."""
        held = {(stored.source, stored.link.text) for stored in self.links_from(*paths)}
        return {link: path for path in paths for link in links if (path, link) in held}

    def _answer(self, ask: Callable[[], Answer]) -> Answer:
        return self._maintenance.repaired(ask)


class GuardedLibrary(Library):
    """The library of a model: the same questions, asked of guarded ports."""

    def __init__(self, whole: Library, model: LocatedModel) -> None:
        ports = whole._ports
        self._guard = PrivacyGuard(ports.files, ports.notes, whole._local_only, model, ports.link_index)
        super().__init__(guarded(ports, self._guard), whole._maintenance, templates=whole._templates)
        self._whole = whole
        self._model = model

    def overlaid(self, overlay: Overlay) -> Library:
        """The same with staged changes; what is disclosed there is not known here."""
        return GuardedLibrary(self._whole.overlaid(overlay), self._model)

    @property
    def whole(self) -> Library:
        return self._whole

    def find_folder(self, name: str) -> str:
        folder = self._whole.find_folder(name)
        return folder if folder and rows_in(folder, self.files()) else ""

    def _folders(self) -> Folders:
        return self._whole._folders()

    @property
    def disclosed(self) -> bool:
        """Whether a note that is to stay on this machine was named or read here since somebody set this to False."""
        return self._guard.disclosed

    @disclosed.setter
    def disclosed(self, value: bool) -> None:
        self._guard.disclosed = value

    def hidden(self) -> frozenset[str]:
        return self._answer(self._guard.hidden)

    def note_count(self) -> int:
        """Without the hidden ones: scores of passages are made with it."""
        return self._whole.note_count() - sum(map(is_note, self.hidden()))

    def kept_from_turns(self, paths: Iterable[str]) -> dict[str, str]:
        """Those of these notes on account of which earlier turns are withheld, each with the words for such notes."""
        asked = [*paths]
        return self._answer(lambda: self._guard.kept_from_turns(asked))

    def withheld(self, link: Link, source: str | None = None) -> str:
        found = self._whole.resolve(link, source)
        if isinstance(found, Resolved | Ambiguous):
            return self._answer(lambda: self._guard.reason(found.path))
        folder = self._whole.find_folder(link.target)
        if not folder or self.find_folder(folder):
            return ""
        inside = [row.path for row in rows_in(folder, self._whole.files())]
        return self._answer(lambda: next(filter(None, map(self._guard.reason, inside)), ""))

    def confirmed(self, paths: Iterable[str]) -> list[str]:
        asked = [*paths]
        return self._answer(lambda: self._guard.confirm(asked))

    def open_among(self, paths: Sequence[str]) -> list[str]:
        return self._answer(lambda: self._guard.open_among(paths))

    def commits(self, path: str, limit: int) -> list[Commit]:
        return super().commits(path, limit) if self.confirmed([path]) else []
