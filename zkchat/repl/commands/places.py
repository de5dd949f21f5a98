"""Arguments of commands: places in the vault, numbers of messages and of documents."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from zkchat.answers import MAX_LISTED
from zkchat.core import (
    ChatMessage,
    DocumentReference,
    NoteNotFound,
    ToolCallPart,
    UsageError,
    VaultListing,
    compaction_of,
    counted,
    page_named,
)
from zkchat.index import find_named_note
from zkchat.render import Place, describe_doubt
from zkchat.repl.command_context import CommandContext
from zkchat.repl.surface import NEXT_STEP

_MAX_DIGITS: Final = 12
"""Digits of a number that are read; Python refuses to convert numbers of any length."""


def parse_number(argument: str, count: int, what: str, hint: str) -> int:
    """Parse a number between 1 and `count`. Raises `UsageError` for anything else."""
    typed = argument.strip().removeprefix("#")
    if not (typed.isascii() and typed.isdigit()):
        raise UsageError(f"{argument!r} is not the number of a {what}.", hint=hint)
    number = int(typed[:_MAX_DIGITS])
    if not 1 <= number <= count:
        there = f"there are {count}" if count > 1 else "there is one" if count else "there are none yet"
        raise UsageError(f"There is no {what} {number}: {there}.", hint=hint)
    return number


def message_numbered(context: CommandContext, argument: str) -> ChatMessage:
    messages = context.conversation.messages
    return messages[parse_number(argument, len(messages), "message", "/history shows the numbers.") - 1]


def answer_numbered(context: CommandContext, argument: str) -> ChatMessage:
    """The message with a number, if it is an answer. Raises `UsageError` for any other."""
    message = message_numbered(context, argument)
    if is_answer(message):
        return message
    number = number_of(context, message)
    kind = "is your own message" if message.role == "user" else "is not an answer"
    following = next((each for each in _answer_numbers(context) if each > number), None)
    hint = f"The answer after it is message {following}." if following else "/history shows the numbers."
    raise UsageError(f"Message {number} {kind}.", hint=hint)


def number_of(context: CommandContext, message: ChatMessage) -> int:
    return next(number for number, known in enumerate(context.conversation.messages, start=1) if known.id == message.id)


def is_answer(message: ChatMessage) -> bool:
    """Whether it is a final answer, and not a step with tool calls or a compaction."""
    calls = bool(message.parts_of(ToolCallPart))
    return message.role == "assistant" and not calls and compaction_of(message) is None


def last_answer(context: CommandContext) -> ChatMessage:
    return _first(_answers(context), "There is no answer yet.")


def last_answer_id(context: CommandContext) -> str:
    """The id of the last answer; a text that is no id before the first one."""
    return next((answer.id for answer in _answers(context)), "(none)")


def last_references(context: CommandContext) -> Sequence[DocumentReference]:
    """The documents of the last answer, as the vault is now; none before the first one."""
    return context.links.current(next((answer.references for answer in _answers(context)), ()))


def _answers(context: CommandContext) -> Iterator[ChatMessage]:
    return (message for message in reversed(context.conversation.messages) if is_answer(message))


def _answer_numbers(context: CommandContext) -> list[int]:
    numbered = enumerate(context.conversation.messages, start=1)
    return [number for number, message in numbered if is_answer(message)]


def last_question(context: CommandContext) -> ChatMessage:
    questions = (message for message in reversed(context.conversation.messages) if message.role == "user")
    return _first(questions, "You have not asked anything yet.")


def _first(messages: Iterator[ChatMessage], otherwise: str) -> ChatMessage:
    found = next(messages, None)
    if found is None:
        raise UsageError(otherwise, hint="Ask something first.")
    return found


def references_of_last_answer(context: CommandContext) -> Sequence[DocumentReference]:
    """The references that the panel numbers."""
    last_answer(context)  # raises where there is none
    if references := last_references(context):
        return references
    raise UsageError("The last answer has no sources.")


def reference_numbered(context: CommandContext, argument: str) -> DocumentReference:
    references = references_of_last_answer(context)
    return references[parse_number(argument, len(references), "source", "/sources shows the numbers.") - 1]


def complete_message_number(context: CommandContext, text: str) -> list[str]:
    return number_completions(text, reversed(range(1, len(context.conversation.messages) + 1)))


def complete_answer_number(context: CommandContext, text: str) -> list[str]:
    return number_completions(text, reversed(_answer_numbers(context)))


def complete_reference_number(context: CommandContext, text: str) -> list[str]:
    return number_completions(text, range(1, len(last_references(context)) + 1))


def number_completions(text: str, numbers: Iterable[int]) -> list[str]:
    return [number for number in map(str, numbers) if number.startswith(text)]


def one_of(*words: str) -> Callable[[CommandContext, str], list[str]]:
    return lambda _context, text: [word for word in words if word.startswith(text.casefold())]


def show_list(context: CommandContext, places: Sequence[Place]) -> None:
    """Let numbers mean these places from now on."""
    view = context.browser.view
    view.list_after, view.places = last_answer_id(context), places


def describe_next_steps(listing: VaultListing, next_step: str = NEXT_STEP) -> str:
    """What the numbers of a list from the index are for, and how it goes on; empty where neither applies."""
    further = counted(min(listing.more, MAX_LISTED), "further note" if listing.is_numbered else "further folder")
    steps = (f"/more shows {further}." if listing.more else "", next_step if listing.is_numbered else "")
    return " ".join(filter(None, steps))


def show_references(context: CommandContext, references: Iterable[DocumentReference]) -> None:
    """Let numbers mean these documents from now on."""
    show_list(context, [*map(_place_of, references)])


def find_file(context: CommandContext, argument: str, command: str) -> tuple[Place, str]:
    """The place that an argument means, and its path.

    Raises `UsageError` or `NoteNotFound` with a way out, also for what leads to no file, such as a broken link.
    """
    typed = argument.removeprefix("#")
    if not argument:
        place = _current_place(context, command)
    elif typed.isascii() and typed.isdigit():
        place = _numbered_place(context, typed)
    else:
        place = _named_place(context, argument)
    if place.path is None:
        raise UsageError(f"{place.name} does not lead to a note.", hint=place.doubt)
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
        return places[parse_number(typed, len(places), "hit", "/search and /sources show the numbers.") - 1]
    except UsageError:
        with suppress(NoteNotFound):
            return _named_place(context, typed)  # a note may be called by a number
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
