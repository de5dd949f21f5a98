"""Answers to questions about the vault and its tasks, computed from the index."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import cached_property, partial
from itertools import groupby
from typing import Final, Literal

from msgspec import Struct

from zkchat.answers.catalog_parser import MAX_ASKED, MAX_LISTED, CatalogQuery, QueryKind
from zkchat.answers.open_tasks import all_tasks
from zkchat.core import (
    Ambiguous,
    Calendar,
    DateOrigin,
    DayRange,
    Missing,
    NoteDate,
    NoteDates,
    NotesOfDays,
    Resolved,
    VaultError,
    counted,
    file_title,
    is_note,
)
from zkchat.index import Library, changed_last, graph, notes_by_day, tag_counts, terms
from zkchat.notes import Folders, describe_period, folders_of, frontmatter_of, name_key

_OVERVIEW_ITEMS: Final = 6
_LINKS_SHOWN: Final = 3
"""Broken links of one note that are named."""


_MOST_HOLDING: Final = 200
"""Notes with certain words that are looked for."""
_ORIGINS: Final[Mapping[DateOrigin, str]] = {
    "name": "names",
    "frontmatter": "properties",
    "git": "{which} commits",
    "file": "file times",
}
_ORIGINS_OF_ONE: Final[Mapping[DateOrigin, str]] = {
    "name": "its name",
    "frontmatter": "its properties",
    "git": "its {which} commit",
    "file": "the time its file was last changed",
}


class Row(Struct, frozen=True, kw_only=True):
    """A line of the list."""

    path: str | None = None
    """The note that it begins with."""
    details: str = ""


class CatalogAnswer(Struct, frozen=True, kw_only=True):
    heading: str
    rows: tuple[Row, ...] = ()
    more: int = 0
    """Rows that are left out."""


class _Asked:
    """A query with the catalog that it is asked of, each part of which is read once, and only where it is needed."""

    def __init__(self, library: Library, query: CatalogQuery, path: str, calendar: Calendar, most: int) -> None:
        self.library = library
        self.query = query
        self.path = path
        self.calendar = calendar
        self.most = max(most, MAX_ASKED) if query.wants_all else most
        self._by_change = query.by_change or query.period is None
        """Whether the time of a note is that of its last change, and not when it was written."""
        self._dates: dict[str, NoteDates] = {}
        """By path, of the notes that were asked for, or of all."""
        self.folder = self.folders.find(query.folder) if query.folder is not None else ""

    @cached_property
    def stamps(self) -> Mapping[str, tuple[int, int, bool]]:
        return self.library.stamps()

    def date_of(self, path: str) -> NoteDate:
        """When a note was last changed, or when it was written."""
        dates = self.dates_of(path)
        return dates.changed if self._by_change else dates.written

    def dates_of(self, path: str) -> NoteDates:
        if path not in self._dates:
            self._dates = self.library.dates()
        return self._dates[path]

    @cached_property
    def all_notes(self) -> Sequence[str]:
        """By path."""
        return [row.path for row in self.library.notes() if row.path in self.stamps]

    @cached_property
    def tags(self) -> Mapping[str, Sequence[str]]:
        return self.library.tags()

    @cached_property
    def tag_counts(self) -> Mapping[str, int]:
        """How many notes have each tag or one below it, the most frequent first."""
        return dict(_ranked({each.tag: each.notes for each in tag_counts(self.library)}))

    @cached_property
    def folders(self) -> Folders:
        return Folders(row.path for row in self.library.files())

    @cached_property
    def folder_sizes(self) -> Counter[str]:
        """By folder, with a slash at its end, how many notes lie in it or below it."""
        return Counter(folder for path in self.all_notes for folder in folders_of([path]))

    @cached_property
    def incoming(self) -> Mapping[str, int]:
        """By note, how many others link to it; the most linked first."""
        counts = Counter(target for source, target in self.library.edges() if source != target and is_note(target))
        return dict(_ranked(counts))

    def tagged(self, tag: str) -> set[str]:
        """The notes with a tag, or with one below it."""
        key = tag.casefold()
        return {path for known, paths in self.tags.items() if f"{known}/".startswith(f"{key}/") for path in paths}

    def link(self, path: str) -> str:
        """The link to a note; empty for one that may not be named."""
        return self.library.link_to(path) if self.library.confirmed([path]) else ""

    def time_of(self, path: str) -> datetime:
        return self.date_of(path).at(self.calendar.now.tzinfo)

    def newest_first(self, paths: Iterable[str]) -> list[str]:
        """By their time; those of the same time by the day they were written, then by path."""
        return sorted(sorted(paths), key=self.newness, reverse=True)

    def newness(self, path: str) -> tuple[datetime, date]:
        """Greater for a note of a later time; of the same, for one that was written on a later day."""
        return self.time_of(path), self.dates_of(path).written.day

    def origins(self, paths: Sequence[str]) -> str:
        """By what the times of these notes are known, in words."""
        found = {self.date_of(path).origin for path in paths}
        which = "last" if self._by_change else "first"
        if len(paths) == 1:
            return f"according to {_ORIGINS_OF_ONE[next(iter(found))].format(which=which)}"
        words = [word.format(which=which) for origin, word in _ORIGINS.items() if origin in found]
        if words in ([], ["file times"]):
            return "according to the time their files were last changed"
        return f"according to their {' and '.join(filter(None, (', '.join(words[:-1]), words[-1])))}"

    def date(self, path: str) -> str:
        """The time of a note in words: `today 09:12`, `2026-11-01`."""
        day, clock, _ = self.date_of(path)
        days = (self.calendar.today - day).days
        if 0 <= days <= 1:
            return f"{'yesterday' if days else 'today'}{f' {clock:%H:%M}' if clock else ''}"
        return str(day)

    def date_beside_link(self, path: str) -> str:
        """The same beside the link; empty where the name of the note tells it."""
        day, clock, _ = self.date_of(path)
        return "" if clock is None and file_title(path) == str(day) else self.date(path)

    def by_length(self, paths: Sequence[str], limit: int, *, longest: bool) -> dict[str, int]:
        """The longest or shortest notes with their characters. As few as possible are read: a character takes one to
        four bytes of the file's size."""
        found: list[tuple[int, str]] = []
        sign = -1 if longest else 1
        for path in sorted(paths, key=lambda path: (sign * self.stamps[path][0], path)):
            bytes_ = self.stamps[path][0]
            nearest = bytes_ if longest else bytes_ // 4
            if len(found) == limit and sign * nearest > found[-1][0]:
                break
            with suppress(VaultError):
                found = sorted([*found, (sign * len(self.library.read(path)), path)])[:limit]
        return {path: sign * length for length, path in found}

    @property
    def notes(self) -> list[str]:
        """The notes with the tags and in the folder that are asked for."""
        paths = [*self.all_notes]
        if self.query.tags:  # canvases and other files may hold tags too
            paths = [row.path for row in self.library.indexed() if row.path in self.stamps]
        combined = any if self.query.any_tag else all
        if tagged := [self.tagged(tag) for tag in self.query.tags]:
            paths = [path for path in paths if combined(path in each for each in tagged)]
        for unwanted in map(self.tagged, self.query.without_tags):
            paths = [path for path in paths if path not in unwanted]
        if self.query.folder is not None:
            paths = [path for path in paths if self.folder and path.startswith(self.folder)]
        return paths

    @property
    def _is_about_all(self) -> bool:
        """Whether it asks for notes whatever their tags and folders."""
        return not (self.query.tags or self.query.without_tags or self.query.folder is not None)

    def notes_of(self, period: DayRange) -> list[str]:
        """Those of the notes that were changed, or written, on these days, by path."""
        if not self._is_about_all:
            return [path for path in self.notes if self.date_of(path).day in period]
        wanted = NotesOfDays(days=period, by_change=self._by_change)
        found = notes_by_day(self.library, wanted, with_templates=True)
        self._dates |= found
        return sorted(found)

    @property
    def changed_last(self) -> list[str]:
        """As many of the notes as are shown, or more, the one that changed last first."""
        if not self._is_about_all:
            return self.newest_first(self.notes)
        found = changed_last(self.library, self.limit if self.query.order else self.most)
        self._dates |= found
        return self.newest_first(found)

    @property
    def limit(self) -> int:
        default = 5 if self.most == MAX_LISTED else self.most
        return min(self.query.limit or default, MAX_ASKED)

    def described(self, number: int = 2) -> str:
        """`notes`, and which: `notes tagged #book in Projects/`."""
        words, query = "note" if number == 1 else "notes", self.query
        if query.tags:
            words += f" tagged {_tags(query.tags, 'or' if query.any_tag else 'and')}"
        if query.without_tags:
            words += f" {'but not' if query.tags else 'not tagged'} {_tags(query.without_tags, 'or')}"
        return words if query.folder is None else f"{words} in {self.folder or query.folder}"

    def counted(self, number: int) -> str:
        return f"{number:,} {self.described(number)}"

    def listed(
        self,
        paths: Sequence[str],
        heading: str,
        describe: Callable[[str], str] | None = None,
        *,
        limit: int | None = None,
        tells_rest: bool = True,
    ) -> CatalogAnswer:
        """The first of the notes, without those that may not be named."""
        first = paths[: limit or self.most]
        details = describe or self.date_beside_link
        return CatalogAnswer(
            heading=f"{heading}:",
            rows=tuple(Row(path=path, details=details(path)) for path in self.library.confirmed(first)),
            more=len(paths) - len(first) if tells_rest else 0,
        )


