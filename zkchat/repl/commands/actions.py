"""Actions as slash commands: what follows the name is the note, the words or the number that an action takes."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from zkchat.actions import MAX_RECORDS, Action, Result, ShownNote, Vault
from zkchat.core import UsageError
from zkchat.render import RowSection
from zkchat.repl.command_context import NOTHING, Command, CommandContext, Outcome
from zkchat.repl.commands.places import complete_place, describe_number, find_file, last_answer_id, show_list
from zkchat.repl.surface import Position

MAX_LISTED: Final = 50
_TAG_FILTER: Final = "tag:"


def slash_command(action: Action) -> Command:
    note = action.takes("note")
    first = action.parameters[0] if action.parameters else None
    usage = (first.about.name if first.is_required and not note else f"[{first.about.name}]") if first else ""
    command = Command(
        name=action.name,
        arguments=usage,
        help=action.in_chat,
        details=action.details or " ".join(action.help.split("\n\n")[1:2]).replace("\n", " "),
        is_minor=action.is_minor,
        act=partial(act, action),
    )
    if note:
        return replace(command, complete=complete_place, describe=describe_number)
    complete = _COMPLETERS.get(first.about.complete if first else "")
    return replace(command, complete=complete) if complete else command


async def act(action: Action, context: CommandContext, argument: str) -> Outcome:
    vault = open_vault(context)
    return show_result(context, action.run(vault, **_arguments(action, context, argument)))


def open_vault(context: CommandContext) -> Vault:
    browser = context.browser
    return Vault(
        library=browser.refreshed(),
        now=context.now,
        records=partial(context.changes.records, limit=MAX_RECORDS, with_contents=False),
        daily_notes=browser.daily_notes,
        command="/{}".format,
    )


def _arguments(action: Action, context: CommandContext, argument: str) -> dict[str, Any]:
    """A note, or words; a number alone says how many, where no note is named by it."""
    given: dict[str, Any] = {"limit": action.chat_limit} if action.chat_limit else {}
    first = action.parameters[0] if action.parameters else None
    if note := action.takes("note"):
        given[note.name] = find_file(context, argument, action.name)[0]
    elif words := action.takes("words"):
        given[words.name] = argument.split()
    elif argument.isascii() and argument.isdigit() and 0 < int(argument[:9]) <= 1_000 and action.takes("number"):
        given["limit"] = int(argument)
    elif argument and first:
        given[first.name] = argument
        given.setdefault("limit", MAX_LISTED)
    elif argument:
        raise UsageError(f"/{action.name} takes no arguments.")
    return given


def show_result(context: CommandContext, result: Result) -> Outcome:
    """Show what an action found, and let numbers mean its places from now on."""
    surface = context.surface
    for remark in result.remarks:
        surface.print_dimmed(remark)
    if result.document:
        return show_note(context, result.document)
    if not result.rows:
        if result.empty:
            surface.print(result.empty)
        return NOTHING
    if result.heading:
        surface.print(f"{result.heading}\n" if result.sections[0].title else result.heading)
    sections = [_cut(section) for section in result.sections if section.rows]
    surface.print_sections(sections, result.matches)
    if result.summary:
        surface.print(result.summary)
    places = [row.to for section in sections for row in section.rows if row.to]
    if places:
        show_list(context, places)
    if next_step := result.next_step or (surface.next_step if places else ""):
        surface.print_dimmed(next_step)
    return NOTHING


def _cut(section: RowSection) -> RowSection:
    more = len(section.rows) - MAX_LISTED
    return replace(section, rows=section.rows[:MAX_LISTED], rest=f"… and {more:,} more") if more > 0 else section


def show_note(context: CommandContext, shown: ShownNote) -> Outcome:
    """Show the first page of a note, or the page with its line."""
    note, place = shown.note, shown.place
    tags = " ".join(f"#{tag}" for tag in note.tags)
    context.surface.print_heading(" › ".join(note.names), " · ".join(filter(None, (place.location, tags))))
    first_line = 1 if place.anchor else place.line or 1
    position = context.surface.print_note(note.body, source=shown.path, first_line=first_line)
    if not position.is_from_top:
        context.surface.print_dimmed(f"To see it from the start: /show {shown.path}")
    return end_page(context, shown, position)


def end_page(context: CommandContext, shown: ShownNote, position: Position) -> Outcome:
    """Remember how far a note was shown, and say how to go on."""
    view = context.browser.view
    view.note_after, view.reading = last_answer_id(context), (shown.place, shown.path, position)
    if not position.is_end:
        context.surface.print_dimmed(f"{position.percent} % · /show more continues, /show all shows the rest.")
    return NOTHING


def _complete_tag(context: CommandContext, text: str) -> list[str]:
    wanted = text.removeprefix("#").casefold()
    return [tag for tag in context.browser.library.tags() if tag.startswith(wanted)]


def _complete_query(context: CommandContext, text: str) -> list[str]:
    """Complete a tag after `tag:` at the end of a query."""
    before, colon, typed = text.rpartition(_TAG_FILTER)
    if not colon or " " in typed or (before and not before.endswith(" ")):
        return []
    return [f"{before}{_TAG_FILTER}{tag}" for tag in _complete_tag(context, typed)]


_COMPLETERS: Final[dict[str, Callable[[CommandContext, str], list[str]]]] = {
    "tag": _complete_tag,
    "query": _complete_query,
}
