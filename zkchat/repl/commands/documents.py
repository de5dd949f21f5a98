"""Commands for one document of the vault: read it page by page, today's daily note, open it in another program."""

from typing import Final

from zkchat.errors import UsageError
from zkchat.model.note import may_hold_text
from zkchat.model.references import DocumentReference
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome
from zkchat.repl.commands.arguments import last_answer_id
from zkchat.repl.commands.places import complete_place, find_file
from zkchat.repl.note_pages import Position
from zkchat.repl.vault_browser import Place
from zkchat.vault.daily_notes import find_daily_note
from zkchat.vault.reading import read_note

MORE: Final = "more"
ALL: Final = "all"


async def show(context: CommandContext, argument: str) -> Outcome:
    if argument in {MORE, ALL}:
        return _show_on(context, whole=argument == ALL)
    place, path = find_file(context, argument, "show")
    return _show_place(context, place, path)


async def daily(context: CommandContext, _argument: str) -> Outcome:
    browser, today = context.browser, context.now().astimezone().date()
    found = find_daily_note(browser.refreshed(), browser.daily_notes(), today)
    if found.path is None:
        context.surface.print(f"There is no daily note for {today} yet. It would be {found.expected_path}.")
        return NOTHING
    return _show_place(context, Place(path=found.path), found.path)


def _show_place(context: CommandContext, place: Place, path: str) -> Outcome:
    note = read_note(context.browser.library, path, place.anchor)
    tags = " ".join(f"#{tag}" for tag in note.tags)
    context.surface.print_heading(" › ".join(note.names), " · ".join(filter(None, (place.location, tags))))
    first_line = 1 if place.anchor else place.line or 1
    position = context.surface.print_note(note.body, source=path, first_line=first_line)
    if not position.is_from_top:
        context.surface.print_dimmed(f"It begins further up: /show {path}")
    return _end_page(context, place, path, position)


def _show_on(context: CommandContext, *, whole: bool) -> Outcome:
    """Show the next page of the note that is being read, or all that is left of it."""
    reading = context.browser.view.reading
    if reading is None:
        raise UsageError("No note is being read.", hint="/show [[Note]], a path, or a number.")
    place, path, position = reading
    if position.is_end:
        raise UsageError(f"{path} was shown to its end.", hint=f"/show {path} shows it again.")
    note = read_note(context.browser.library, path, place.anchor)
    shown = context.surface.print_note(note.body, source=path, after=position, whole=whole)
    return _end_page(context, place, path, shown)


def _end_page(context: CommandContext, place: Place, path: str, position: Position) -> Outcome:
    context.browser.view.show_note(last_answer_id(context), place, path, position)
    if not position.is_end:
        context.surface.print_dimmed(f"{position.percent} % · /show more goes on, /show all shows the rest.")
    return NOTHING


def complete_show(context: CommandContext, text: str) -> list[str]:
    reading = context.browser.view.reading
    words = [MORE, ALL] if reading and not reading[2].is_end else []
    return [*complete_place(context, text), *(word for word in words if word.startswith(text))]


async def open_(context: CommandContext, argument: str) -> Outcome:
    place, path = find_file(context, argument, "open")
    if not context.changes.is_taken(path):  # raises for a path outside the vault
        raise UsageError(f"{path} is not there any more.")
    browser = context.browser
    may_edit = bool(browser.editor.name) and may_hold_text(path)
    is_edited = browser.open_with == "editor" or (browser.open_with == "auto" and not context.surface.has_desktop)
    if is_edited and may_edit:
        browser.editor.edit(path, place.line)
        context.surface.print_dimmed(f"Opened {place.location} in {browser.editor.name}.")
        return NOTHING
    if browser.open_with == "editor" and not browser.editor.name:
        raise UsageError("No editor is set.", hint="Set EDITOR, or ui.open_with to another program than the editor.")
    return await _open_on_desktop(context, place, path)


async def _open_on_desktop(context: CommandContext, place: Place, path: str) -> Outcome:
    reference = DocumentReference(wikilink=place.name or path, relative_path=path, anchor=place.anchor)
    address = context.links.of(reference)
    if address is None:
        raise UsageError(f"{path} leads to no file of this vault.")
    risk = context.links.risk(reference) if context.surface.has_desktop else ""
    if risk and not await context.surface.confirm(f"{risk} Open {path}?"):
        context.surface.print_dimmed("Nothing was opened.")
    elif context.surface.open(address):
        context.surface.print_dimmed(f"Opened {path}.")
    else:
        context.surface.print(
            f"Nothing here can open it: there is no desktop, and EDITOR is not set. It is at\n{address}"
        )
    return NOTHING
