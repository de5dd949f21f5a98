"""The library as a model gets it: notes that may not be sent to that model are not there."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from posixpath import normpath
from typing import Final

from zkchat.errors import NoteNotFound
from zkchat.model.index import CatalogRow, KnownNote, StoredLink
from zkchat.model.note import Ambiguous, Link, Missing, NoteWarning, Passage, PrivacyClass, Resolution, Resolved
from zkchat.ports import NoteFiles, NoteIndex
from zkchat.vault.library import Library
from zkchat.vault.links.resolver import is_note
from zkchat.vault.notes.parse import file_title
from zkchat.vault.privacy.classes import is_inside
from zkchat.vault.privacy.current_class import CurrentClasses
from zkchat.vault.search.passages import Search
from zkchat.vault.search.vectors import VectorSearch

MOST_CHECKED: Final = 200
"""Notes of a list that are looked into; whoever names more of them has the rest confirmed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Private:
    """The notes that are not open, at one generation of the index."""

    generation: int | None = None
    local: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    both: frozenset[str] = frozenset()

    def with_class(self, path: str, privacy: PrivacyClass | None) -> "_Private":
        """With a note of which the index does not know yet that it is private, or gone."""
        local, never = self.local - {path}, self.never
        if privacy == "local":
            local |= {path}
        else:
            never |= {path}
        return _Private(generation=self.generation, local=local, never=never, both=local | never)


