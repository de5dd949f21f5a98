"""Look into notes: search, read one, what changed last, tags, history of a note, and what statements they support."""

from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import Annotated, Any, Final

from msgspec.structs import replace

from zkchat import answers
from zkchat.actions.base import Argument, Limit, NoteArgument, Result, ShownNote, Vault, action
from zkchat.core import (
    VERDICTS,
    Calendar,
    DayRange,
    ExitCode,
    NoteDate,
    OpenText,
    Passage,
    UsageError,
    changes_of,
    is_note,
    page_of,
)
from zkchat.index import (
    Library,
    count_changed,
    find_daily_note,
    hits_of,
    line_of,
    matches,
    preview_of,
    read_note,
    recent_notes,
    tag_counts,
    targets_of,
)
from zkchat.notes import PERIOD_FORMS, check_times, describe_period, filter_period, impossible_times
from zkchat.render import NumberedRow, Place, RowSection, passage_row, statement_row, summary

_ALIKE: Final = 90
"""Passages beyond the limit that are looked at, because those with the same text are listed once."""
_BY_MEANING: Final = "meaning"
"""Why a passage is found that has none of the words."""
_MOST_BY_MEANING: Final = 2
"""Of these, below passages that have the words."""
_CLEARLY_NEAR: Final = 0.2
"""The score of these at least; by the built-in vectors 0.3 is the nearest."""
_Event = tuple[tuple[date, time], NumberedRow]
"""A row, and when it happened."""
_ORIGINS: Final = {
    "name": "date from its name",
    "frontmatter": "date from its properties",
    "git": "date from git",
    "file": "date of its file",
}


@action(
    "search your notes",
    details='Like zkchat search, with tag:idea, path:Projects, on:yesterday, "a phrase" and -without. Hits '
    "are numbered: /show N shows hit N and /open N opens it, until the next list or answer.",
    chat_limit=6,
    by_meaning=True,
)
def search(
    vault: Vault,
    query: Annotated[
        list[str],
        Argument(name="QUERY", help="Words and filters; quote it all if a word begins with a dash.", complete="query"),
    ],
    limit: Limit = 10,
    notes: Annotated[bool, Argument(option="--notes", help="List each note once, instead of passages.")] = False,
) -> Result:
    """Search your notes.

    Filters narrow it: tag:idea, path:Projects, after:2026-03-01, "an exact phrase", and -word for notes without it.

    zkchat search sleep and memory

    zkchat search 'tag:recipe "rye flour" -yeast' --notes
    """
    library, asked = vault.library, " ".join(query)
    if not asked.strip():
        hint = f'For example: {vault.command("search")} tag:idea path:Projects "a phrase" -without'
        raise UsageError("What do you want to search for?", hint=hint)
    check_times(asked, library.calendar())
    found = find_passages(library, asked, limit + _ALIKE, notes=notes)
    hits = hits_of(found)
    shown, left = hits[:limit], hits[limit:]
    impossible = impossible_times(asked, library.calendar())
    more = any(hit.passage.why != _BY_MEANING for hit in left)
    rows = [
        passage_row(hit.passage, preview_of(hit.passage, asked), line_of(hit.passage, asked), hit.repetitions)
        for hit in shown
    ]
    return Result(
        sections=[RowSection(rows=rows, rest="There are more hits: add a word or tag:NAME." if more else "")],
        empty="" if impossible or rows else _nothing(library, asked),
        remarks=[impossible] if impossible else [],
        data=[passage_record(passage) for passage in found[:limit]],
        matches=lambda text: matches(text, asked),
    )


def find_passages(library: Library, query: str, limit: int, *, notes: bool) -> list[Passage]:
    """The best, in their order; below the last that has the words, few and clearly near ones by meaning alone."""
    found = (library.documents if notes else library.search)(OpenText(query), limit=limit)
    with_words = max((place for place, each in enumerate(found, 1) if each.why != _BY_MEANING), default=0)
    near = [each for each in found[with_words:] if each.score >= _CLEARLY_NEAR]
    return [*found[:with_words], *near[:_MOST_BY_MEANING]] if with_words else [*found]


def _nothing(library: Library, asked: str) -> str:
    """That nothing is found, and the notes whose names hold all the words as parts of longer ones."""
    wanted = asked.casefold().split()
    like = [row.path for row in library.files() if all(word in f"{row.title} {row.path}".casefold() for word in wanted)]
    names = ", ".join(map(library.link_to, library.confirmed(like)[:5]))
    return f"Nothing matches {asked}. {f'Names that contain it: {names}.' if names else 'Try fewer or other words.'}"


