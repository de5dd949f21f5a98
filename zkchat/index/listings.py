"""Lists over a whole vault, notes by day, the note that a user names, and its text as its owner reads it."""

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from heapq import nlargest
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    Ambiguous,
    DayRange,
    Link,
    Missing,
    ModelInfo,
    NoteDate,
    NoteDates,
    NoteNotFound,
    NotesOfDays,
    Resolved,
    UsageError,
    counted,
    file_title,
    is_note,
    is_pdf,
    lazy_pattern,
    newness,
    page_heading,
    page_named,
    page_of_anchor,
)
from zkchat.index.library import Library
from zkchat.notes import parse_note, scan, without_escape

_LINE: Final = re.compile(r"(?P<path>.+):(?P<line>[1-9]\d{0,8})")
"""A path and a line, as lists show them."""


class NamedNote(Struct, frozen=True, kw_only=True):
    """A note, or another file, and the place in it."""

    path: str
    anchor: str = ""
    """The heading or block; empty where none was named, or where the note has no such place."""
    line: int | None = None
    others: tuple[str, ...] = ()
    """Other notes that the name could mean."""
    missing_anchor: str = ""
    """The heading or block that was named and is not there."""


def parse_link(text: str) -> Link:
    """The one link of a text, or the text itself as the name of a note."""
    links = scan(text) or scan(f"[[{text}]]")
    if len(links) != 1:
        raise UsageError(f"{text!r} is not a link.", hint='Write one, for example "[[Note#Heading]]".')
    return links[0]


def find_named_note(library: Library, name: str, paths: Iterable[str] = (), *, search: str) -> NamedNote:
    """Find the note that a user names. Raises `NoteNotFound` with the closest names as a hint.

    `paths` are tried first, as paths in the vault. `search` is the command that the hint names where nothing is close.
    """
    for path in (*paths, name):
        if found := _at_path(library, path):
            return found
    link = parse_link(name)
    resolved = library.resolve(link)
    match resolved:
        case Resolved() | Ambiguous():
            if not resolved.anchor_found and (page := page_named(resolved.path, link.anchor)):
                outline = library.outline(resolved.path)
                pages = counted(len(outline.headings) if outline else 0, "page")
                raise NoteNotFound(
                    f"There is no page {page:,} in {resolved.path}: it has {pages}.",
                    hint=f"Its first page is {resolved.path}#page=1",
                )
            return NamedNote(
                path=resolved.path,
                anchor=link.anchor if resolved.anchor_found else "",
                line=resolved.line,
                others=resolved.others if isinstance(resolved, Ambiguous) else (),
                missing_anchor="" if resolved.anchor_found else link.anchor,
            )
        case Missing() if resolved.suggestions:
            closest = ", ".join(f"[[{suggestion}]]" for suggestion in resolved.suggestions)
            raise NoteNotFound(f"There is no note {name!r} in the vault.", hint=f"Closest: {closest}.")
    raise NoteNotFound(f"There is no note {name!r} in the vault.", hint=f"To search for it: {search} WORDS")


_CLOSED: Final = r'\[\[[^\]]+\]\]|"[^"]+"|“[^”]+”'
_BETWEEN: Final = r"\s*(?:[-=]>|→|(?<!\S)(?:to|as)(?!\S))\s*"
_TO: Final = lazy_pattern(_BETWEEN, re.IGNORECASE)
_TWO_NAMES: Final = lazy_pattern(
    rf"({_CLOSED})(?:{_BETWEEN}|\s*)(\S.*)|(\S.*?)(?:{_BETWEEN}|\s+)({_CLOSED})", re.IGNORECASE
)