class GuardedLibrary(Library):
    """Asks before each answer whether the model is on this machine, and which notes are private by now.

    Where none is, it costs nothing: the whole library answers.
    """

    def __init__(
        self,
        whole: Library,
        files: NoteFiles,
        index: NoteIndex,
        vectors: VectorSearch | None,
        *,
        local_only: Sequence[str],
        on_this_machine: Callable[[], bool],
    ) -> None:
        super().__init__(files, index, vectors, local_only=local_only)
        self._whole = whole
        self._on_this_machine = on_this_machine
        self._search = Search(index, vectors, self.hidden)
        self._private = _Private()
        self._current = CurrentClasses(files, local_only)
        self.disclosed = False
        """Whether a note that is to stay on this machine was named or read here since somebody set this to False."""

    @property
    def whole(self) -> Library:
        return self._whole

    def hidden(self) -> frozenset[str]:
        """The paths of the notes that this model may not see."""
        private = self._classed()
        return private.never if self._on_this_machine() else private.both

    def withheld(self, link: Link, source: str | None = None) -> str:
        found = self._whole.resolve(link, source)
        if not isinstance(found, Resolved | Ambiguous) or found.path not in self.hidden():
            return ""
        return "is never to be read" if found.path in self._classed().never else "is local"

    def _classed(self) -> _Private:
        generation = self._whole.generation()
        if self._private.generation != generation:
            own = self._answer(self._index.private)
            never = frozenset(path for path, privacy in own.items() if privacy == "never")
            local = (frozenset(own) | self._inside_local_folders()) - never
            self._private = _Private(generation=generation, local=local, never=never, both=local | never)
        return self._private

    def confirmed(self, paths: Iterable[str]) -> list[str]:
        """Looks into each file, because the index may be behind; what is gone may have moved to a local folder."""
        asked = [*paths]
        self.check(asked)
        hidden = self.hidden()
        shown = [path for path in asked if path not in hidden]
        self._lend(*shown)
        return shown

    def check(self, paths: Iterable[str], *, is_kept_when_gone: bool = True) -> bool:
        """Learn which of these notes have become private since they were indexed; whether one is hidden by that."""
        private, is_here, has_hidden = self._classed(), self._on_this_machine(), False
        for path in dict.fromkeys(paths):
            if path in private.both or not is_note(path):
                continue
            privacy = self._current.of(path)
            if privacy in {"local", "never"} or (privacy is None and is_kept_when_gone):
                private = self._private = private.with_class(path, privacy)
                has_hidden = has_hidden or privacy != "local" or not is_here
        return has_hidden

    def _inside_local_folders(self) -> frozenset[str]:
        if not self._local_only:
            return frozenset()
        paths = [row.path for row in self._answer(self._index.catalog)]
        places = self._files.linked(paths)
        return frozenset(
            path for path in paths if any(is_inside(each, self._local_only) for each in {path, places.get(path, path)})
        )

    def _lend(self, *paths: str) -> None:
        self.disclosed = self.disclosed or not self._classed().local.isdisjoint(paths)

    def read(self, path: str) -> str:
        """Also a note that became private after it was indexed is not there."""
        plain = normpath(path)
        if plain in self.hidden():
            raise self._not_there(path)
        text = super().read(path)
        privacy = self._current.of_text(text, plain)
        if privacy == "never" or (privacy == "local" and not self._on_this_machine()):
            raise self._not_there(path)
        self.disclosed = self.disclosed or privacy == "local"
        return text

    def _not_there(self, path: str) -> NoteNotFound:
        return NoteNotFound(f"There is no file {path} in the vault.", hint=self._closest(path))

    def note_count(self) -> int:
        return self._whole.note_count()

    def notes(self) -> list[CatalogRow]:
        hidden = self.hidden()
        return [row for row in self._whole.notes() if row.path not in hidden]

    def names(self, path: str) -> tuple[str, ...]:
        self.check([path])
        if path in self.hidden():
            return (file_title(path),)
        self._lend(path)
        return self._whole.names(path)

    def outline(self, path: str) -> KnownNote | None:
        self.check([path])
        return None if path in self.hidden() else self._whole.outline(path)

    def fingerprints(self, paths: Iterable[str]) -> dict[str, bytes]:
        hidden = self.hidden()
        shown = [path for path in paths if path not in hidden]
        self._lend(*shown)
        return self._whole.fingerprints(shown)

    def resolve(self, link: Link, source: str | None = None, *, suggestions: int = 3) -> Resolution:
        found = self._whole.resolve(link, source, suggestions=suggestions)
        if hidden := self.hidden():
            found = self._without(hidden, found, link, source)
        named = self._named_by(found)
        if self.check(named):
            return self.resolve(link, source, suggestions=suggestions)
        self._lend(*named)
        return found

    def _named_by(self, found: Resolution) -> list[str]:
        """The notes that an answer names."""
        match found:
            case Resolved(path=path):
                return [path]
            case Ambiguous(path=path, others=others):
                return [path, *others]
            case Missing(suggestions=names):
                return [path for name in names if (path := self._named(name))]
            case _:
                return []

    def _without(self, hidden: frozenset[str], found: Resolution, link: Link, source: str | None) -> Resolution:
        match found:
            case Missing(suggestions=suggestions):
                shown = tuple(name for name in suggestions if (self._named(name) or "") not in {*hidden, ""})
                return replace(found, suggestions=shown)
            case Resolved() | Ambiguous():
                paths = (found.path, *(found.others if isinstance(found, Ambiguous) else ()))
                if hidden.isdisjoint(paths):
                    return found
                first, *others = [path for path in paths if path not in hidden] or [""]
                place = self._whole.resolve(link._replace(target=f"/{first}"), source)
                if not first or not isinstance(place, Resolved | Ambiguous):
                    return Missing(target=link.target)
                via, anchor_found, line = found.via, place.anchor_found, place.line
                if not others:
                    return Resolved(path=first, via=via, anchor_found=anchor_found, line=line)
                return Ambiguous(path=first, via=via, others=tuple(others), anchor_found=anchor_found, line=line)
            case _:
                return found

    def _named(self, name: str) -> str:
        """The note that a name leads to."""
        found = self._whole.resolve(Link(text=f"[[{name}]]", target=name))
        return found.path if isinstance(found, Resolved | Ambiguous) else ""

    def sources_of(self, links: Collection[str], paths: Sequence[str]) -> dict[str, str]:
        hidden = self.hidden()
        return self._whole.sources_of(links, [path for path in paths if path not in hidden])

    def links_from(self, *paths: str) -> list[StoredLink]:
        return self._shown_links(self._whole.links_from(*paths))

    def links_to(self, path: str) -> list[StoredLink]:
        return [] if path in self.hidden() else self._shown_links(self._whole.links_to(path))

    def doubtful_links(self) -> list[StoredLink]:
        return self._shown_links(self._whole.doubtful_links())

    def _shown_links(self, links: Iterable[StoredLink]) -> list[StoredLink]:
        """A link that leads to a hidden note is one of which it is not known where it leads."""
        hidden = self.hidden()
        return [
            link if hidden.isdisjoint(_ends(link)) else replace(link, resolution=None)
            for link in links
            if link.source not in hidden
        ]

    def edges(self, touching: Collection[str] | None = None) -> list[tuple[str, str]]:
        hidden = self.hidden()
        return [edge for edge in self._whole.edges(touching) if hidden.isdisjoint(edge)]

    def copies(self) -> list[list[str]]:
        hidden = self.hidden()
        shown = ([path for path in paths if path not in hidden] for paths in self._whole.copies())
        return [paths for paths in shown if len(paths) > 1]

    def stamps(self) -> dict[str, tuple[int, int, bool]]:
        hidden = self.hidden()
        return {path: stamp for path, stamp in self._whole.stamps().items() if path not in hidden}

    def warnings(self) -> tuple[NoteWarning, ...]:
        hidden = self.hidden()
        return tuple(warning for warning in self._whole.warnings() if warning.path not in hidden)

    def search(
        self, query: str, *, limit: int = 10, within: Collection[str] | None = None, words_only: bool = False
    ) -> list[Passage]:
        while True:
            find = super().search if self.hidden() else self._whole.search
            found = find(query, limit=limit, within=within, words_only=words_only)
            if not self.check(passage.path for passage in found):
                return found

    def documents(self, query: str, *, limit: int = 10) -> list[Passage]:
        while True:
            find = super().documents if self.hidden() else self._whole.documents
            found = find(query, limit=limit)
            if not self.check(passage.path for passage in found[:MOST_CHECKED]):
                return found

    def idf(self, terms: Iterable[str]) -> dict[str, float]:
        weigh = super().idf if self.hidden() else self._whole.idf
        return weigh(terms)


def _ends(link: StoredLink) -> tuple[str, ...]:
    match link.resolution:
        case Resolved(path=path):
            return (path,)
        case Ambiguous(path=path, others=others):
            return (path, *others)
        case _:
            return ()
