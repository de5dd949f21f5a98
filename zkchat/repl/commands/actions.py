"""Actions as slash commands: what follows the name is the note, the words or the number that an action takes.

And commands for one document of the vault: read it page by page, open it in another program.
"""

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any, Final

from msgspec.structs import replace

from zkchat.actions import MAX_RECORDS, Action, Result, ShownNote, Vault, every_action, today_of
from zkchat.actions import show as show_action
from zkchat.answers import DEFAULT_DAYS, MAX_DAYS
from zkchat.core import ChangeOrigin, DocumentReference, UsageError, may_hold_text
from zkchat.index import old_and_new_name, read_note
from zkchat.render import Place, RowSection
from zkchat.repl.command_context import Command, CommandContext, Outcome, Play, slash
from zkchat.repl.commands.places import complete_place, describe_number, find_file, last_answer_id, show_list
from zkchat.repl.surface import Position
from zkchat.writing import NO_MENTIONS, MentionLinks, NoteEditor, StagedChanges, VaultConventions, stage_links

MAX_LISTED: Final = 50
_TAG_FILTER: Final = "tag:"
_SUMMARY: Final = "--summary"
_NOTHING_CHANGED: Final = "Nothing was changed."
MORE: Final = "more"
ALL: Final = "all"


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


async def act(action: Action, context: CommandContext, argument: str) -> None:
    vault = open_vault(context)
    show_result(context, action.run(vault, **_arguments(action, context, argument)))


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


def show_result(context: CommandContext, result: Result) -> None:
    """Show what an action found, and let numbers mean its places from now on."""
    surface = context.surface
    for remark in result.remarks:
        surface.print_dimmed(remark)
    if result.document:
        # Show the first page of a note, or the page with its line.
        note, place = result.document.note, result.document.place
        tags = " ".join(f"#{tag}" for tag in note.tags)
        context.surface.print_heading(" › ".join(note.names), " · ".join(filter(None, (place.location, tags))))
        first_line = 1 if place.anchor else place.line or 1
        position = context.surface.print_note(note.body, source=result.document.path, first_line=first_line)
        if not position.is_from_top:
            context.surface.print_dimmed(f"To see it from the start: /show {result.document.path}")
        end_page(context, result.document, position)
        return
    if not result.rows:
        if result.empty:
            surface.print(result.empty)
        return
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


def _cut(section: RowSection) -> RowSection:
    more = len(section.rows) - MAX_LISTED
    return replace(section, rows=section.rows[:MAX_LISTED], rest=f"… and {more:,} more") if more > 0 else section


def end_page(context: CommandContext, shown: ShownNote, position: Position) -> None:
    """Remember how far a note was shown, and say how to go on."""
    view = context.browser.view
    view.note_after, view.reading = last_answer_id(context), (shown.place, shown.path, position)
    if not position.is_end:
        context.surface.print_dimmed(f"{position.percent} % · /show more continues, /show all shows the rest.")


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


@slash("brief [DAYS]", "/today --summary")
async def brief(context: CommandContext, argument: str) -> Outcome:
    """The old name of /today --summary."""
    return await today.run(context, f"{argument} {_SUMMARY}")


@slash("today [DAYS]", "tasks and changes")
async def today(context: CommandContext, argument: str) -> Outcome:
    """Shows today's daily note, open tasks by due date, notes changed in the last DAYS days (default: 7), notes from
    this day in earlier years, and mentions without a link. With --summary, a model adds a summary.
    """
    given = " ".join(word for word in argument.split() if word != _SUMMARY)
    if given and not (given.isascii() and given.isdigit() and 0 < int(given[:9]) <= MAX_DAYS):
        raise UsageError(f"{given!r} is not a number of days up to {MAX_DAYS}.", hint="For example /today 3")
    days = int(given) if given else DEFAULT_DAYS
    show_result(context, today_of(open_vault(context), days))
    return Play(context.conversation.summarize_brief(days)) if _SUMMARY in argument.split() else None


@slash("link [NOTE]", "link mentioned notes", complete=complete_place, describe=describe_number)
async def link(context: CommandContext, argument: str) -> None:
    """Shows each mention of a note without a link: y links it, n does not. With NOTE (as in /show): first those of
    NOTE, then those in it. Without NOTE: those in the newest notes. /undo reverts all links at once.
    """
    path = find_file(context, argument, "link")[1] if argument else None
    staged = StagedChanges(context.changes)
    library = context.browser.library
    library.refresh()
    found = MentionLinks(library, staged.read, context.link_style())
    groups = found.about(path)
    if (first := next(groups, None)) is None:
        context.surface.print(NO_MENTIONS)
        return
    chosen = context.choose_mentions(chain([first], groups))
    made = stage_links(staged, chosen or [])
    for remark in made.remarks:
        context.surface.print(remark)
    if not staged:
        context.surface.print_dimmed(_NOTHING_CHANGED)
        return
    context.changes.apply(
        staged.change_set(), ChangeOrigin(command="/link", session_id=context.conversation.session_id)
    )
    context.surface.print(made.summary)
    context.surface.print_dimmed("/undo reverts it.")


