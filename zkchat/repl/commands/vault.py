"""Commands that list places of the vault: search, links, backlinks, recent notes; and its tags."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from zkchat.errors import UsageError
from zkchat.model.embeddings import OpenText
from zkchat.model.note import Ambiguous, Passage, Resolved, line_place, without_suffix
from zkchat.model.text import counted
from zkchat.render.link_destinations import describe_destination, describe_link, is_doubtful
from zkchat.render.numbered_rows import NumberedRow
from zkchat.render.passages import passage_row, passage_title
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome
from zkchat.repl.commands.places import NEXT_STEP, find_file, show_list
from zkchat.repl.vault_browser import Place
from zkchat.vault import graph
from zkchat.vault.dates.expressions import describe_period, parse_period
from zkchat.vault.dates.time_filters import check_times, impossible_times
from zkchat.vault.listings import ChangedNote, count_changed, recent_notes, tag_counts
from zkchat.vault.search.passages import matches
from zkchat.vault.search.previews import hits_of

if TYPE_CHECKING:
    from zkchat.model.dates import Calendar, DayRange
    from zkchat.vault.graph import Followed
    from zkchat.vault.library import Library

_MAX_HITS: Final = 6
"""Of a search: with their passages they fill a screen."""
_MAX_COMPARED: Final = 100
"""Passages of which those with the same text are listed once."""
_MORE_HITS: Final = "There are more hits: add a word or tag:NAME; in a shell, zkchat search --limit 30 lists more."
_BY_MEANING: Final = "meaning"
"""Why a passage is found that has none of the words."""
_MAX_RECENT_SHOWN: Final = 10
_MAX_LISTED: Final = 50
_MAX_RECENT: Final = 1_000
_MAX_TAGS: Final = 40
_TAG_FILTER: Final = "tag:"


async def search(context: CommandContext, argument: str) -> Outcome:
    if not argument:
        raise UsageError(
            "What shall be searched for?", hint='/search WORDS, with tag:idea, path:Projects or "a phrase".'
        )
    library = context.browser.refreshed()
    check_times(argument, library.calendar())
    hits = hits_of(library.search(OpenText(argument), limit=_MAX_COMPARED), argument)
    shown = hits[:_MAX_HITS]
    if not shown:
        impossible = impossible_times(argument, library.calendar())
        context.surface.print(impossible or f"Nothing matches {argument}. Try fewer or other words.")
        return NOTHING
    rows = [passage_row(hit.passage, hit.preview, hit.repetitions) for hit in shown]
    context.surface.print_rows(rows, lambda text: matches(text, argument))
    if any(hit.passage.why != _BY_MEANING for hit in hits[_MAX_HITS:]):
        context.surface.print_dimmed(_MORE_HITS)
    return _end_list(context, [_passage_place(hit.passage) for hit in shown])


def _passage_place(passage: Passage) -> Place:
    return Place(path=passage.path, line=passage.first_line, name=passage_title(passage))


def complete_search(context: CommandContext, text: str) -> list[str]:
    """Complete a tag after `tag:` at the end of a query."""
    before, colon, typed = text.rpartition(_TAG_FILTER)
    if not colon or " " in typed or (before and not before.endswith(" ")):
        return []
    return [f"{before}{_TAG_FILTER}{tag}" for tag in complete_tag(context, typed)]


async def links(context: CommandContext, argument: str) -> Outcome:
    _, path = find_file(context, argument, "links")
    library = context.browser.refreshed()
    found = graph.links(library, path)
    if not found:
        context.surface.print(f"{_heading(library, path)} links to nothing.")
        return NOTHING
    ambiguous = sum(isinstance(each.found, Ambiguous) for each in found)
    broken = sum(is_doubtful(each.found) for each in found) - ambiguous
    faults = [f"{count} {fault}" for count, fault in ((broken, "broken"), (ambiguous, "ambiguous")) if count]
    context.surface.print(f"{_heading(library, path)}: {', '.join([counted(len(found), 'link'), *faults])}")
    return _list_some(context, [(_link_row(each), _link_place(each)) for each in found])


def _link_row(followed: "Followed") -> NumberedRow:
    name = describe_link(followed.link, followed.found)
    return NumberedRow(name=name, place=f"line {followed.link.line}", is_doubtful=is_doubtful(followed.found))


def _link_place(followed: "Followed") -> Place:
    """Where a link leads."""
    link, found = followed.link, followed.found
    if isinstance(found, Resolved | Ambiguous):
        return Place(path=found.path, line=found.line, anchor=link.anchor if found.anchor_found else "", name=link.text)
    return Place(path=None, name=link.text, doubt=f"It leads to {describe_destination(found)}.")


async def backlinks(context: CommandContext, argument: str) -> Outcome:
    _, path = find_file(context, argument, "backlinks")
    library = context.browser.refreshed()
    found = graph.backlinks(library, path)
    if not found:
        context.surface.print(f"No other note links to {_heading(library, path)}.")
        return NOTHING
    context.surface.print(f"{_heading(library, path)}: {counted(len(found), 'link')} from other notes")
    return _list_some(context, [(_backlink_row(each), _backlink_place(each)) for each in found])


def _backlink_row(followed: "Followed") -> NumberedRow:
    return NumberedRow(name=line_place(followed.source or "", followed.link.line), text=followed.context)


def _backlink_place(followed: "Followed") -> Place:
    return Place(path=followed.source, line=followed.link.line, name=without_suffix(followed.source or ""))


async def recent(context: CommandContext, argument: str) -> Outcome:
    library = context.browser.refreshed()
    limit, period = _MAX_RECENT_SHOWN, None
    if argument.isascii() and argument.isdigit() and 0 < int(argument[:9]) <= _MAX_RECENT:
        limit = int(argument)
    elif argument:
        limit, period = _MAX_LISTED, _recent_period(argument, library.calendar())
    found = recent_notes(library, limit, period)
    if not found and period:
        raise UsageError(
            f"No note changed {describe_period(period, library.calendar())}.", hint="/recent lists the last."
        )
    if not found:
        raise UsageError("There are no notes in this vault.")
    rows = [
        NumberedRow(name=note.title, place=" · ".join((str(note.changed), *_origin(note), note.path))) for note in found
    ]
    context.surface.print_rows(rows)
    if period and (more := count_changed(library, period) - len(found)):
        context.surface.print_dimmed(f"… and {more:,} more")
    return _end_list(context, [Place(path=note.path, name=note.title) for note in found])


def _recent_period(argument: str, calendar: "Calendar") -> "DayRange":
    period = parse_period(argument, calendar)
    if period is None:
        hint = "For example /recent 20, /recent yesterday, /recent since monday, /recent 2026-03"
        raise UsageError(f"{argument!r} is neither a number of notes up to {_MAX_RECENT:,} nor a time.", hint=hint)
    return period


def _origin(note: ChangedNote) -> tuple[str, ...]:
    return () if note.changed.origin == "file" else (note.changed.origin,)


async def tags(context: CommandContext, argument: str) -> Outcome:
    found = tag_counts(context.browser.refreshed(), argument)
    if not found:
        beginning = f" that begins with {argument!r}" if argument else ""
        raise UsageError(f"No note has a tag{beginning}.", hint="/tags lists all." if argument else "")
    shown = found[:_MAX_TAGS]
    width = max(len(f"{each.notes:,}") for each in shown)
    context.surface.print("\n".join(f"{each.notes:>{width},}  {'  ' * each.depth}#{each.tag}" for each in shown))
    if more := len(found) - len(shown):
        context.surface.print_dimmed(f"… and {counted(more, 'more tag')}. /tags PREFIX lists those that begin so.")
    context.surface.print_dimmed(f"/search tag:{shown[0].tag} lists the notes of one.")
    return NOTHING


def complete_tag(context: CommandContext, text: str) -> list[str]:
    wanted = text.removeprefix("#").casefold()
    return [tag for tag in context.browser.library.tags() if tag.startswith(wanted)]


def _heading(library: "Library", path: str) -> str:
    """Title and path of a note."""
    title = library.title(path)
    return title if title == without_suffix(path) else f"{title} ({path})"


def _list_some(context: CommandContext, found: Sequence[tuple[NumberedRow, Place]]) -> Outcome:
    """Print the first rows of a list, and number their places."""
    context.surface.print_rows([row for row, _ in found[:_MAX_LISTED]])
    if (more := len(found) - _MAX_LISTED) > 0:
        context.surface.print_dimmed(f"… and {more:,} more")
    return _end_list(context, [place for _, place in found[:_MAX_LISTED]])


def _end_list(context: CommandContext, places: Sequence[Place]) -> Outcome:
    show_list(context, places)
    context.surface.print_dimmed(NEXT_STEP)
    return NOTHING
