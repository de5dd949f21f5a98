"""Tools that read the vault. Each returns text for the model and the documents it came from."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any

from zkchat import answers
from zkchat.chat.context.assembly import digest
from zkchat.chat.context.formatting import NEWEST_COUNTS, format_document
from zkchat.chat.tools.registry import PAGE_CHARS, Limit, Number, Text, function_tool
from zkchat.core import (
    Ambiguous,
    DayRange,
    DocumentReference,
    LineRange,
    Link,
    Missing,
    NoteNotFound,
    OpenText,
    Passage,
    Resolution,
    Resolved,
    StoredLink,
    Tool,
    ToolOutcome,
    UsageError,
    anchor_of,
    counted,
    is_pdf,
    page_named,
    page_of,
)
from zkchat.index import Library, neighbours
from zkchat.notes import check_times, filter_period, scan

MAX_LISTED = 50
MAX_RELATED = 10

# Models that learned other tools call the same thing by other names.
NotePath = Annotated[
    str, Text(min_length=1, also=("path", "note", "file", "link", "wikilink", "document", "title", "name"))
]
MAX_HEADINGS = 20
"""Of a note, that are named where another one was asked for."""
Query = Annotated[str, Text(description='Words, tag:x, path:x, "phrase"', min_length=1, also=("q", "text", "search"))]


After = Annotated[str, Text(also=("since", "modified_after"))]
Before = Annotated[str, Text(also=("until",))]
"""Notes written from a day on, or before one; also as people say it: `last week`."""


def explore_tools(library: Library, now: Callable[[], datetime]) -> list[Tool]:
    explore = _Explore(library, now)
    tools: tuple[Callable[..., ToolOutcome], ...] = (
        explore.read_document,
        explore.find_excerpts,
        explore.find_documents,
        explore.resolve_wikilink,
        explore.find_backlinks,
        explore.find_forward_links,
        explore.find_related,
        explore.list_documents,
        explore.get_current_datetime,
    )
    return [*map(function_tool, tools)]


class _Explore:
    def __init__(self, library: Library, now: Callable[[], datetime]) -> None:
        self._library = library
        self._now = now

    def read_document(self, *, relative_path: NotePath, offset: Annotated[int, Number(at_least=0)] = 0) -> ToolOutcome:
        """Read a note (path, title or link) when passages are not enough."""
        path = self._path(relative_path)
        remark = missing_heading(self._library, *self._resolved(relative_path))
        anchor = _link(relative_path).anchor if is_pdf(path) else ""
        text = self._library.section(path, anchor)
        page = text[offset : offset + PAGE_CHARS]
        end = offset + len(page)
        of_all = f" of {len(text):,}" if len(page) < len(text) else ""
        more = f"\n(To go on, call read_document with offset {end}; {len(text) - end:,} characters are left.)"
        return ToolOutcome(
            text=f"({remark})\n" * bool(remark) + format_document(path, page) + (more if end < len(text) else ""),
            references=(reference_to(self._library, path, included=True, digest=digest(text)),),
            summary=f"{len(page):,}{of_all} characters",
        )

    def find_excerpts(self, *, after: After = "", before: Before = "", query: Query, limit: Limit = 5) -> ToolOutcome:
        """Find passages in notes. Use it first for any question."""
        period = self._period(after, before, query)
        return self._found(self._library.search(OpenText(query), limit=limit, period=period), "passage")

    def find_documents(self, *, after: After = "", before: Before = "", query: Query, limit: Limit = 5) -> ToolOutcome:
        """Find whole notes, when asked which there are."""
        period = self._period(after, before, query)
        return self._found(self._library.documents(OpenText(query), limit=limit, period=period), "note")

    def _period(self, after: str, before: str, query: str = "") -> DayRange | None:
        """The days that are asked for. Raises `UsageError` for a text, or a filter of the query, that names none."""
        check_times(query, self._library.calendar())
        period: DayRange | None = None
        for field, value in (("after", after), ("before", before)):
            if value.strip():
                days = filter_period(field, value, self._library.calendar())
                if days is None:
                    raise UsageError(f"{field} {value!r} is no time.", hint="Write YYYY-MM-DD, or words: last week.")
                period = days.overlap(period)
        return period

    def _found(self, passages: Sequence[Passage], what: str) -> ToolOutcome:
        if not passages:
            return ToolOutcome(text="Nothing matches. Try other words.", summary="nothing found")
        texts: list[str] = []
        for each in passages:
            page = page_of(each.path, each.heading_path)  # of a PDF: what a model cites the passage by
            texts.append(format_document(f"{each.path}#page={page}" if page else each.path, each.text))
        dates = self._library.dates({passage.path for passage in passages})
        found = {each.path: answers.date_of(dates.get(each.path), each.heading_path) for each in passages}
        if answers.are_worth_showing([*found.values()]):  # notes that are dated differ in them
            told = "; ".join(f"{path}: {each.day}" for path, each in found.items() if each and each.origin != "file")
            texts.append(f"(Dates: {told}. {NEWEST_COUNTS})")
        return ToolOutcome(
            text="\n\n".join(texts),
            references=tuple(self._passage(passage) for passage in passages),
            summary=counted(len(passages), what),
        )

    def resolve_wikilink(self, *, wikilink: Annotated[str, Text(also=("link", "text"))]) -> ToolOutcome:
        """Find the note a [[link]] leads to, if unclear."""
        found, link = self._resolved(wikilink)
        if not isinstance(found, Resolved | Ambiguous):
            return ToolOutcome(text=_missing(wikilink, found), summary="no such note")
        others = found.others if isinstance(found, Ambiguous) else ()
        remark = missing_heading(self._library, found, link)
        said = f"{wikilink} is {found.path}" + (f"; it could also mean {', '.join(others)}" if others else "")
        return ToolOutcome(
            text=f"{said}. {remark}" if remark else said,
            references=(reference_to(self._library, found.path, anchor=link.anchor, candidates=others),),
            summary=found.path,
        )

    def find_backlinks(self, *, relative_path: NotePath) -> ToolOutcome:
        """List notes that link to a path or title, to see its uses."""
        return self._links([(link, link.source) for link in self._library.links_to(self._path(relative_path))])

    def find_forward_links(self, *, relative_path: NotePath) -> ToolOutcome:
        """List notes that a path or title links to, to follow them."""
        found = self._library.links_from(self._path(relative_path))
        ends = ((link, link.resolution) for link in found)
        return self._links([(link, end.path) for link, end in ends if isinstance(end, Resolved | Ambiguous)])

    def _links(self, found: Iterable[tuple[StoredLink, str]]) -> ToolOutcome:
        """Links, each with the note at its other end."""
        rows = [(f"- {end} (by {link.link.text} in {link.source}, line {link.link.line})", end) for link, end in found]
        return self._listed(rows, "link")

    def find_related(self, *, relative_path: NotePath) -> ToolOutcome:
        """Find notes close to a path or title, by links or subject, to find more."""
        path = self._path(relative_path)
        linked = dict.fromkeys(neighbours(self._library, path), "linked with it")
        alike = self._library.documents(" ".join(self._library.names(path)), limit=MAX_RELATED + 1)
        others = (passage.path for passage in alike if passage.path not in {path, *linked})
        related = linked | dict.fromkeys(others, "on the same subject")
        return self._listed([(f"- {each} ({why})", each) for each, why in related.items()][:MAX_RELATED], "note")

    def list_documents(self, *, after: After = "", before: Before = "", folder: str = "", tag: str = "") -> ToolOutcome:
        """List notes by folder, tag or date."""
        filters = [f'path:"{folder}"' if folder else "", f'tag:"{tag}"' if tag else ""]
        query = " ".join(filter(None, filters)).replace("\n", " ")
        period = self._period(after, before)
        is_filtered = query or period
        notes = self._library.documents(query, limit=1_000_000, period=period) if is_filtered else self._library.notes()
        return self._listed([(f"- {note.path}: {note.title}", note.path) for note in notes], "note")

    def get_current_datetime(self) -> ToolOutcome:
        """Tell date and time, for words like today."""
        now = self._now().astimezone()
        return ToolOutcome(text=f"{now:%A, %Y-%m-%d %H:%M %Z}", summary=f"{now:%Y-%m-%d %H:%M}")

    def _listed(self, rows: Sequence[tuple[str, str]], what: str) -> ToolOutcome:
        """The first of these lines, each of which is about the note with the path beside it."""
        shown = {*self._library.confirmed([path for _, path in rows[:MAX_LISTED]])}
        listed = {line: path for line, path in rows[:MAX_LISTED] if path in shown}
        more = [f"(and {len(rows) - MAX_LISTED:,} more)"] if len(rows) > MAX_LISTED else []
        if not listed:
            return ToolOutcome(text="There are none.", summary="none")
        return ToolOutcome(
            text="\n".join([*listed, *more]),
            references=tuple(reference_to(self._library, path) for path in dict.fromkeys(listed.values())),
            summary=counted(len(listed) + max(0, len(rows) - MAX_LISTED), what),
        )

    def _path(self, named: str) -> str:
        """The note or folder that a model means by a path, title or link. Only what is in the index can be named."""
        found, _ = self._resolved(named)
        if isinstance(found, Resolved | Ambiguous):
            return found.path
        if folder := self._library.find_folder(named):
            return folder
        raise NoteNotFound(_missing(named, found))

    def _resolved(self, named: str) -> tuple[Resolution, Link]:
        """Where a name leads; `Note#Heading` is understood without brackets."""
        link = _link(named)
        found = self._library.resolve(link)
        path, sign, anchor = link.target.partition("#")
        if sign and path and isinstance(found, Missing):
            inside = Link(text=named, target=path, anchor=anchor)
            if not isinstance(there := self._library.resolve(inside), Missing):
                return there, inside
        return found, link

    def _passage(self, passage: Passage) -> DocumentReference:
        return reference_to(
            self._library,
            passage.path,
            wikilink=self._library.link_into(passage.path, passage.heading_path),
            included=True,
            anchor=anchor_of(passage.path, passage.heading_path),
            lines=LineRange(first=passage.first_line, last=passage.last_line),
            snippet=passage.snippet,
            score=passage.score,
        )


def reference_to(library: Library, path: str, **more: Any) -> DocumentReference:
    """What an answer says of a note that a tool found."""
    said = {"wikilink": library.link_to(path), "title": library.title(path), **more}
    return DocumentReference(relative_path=path, reference_type="search", **said)


def missing_heading(library: Library, found: Resolution, link: Link) -> str:
    """`No heading X in [[Note]]; it has A, B.` where a link names a place that its note does not have; else empty."""
    if not isinstance(found, Resolved | Ambiguous) or found.anchor_found or not link.anchor:
        return ""
    outline = library.outline(found.path)
    names = [heading.text for heading in outline.headings] if outline else []
    has = f"it has {', '.join(names[:MAX_HEADINGS])}{', …' * (len(names) > MAX_HEADINGS)}" if names else "it has none"
    return f"No heading {link.anchor} in {library.link_to(found.path)}; {has}."


def _missing(named: str, found: Resolution) -> str:
    close = [f"[[{name}]]" for name in found.suggestions] if isinstance(found, Missing) else []
    return f"There is no note '{named}'." + (f" Closest: {', '.join(close)}." if close else "")


def _link(named: str) -> Link:
    if links := scan(named):
        return links[0]
    path, _, anchor = named.strip().partition("#")
    if page_named(path, anchor):  # as passages of a PDF are named to the model
        return Link(text=named, target=path, anchor=anchor)
    return Link(text=named, target=named.strip())
