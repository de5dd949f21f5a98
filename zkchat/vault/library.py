"""The vault as the rest of zkchat knows it: notes to read, links to follow, passages to find."""

from collections.abc import Callable, Collection, Iterable
from threading import Lock
from typing import TypeVar

from zkchat.errors import NoteNotFound, StorageDamaged
from zkchat.model.index import CatalogRow, IndexCounts, StoredLink
from zkchat.model.note import Link, Missing, NoteWarning, Passage, Resolution, Resolved
from zkchat.ports import NoteFiles, NoteIndex
from zkchat.vault.catalog import LiveCatalog
from zkchat.vault.indexer import Indexer, Progress, Refreshed
from zkchat.vault.parse import file_title, parse_note
from zkchat.vault.resolver import is_note, section_lines
from zkchat.vault.search import Search

Answer = TypeVar("Answer")


class Library:
    """Answers from the index as it stands; `refresh` brings it up to the files. Every thread may use it.

    A damaged index is thrown away and built again: nothing but time is lost.
    """

    def __init__(self, files: NoteFiles, index: NoteIndex) -> None:
        self._files = files
        self._index = index
        self._catalog = LiveCatalog(index)
        self._indexer = Indexer(files, index, self._catalog)
        self._search = Search(index)
        self._refreshing = Lock()

    def refresh(self, progress: Progress | None = None) -> Refreshed:
        """Read what changed since the last refresh, whoever made that. `progress` hears how far it is."""
        observe = progress or (lambda _done, _total: None)
        with self._refreshing:
            try:
                return self._indexer.refresh(observe)
            except StorageDamaged:
                self._index.reset()
                return self._indexer.refresh(observe)

    def rebuild(self, progress: Progress | None = None) -> Refreshed:
        """Forget what is known, and read every note again."""
        with self._refreshing:
            self._index.reset()
        return self.refresh(progress)

    def note_count(self) -> int:
        return self.counts().notes

    def counts(self) -> IndexCounts:
        return self._answer(self._index.counts)

    def warnings(self) -> tuple[NoteWarning, ...]:
        """All there is to say about files that cannot be used as they are."""
        return (*self._indexer.unlisted, *self._answer(self._index.warnings))

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
        known = self._answer(lambda: self._index.known(path))
        named = (known.title, file_title(path), *known.aliases) if known else (file_title(path),)
        return tuple(dict.fromkeys(named))

    def section(self, path: str, anchor: str = "") -> str:
        """What stands under a heading or in a block, without comments; the whole note where there is no such place."""
        text = self.read(path)
        note = parse_note(path, text)
        lines = _shown(text, note.comments).splitlines(keepends=True)
        place = section_lines(note, anchor) if anchor else None
        return "".join(lines[place[0] - 1 : place[1]] if place else lines)

    def resolve(self, link: Link, source: str | None = None) -> Resolution:
        """What a link leads to, written in the note `source` or by the user."""

        def ask() -> Resolution:
            self._catalog.catch_up()
            return self._catalog.resolve(link, source)

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

    def search(self, query: str, *, limit: int = 10, within: Collection[str] | None = None) -> list[Passage]:
        """The passages that answer best, of the whole vault or of the notes `within`."""
        return self._answer(lambda: self._search.passages(query, limit=limit, within=within))

    def documents(self, query: str, *, limit: int = 10) -> list[Passage]:
        """The notes that answer best, each by its best passage."""
        return self._answer(lambda: self._search.documents(query, limit=limit))

    def rarity(self, terms: Iterable[str]) -> dict[str, float]:
        """How telling terms are: the rarer in the vault, the more. Those that no note holds are left out."""
        return self._answer(lambda: self._search.rarity(terms))

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


def _shown(text: str, comments: Iterable[tuple[int, int]]) -> str:
    """The text with its comments blanked out, line for line."""
    for start, end in reversed([*comments]):
        text = text[:start] + "\n" * text.count("\n", start, end) + text[end:]
    return text
