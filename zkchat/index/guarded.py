"""What a model may ask: files, index, links and search without the notes that it may not see.

Each class implements the same Protocol as what it wraps. A library over these is the library of a model, whatever
methods it has; a new method of a Protocol has to be written here before it can be used there.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from threading import Lock
from typing import Final, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    Ambiguous,
    Calendar,
    CatalogRow,
    DateFacts,
    DayRange,
    ExtractedText,
    IndexCounts,
    KnownNote,
    Link,
    LinkIndex,
    Missing,
    NoteCatalog,
    NoteFiles,
    NoteFilter,
    NoteNotFound,
    NotesOfDays,
    NoteWarning,
    Passage,
    PrivacyClass,
    Resolution,
    Resolved,
    StoredLink,
    StoredSection,
    StoredTask,
    TextIndex,
    TextLookup,
    is_note,
)
from zkchat.index.search.passages import Search
from zkchat.index.search.vectors import VectorSearch
from zkchat.notes import LinkResolver, PrivacyGuard

Port = TypeVar("Port")

MAX_CHECKED: Final = 200
"""Notes of a list that are looked into; whoever names more of them has the rest confirmed."""


class VaultPorts(Struct, frozen=True, kw_only=True):
    """All that a library asks."""

    files: NoteFiles
    notes: NoteCatalog
    link_index: LinkIndex
    links: LinkResolver
    text: TextIndex
    vectors: VectorSearch | None
    """Compares only the sections that it is given."""
    search: "Search | GuardedSearch"
    calendar: Callable[[], Calendar]
    covers: Callable[[str], bool]
    """Whether the text of such a file is extracted, by its suffix."""
    extracted: Callable[[str], ExtractedText | None] | None = None
    """The text of a PDF as it was last extracted; None where none are read."""


def guarded(ports: VaultPorts, guard: PrivacyGuard) -> VaultPorts:
    text, extracted = GuardedText(ports.text, guard), ports.extracted

    def guarded_extracted(path: str) -> ExtractedText | None:
        is_shown = guard.may_open(path) and guard.disclose_text("", path)
        return extracted(path) if extracted and is_shown else None

    return VaultPorts(
        files=GuardedFiles(ports.files, guard),
        notes=GuardedCatalog(ports, guard),
        link_index=GuardedLinkIndex(ports.link_index, guard),
        links=GuardedLinks(ports.links, guard),
        text=text,
        vectors=ports.vectors,
        search=GuardedSearch(ports.search, Search(text, ports.vectors, ports.calendar), guard),
        calendar=ports.calendar,
        covers=ports.covers,
        extracted=guarded_extracted if extracted else None,
    )


class _Guarded(Generic[Port]):
    """What asks a port, and a guard what of its answers a model may see."""

    def __init__(self, port: Port, guard: PrivacyGuard) -> None:
        self._port = port
        self._guard = guard


class GuardedFiles(_Guarded[NoteFiles]):
    """Implements `NoteFiles`. A note that became private after it was indexed is not there either."""

    def read_whole(self, path: str) -> tuple[str, bool]:
        text, is_intact = self._port.read_whole(path) if self._guard.may_open(path) else (None, True)
        return self._shown(path, text), is_intact

    def read_data(self, path: str, most: int) -> bytes:
        content = self._port.read_data(path, most) if self._guard.may_open(path) else None
        text = None if content is None else content.decode(errors="replace")
        self._shown(path, text)
        return content or b""

    def _shown(self, path: str, text: str | None) -> str:
        if text is None or not self._guard.disclose_text(text, path):
            raise NoteNotFound(f"There is no file {path} in the vault.")
        return text

    def identity(self, path: str) -> object | None:
        return self._port.identity(path) if self._guard.may_open(path) else None

    def linked(self, paths: Iterable[str]) -> dict[str, str]:
        return self._port.linked(self._guard.visible(paths))

    def shared(self, path: str) -> object | None:
        return self._port.shared(path) if self._guard.may_open(path) else None


class GuardedCatalog(_Guarded[VaultPorts]):
    """Implements `NoteCatalog`. The generation, a number about the whole index, names no note."""

    def generation(self) -> int:
        return self._port.notes.generation()

    def counts(self) -> IndexCounts:
        counts, hidden = self._port.notes.counts(), self._guard.hidden()
        if not hidden:
            return counts
        notes = [path for path in hidden if is_note(path)]
        sections = sum(count for _, count in self._port.text.section_ranges(NoteFilter(within=hidden)))
        return replace(
            counts,
            notes=counts.notes - len(notes),
            links=counts.links - len(self._port.link_index.links_from([*hidden])),
            sections=counts.sections - sections,
            attachments=counts.attachments - (len(hidden) - len(notes)),
        )

    def stamps(self) -> dict[str, tuple[int, int, bool]]:
        hidden = self._guard.hidden()
        return {path: stamp for path, stamp in self._port.notes.stamps().items() if path not in hidden}

    def known(self, path: str) -> KnownNote | None:
        self._guard.check([path])
        return None if path in self._guard.hidden() else self._port.notes.known(path)

    def date_facts(self, paths: Collection[str] | None = None) -> dict[str, DateFacts]:
        if paths is not None:
            shown = self._guard.visible(paths)
            return self._port.notes.date_facts(shown) if shown else {}
        hidden = self._guard.hidden()
        return {path: facts for path, facts in self._port.notes.date_facts().items() if path not in hidden}

    def facts_of_days(self, wanted: NotesOfDays) -> dict[str, DateFacts]:
        hidden = self._guard.hidden()
        most = None if wanted.most is None else wanted.most + len(hidden)
        found = self._port.notes.facts_of_days(replace(wanted, most=most))
        return {path: facts for path, facts in found.items() if path not in hidden}

    def private(self) -> dict[str, PrivacyClass]:
        hidden = self._guard.hidden()
        return {path: privacy for path, privacy in self._port.notes.private().items() if path not in hidden}

    def copies(self) -> list[list[str]]:
        shown = map(self._guard.visible, self._port.notes.copies())
        return [paths for paths in shown if len(paths) > 1]

    def catalog(self) -> list[CatalogRow]:
        hidden = self._guard.hidden()
        return [row for row in self._port.notes.catalog() if row.path not in hidden]

    def tags(self) -> dict[str, list[str]]:
        shown = {tag: self._guard.visible(paths) for tag, paths in self._port.notes.tags().items()}
        return {tag: paths for tag, paths in shown.items() if paths}

    def tasks(self) -> list[StoredTask]:
        hidden = self._guard.hidden()
        return [task for task in self._port.notes.tasks() if task.path not in hidden]

    def warnings(self) -> list[NoteWarning]:
        hidden = self._guard.hidden()
        return [warning for warning in self._port.notes.warnings() if warning.path not in hidden]


class GuardedLinkIndex(_Guarded[LinkIndex]):
    """Implements `LinkIndex`. Of a link to a hidden note it is not known where it leads."""

    def links_from(self, paths: Sequence[str]) -> list[StoredLink]:
        return self._shown(self._port.links_from(paths))

    def links_to(self, path: str) -> list[StoredLink]:
        return [] if path in self._guard.hidden() else self._shown(self._port.links_to(path))

    def notes_with_keys(self, keys: Collection[str]) -> list[str]:
        return [*self._guard.visible(self._port.notes_with_keys(keys))]

    def doubtful_links(self) -> list[StoredLink]:
        """With the links to hidden notes, as if those were not there."""
        hidden = [link for path in self._guard.hidden() for link in self._port.links_to(path)]
        links = {link.id: link for link in (*self._port.doubtful_links(), *hidden)}
        return self._shown(sorted(links.values(), key=lambda link: link.id))

    def edges(self, touching: Collection[str] | None = None) -> list[tuple[str, str]]:
        hidden = self._guard.hidden()
        return [edge for edge in self._port.edges(touching) if hidden.isdisjoint(edge)]

    def _shown(self, links: Iterable[StoredLink]) -> list[StoredLink]:
        hidden = self._guard.hidden()
        return [
            link if hidden.isdisjoint(targets_of(link.resolution)) else replace(link, resolution=None)
            for link in links
            if link.source not in hidden
        ]


class GuardedLinks(_Guarded[LinkResolver]):
    """Implements `LinkResolver`: a link to a hidden note leads to the next best one, or nowhere."""

    def resolve(self, link: Link, source: str | None, *, suggestions: int = 3) -> Resolution:
        while True:
            found = self._port.resolve(link, source, suggestions=suggestions)
            if hidden := self._guard.hidden():
                found = self._without(hidden, found, link, source)
            named = [*targets_of(found)]
            if isinstance(found, Missing):
                named = [path for name in found.suggestions if (path := self._target_of(name))]
            if not self._guard.check(named):
                self._guard.disclose(named)
                return found

    def _without(self, hidden: frozenset[str], found: Resolution, link: Link, source: str | None) -> Resolution:
        match found:
            case Missing(suggestions=suggestions):
                shown = tuple(name for name in suggestions if (self._target_of(name) or "") not in {*hidden, ""})
                return replace(found, suggestions=shown)
            case Resolved() | Ambiguous():
                paths = targets_of(found)
                if hidden.isdisjoint(paths):
                    return found
                first, *others = [path for path in paths if path not in hidden] or [""]
                place = self._port.resolve(link._replace(target=f"/{first}"), source)
                if not first or not isinstance(place, Resolved | Ambiguous):
                    return Missing(target=link.target)
                via, anchor_found, line = found.via, place.anchor_found, place.line
                if not others:
                    return Resolved(path=first, via=via, anchor_found=anchor_found, line=line)
                return Ambiguous(path=first, via=via, others=tuple(others), anchor_found=anchor_found, line=line)
            case _:
                return found

    def _target_of(self, name: str) -> str:
        found = self._port.resolve(Link(text=f"[[{name}]]", target=name), None)
        return found.path if isinstance(found, Resolved | Ambiguous) else ""


class GuardedText:
    """Implements `TextIndex`: the sections of hidden notes are dead, and no score tells of them."""

    def __init__(self, text: TextIndex, guard: PrivacyGuard) -> None:
        self._text = text
        self._guard = guard
        self._lock = Lock()
        self._seen: tuple[int, int, frozenset[str]] | None = None
        """The last generation of what is visible, the generation of the index behind it, and the hidden notes.

        The first also grows when other notes are hidden than before.
        """

    def look_up(self, terms: Collection[str], known: int | None, prefixes: Collection[str] = ()) -> TextLookup:
        hidden = self._guard.hidden()
        with self._lock:
            seen = self._seen if self._seen and self._seen == (known, self._seen[1], hidden) else None
            lookup = self._text.look_up(terms, seen[1] if seen else None, prefixes)
            if seen and lookup.segments is None:
                return replace(lookup, generation=seen[0])
            generation = self._seen[0] + 1 if self._seen else 0
            self._seen = generation, lookup.generation, hidden
            return replace(lookup, generation=generation, dead=[*lookup.dead, *self._sections_of(hidden)])

    def sections(self, numbers: Sequence[int]) -> list[StoredSection]:
        hidden = self._guard.hidden()
        return [section for section in self._text.sections(numbers) if section.path not in hidden]

    def section_ranges(self, wanted: NoteFilter, *, newest_first: bool = False) -> list[tuple[int, int]]:
        found = self._text.section_ranges(wanted, newest_first=newest_first)
        hidden = self._guard.hidden()
        if not hidden:
            return found
        kept_back = {*self._sections_of(hidden)}
        return [each for each in found if each[0] not in kept_back]

    def _sections_of(self, paths: frozenset[str]) -> Iterable[int]:
        for first, count in self._text.section_ranges(NoteFilter(within=paths)) if paths else ():
            yield from range(first, first + count)


class GuardedSearch:
    """Where nothing is hidden, the search over all notes answers: that costs nothing.

    What a model asks that may have read local notes is no `OpenText`.
    """

    def __init__(self, whole: "Search | GuardedSearch", visible: Search, guard: PrivacyGuard) -> None:
        self._whole = whole
        self._visible = visible
        self._guard = guard

    def passages(
        self,
        text: str,
        *,
        limit: int,
        within: Collection[str] | None = None,
        period: DayRange | None = None,
        words_only: bool = False,
    ) -> list[Passage]:
        asked = self._asked(text)
        return self._checked(
            lambda search: search.passages(asked, limit=limit, within=within, period=period, words_only=words_only)
        )

    def documents(self, text: str, *, limit: int, period: DayRange | None = None) -> list[Passage]:
        asked = self._asked(text)
        return self._checked(lambda search: search.documents(asked, limit=limit, period=period), MAX_CHECKED)

    def nearest(self, text: str, *, limit: int, period: DayRange | None = None) -> list[Passage]:
        asked = self._asked(text)
        return self._checked(lambda search: search.nearest(asked, limit=limit, period=period))

    def idf(self, wanted: Iterable[str]) -> dict[str, float]:
        return self._search().idf(wanted)

    def spelled(self, word: str) -> str:
        return self._search().spelled(word)

    def _asked(self, text: str) -> str:
        return str(text) if self._guard.may_tell_of_local_notes() else text

    def _checked(
        self, ask: Callable[["Search | GuardedSearch"], list[Passage]], most: int | None = None
    ) -> list[Passage]:
        """What is found once none of it, or of the first of it, turns out to be hidden by now."""
        while True:
            found = ask(self._search())
            if not self._guard.check(passage.path for passage in found[:most]):
                return found

    def _search(self) -> "Search | GuardedSearch":
        return self._visible if self._guard.hidden() else self._whole


def targets_of(found: Resolution | None) -> tuple[str, ...]:
    """The files that a link may lead to, the preferred one first."""
    match found:
        case Resolved(path=path):
            return (path,)
        case Ambiguous(path=path, others=others):
            return (path, *others)
        case _:
            return ()
