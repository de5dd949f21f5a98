"""The timeline of a note: its dates, its changes, its commits, and dated notes around it."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, time, tzinfo
from typing import Final

from zkchat.model.change import ChangeRecord
from zkchat.model.change_summary import changes_of
from zkchat.model.dates import NoteDate
from zkchat.model.history import Commit
from zkchat.model.note import is_note
from zkchat.model.timeline import EventKind, Timeline, TimelineEvent
from zkchat.vault.guarded import targets_of
from zkchat.vault.library import Library

MAX_EVENTS: Final = 1_000


def note_timeline(library: Library, path: str, records: Iterable[ChangeRecord], limit: int) -> Timeline:
    """The latest events of a note; `records` is the journal of changes, the latest first."""
    zone = library.calendar().now.tzinfo
    events = [
        *_own_dates(library, path),
        *(_edit(record, zone) for record in changes_of(records, path)),
        *(_commit(commit, zone) for commit in library.commits(path, MAX_EVENTS)),
        *_dated_neighbours(library, path),
    ]
    events.sort(key=lambda event: (event.day, event.time or time.min))
    first = max(0, len(events) - limit)
    return Timeline(path=path, title=library.title(path), events=tuple(events[first:]), earlier=first)


def _own_dates(library: Library, path: str) -> Iterator[TimelineEvent]:
    dates = library.dates([path]).get(path)
    if dates is None:
        return
    yield _dated("written", dates.written, dates.written.origin)
    if dates.changed != dates.written:
        yield _dated("changed", dates.changed, dates.changed.origin)


def _dated(kind: EventKind, at: NoteDate, text: str, path: str = "") -> TimelineEvent:
    return TimelineEvent(day=at.day, time=at.time, kind=kind, text=text, path=path)


def _edit(record: ChangeRecord, zone: tzinfo | None) -> TimelineEvent:
    at = record.at.astimezone(zone)
    text = record.changes.title + (" (undone)" if record.state == "undone" else "")
    return TimelineEvent(day=at.date(), time=at.time(), kind="edit", text=text, number=str(record.id))


def _commit(commit: Commit, zone: tzinfo | None) -> TimelineEvent:
    try:
        at = datetime.fromtimestamp(commit.seconds, zone)
    except (OverflowError, OSError, ValueError):
        at = datetime.fromtimestamp(0, UTC)
    return TimelineEvent(day=at.date(), time=at.time(), kind="commit", text=commit.subject, number=commit.id)


def _dated_neighbours(library: Library, path: str) -> list[TimelineEvent]:
    sources = dict.fromkeys(link.source for link in library.links_to(path))
    targets = dict.fromkeys(target for link in library.links_from(path) for target in targets_of(link.resolution)[:1])
    around: Sequence[tuple[EventKind, list[str]]] = (
        ("backlink", [each for each in sources if each != path]),
        ("link", [each for each in targets if each != path and each not in sources and is_note(each)]),
    )
    dates = library.dates([each for _, paths in around for each in paths])
    return [
        _dated(kind, dates[each].written, library.title(each), each)
        for kind, paths in around
        for each in library.confirmed(paths)
        if each in dates and dates[each].written.is_told
    ]