def old_and_new_name(library: Library, text: str, hint: str, numbers: Collection[str] = ()) -> tuple[str, str]:
    """A name and the new one after it, either of them in `[[ ]]`, in quotes or bare; a "to" may stand between them.

    Where both are bare, exactly one way to divide them has to name a file. Raises `UsageError` with the hint.
    """

    def names_a_file(name: str) -> bool:
        is_found = isinstance(library.resolve(parse_link(name), suggestions=0), Resolved | Ambiguous)
        return is_found or name in numbers or (name.endswith("/") and bool(library.find_folder(name)))

    if closed := _TWO_NAMES.fullmatch(text):
        found = [(closed[1] or closed[3], closed[2] or closed[4])]
    else:
        places = [*_TO.finditer(text)] or re.finditer(r"\s+", text)
        divided = ((text[: at.start()], text[at.end() :]) for at in places)
        found = [(old, new) for old, new in divided if names_a_file(old)]
    if len(found) != 1 or not found[0][1] or _TO.fullmatch(found[0][1]):
        raise UsageError("Which note, and which new name?", hint=hint)
    return found[0][0].strip('"“”'), found[0][1].strip('"“”')


def _at_path(library: Library, name: str) -> NamedNote | None:
    """The file with exactly this path, with or without a line."""
    located = _LINE.fullmatch(name)
    for path, line in ((name, None), *([(located["path"], int(located["line"]))] if located else [])):
        found = library.resolve(Link(text=path, target=f"/{path}"), suggestions=0)
        if isinstance(found, Resolved):
            return NamedNote(path=found.path, line=line)
    return None


_PAGE: Final = re.compile(r"# Page \d+")
_MARKUP: Final = re.compile(r"[\\`*_{}\[\]<>#|~$&!]|^[-+=]|(?<=^\d)[.)]")


class OnThisMachine:
    """Stands for the user's own machine, where only notes that are never to be read are kept back."""

    info = ModelInfo(provider="", id="", on_this_machine=True)


class ReadableNote(Struct, frozen=True, kw_only=True):
    names: tuple[str, ...]
    """The title of the note, and the headings of the section that was asked for."""
    tags: tuple[str, ...]
    text: str
    """As in the file, without comments."""
    body: str
    """The text to be drawn, line for line as in the file."""


def read_note(library: Library, path: str, anchor: str = "") -> ReadableNote:
    """Read a note, a section of it, or another file with text.

    Raises `UsageError` for what cannot be shown, `NoteNotFound` or `NoteUnreadable` for what cannot be read.
    """
    if reason := library.guarded_for(OnThisMachine()).withheld(Link(text=path, target=f"/{path}")):
        raise UsageError(f"{path} {reason} by zkchat, and is not shown.", hint="Open it with another program.")
    if not library.may_hold_text(path):
        raise UsageError(f"{path} is not text.", hint="Open it with another program.")
    text = library.section(path, anchor)
    if not library.is_indexed(path):
        return ReadableNote(names=(file_title(path),), tags=(), text=text, body=_as_code(text, path))
    if is_pdf(path):
        page = page_of_anchor(anchor)
        shown = (page_heading(page),) if page else ()
        # As Markdown in which nothing but the headings of its pages is markup, without one that is the title.
        pages = (text.removeprefix(f"# {shown[0]}") if shown else text).split("\n")
        body = "\n".join(
            line if _PAGE.fullmatch(line) else _MARKUP.sub(r"\\\g<0>", without_escape(line)) for line in pages
        )
        return ReadableNote(names=(library.title(path), *shown), tags=(), text=text, body=body)
    names = (library.title(path), *filter(None, anchor.split("#")))
    if not is_note(path):
        return ReadableNote(names=names, tags=(), text=text, body=text)
    # Without its frontmatter, and without the title that stands above it on the screen; lines keep their numbers.
    note, body = parse_note(path, text), text
    first = note.headings[0] if note.headings else None
    if first and first.text == names[-1] and not text[note.body_start : first.start].strip():
        _, line_end, below = text[first.start :].partition("\n")
        body = text[: first.start] + line_end + below
    body = "\n" * body.count("\n", 0, note.body_start) + body[note.body_start :]
    return ReadableNote(names=names, tags=note.tags, text=text, body=body)