def _ranked(sizes: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(sizes.items(), key=lambda item: (-item[1], item[0]))


def answer_query(
    library: Library, query: CatalogQuery, path: str, calendar: Calendar, *, most: int = MAX_LISTED
) -> CatalogAnswer:
    """The answer to a query with at most so many rows; `path` is the note that it names, if any."""
    if query.note and not path and query.kind in {"links", "dates", "tasks"}:
        return CatalogAnswer(heading=f"There is no note “{query.note}”.")
    return _ANSWERS[query.kind](_Asked(library, query, path, calendar, most))


def _tags(tags: Iterable[str], conjunction: str) -> str:
    return f" {conjunction} ".join(f"#{tag}" for tag in tags)


def _list_notes(asked: _Asked) -> CatalogAnswer:
    query = asked.query
    when = ""
    is_about_latest = query.order == "newest" or (query.is_about_changes and not query.order)
    if query.period:
        paths = asked.notes_of(query.period)
        verb = "changed" if query.by_change else "written"
        when = f" {verb} {describe_period(query.period, asked.calendar)}, {asked.origins(paths or asked.notes)}"
    else:
        paths = asked.changed_last if is_about_latest else asked.notes
    if not paths:
        return CatalogAnswer(heading=_no_notes(asked, when))
    if query.order:
        return _rank_notes(asked, paths)
    paths = asked.newest_first(paths)
    if query.is_about_changes and not query.period:
        heading = f"The {asked.described()} that changed last, {asked.origins(paths[: asked.most])}"
        return asked.listed(paths, heading, tells_rest=False)
    return asked.listed(paths, f"{asked.counted(len(paths))}{when}")


def _no_notes(asked: _Asked, when: str) -> str:
    """That there are none; where a time is asked for, which note changed last."""
    query = asked.query
    if query.folder is not None and not asked.folder:
        near = ", ".join(asked.folders.nearest(query.folder))
        return f"There is no folder {query.folder.rstrip('/')}." + (f" Nearest: {near}." if near else "")
    sentence = f"No {asked.described(1)}{when}." if when else f"There is no {asked.described(1)}."
    last = max(asked.notes, key=asked.newness, default="")
    named = asked.link(last) if when and last else ""
    what = "The last one to change was" if query.by_change else "The newest is"
    return sentence + (f" {what} {named}, {asked.date(last)}." if named else "")


def _rank_notes(asked: _Asked, paths: Sequence[str]) -> CatalogAnswer:
    """The first notes by their length or time."""
    order, limit = asked.query.order, asked.limit
    if order in {"longest", "shortest"}:
        lengths = asked.by_length(paths, limit, longest=order == "longest")
        heading = f"The {order} {asked.described()}"
        return asked.listed([*lengths], heading, lambda path: counted(lengths[path], "character"), limit=limit)
    is_oldest = order == "oldest"
    first = sorted(paths, key=lambda path: (asked.time_of(path), path)) if is_oldest else asked.newest_first(paths)
    what = f"{asked.described()} that have not changed for the longest" if is_oldest else f"newest {asked.described()}"
    return asked.listed(first, f"The {what}, {asked.origins(first[:limit])}", limit=limit, tells_rest=False)


def _list_lacking(
    asked: _Asked, what: Literal["tag", "link to or from another note", "link from another note"]
) -> CatalogAnswer:
    """The notes without something that every note should have; templates need not."""
    library, notes = asked.library, asked.notes
    counting = library.without_templates(notes)
    if not notes:
        return CatalogAnswer(heading=_no_notes(asked, ""))
    if not counting:
        return CatalogAnswer(heading=f"The {asked.described()} are templates, which are not counted.")
    if what == "tag":
        tagged = {path for paths in asked.tags.values() for path in paths}
        paths = [path for path in counting if path not in tagged]
    elif what == "link from another note":
        paths = [path for path in counting if path not in asked.incoming]
    else:
        orphans = {*graph.orphans(library)}
        paths = [path for path in counting if path in orphans]
    if not paths:
        templates = len(notes) - len(counting)
        verb = "is" if templates == 1 else "are"
        rest = f" ({counted(templates, 'template')} {verb} not counted)" if templates else ""
        return CatalogAnswer(heading=f"Every {asked.described(1)} has a {what}{rest}.")
    return asked.listed(paths, f"{asked.counted(len(paths))} {'has' if len(paths) == 1 else 'have'} no {what}")


def _list_backlinks(asked: _Asked) -> CatalogAnswer:
    """The notes that link to a note, or to one that is not there."""
    library, name = asked.library, asked.query.note or ""
    if asked.path:
        named = asked.link(asked.path) or file_title(asked.path)
        sources = Counter(link.source for link in library.links_to(asked.path) if link.source != asked.path)
        nothing, before, to = f"No note links to {named}.", "", named
    else:
        broken = graph.doubts(library).broken
        sources = Counter(each.source or "" for each in broken if name_key(each.link.target) == name_key(name))
        nothing = f"There is no note “{name}”, and no note links to that name."
        before, to = f"There is no note “{name}”, but ", "that name"
    if not sources:
        return CatalogAnswer(heading=nothing)
    heading = f"{before}{counted(len(sources), 'note')} link{'s' * (len(sources) == 1)} to {to}"
    return asked.listed(sorted(sources), heading, lambda path: _times(sources[path]))


def _list_holding(asked: _Asked) -> CatalogAnswer:
    """The notes that hold the words, as they are written or inflected."""
    words = asked.query.words
    found = [each.path for each in asked.library.documents(f'"{words}"', limit=_MOST_HOLDING)]
    most = " or more" if len(found) == _MOST_HOLDING else ""
    heading = f"{counted(len(found), 'note')}{most} contain{'s' * (len(found) == 1)} “{words}”"
    return asked.listed(found, heading, lambda _: "")


def _tell_note(asked: _Asked) -> CatalogAnswer:
    """What is known of a note beside its text: properties, tags, headings, and the links from it and to it."""
    library, path = asked.library, asked.path
    properties = frontmatter_of(library.read(path)).properties
    told = {name: value if isinstance(value, list) else [value] for name, value in properties.items()}
    told["tags"] = [f"#{tag}" for tag, paths in asked.tags.items() if path in paths]
    known = library.outline(path)
    told["headings"] = [each.text for each in known.headings] if known else []
    targets = [each.found.path for each in graph.links(library, path) if isinstance(each.found, Resolved | Ambiguous)]
    for what, paths in {"links to": targets, "linked from": [each.source for each in library.links_to(path)]}.items():
        others = [*dict.fromkeys(each for each in paths if each != path)]
        told[what] = [*map(library.link_to, library.confirmed(others))]
    shown = {what: ", ".join(map(str, values[:MAX_ASKED])) for what, values in told.items() if values}
    link, parts = library.link_to(path), asked.query.parts
    if parts:
        rows = [Row(details=f"{what}: {shown[what]}") for what in parts if what in shown]
        return CatalogAnswer(heading=f"{link}:", rows=tuple(rows))
    rows = [Row(details=f"{what} ({len(told[what])}): {values}") for what, values in shown.items()]
    return CatalogAnswer(heading=f"What is known of {link}:", rows=tuple(rows))


def _list_links(asked: _Asked) -> CatalogAnswer:
    found = graph.links(asked.library, asked.path)
    inner = [each.found.path for each in found if isinstance(each.found, Resolved | Ambiguous)]
    targets = Counter(path for path in inner if path != asked.path)
    broken = len({each.link.text for each in found if isinstance(each.found, Missing)})
    named = asked.link(asked.path) or file_title(asked.path)
    nowhere = f"; {broken:,} of its links lead{'s' * (broken == 1)} nowhere" if broken else ""
    if not targets:
        return CatalogAnswer(heading=f"{named} links to no other note{nowhere}.")
    heading = f"{named} links to {counted(len(targets), 'document')}{nowhere}"
    return asked.listed([*targets], heading, lambda path: _times(targets[path]))


def _tell_dates(asked: _Asked) -> CatalogAnswer:
    """When a note was written and last changed, and by what that is known."""
    dates = asked.dates_of(asked.path)
    told = [("last changed", "last", dates.changed)]
    if dates.written.is_told:
        told.insert(0, ("written", "first", dates.written))
    said = [
        f"{verb} on {on.day} (according to {_ORIGINS_OF_ONE[on.origin].format(which=which)})"
        for verb, which, on in told
    ]
    return CatalogAnswer(heading=f"{asked.link(asked.path) or file_title(asked.path)} was {' and '.join(said)}.")


def _times(number: int) -> str:
    return f"{number} times" if number > 1 else ""


def _list_hubs(asked: _Asked) -> CatalogAnswer:
    incoming, notes = asked.incoming, {*asked.notes}
    linked = [path for path in incoming if path in notes]
    if not linked:
        return CatalogAnswer(heading=f"No note links to other {asked.described()}.")
    return asked.listed(
        linked,
        f"The most linked {asked.described()}",
        lambda path: f"linked by {counted(incoming[path], 'note')}",
        limit=asked.limit,
        tells_rest=False,
    )


def _list_broken_links(asked: _Asked) -> CatalogAnswer:
    notes = {*asked.notes}
    found = (each for each in graph.doubts(asked.library).broken if each.source in notes)
    broken = sorted(found, key=lambda each: each.source or "")
    if not broken:
        return CatalogAnswer(heading=f"No link in {asked.described()} is broken.")
    by_note = {source or "": [*group] for source, group in groupby(broken, key=lambda each: each.source)}

    def describe(path: str) -> str:
        links = [f"`{each.link.text.replace('`', '')}` in line {each.link.line}" for each in by_note[path]]
        more = f" and {len(links) - _LINKS_SHOWN} more" if len(links) > _LINKS_SHOWN else ""
        return ", ".join(links[:_LINKS_SHOWN]) + more

    leads = f"lead{'s' * (len(broken) == 1)} nowhere"
    heading = f"{counted(len(broken), 'link')} {leads}, in {asked.counted(len(by_note))}"
    return asked.listed([*by_note], heading, describe)


def _list_tags(asked: _Asked) -> CatalogAnswer:
    tags = [*asked.tag_counts.items()]
    if not tags:
        return CatalogAnswer(heading="No note has a tag.")
    heading = f"{counted(len(tags), 'tag')}, each with its number of notes:"
    shown = [f"#{tag} ({number:,})" for tag, number in tags[:40]]
    return CatalogAnswer(heading=heading, rows=(Row(details=", ".join(shown)),), more=len(tags) - len(shown))


def _list_folders(asked: _Asked) -> CatalogAnswer:
    folders = _ranked(asked.folder_sizes)
    if not folders:
        return CatalogAnswer(heading="All notes are at the top of the vault; there are no folders.")
    heading = f"{counted(len(folders), 'folder')}, each with its number of notes:"
    rows = tuple(Row(details=f"{folder} ({number:,})") for folder, number in folders[: asked.most])
    return CatalogAnswer(heading=heading, rows=rows, more=len(folders) - len(rows))


def _describe_vault(asked: _Asked) -> CatalogAnswer:
    """Largest folders, most frequent tags, most linked notes."""
    library = asked.library
    if not asked.all_notes:
        return CatalogAnswer(heading="There are no notes yet.")
    folders = _ranked({folder: size for folder, size in asked.folder_sizes.items() if folder.count("/") == 1})
    tags = [*asked.tag_counts.items()]
    newest = asked.newest_first(asked.all_notes)[: _OVERVIEW_ITEMS // 2]
    lines = {
        "Largest folders": [f"{name} ({size:,})" for name, size in folders[:_OVERVIEW_ITEMS]],
        "Most frequent tags": [f"#{name} ({size:,})" for name, size in tags[:_OVERVIEW_ITEMS]],
        "Most linked": [
            f"{library.link_to(path)} ({asked.incoming[path]:,})"
            for path in library.confirmed([*asked.incoming][:_OVERVIEW_ITEMS])
        ],
        "Changed last": [f"{library.link_to(path)} ({asked.date(path)})" for path in library.confirmed(newest)],
    }
    rows = tuple(Row(details=f"{what}: {', '.join(items)}") for what, items in lines.items() if items)
    return CatalogAnswer(heading=f"{_totals(asked)}:", rows=rows)


def _totals(asked: _Asked) -> str:
    counts = asked.library.counts()
    folders = f" in {counted(len(asked.folder_sizes), 'folder')}" if asked.folder_sizes else ""
    numbers = f"{counted(counts.links, 'link')}, {counted(len(asked.tag_counts), 'tag')}"
    others = counted(counts.attachments, "other file")
    return f"{counted(len(asked.all_notes), 'note')}{folders}, with {numbers} and {others}"


def _list_tasks(asked: _Asked) -> CatalogAnswer:
    """Tasks with a date by it, the earliest first, those without one after them; of all notes, or of one."""
    query, path, library = asked.query, asked.path, asked.library
    today = asked.calendar.today
    tasks = [task for task in all_tasks(library) if path in {"", task.path} and not (task.start and task.start > today)]
    if wanted := {*terms(query.words)}:
        tasks = [task for task in tasks if wanted <= {*terms(f"{task.text} {task.path.replace('/', ' ')}")}]
    overdue = [task for task in tasks if task.day and task.day < today]
    if query.tasks == "overdue":
        found, what = overdue, "overdue"
    elif query.tasks == "open" and query.period is None:
        found, what = tasks, "open"
    else:
        period = query.period or DayRange(today, today + timedelta(days=8))
        found = [task for task in tasks if task.day and task.day in period]
        what = f"due {describe_period(query.period, asked.calendar) if query.period else 'in the next days'}"
    others = len({*overdue} - {*found})
    what += f" in {library.link_to(path)}" if path else f" with “{query.words}”" if query.words else ""
    undated = 0 if what.startswith("open") else sum(task.day is None for task in tasks)
    dateless = f"{counted(undated, 'open task')} {'has' if undated == 1 else 'have'} no due date" if undated else ""
    are = f"{'is' if others == 1 else 'are'} overdue"
    if not found:
        more = f", {others:,} {are}" if others else ""
        form = f" {dateless} that zkchat reads. Write one as 📅 {today}, or end the task with “by {today}”."
        return CatalogAnswer(heading=f"No task is {what}{more}.{form if undated else ''}")
    of_them = f", {len(overdue):,} of them overdue" if overdue and query.tasks == "open" else ""
    more = (f", {others:,} more {are}" if others else of_them) + (f", {dateless}" if undated else "")
    found = sorted(found, key=lambda task: (task.day is None, task.day or today, task.path, task.line))
    rows: list[Row] = []
    for task in found[: asked.most]:
        due = f"{'due' if task.due else 'scheduled'} {task.day}" if task.day else ""
        rows.append(Row(path=task.path, details=", ".join(filter(None, (task.text, due, f"line {task.line}")))))
    heading = f"{counted(len(found), 'task')} {'is' if len(found) == 1 else 'are'} {what}{more}:"
    return CatalogAnswer(heading=heading, rows=tuple(rows), more=len(found) - len(rows))


_ANSWERS: Final[Mapping[QueryKind, Callable[[_Asked], CatalogAnswer]]] = {
    "notes": _list_notes,
    "orphans": partial(_list_lacking, what="link to or from another note"),
    "unlinked": partial(_list_lacking, what="link from another note"),
    "untagged": partial(_list_lacking, what="tag"),
    "broken_links": _list_broken_links,
    "overview": _describe_vault,
    "count": lambda asked: CatalogAnswer(heading=f"{_totals(asked)}."),
    "tags": _list_tags,
    "folders": _list_folders,
    "backlinks": _list_backlinks,
    "links": _list_links,
    "hubs": _list_hubs,
    "tasks": _list_tasks,
    "dates": _tell_dates,
    "note": _tell_note,
    "holding": _list_holding,
}
