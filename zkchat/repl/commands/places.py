"""Arguments that mean a place in the vault: a number of the list shown last, a link, a title, a path."""

from collections.abc import Iterable, Sequence
from typing import Final

from zkchat.errors import NoteNotFound, UsageError
from zkchat.model.evidence import VaultListing
from zkchat.model.note import page_named
from zkchat.model.references import DocumentReference
from zkchat.model.text import counted
from zkchat.render.numbered_rows import Place
from zkchat.render.references import describe_doubt
from zkchat.repl.command_context import CommandContext
from zkchat.repl.commands.arguments import last_answer_id, last_references, number_completions, parse_number
from zkchat.vault.catalog.query import MAX_LISTED
from zkchat.vault.named_notes import find_named_note

NEXT_STEP: Final = "/show N reads one, /open N opens it."


def show_list(context: CommandContext, places: Sequence[Place]) -> None:
    """Let numbers mean these places from now on."""
    context.browser.view.show_list(last_answer_id(context), places)


def describe_next_steps(listing: VaultListing) -> str:
    """What the numbers of a list from the index are for, and how it goes on; empty where neither applies."""
    further = counted(min(listing.more, MAX_LISTED), "further note" if listing.is_numbered else "further folder")
    steps = (f"/more shows {further}." if listing.more else "", NEXT_STEP if listing.is_numbered else "")
    return " ".join(filter(None, steps))


def show_references(context: CommandContext, references: Iterable[DocumentReference]) -> None:
    """Let numbers mean these documents from now on."""
    show_list(context, [*map(_place_of, references)])


def find_place(context: CommandContext, argument: str, command: str) -> Place:
    """The place that an argument means. Raises `UsageError` or `NoteNotFound` with a way out."""
    if not argument:
        return _current_place(context, command)
    typed = argument.removeprefix("#")
    if typed.isascii() and typed.isdigit():
        return _numbered_place(context, typed)
    return _named_place(context, argument)


def find_file(context: CommandContext, argument: str, command: str) -> tuple[Place, str]:
    """The same, and its path. Raises `UsageError` for what leads to no file, such as a broken link."""
    place = find_place(context, argument, command)
    if place.path is None:
        raise UsageError(f"{place.name} leads to no note.", hint=place.doubt)
    return place, place.path


def _current_place(context: CommandContext, command: str) -> Place:
    """The note shown last, else the first document of the last answer."""
    if shown := context.browser.view.current(last_answer_id(context)):
        return shown
    if first := next((each for each in last_references(context) if each.status != "missing"), None):
        return _place_of(first)
    raise UsageError("Which note?", hint=f"/{command} [[Note]], a path, or the number of a hit of /search WORDS.")


def _numbered_place(context: CommandContext, typed: str) -> Place:
    places = listed_places(context)
    try:
        return places[parse_number(typed, len(places), "hit", "/search and /refs number them.") - 1]
    except UsageError:
        try:
            return _named_place(context, typed)  # a note may be called by a number
        except NoteNotFound:
            pass
        raise


def _named_place(context: CommandContext, name: str) -> Place:
    found = find_named_note(context.browser.refreshed(), name, search="/search")
    if found.others:
        context.surface.print_dimmed(f"{name} could also mean {', '.join(found.others)}; this is {found.path}.")
    if found.missing_anchor:
        context.surface.print_dimmed(f"There is no “{found.missing_anchor}” in {found.path}.")
    return Place(path=found.path, line=found.line, anchor=found.anchor, name=name)


def listed_places(context: CommandContext) -> Sequence[Place]:
    """What numbers mean: the list shown since the last answer, else the documents of that answer."""
    listed = context.browser.view.listed(last_answer_id(context))
    return listed or [*map(_place_of, last_references(context))]


def _place_of(reference: DocumentReference) -> Place:
    line = reference.lines.first if reference.lines else None
    doubt = describe_doubt(reference)
    is_page = page_named(reference.relative_path, reference.anchor) is not None and reference.anchor_found
    return Place(
        path=reference.relative_path,
        line=line,
        anchor=reference.anchor if is_page else "",
        name=reference.wikilink,
        doubt=doubt and f"{doubt}.",
    )


def complete_place(context: CommandContext, text: str) -> list[str]:
    """Complete the number of a place; links are completed wherever they are typed."""
    return number_completions(text, range(1, len(listed_places(context)) + 1))


def describe_number(context: CommandContext, number: str) -> str:
    """What a number means, for the menu of completions."""
    places = listed_places(context)
    return places[int(number) - 1].name if number.isdigit() and 0 < int(number) <= len(places) else ""
