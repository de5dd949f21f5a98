"""The vault as the rest of zkchat knows it: notes to read, links to follow, passages to find."""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, TypeVar

from zkchat.errors import NoteNotFound, StorageDamaged, ZkchatError
from zkchat.model.index import CatalogRow, IndexCounts, KnownNote, StoredLink
from zkchat.model.note import Link, Missing, NoteWarning, Passage, Resolution, Resolved
from zkchat.ports import NoteFiles, NoteIndex, Workers
from zkchat.vault.indexing.background import BackgroundRefresh
from zkchat.vault.indexing.indexer import Indexer, Progress, Refreshed
from zkchat.vault.links.catalog import LiveCatalog
from zkchat.vault.links.resolver import is_note, section_lines
from zkchat.vault.notes.parse import comments_of, file_title, parse_note
from zkchat.vault.search.passages import Search
from zkchat.vault.search.vectors import VectorSearch

if TYPE_CHECKING:
    from zkchat.vault.guarded import GuardedLibrary

Answer = TypeVar("Answer")


class Library:
    """Answers from the index as it stands; `refresh` brings it up to the files. Every thread may use it.

    A damaged index is thrown away and built again: nothing but time is lost.
    """

    def __init__(
        self,
        files: NoteFiles,
        index: NoteIndex,
        vectors: VectorSearch | None = None,
        *,
        workers: Workers | None = None,
        local_only: Sequence[str] = (),
        clock: Callable[[], float] | None = None,
    ) -> None:
        """`local_only` are the folders whose notes go to no model but one on this machine.

        The `clock` counts seconds; only `prefetch` needs it.
        """
        self._files = files
        self._index = index
        self._catalog = LiveCatalog(index)
        self._indexer = Indexer(files, index, self._catalog, workers)
        self._vectors = vectors
        self._embedding: Thread | None = None
        self._closing = Event()
        self._search = Search(index, vectors)
        self._refreshing = Lock()
        self._bounded = BackgroundRefresh(self.refresh, clock)
        self._remembered = _Remembered()
        self._local_only = local_only

    def guarded_for(self, on_this_machine: Callable[[], bool]) -> "GuardedLibrary":
        """The library as a model gets it that is on this machine or is not, which is asked anew each time."""
        from zkchat.vault.guarded import GuardedLibrary

        return GuardedLibrary(
            self,
            self._files,
            self._index,
            self._vectors,
            local_only=self._local_only,
            on_this_machine=on_this_machine,
        )

    @property
    def whole(self) -> "Library":
        """The library with all that the user may see."""
        return self

    def withheld(self, link: Link, source: str | None = None) -> str:  # noqa: ARG002 - a shared library has its reasons
        """Why the note that a link leads to is kept back, as the end of a sentence; empty where none is."""
        return ""

    def confirmed(self, paths: Iterable[str]) -> list[str]:
        """Those of the notes that may be named to the model at hand, by what their files say now."""
        return [*paths]

    def refresh(self, progress: Progress | None = None) -> Refreshed:
        """Read what changed since the last refresh, whoever made that. `progress` hears how far it is."""
        observe = progress or (lambda _done, _total: None)
        with self._refreshing:
            try:
                return self._indexer.refresh(observe)
            except StorageDamaged:
                self._begin_anew()
                return self._indexer.refresh(observe)

    def refresh_within(self, seconds: float) -> Refreshed | None:
        """The same, waiting no longer than that: None says that it goes on in the background, where `close` ends it.

        The next call waits for that one rather than starting a second beside it, and raises what went wrong with it.
        """
        return self._bounded.within(seconds)

    def prefetch(self) -> None:
        """Refresh in the background, because somebody is about to ask: `refresh_within` then need not look again.

        May be called at every key that is typed.
        """
        if not self._refreshing.locked():
            self._bounded.prefetch()

    def rebuild(self, progress: Progress | None = None) -> Refreshed:
        """Forget what is known, and read every note again."""
        with self._refreshing:
            self._begin_anew()
        return self.refresh(progress)

    def _begin_anew(self) -> None:
        self._index.reset()
        if self._vectors:
            self._vectors.reset()

    def note_count(self) -> int:
        """How many notes there are."""
        known = self._known_by_now()
        if known.note_count is None:
            known.note_count = self.counts().notes
        return known.note_count

    def counts(self) -> IndexCounts:
        return self._answer(self._index.counts)

    def warnings(self) -> tuple[NoteWarning, ...]:
        """All there is to say about files that cannot be used as they are."""
        warnings = (*self._indexer.unlisted, *self._answer(self._index.warnings))
        return tuple(sorted(warnings, key=lambda warning: warning.path))

    def read(self, path: str) -> str:
        """The text of a note as it is now. Raises `NoteNotFound`, `NoteUnreadable` or `OutsideVault`."""
        try:
            return self._files.read(path)
        except NoteNotFound as error:
            raise NoteNotFound(error.message, hint=self._closest(path) or error.hint) from error

    def notes(self) -> list[CatalogRow]:
        """Every note with its names, by path."""
        rows = self._answer(self._index.catalog)
        return sorted((row for row in rows if is_note(row.path)), key=lambda row: row.path)

    def title(self, path: str) -> str:
        return self.names(path)[0]

    def names(self, path: str) -> tuple[str, ...]:
        """What a note is called, each name once: its title, the name of its file, its aliases."""
        remembered = self._known_by_now().names
        if path not in remembered:
            known = self._answer(lambda: self._index.known(path))
            named = (known.title, file_title(path), *known.aliases) if known else (file_title(path),)
            remembered[path] = tuple(dict.fromkeys(named))
        return remembered[path]

    def section(self, path: str, anchor: str = "") -> str:
        """What stands under a heading or in a block, without comments; the whole note where there is no such place."""
        text = self.read(path)
        if not anchor:
            return _shown(text, comments_of(text))
        note = parse_note(path, text)
        lines = _shown(text, note.comments).splitlines(keepends=True)
        place = section_lines(note, anchor)
        return "".join(lines[place[0] - 1 : place[1]] if place else lines)

    def resolve(self, link: Link, source: str | None = None, *, suggestions: int = 3) -> Resolution:
        """What a link leads to, written in the note `source` or by the user. Suggestions take time in a large vault."""

        def ask() -> Resolution:
            self._catalog.catch_up()
            return self._catalog.resolve(link, source, suggestions=suggestions)

        return self._answer(ask)

    def link_to(self, path: str) -> str:
        """The shortest wikilink that leads to a file."""
        stem = path[:-3] if is_note(path) else path
        name = stem.rpartition("/")[2]
        found = self.resolve(Link(text=f"[[{name}]]", target=name))
        return f"[[{name}]]" if isinstance(found, Resolved) and found.path == path else f"[[{stem}]]"

    def links_from(self, *paths: str) -> list[StoredLink]:
        return self._answer(lambda: self._index.links_from(paths))

    def links_to(self, path: str) -> list[StoredLink]:
        return self._answer(lambda: self._index.links_to(path))

    def doubtful_links(self) -> list[StoredLink]:
        """Those that lead nowhere, to one of several files, or to a place that the note does not have."""
        return self._answer(self._index.doubtful_links)

    def edges(self, touching: Collection[str] | None = None) -> list[tuple[str, str]]:
        """Which note leads to which other one, each pair once: all of them, or those that some notes are part of."""
        return self._answer(lambda: self._index.edges(touching))

    def copies(self) -> list[list[str]]:
        """Notes with the same text, those of one text together."""
        return self._answer(self._index.copies)

    def embed(self, keep_on: Callable[[int], bool] = lambda _: True) -> int:
        """Give vectors to sections without one, as long as `keep_on`, told how many so far, says so."""
        vectors = self._vectors
        return self._answer(lambda: vectors.embed(keep_on)) if vectors else 0

    def embed_in_background(self) -> None:
        """The same in the background, until all have one or the library is closed."""
        if not self._vectors or (self._embedding and self._embedding.is_alive()):
            return
        if not self._known_by_now().is_embedded:
            self._embedding = Thread(target=self._embed_quietly, name="zkchat-vectors", daemon=True)
            self._embedding.start()

    def _embed_quietly(self) -> None:
        # Nobody waits for vectors: without them the words decide, and the next run goes on.
        with suppress(ZkchatError):
            known = self._known_by_now()
            self.embed(lambda _: not self._closing.is_set())
            known.is_embedded = not self._closing.is_set()

    def close(self) -> None:
        """End what goes on in the background."""
        self._closing.set()
        self._bounded.close()
        if self._embedding:
            self._embedding.join()

    def search(
        self, query: str, *, limit: int = 10, within: Collection[str] | None = None, words_only: bool = False
    ) -> list[Passage]:
        """The passages that answer best, of the whole vault or of the notes `within`.

        With `words_only` it is the same whether or not sections have got their vectors already.
        """
        return self._answer(lambda: self._search.passages(query, limit=limit, within=within, words_only=words_only))

    def documents(self, query: str, *, limit: int = 10) -> list[Passage]:
        """The notes that answer best, each by its best passage."""
        return self._answer(lambda: self._search.documents(query, limit=limit))

    def idf(self, terms: Iterable[str]) -> dict[str, float]:
        """The inverse document frequency of each term that occurs in the vault."""
        return self._answer(lambda: self._search.idf(terms))

    def generation(self) -> int:
        """A number that grows whenever notes change."""
        return self._answer(self._index.generation)

    def stamps(self) -> dict[str, tuple[int, int, bool]]:
        """By path: size and time of change of every note, as it was last read."""
        return self._answer(self._index.stamps)

    def outline(self, path: str) -> KnownNote | None:
        """The headings and blocks of a note, as it was last read."""
        return self._answer(lambda: self._index.known(path))

    def fingerprints(self, paths: Iterable[str]) -> dict[str, bytes]:
        """By path, what tells the text of a note from any other, as it was last read; nothing for what is no note."""
        known = self._known_by_now().fingerprints
        asked = [*paths]
        known |= {path: note.digest for path in asked if path not in known and (note := self.outline(path))}
        return {path: known[path] for path in asked if path in known}

    def sources_of(self, links: Collection[str], paths: Sequence[str]) -> dict[str, str]:
        """By link, one of these notes that holds it word for word; nothing for those that stand in none of them."""
        known = self._known_by_now().links
        if new := [path for path in paths if path not in known]:
            known |= {path: set() for path in new}
            for stored in self.links_from(*new):
                known[stored.source].add(stored.link.text)
        return {link: path for path in paths for link in known[path].intersection(links)}

    def _known_by_now(self) -> "_Remembered":
        """Answers that every turn asks for again. They hold until something changes."""
        generation = self.generation()
        if self._remembered.generation != generation:
            self._remembered = _Remembered(generation=generation)
        return self._remembered

    def _closest(self, path: str) -> str:
        found = self.resolve(Link(text=f"[[{path}]]", target=path))
        if isinstance(found, Missing):
            names = [f"[[{name}]]" for name in found.suggestions]
            return f"Closest: {', '.join(names)}." if names else ""
        return ""

    def _answer(self, ask: Callable[[], Answer]) -> Answer:
        try:
            return ask()
        except StorageDamaged:
            self.rebuild()
            return ask()


@dataclass(slots=True, kw_only=True)
class _Remembered:
    """Of the index at one generation."""

    generation: int | None = None
    note_count: int | None = None
    is_embedded: bool = False
    """Whether every section has a vector."""
    fingerprints: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, set[str]] = field(default_factory=dict)
    """By note, the texts of its links."""
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)


def _shown(text: str, comments: Iterable[tuple[int, int]]) -> str:
    """The text with its comments blanked out, line for line."""
    pieces: list[str] = []
    position = 0
    for start, end in comments:
        pieces += (text[position:start], "\n" * text.count("\n", start, end))
        position = end
    return "".join([*pieces, text[position:]])