def passage_record(passage: Passage) -> dict[str, Any]:
    page = page_of(passage.path, passage.heading_path)
    return {
        "path": passage.path,
        "title": passage.title,
        "heading": passage.heading_path[-1] if passage.heading_path else "",
        **({"page": page} if page else {}),
        "lines": {"first": passage.first_line, "last": passage.last_line},
        "snippet": passage.snippet,
        "score": round(passage.score, 4),
        "why": passage.why,
    }


@action("read a note")
def show(vault: Vault, note: NoteArgument) -> Result:
    """Show a note, or a section of it.

    On a terminal it is rendered, in a pipe it is the text of the file.

    zkchat show "[[Evergreen notes#Titles]]"
    """
    assert note.path
    found = read_note(vault.library, note.path, note.anchor)
    return Result(
        document=ShownNote(place=note, path=note.path, note=found),
        data={
            "path": note.path,
            "title": found.names[0],
            "anchor": note.anchor,
            "line": note.line,
            "tags": found.tags,
            **_dates(vault.library, note.path),
            "text": found.text,
        },
    )


def _dates(library: Library, path: str) -> dict[str, dict[str, str] | None]:
    """When a note was written and changed, and where that is known from."""
    dates = library.dates([path]).get(path)
    if dates is None:
        return {"written": None, "changed": None}
    return {
        name: {"at": each.day.isoformat() + (f"T{each.time:%H:%M:%S}" if each.time else ""), "origin": each.origin}
        for name, each in (("written", dates.written), ("changed", dates.changed))
    }


@action("today's daily note", is_minor=True)
def daily(vault: Vault) -> Result:
    """Show today's daily note.

    It is found through Obsidian's settings for daily notes, or by the usual names. It is not created: if there is none,
    you are told what it would be called, and the exit code is 4.
    """
    today = vault.now().astimezone().date()
    found = find_daily_note(vault.library, vault.daily_notes(), today)
    data = {"date": today, "path": found.path, "expected_path": found.expected_path}
    if found.path is None:
        empty = f"There is no daily note for {today} yet. Its path would be {found.expected_path}."
        return Result(empty=empty, data=data, exit_code=ExitCode.VAULT)
    note = read_note(vault.library, found.path)
    return Result(document=ShownNote(place=Place(path=found.path), path=found.path, note=note), data=data)


@action(
    "notes changed last",
    for_hosts=True,
    details="The last ten, or N, each with its date; or those of a period: /recent yesterday, "
    "/recent since monday, /recent 2026-03.",
    is_minor=True,
)
def recent(
    vault: Vault,
    on: Annotated[
        str, Argument(option="--on", name="TIME", help="Changed on this day or in this period: yesterday, 2026-03.")
    ] = "",
    since: Annotated[
        str, Argument(option="--since", name="TIME", help="Changed since this day: 2026-03-01, last-week, 3d.")
    ] = "",
    limit: Limit = 10,
) -> Result:
    """Show the notes that changed last, newest first.

    zkchat recent --since monday

    zkchat recent --on last-month --limit 50
    """
    library, calendar = vault.library, vault.library.calendar()
    period = _period("after", since, calendar) if since else None
    if on:
        period = _period("on", on, calendar).overlap(period)
    found = recent_notes(library, limit, period)
    more = count_changed(library, period) - len(found) if period else 0
    rows = [
        NumberedRow(
            lead=str(each.changed),
            name=each.title,
            place=each.path if each.changed.origin == "file" else f"{each.path} · {each.changed.origin}",
            to=Place(path=each.path, name=each.title),
            data={
                "path": each.path,
                "title": each.title,
                "changed_at": (each.changed_at if each.changed.time else each.changed.day).isoformat(),
                "origin": each.changed.origin,
            },
        )
        for each in found
    ]
    return Result(
        sections=[RowSection(rows=rows, rest=f"… and {more:,} more" if more else "")],
        empty=f"No note changed {describe_period(period, calendar)}." if period else "There are no notes.",
    )


def _period(field: str, text: str, calendar: Calendar) -> DayRange:
    period = filter_period(field, text, calendar)
    if period is None:
        raise UsageError(f"{text!r} is not a time.", hint=f"Write {PERIOD_FORMS}.")
    return period


@action("tags, with counts", for_hosts=True, chat_limit=40, is_minor=True)
def tags(
    vault: Vault,
    prefix: Annotated[str, Argument(name="PREFIX", help="Only tags that begin with this.", complete="tag")] = "",
    limit: Limit = 10_000,
) -> Result:
    """Show the tags of your notes, each with the number of notes.

    A nested tag also counts for its parents. The notes with one tag: zkchat search tag:idea --notes
    """
    found = tag_counts(vault.library, prefix)
    shown = found[:limit]
    rows = [
        NumberedRow(
            lead=f"{each.notes:,}", name=f"#{each.tag}", depth=each.depth, data={"tag": each.tag, "notes": each.notes}
        )
        for each in shown
    ]
    more = f"… and {len(found) - limit:,} more: {vault.command('tags')} PREFIX lists those that begin with PREFIX."
    beginning = f" that begins with {prefix!r}. {vault.command('tags')} lists all" if prefix else ""
    return Result(
        sections=[RowSection(rows=rows, rest=more if len(found) > limit else "")],
        empty=f"No note has a tag{beginning}.",
        next_step=f"{vault.command('search')} tag:{shown[0].tag} lists the notes with that tag." if shown else "",
    )


