"""Commands for one document of the vault: read it page by page, today's daily note, open it in another program."""

from typing import TYPE_CHECKING, Final

from zkchat.errors import UsageError
from zkchat.model.message import DocumentReference
from zkchat.model.note import Link, Note, file_title, is_note, may_hold_text
from zkchat.model.prompt import ModelInfo
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome
from zkchat.repl.commands.arguments import last_answer_id
from zkchat.repl.commands.places import complete_place, find_file
from zkchat.repl.vault_browser import Place, Position
from zkchat.vault.daily_notes import find_daily_note
from zkchat.vault.notes.parse import parse_note

if TYPE_CHECKING:
    from zkchat.vault.library import Library

MORE: Final = "more"
ALL: Final = "all"


class _OnThisMachine:
    """Stands for the user's own machine, where only notes that are never to be read are kept back."""

    info = ModelInfo(provider="", id="", on_this_machine=True)


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
    text, heading = _readable(context.browser.library, place, path)
    context.surface.print_heading(*heading)
    first_line = 1 if place.anchor else place.line or 1
    position = context.surface.print_note(text, source=path, first_line=first_line)
    if position.first:
        context.surface.print_dimmed(f"It begins further up: /show {path}")
    return _end_page(context, place, position)


def _show_on(context: CommandContext, *, whole: bool) -> Outcome:
    """Show the next page of the note that is being read, or all that is left of it."""
    reading = context.browser.view.reading
    if reading is None or reading[0].path is None:
        raise UsageError("No note is being read.", hint="/show [[Note]], a path, or a number.")
    place, position = reading
    if position.row >= position.rows:
        raise UsageError(f"{place.path} was shown to its end.", hint=f"/show {place.path} shows it again.")
    text, _ = _readable(context.browser.library, place, place.path or "")
    shown = context.surface.print_note(text, source=place.path or "", after=position, whole=whole)
    return _end_page(context, place, shown)


def _end_page(context: CommandContext, place: Place, position: Position) -> Outcome:
    context.browser.view.show_note(last_answer_id(context), place, position)
    if position.row < position.rows:
        share = round(100 * position.row / position.rows)
        context.surface.print_dimmed(f"{share} % · /show more goes on, /show all shows the rest.")
    return NOTHING


def _readable(library: "Library", place: Place, path: str) -> tuple[str, tuple[str, str]]:
    """The text to be drawn, line for line as in the file, and its heading: names, then where it stands."""
    if reason := library.guarded_for(_OnThisMachine()).withheld(Link(text=path, target=f"/{path}")):
        raise UsageError(f"{path} {reason} by zkchat, and is not shown.", hint="/open opens it in your own program.")
    if not may_hold_text(path):
        raise UsageError(f"{path} is no text.", hint=f"/open {path} opens it.")
    text = library.section(path, place.anchor)
    if not is_note(path):
        return _as_code(text, path), (file_title(path), place.location)
    names = [library.title(path), *filter(None, place.anchor.split("#"))]
    note = parse_note(path, text)
    tags = " ".join(f"#{tag}" for tag in note.tags)
    return _body(text, note, names[-1]), (" › ".join(names), " · ".join(filter(None, (place.location, tags))))


def _body(text: str, note: Note, title: str) -> str:
    """The text without its frontmatter, and without the title that stands above it on the screen."""
    first = note.headings[0] if note.headings else None
    if first and first.text == title and not text[note.body_start : first.start].strip():
        end = text.find("\n", first.start)
        text = _blanked(text, first.start, end if end >= 0 else len(text))
    return _blanked(text, 0, note.body_start)


def _blanked(text: str, start: int, end: int) -> str:
    """The text without a part of it, but with its line ends, so that lines keep their numbers."""
    return text[:start] + "\n" * text.count("\n", start, end) + text[end:]


def _as_code(text: str, path: str) -> str:
    """A file that is no note, as a code block that nothing in it can end."""
    fence = "`" * 3
    while fence in text:
        fence += "`"
    return f"{fence}{path.rpartition('.')[2]}\n{text.rstrip()}\n{fence}\n"


def complete_show(context: CommandContext, text: str) -> list[str]:
    reading = context.browser.view.reading
    words = [MORE, ALL] if reading and reading[1].row < reading[1].rows else []
    return [*complete_place(context, text), *(word for word in words if word.startswith(text))]


async def open_(context: CommandContext, argument: str) -> Outcome:
    place, path = find_file(context, argument, "open")
    if context.notes.is_free(path):  # raises for a path outside the vault
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
    reference = DocumentReference(wikilink=place.name or path, relative_path=path)
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