def _as_code(text: str, path: str) -> str:
    """A file that is no note, as a code block that nothing in it can end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{path.rpartition('.')[2]}\n{text.rstrip()}\n{fence}\n"


_MORE: Final = 8
"""How many times as many are looked at where too many were templates or no notes."""


class TagCount(Struct, frozen=True, kw_only=True):
    tag: str
    notes: int
    """With this tag, or one below it."""

    @property
    def depth(self) -> int:
        return self.tag.count("/")


class ChangedNote(Struct, frozen=True, kw_only=True):
    path: str
    title: str
    changed: NoteDate
    changed_at: datetime
    """The same as a point in time, in the user's time zone."""


def tag_counts(library: Library, prefix: str = "") -> list[TagCount]:
    """The tags that begin with the prefix: each tag before those below it, otherwise the most used first."""
    notes: dict[str, set[str]] = {}
    for tag, paths in library.tags().items():
        for each in _with_parents(tag):
            notes.setdefault(each, set()).update(paths)

    def position(tag: str) -> list[tuple[int, str]]:
        return [(-len(notes[each]), each) for each in _with_parents(tag)]

    wanted = prefix.strip().lstrip("#").casefold()
    found = sorted((tag for tag in notes if tag.startswith(wanted)), key=position)
    return [TagCount(tag=tag, notes=len(notes[tag])) for tag in found]


def _with_parents(tag: str) -> Iterator[str]:
    """The tags above a nested tag, the outermost first, and the tag itself."""
    parts = tag.split("/")
    for end in range(1, len(parts) + 1):
        yield "/".join(parts[:end])


def count_changed(library: Library, period: DayRange) -> int:
    return len(notes_by_day(library, NotesOfDays(days=period, by_change=True), with_templates=True))


def recent_notes(library: Library, limit: int, period: DayRange | None = None) -> list[ChangedNote]:
    """The notes that changed last, of all days or in a period, newest first."""
    zone = library.calendar().now.tzinfo
    dates = changed_last(library, limit, period)
    latest = nlargest(limit, sorted(dates), key=lambda path: newness(dates[path]))
    return [
        ChangedNote(
            path=path, title=library.title(path), changed=dates[path].changed, changed_at=dates[path].changed.at(zone)
        )
        for path in latest
    ]


def notes_by_day(library: Library, wanted: NotesOfDays, *, with_templates: bool = False) -> dict[str, NoteDates]:
    """By path the dates of the notes that are wanted, in the order of their days: the newest first unless the oldest
    are wanted, those of one day by path.

    By the days on which they were written, notes that tell them come before those whose file alone has a date.
    """
    looked_at = wanted
    while True:
        known = library.dates_of_days(looked_at)
        first = _in_order(known, wanted)[: looked_at.most]
        notes = [path for path in first if is_note(path)]
        found = (notes if with_templates else library.without_templates(notes))[: wanted.most]
        if wanted.most is None or looked_at.most is None or len(found) == wanted.most or len(first) < looked_at.most:
            return {path: known[path] for path in found}
        looked_at = replace(looked_at, most=_MORE * looked_at.most)


def changed_last(library: Library, limit: int, period: DayRange | None = None) -> dict[str, NoteDates]:
    """By path the dates of the notes that changed last, of all days or in a period: so many, and all others that
    changed on the same days."""
    wanted = NotesOfDays(days=period or DayRange(), by_change=True, most=limit)
    found = notes_by_day(library, wanted, with_templates=True)
    if not found or len(found) < limit:
        return found
    days = DayRange(min(each.changed.day for each in found.values()), wanted.days.end)
    return notes_by_day(library, NotesOfDays(days=days, by_change=True), with_templates=True)


def _in_order(known: dict[str, NoteDates], wanted: NotesOfDays) -> list[str]:
    dates = {path: each.changed if wanted.by_change else each.written for path, each in known.items()}
    sign = 1 if wanted.oldest_first else -1

    def position(path: str) -> tuple[bool, int, str]:
        is_told = wanted.by_change or dates[path].is_told
        return not is_told, sign * dates[path].day.toordinal(), path

    return sorted((path for path, each in dates.items() if each.day in wanted.days), key=position)
