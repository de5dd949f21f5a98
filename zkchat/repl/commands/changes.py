"""Commands for what zkchat changed in the vault: list it, show one change, undo the last ones, add a file."""

from contextlib import suppress
from typing import Final

from zkchat.errors import FilesChanged, ZkchatError
from zkchat.model.change import ChangeOrigin, ChangeSet, FileWrite
from zkchat.render.change_history import describe_conflict, headline, undo_question, undone_lines
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome
from zkchat.writing.links.changed_meaning import links_to_new, remarks_on_new
from zkchat.writing.staging import StagedChanges
from zkchat.writing.undo import UndoPlan, parse_number, plan_undo_named, reversal, undo_all

_MAX_LISTED: Final = 10
_WHICH: Final = "/undo 2 takes the last two back, /undo #2 change 2."


async def changes(context: CommandContext, argument: str) -> Outcome:
    if argument:
        record = context.changes.record(parse_number(argument.removeprefix("#"), "/changes 12 shows change 12."))
        context.surface.print(headline(record, *_known_here(context)))
        context.surface.print_changes(record.changes)
        return NOTHING
    found = context.changes.records(limit=_MAX_LISTED, with_contents=False)
    if not found:
        context.surface.print("zkchat changed nothing in this vault.")
        return NOTHING
    sessions, messages = _known_here(context)
    for record in found:
        context.surface.print(headline(record, sessions, messages))
    context.surface.print_dimmed("/changes 3 shows change 3, /undo takes the last one back, /undo #3 change 3.")
    return NOTHING


def _known_here(context: CommandContext) -> tuple[dict[str, str], dict[str, int]]:
    """The name of this session by its id, and the numbers of its messages by theirs."""
    session = context.conversation.session_id
    numbers = {message.id: number for number, message in enumerate(context.conversation.messages, start=1)}
    return ({session: "this session"} if session else {}), numbers


async def undo(context: CommandContext, argument: str) -> Outcome:
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
        return NOTHING
    _undo(context, plan)
    return NOTHING


def _undo(context: CommandContext, plan: UndoPlan) -> None:
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


def remarks_on_new_file(context: CommandContext, path: str, text: str) -> tuple[str, ...]:
    """What is to be said of links that would lead to a new file; nothing where the notes cannot be read."""
    with suppress(ZkchatError):
        return remarks_on_new(
            links_to_new(context.browser.refreshed(), StagedChanges(context.changes), path, text), path
        )
    return ()


def create_file(context: CommandContext, path: str, text: str, *, command: str) -> None:
    """Create a file in the vault, by a command of the user. Raises `VaultError` if there is one, or it may not be."""
    new = FileWrite(path=path, before=None, after=text.encode("utf-8", "replace"))
    origin = ChangeOrigin(command=command, session_id=context.conversation.session_id)
    context.changes.apply(ChangeSet(title=f"Create {path}", writes=(new,)), origin)