@slash("rename NOTE NAME", "rename a note", complete=complete_place, describe=describe_number)
async def rename(context: CommandContext, argument: str) -> None:
    """/rename [[Sleep]] Sleep well: every link to the note follows. You see the changes and say yes or no; /undo
    reverts it.
    """
    library = context.browser.refreshed()
    example = "For example: /rename [[Raised bed]] Larch bed"
    old, new = old_and_new_name(library, argument, example, complete_place(context, ""))
    path = find_file(context, old, "rename")[1]
    staged = StagedChanges(context.changes)
    style = VaultConventions(link_style=context.link_style())
    edit = NoteEditor(library, staged, style, lambda: library.calendar().now).rename(path, new)
    changes = staged.change_set()
    context.surface.print_changes(changes)
    for remark in edit.remarks:
        context.surface.print(remark)
    if not await context.surface.confirm(f"{edit.title}?"):
        context.surface.print_dimmed(_NOTHING_CHANGED)
        return
    context.changes.apply(changes, ChangeOrigin(command="/rename", session_id=context.conversation.session_id))
    context.surface.print(f"{edit.title}: done. /undo reverts it.")


VIEWS: Final = {f"--{name}": name for name in ("links", "mentions", "neighbours", "timeline")}


def complete_show(context: CommandContext, text: str) -> list[str]:
    reading = context.browser.view.reading
    words = [*([MORE, ALL] if reading and not reading[2].is_end else []), *(VIEWS if text else ())]
    return [*complete_place(context, text), *(word for word in words if word.startswith(text))]


@slash("show [NOTE]", "read a note, its links", complete=complete_show, describe=describe_number)
async def show(context: CommandContext, argument: str) -> None:
    """NOTE is the number of a hit, a link such as [[Note#Heading]] or [[Note#^block]], or a path. A long note comes in
    pages: /show more continues, /show all shows the rest. Without NOTE: the first source of the last answer. --links
    shows the links in it and to it, --mentions where it is mentioned without a link, --neighbours the notes linked to
    or from it, --timeline its history.
    """
    words = argument.split()
    if views := [word for word in words if word in VIEWS]:
        named = " ".join(word for word in words if word not in VIEWS)
        await act(every_action()[VIEWS[views[0]]], context, named)
        return
    if argument not in {MORE, ALL}:
        place, _ = find_file(context, argument, "show")
        show_result(context, show_action(open_vault(context), place))
        return
    reading = context.browser.view.reading
    if reading is None:
        raise UsageError("There is no next page.", hint="First show a note: /show [[Note]]")
    place, path, position = reading
    if position.is_end:
        raise UsageError(f"{path} was shown to its end.", hint=f"/show {path} shows it again.")
    note = read_note(context.browser.library, path, place.anchor)
    shown = context.surface.print_note(note.body, source=path, after=position, whole=argument == ALL)
    end_page(context, ShownNote(place=place, path=path, note=note), shown)


@slash("open [NOTE]", "open in your editor", complete=complete_place, describe=describe_number)
async def open_(context: CommandContext, argument: str) -> None:
    """NOTE as in /show. Notes of an Obsidian vault open in Obsidian, others in your system's default program; without a
    desktop, in $VISUAL or $EDITOR at the line. The setting ui.open_with changes this.
    """
    place, path = find_file(context, argument, "open")
    if not context.changes.is_taken(path):  # raises for a path outside the vault
        raise UsageError(f"{path} no longer exists.")
    browser = context.browser
    may_edit = bool(browser.editor) and may_hold_text(path)
    is_edited = browser.open_with == "editor" or (browser.open_with == "auto" and not context.surface.has_desktop)
    if is_edited and may_edit:
        is_there = browser.edit(path, place.line)
        line = "" if is_there else f" The passage begins on line {place.line}."
        context.surface.print_dimmed(f"Opened {place.location if is_there else path} in {browser.editor}.{line}")
        return
    if browser.open_with == "editor" and not browser.editor:
        raise UsageError("No editor is set.", hint="Set EDITOR, or change the setting ui.open_with.")
    await _open_on_desktop(context, place, path)


async def _open_on_desktop(context: CommandContext, place: Place, path: str) -> None:
    reference = DocumentReference(wikilink=place.name or path, relative_path=path, anchor=place.anchor)
    address = context.links.of(reference)
    if address is None:
        raise UsageError(f"{path} does not lead to a file in this vault.")
    risk = context.links.risk(reference) if context.surface.has_desktop else ""
    if risk and not await context.surface.confirm(f"{risk} Open {path}?"):
        context.surface.print_dimmed("Nothing was opened.")
    elif context.surface.open(address):
        context.surface.print_dimmed(f"Opened {path}.")
    else:
        no_editor = "" if context.browser.editor else ", and no editor is set (try: EDITOR=nano zkchat)"
        context.surface.print(f"{path} cannot be opened: there is no desktop{no_editor}. It is at\n{address}")
