"""Commands for an answer: its documents, copy, save, verify; and what zkchat changed."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain, count
from pathlib import PurePosixPath
from typing import Final

from zkchat.actions import verified
from zkchat.core import (
    NOTE_SUFFIX,
    ChangeOrigin,
    ChangeSet,
    ChatMessage,
    FilesChanged,
    FileWrite,
    TextChunk,
    UsageError,
    VaultListing,
    ZkchatError,
    counted,
    is_note,
    no_answer,
    quotations,
    thread_of,
    without_suffix,
)
from zkchat.notes import name_key
from zkchat.render import (
    describe_conflict,
    describe_doubt,
    describe_location,
    describe_reason,
    headline,
    phrases,
    undo_question,
    undone_lines,
)
from zkchat.repl.command_context import CommandContext, Outcome, Send, slash
from zkchat.repl.commands.actions import show_result
from zkchat.repl.commands.places import (
    answer_numbered,
    complete_answer_number,
    complete_message_number,
    complete_reference_number,
    describe_next_steps,
    last_answer,
    message_numbered,
    reference_numbered,
    references_of_last_answer,
    show_references,
)
from zkchat.sessions import answer_note, as_json, as_markdown, file_name
from zkchat.writing import (
    StagedChanges,
    links_to_new,
    parse_number,
    plan_undo_named,
    remarks_on_new,
    reversal,
    undo_all,
)

_LIST: Final = "--list"
_WHICH: Final = "/undo 2 reverts the last two changes, /undo #2 only change 2."


@slash("undo [N or #ID]", "undo a change")
async def undo(context: CommandContext, argument: str) -> None:
    """Shows the last change that zkchat made to your notes, or the last N, and reverts it if you say yes; /undo #3
    reverts change 3, /undo --list lists changes. Files are restored exactly, to the last byte. A file that has changed
    since is left alone.
    """
    if argument.startswith(_LIST):
        await changes.run(context, argument.removeprefix(_LIST).strip())
        return
    try:
        plan = plan_undo_named(context.changes, argument, _WHICH)
    except FilesChanged as error:
        _show_conflicts(context, error)
        raise
    for record in plan.chosen:
        context.surface.print(headline(record))
        context.surface.print_changes(reversal(record.changes))
    if plan.chosen and not await context.surface.confirm(undo_question(plan.chosen)):
        context.surface.print_dimmed("Nothing was undone.")
        return
    try:
        for undone in undo_all(context.changes, plan):
            lines = [] if undone.id in {record.id for record in plan.taken_back} else undone_lines([undone])
            context.surface.print("\n".join([*lines, *undone.remarks]))
            context.conversation.writing.tell_undone(undone)
    except FilesChanged as error:
        _show_conflicts(context, error)
        raise


def _show_conflicts(context: CommandContext, error: FilesChanged) -> None:
    for sentence, changed in (each for conflict in error.conflicts for each in describe_conflict(conflict)):
        context.surface.print(sentence)
        context.surface.print_changes(changed)


def create_file(context: CommandContext, path: str, text: str, *, command: str) -> None:
    """Create a file in the vault, by a command of the user. Raises `VaultError` if there is one, or it may not be."""
    new = FileWrite(path=path, before=None, after=text.encode("utf-8", "replace"))
    origin = ChangeOrigin(command=command, session_id=context.conversation.session_id)
    context.changes.apply(ChangeSet(title=f"Create {path}", writes=(new,)), origin)


@slash("check [N]", "check the answer", aliases=("verify",), complete=complete_answer_number)
async def verify(context: CommandContext, argument: str) -> None:
    """Checks which statements of the last answer, or of answer N in /history, are in your notes: ✓ word for word, ≈
    nearly, ✗ with another number, another name or the opposite, ? not at all, or in very different words. /show N shows
    where.
    """
    message = answer_numbered(context, argument) if argument else last_answer(context)
    if not message.text.strip():
        raise UsageError("That answer has no text to check.")
    show_result(context, verified(context.browser.refreshed(), message.text))


@slash("sources [N]", "sources of an answer", aliases=("refs",), complete=complete_reference_number)
async def refs(context: CommandContext, argument: str) -> None:
    """Lists the sources of the last answer, and why each was used; N shows what was found in source N."""
    if not argument:
        context.surface.print_references(references_of_last_answer(context))
        context.browser.view.places = ()  # what is numbered again are the documents of the answer
        return
    reference = reference_numbered(context, argument)
    about = (describe_location(reference), describe_reason(reference), describe_doubt(reference))
    context.surface.print("\n".join([reference.wikilink, *filter(None, about)]))
    if text := reference.summary or reference.snippet:
        context.surface.print_dimmed(text)


@slash("more", "further passages")
async def more(context: CommandContext, _argument: str) -> None:
    """What else your notes say about your last question, or the next notes of a list. Repeat it until there is no
    more.
    """
    page = context.conversation.next_passages()
    if page.listing:
        _show_rows(context, page.listing)
        return
    if page.passages:
        context.surface.print_markdown(
            "".join(
                piece.text if isinstance(piece, TextChunk) else phrases.remark(piece.text)
                for piece in quotations(page.passages, after_linked=page.after_linked)
            ),
            page.question.matches,
        )
    elif page.is_first:
        context.surface.print_markdown(no_answer(page.nearest, page.searched_for))
    else:
        context.surface.print("There are no more passages about this.")
    if page.left:
        context.surface.print_dimmed(f"/more shows {counted(page.left, 'further passage')}.")


def _show_rows(context: CommandContext, listing: VaultListing) -> None:
    """Show the next rows of a list; numbers mean all of its rows so far."""
    context.surface.print_markdown(listing.text)
    if listing.is_numbered:
        show_references(context, listing.references)
    if steps := describe_next_steps(listing, context.surface.next_step):
        context.surface.print_dimmed(steps)


@slash("copy [N]", "copy the answer", complete=complete_message_number)
async def copy(context: CommandContext, argument: str) -> None:
    """The last answer, or message N, goes to the clipboard; if your terminal cannot do that, it is printed."""
    message = message_numbered(context, argument) if argument else last_answer(context)
    if not message.text:
        raise UsageError("That message has no text to copy.")
    if context.surface.copy(message.text):
        context.surface.print_dimmed(
            f"Copied {len(message.text):,} characters to the clipboard, if your terminal allows it."
        )


@slash("paste QUESTION", "ask about a copied image")
async def paste(context: CommandContext, argument: str) -> Outcome:
    """Sends the image on the clipboard with the question, to a model that sees images."""
    if not argument:
        raise UsageError("Ask a question about the image.", hint="For example: /paste What does this show?")
    context.conversation.keep(argument, images=[context.clipboard_image()])
    return Send(argument)


@slash("save [NOTE]", "answer as a new note")
async def save(context: CommandContext, argument: str) -> None:
    """Saves the last answer with its question and its sources as NOTE; without NOTE, zkchat suggests a name made of the
    question and asks. Nothing is ever overwritten, and /undo reverts it. Its property `zkchat-note: answer` tells it
    from your own notes.
    """
    answer = last_answer(context)
    if not answer.text.strip():
        raise UsageError("The last answer has no text to save.")
    # The last message of the user before the answer.
    before = context.conversation.messages[: context.conversation.messages.index(answer)]
    question = next((message for message in reversed(before) if message.role == "user"), None)
    title = question.text if question else "Answer"
    path = _note_path(argument) if argument else _free_path(context, title, [answer])
    messages = context.conversation.messages
    end = messages.index(answer)
    # From the question to its answer, the results of tools included.
    local = context.conversation.stays_here(messages[messages.index(question) if question else end : end + 1])
    text = answer_note(PurePosixPath(path).stem, question, answer, context.keys, local=local)
    await _write(context, path, text, f"Save the answer as {path}?", command="/save")


@slash("export [FILE]", "session as a file")
async def export(context: CommandContext, argument: str) -> None:
    """Saves the session in your vault, as FILE; without FILE, zkchat suggests a name and asks. It is Markdown with
    links, or JSON with everything if FILE ends in .json. /undo reverts it. To write elsewhere: zkchat context export
    --output FILE.
    """
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
    question = f"Save the conversation as {path}?"
    await _write(context, path, text, question, command="/export")


@slash("changes [ID]", "what zkchat changed")
async def changes(context: CommandContext, argument: str) -> None:
    """The last changes to your notes, with their numbers and who made them; with ID, one of them as a diff."""
    if argument:
        record = context.changes.record(parse_number(argument.removeprefix("#"), "/undo --list 12 shows change 12."))
        context.surface.print(headline(record, *_known_here(context)))
        context.surface.print_changes(record.changes)
        return
    found = context.changes.records(limit=10, with_contents=False)
    if not found:
        context.surface.print("zkchat changed nothing in this vault.")
        return
    sessions, messages = _known_here(context)
    for record in found:
        context.surface.print(headline(record, sessions, messages))
    number = next((record.id for record in found if record.state == "applied"), None)
    undo = f"/undo reverts the last change, /undo #{number} only change {number}; " if number else ""
    context.surface.print_dimmed(f"{undo}/undo --list {number or found[0].id} shows it.")


def _known_here(context: CommandContext) -> tuple[dict[str, str], dict[str, int]]:
    """The name of this session by its id, and the numbers of its messages by theirs."""
    session = context.conversation.session_id
    numbers = {message.id: number for number, message in enumerate(context.conversation.messages, start=1)}
    return ({session: "this session"} if session else {}), numbers


async def _write(context: CommandContext, path: str, text: str, question: str, *, command: str) -> None:
    """Create a file in the vault after a yes."""
    if context.changes.is_taken(path):
        raise UsageError(f"{path} already exists, and was not changed.", hint="Choose another name.")
    if not await context.surface.confirm(question):
        context.surface.print_dimmed(f"Nothing was saved. To choose the name: {command} NAME")
        return
    remarks: Sequence[str] = ()  # on links that would lead to it; none where the notes cannot be read
    with suppress(ZkchatError):
        links = links_to_new(context.browser.refreshed(), StagedChanges(context.changes), path, text)
        remarks = remarks_on_new(links, path)
    create_file(context, path, text, command=command)
    context.surface.print("\n".join([f"Saved as {path}. /undo reverts it.", *remarks]))


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
