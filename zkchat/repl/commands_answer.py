"""Commands for what came of an answer: its documents, its text, a note or a file made of it."""

from pathlib import PurePosixPath

from zkchat.errors import UsageError
from zkchat.export.notes import answer_note, as_markdown, file_name
from zkchat.export.session_file import as_json
from zkchat.model.message import ChatMessage
from zkchat.model.session import thread_of
from zkchat.render import phrases
from zkchat.repl.arguments import (
    last_answer,
    message_numbered,
    reference_numbered,
    references_of_last_answer,
)
from zkchat.repl.command_context import NOTHING, Desk, Outcome


async def refs(desk: Desk, argument: str) -> Outcome:
    if not argument:
        desk.surface.references(references_of_last_answer(desk))
        return NOTHING
    reference = reference_numbered(desk, argument)
    about = (phrases.place(reference), phrases.reason(reference), phrases.doubt(reference))
    desk.surface.tell("\n".join([reference.wikilink, *filter(None, about)]))
    if text := reference.summary or reference.snippet:
        desk.surface.aside(text)
    return NOTHING


async def open_(desk: Desk, argument: str) -> Outcome:
    reference = reference_numbered(desk, argument)
    address = desk.addresses.of(reference)
    if address is None or reference.relative_path is None:
        raise UsageError(f"{reference.wikilink} leads to no note.", hint=phrases.doubt(reference))
    if desk.notes.is_free(reference.relative_path):  # which refuses paths that lead out, as an import may hold
        raise UsageError(f"{reference.relative_path} is not there any more.")
    risk = desk.addresses.risk(reference)
    if risk and not await desk.surface.confirm(f"{risk} Open {reference.relative_path}?"):
        desk.surface.aside("Nothing was opened.")
        return NOTHING
    if desk.surface.open(address):
        desk.surface.aside(f"Opened {reference.relative_path}.")
    else:
        desk.surface.tell(f"Nothing here can open it. It is at\n{address}")
    return NOTHING


async def copy(desk: Desk, argument: str) -> Outcome:
    message = message_numbered(desk, argument) if argument else last_answer(desk)
    if not message.text:
        raise UsageError("That message has no text to copy.")
    if desk.surface.copy(message.text):
        desk.surface.aside(f"{len(message.text):,} characters are on the clipboard, if your terminal allows it.")
    return NOTHING


async def save(desk: Desk, argument: str) -> Outcome:
    answer = last_answer(desk)
    if not answer.text.strip():
        raise UsageError("The last answer has no text to save.")
    question = _question_of(desk, answer)
    path = _named(argument) if argument else _free(desk, question.text if question else "Answer", ".md")
    local = desk.conversation.stays_here([answer, *([question] if question else [])])
    text = answer_note(PurePosixPath(path).stem, question, answer, desk.keys, local=local)
    return await _write(desk, path, text, f"Save the answer as {path}?")


async def export(desk: Desk, argument: str) -> Outcome:
    session_id = desk.conversation.session_id
    if not session_id:
        raise UsageError("There is nothing to export yet.", hint="Ask something first.")
    session, entries = desk.store.get(session_id), desk.store.entries(session_id)
    path = argument or _free(desk, session.title or "Conversation", ".md")
    if path.endswith(".json"):
        text = as_json(session, entries, desk.keys)
    else:
        path = path if path.endswith(".md") else f"{path}.md"
        thread = thread_of(entries)
        text = as_markdown(session, thread, desk.keys, local=desk.conversation.stays_here(thread))
    return await _write(desk, path, text, f"Write the conversation to {path}?")


async def _write(desk: Desk, path: str, text: str, question: str) -> Outcome:
    """A new file in the vault, after a yes."""
    if not desk.notes.is_free(path):
        raise UsageError(f"{path} is there already, and stays as it is.", hint="Choose another name.")
    if await desk.surface.confirm(question):
        desk.notes.create(path, text)
        desk.surface.tell(f"{path} is in your vault now.")
    else:
        desk.surface.aside("Nothing was written.")
    return NOTHING


def _question_of(desk: Desk, answer: ChatMessage) -> ChatMessage | None:
    """What the user said last before it."""
    before = desk.conversation.messages[: desk.conversation.messages.index(answer)]
    return next((message for message in reversed(before) if message.role == "user"), None)


def _named(argument: str) -> str:
    """The path that `[[Folder/Name]]`, or the same without brackets, gives a new note."""
    name = argument.removeprefix("[[").removesuffix("]]").partition("|")[0].strip().removesuffix(".md")
    *folders, last = name.split("/")
    if file_name(last) != last:
        hint = f"Try [[{'/'.join([*folders, file_name(last)])}]]."
        raise UsageError(f"{name!r} cannot be the name of a note.", hint=hint)
    return f"{name}.md"


def _free(desk: Desk, title: str, suffix: str) -> str:
    """A name made of the title, with a number where others have it already."""
    name, number = file_name(title), 1
    while not desk.notes.is_free(path := f"{name}{suffix}" if number == 1 else f"{name} {number}{suffix}"):
        number += 1
    return path
