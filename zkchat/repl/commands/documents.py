"""Commands for one document of the vault: read it page by page, open it in another program."""

from typing import Final

from zkchat.actions.base import ShownNote
from zkchat.actions.notes import show as show_action
from zkchat.errors import UsageError
from zkchat.model.note import may_hold_text
from zkchat.model.references import DocumentReference
from zkchat.render.numbered_rows import Place
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome
from zkchat.repl.commands.actions import end_page, open_vault, show_result
from zkchat.repl.commands.places import complete_place, find_file
from zkchat.vault.reading import read_note

MORE: Final = "more"
ALL: Final = "all"


async def show(context: CommandContext, argument: str) -> Outcome:
    """A note from its beginning, the next page of the one that is being read, or all that is left of it."""
    if argument not in {MORE, ALL}:
        place, _ = find_file(context, argument, "show")
        return show_result(context, show_action(open_vault(context), place))
    reading = context.browser.view.reading
    if reading is None:
        raise UsageError("No note is being read.", hint="/show [[Note]], a path, or a number.")
    place, path, position = reading
    if position.is_end:
        raise UsageError(f"{path} was shown to its end.", hint=f"/show {path} shows it again.")
    note = read_note(context.browser.library, path, place.anchor)
    shown = context.surface.print_note(note.body, source=path, after=position, whole=argument == ALL)
    return end_page(context, ShownNote(place=place, path=path, note=note), shown)


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