@action("history of a note", chat_limit=30, is_minor=True)
def timeline(
    vault: Vault,
    note: NoteArgument,
    limit: Annotated[
        int, Argument(option="--limit", name="N", least=1, most=1_000, help="How many of the latest events to show.")
    ] = 50,
) -> Result:
    """Show the history of a note, oldest first.

    When it was written and changed and how that is known, what zkchat changed in it, its git commits, and dated notes
    linked to or from it.

    zkchat timeline "[[Evergreen notes]]"
    """
    assert note.path
    library = vault.library
    zone = library.calendar().now.tzinfo
    events = _dated_neighbours(library, note.path)
    if dates := library.dates([note.path]).get(note.path):
        known = {"written": dates.written, **({"changed": dates.changed} if dates.changed != dates.written else {})}
        own = [_event(at, f"{kind} ({_ORIGINS[at.origin]})", kind=kind, text=at.origin) for kind, at in known.items()]
        events = [*own, *events]
    for record in changes_of(vault.records(), note.path):
        text = record.changes.title + (" (undone)" if record.state == "undone" else "")
        said = f"change {record.id}: {text}"
        events.append(_event(record.at.astimezone(zone), said, kind="edit", text=text, id=str(record.id)))
    for commit in library.commits(note.path, 1_000):
        at = datetime.fromtimestamp(0, UTC)
        with suppress(OverflowError, OSError, ValueError):  # a repository may hold any number
            at = datetime.fromtimestamp(commit.seconds, zone)
        said = f"commit {commit.id[:7]}: {commit.subject}"
        events.append(_event(at, said, kind="commit", text=commit.subject, id=commit.id))
    events.sort(key=lambda event: event[0])
    earlier = max(0, len(events) - limit)
    title = library.title(note.path)
    rows = [replace(row, to=row.to or Place(path=note.path, name=title)) for _, row in events[earlier:]]
    return Result(
        heading=f"{library.link_to(note.path)}:",
        sections=[RowSection(rows=rows)],
        remarks=[f"{earlier:,} earlier events: --limit {earlier + limit} shows them"] if earlier else [],
        data={"path": note.path, "title": title, "events": [row.data for row in rows], "earlier": earlier},
    )


def _dated_neighbours(library: Library, path: str) -> list[_Event]:
    sources = dict.fromkeys(link.source for link in library.links_to(path))
    targets = (target for link in library.links_from(path) for target in targets_of(link.resolution)[:1])
    kinds = {**dict.fromkeys(filter(is_note, targets), "link"), **dict.fromkeys(sources, "backlink")}
    kinds.pop(path, None)
    dates = library.dates([*kinds])
    said = {"backlink": "{} links here", "link": "links to {}"}
    return [
        _event(
            dates[each].written, said[kinds[each]].format(each), kind=kinds[each], text=library.title(each), path=each
        )
        for each in library.confirmed([*kinds])
        if each in dates and dates[each].written.is_told
    ]


def _event(at: NoteDate | datetime, said: str, **data: str) -> _Event:
    day, clock = (at.date(), at.time()) if isinstance(at, datetime) else (at.day, at.time)
    path = data.get("path")
    row = NumberedRow(
        lead=f"{day} {clock:%H:%M}" if clock else f"{day}",
        name=said,
        to=Place(path=path, name=data["text"]) if path else None,
        data={"date": f"{day}", "time": f"{clock:%H:%M:%S}" if clock else None, "path": None, "id": None, **data},
    )
    return (day, clock or time.min), row


def verified(library: Library, text: str, *, without: Collection[str] = (), problems: bool = False) -> Result:
    """A row for each statement of a text, or for those that the notes do not support; `without` are notes left out."""
    found = answers.verify(library, text, without=without)
    rows = [statement_row(each) for each in found.statements if not (problems and each.is_supported)]
    return Result(
        sections=[RowSection(rows=rows)],
        empty=summary(found),
        summary=summary(found),
        data={
            "supported": found.is_supported,
            "complete": found.is_complete,
            "counts": {verdict: found.count(verdict) for verdict in VERDICTS},
            "statements": [row.data for row in rows],
        },
        exit_code=ExitCode.OK if found.is_supported else ExitCode.NO_ANSWER,
    )
