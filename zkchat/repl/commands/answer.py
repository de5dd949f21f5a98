"""Commands for an answer: show its documents and further passages, copy, save, export."""

from collections.abc import Iterable, Sequence
from itertools import chain, count
from pathlib import PurePosixPath

from zkchat.errors import UsageError
from zkchat.export.notes import answer_note, as_markdown, file_name
from zkchat.export.session_json import as_json
from zkchat.model.evidence import VaultListing
from zkchat.model.message import ChatMessage
from zkchat.model.note import NOTE_SUFFIX, is_note, without_suffix
from zkchat.model.prompt import RemarkChunk, TextChunk
from zkchat.model.quotation import no_answer, quotations
from zkchat.model.text import counted
from zkchat.model.thread import thread_of
from zkchat.render import phrases
from zkchat.render.references import describe_doubt, describe_location, describe_reason
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome
from zkchat.repl.commands.arguments import (
    last_answer,
    message_numbered,
    reference_numbered,
    references_of_last_answer,
)
from zkchat.repl.commands.changes import create_file, remarks_on_new_file
from zkchat.repl.commands.places import describe_next_steps, show_references
from zkchat.vault.notes.wikilink import name_key


async def refs(context: CommandContext, argument: str) -> Outcome:
    if not argument:
        context.surface.print_references(references_of_last_answer(context))
        context.browser.view.forget_list()
        return NOTHING
    reference = reference_numbered(context, argument)
    about = (describe_location(reference), describe_reason(reference), describe_doubt(reference))
    context.surface.print("\n".join([reference.wikilink, *filter(None, about)]))
    if text := reference.summary or reference.snippet:
        context.surface.print_dimmed(text)
    return NOTHING


async def more(context: CommandContext, _argument: str) -> Outcome:
    page = context.conversation.next_passages()
    if page.listing:
        return _show_rows(context, page.listing)
    if page.passages:
        context.surface.print_markdown(
            "".join(map(_markdown, quotations(page.passages, after_linked=page.after_linked))), page.question.matches
        )
    elif page.is_first:
        context.surface.print_markdown(no_answer(page.nearest, page.searched_for))
    else:
        context.surface.print("There are no further passages on this.")
    if page.left:
        context.surface.print_dimmed(f"/more shows {counted(page.left, 'further passage')}.")
    return NOTHING


def _show_rows(context: CommandContext, listing: VaultListing) -> Outcome:
    """Show the next rows of a list; numbers mean all of its rows so far."""
    context.surface.print_markdown(listing.text)
    if listing.is_numbered:
        show_references(context, listing.references)
    if steps := describe_next_steps(listing):
        context.surface.print_dimmed(steps)
    return NOTHING


def _markdown(piece: TextChunk | RemarkChunk) -> str:
    return piece.text if isinstance(piece, TextChunk) else phrases.remark(piece.text)


async def copy(context: CommandContext, argument: str) -> Outcome:
    message = message_numbered(context, argument) if argument else last_answer(context)
    if not message.text:
        raise UsageError("That message has no text to copy.")
    if context.surface.copy(message.text):
        context.surface.print_dimmed(
            f"{len(message.text):,} characters are on the clipboard, if your terminal allows it."
        )
    return NOTHING


async def save(context: CommandContext, argument: str) -> Outcome:
    answer = last_answer(context)
    if not answer.text.strip():
        raise UsageError("The last answer has no text to save.")
    question = _question_of(context, answer)
    title = question.text if question else "Answer"
    path = _note_path(argument) if argument else _free_path(context, title, [answer])
    local = context.conversation.stays_here(_turn_of(context, question, answer))
    text = answer_note(PurePosixPath(path).stem, question, answer, context.keys, local=local)
    return await _write(context, path, text, f"Save the answer as {path}?", is_named=bool(argument), command="/save")


async def export(context: CommandContext, argument: str) -> Outcome:
    session_id = context.conversation.session_id
    if not session_id:
        raise UsageError("There is nothing to export yet.", hint="Ask something first.")
    session, entries = context.store.get(session_id), context.store.entries(session_id)
    path = argument or _free_path(context, session.title or "Conversation", thread_of(entries))
    if path.endswith(".json"):
        text = as_json(session, entries, context.keys)
    else:
        path = path if is_note(path) else path + NOTE_SUFFIX
        thread = thread_of(entries)
        text = as_markdown(session, thread, context.keys, local=context.conversation.stays_here(thread))
    question = f"Write the conversation to {path}?"
    return await _write(context, path, text, question, is_named=bool(argument), command="/export")


async def _write(
    context: CommandContext, path: str, text: str, question: str, *, is_named: bool, command: str
) -> Outcome:
    """Create a file in the vault; where the user did not name it, after they agreed."""
    if context.changes.is_taken(path):
        raise UsageError(f"{path} is there already, and stays as it is.", hint="Choose another name.")
    if not is_named and not await context.surface.confirm(question):
        context.surface.print_dimmed("Nothing was written.")
        return NOTHING
    remarks = remarks_on_new_file(context, path, text)
    create_file(context, path, text, command=command)
    context.surface.print("\n".join([f"{path} is in your vault now. /undo takes it back.", *remarks]))
    return NOTHING


def _question_of(context: CommandContext, answer: ChatMessage) -> ChatMessage | None:
    """The last message of the user before the answer."""
    before = context.conversation.messages[: context.conversation.messages.index(answer)]
    return next((message for message in reversed(before) if message.role == "user"), None)


def _turn_of(context: CommandContext, question: ChatMessage | None, answer: ChatMessage) -> Sequence[ChatMessage]:
    """The messages from a question to its answer, the results of tools included."""
    messages = context.conversation.messages
    end = messages.index(answer)
    return messages[messages.index(question) if question else end : end + 1]


def _note_path(argument: str) -> str:
    """The path of a new note that is given as `[[Folder/Name]]`, with or without brackets."""
    name = without_suffix(argument.removeprefix("[[").removesuffix("]]").partition("|")[0].strip())
    *folders, last = name.split("/")
    if file_name(last) != last:
        hint = f"Try [[{'/'.join([*folders, file_name(last)])}]]."
        raise UsageError(f"{name!r} cannot be the name of a note.", hint=hint)
    return name + NOTE_SUFFIX


def _free_path(context: CommandContext, title: str, messages: Iterable[ChatMessage]) -> str:
    """A path made of the title that is free, with a number if needed: no note that the messages used has its name."""
    used = {reference.relative_path or "" for message in messages for reference in message.references}
    taken = {name_key(PurePosixPath(path).stem) for path in used}
    name = file_name(title)
    numbered = chain([name], (f"{name} {number}" for number in count(2)))
    return next(
        path
        for each in numbered
        if name_key(each) not in taken and not context.changes.is_taken(path := each + NOTE_SUFFIX)
    )
