"""`zkchat changes` and `zkchat undo`: what zkchat changed in the vault, and the way back."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from zkchat.cli.change_display import change_record, print_conflicts, print_diff
from zkchat.cli.common import CommandIO, JsonOption, VaultOption, current_io
from zkchat.cli.key_questions import KeyQuestions
from zkchat.cli.note_changes import DryRunOption, UnaskedOption, reviewer_of
from zkchat.cli.note_lookup import find_note, open_refreshed_library
from zkchat.cli.output import Listing
from zkchat.compose.calendar import calendar_for
from zkchat.compose.paths import Paths
from zkchat.compose.stores import open_session_store
from zkchat.compose.workspace import Workspace, load_workspace
from zkchat.compose.writing import open_change_store
from zkchat.errors import FilesChanged, NoteNotFound, SessionError, StorageError, UsageError
from zkchat.model.change import ChangeRecord
from zkchat.model.change_summary import changes_of, last_path_named
from zkchat.model.patch import patch_of
from zkchat.model.thread import thread_of
from zkchat.ports.changes import ChangeStore
from zkchat.render.change_history import headline, undo_question, undone_lines
from zkchat.vault.dates.instants import parse_instant
from zkchat.writing.undo import UndoPlan, plan_undo_named, reversal, undo_all

_NOTHING_UNDONE: Final = "Nothing was undone."
_WHICH: Final = "zkchat undo 3 takes the last three changes back, zkchat undo --id 3 change 3."


def undo(
    which: Annotated[
        str, typer.Argument(metavar="N", help="How many of the last changes; one, if not said.", show_default=False)
    ] = "",
    number: Annotated[
        str,
        typer.Option("--id", metavar="N", help="The change with this number in zkchat changes.", show_default=False),
    ] = "",
    yes: UnaskedOption = False,
    dry_run: DryRunOption = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Undo what zkchat changed last. Files are again what they were, to the last byte.

    A change of several notes is undone as a whole. Where one of its files changed since, it is not undone, and you see
    both changes.

    zkchat undo

    zkchat undo 3 --dry-run

    zkchat undo --id 12
    """
    io = current_io()
    if which and number:
        raise UsageError("--id names one change, N says how many.", hint=_WHICH)
    with _open_store(io, vault) as (workspace, store):
        try:
            plan = plan_undo_named(store, f"#{number.removeprefix('#')}" if number else which, _WHICH)
            if dry_run:
                _tell_dry_run(io, workspace.paths, plan, json_output=json_output)
                return
            if plan.chosen and not yes:
                _ask(io, plan.chosen, workspace.settings.ui.color)
            _undo_all(io, store, plan, json_output=json_output)
        except FilesChanged as error:
            print_conflicts(io, error)
            raise


def _tell_dry_run(io: CommandIO, paths: Paths, plan: UndoPlan, *, json_output: bool) -> None:
    if json_output:
        rows = [{**change_record(record), "diff": patch_of(reversal(record.changes))} for record in plan.chosen]
        io.json({"undone": [], "would_undo": rows})
        return
    for record in plan.taken_back:
        io.note(f"Change {record.id} ({record.changes.title}) was taken back already.")
    for record in plan.chosen:
        io.out(headline(record))
        print_diff(io, paths, reversal(record.changes))
    io.note(f"{_NOTHING_UNDONE} This is a dry run.")


def _ask(io: CommandIO, chosen: Sequence[ChangeRecord], color: str) -> None:
    reviewer = reviewer_of(io, _NOTHING_UNDONE, color)
    for record in chosen:
        reviewer.review(reversal(record.changes), remarks=[headline(record).strip()], is_asked=False)
    if not KeyQuestions(io, color=color).confirm(undo_question(chosen), "undo"):
        raise UsageError(_NOTHING_UNDONE)


def _undo_all(io: CommandIO, store: ChangeStore, plan: UndoPlan, *, json_output: bool) -> None:
    undone: list[ChangeRecord] = []
    taken_back = {record.id for record in plan.taken_back}
    try:
        for record in undo_all(store, plan):
            undone += [record]
    finally:
        if json_output:
            io.json({"undone": [change_record(record) for record in undone]})
        else:
            for line in undone_lines([record for record in undone if record.id not in taken_back]):
                io.out(line)
        for remark in (remark for record in undone for remark in record.remarks):
            io.note(remark)


def changes(
    note: Annotated[str, typer.Argument(metavar="NOTE", help="Only changes of this note.", show_default=False)] = "",
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="From this day or time on, e.g. 2026-03-01, last week, 3d."),
    ] = None,
    number: Annotated[
        int | None, typer.Option("--id", metavar="N", help="The change with this number, whole.", show_default=False)
    ] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Show what was changed.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="How many at most.")] = 20,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show what zkchat changed in your notes, the latest first.

    Each with its number, its time, and the command, or the conversation and its message, that made it.

    zkchat changes --since yesterday

    zkchat changes Compost --diff

    zkchat changes --id 12
    """
    io = current_io()
    start = _start(io, vault, since)
    if number is not None and (note or since):
        raise UsageError("--id names one change.", hint="Leave the note and --since away.")
    diff = diff or number is not None
    with _open_store(io, vault) as (workspace, store):
        if number is not None:
            found = [store.record(number)]
        elif note:
            found = _of_note(io, vault, store, note, start)[:limit]
            found = [store.record(each.id) for each in found] if diff else found
        else:
            found = store.records(since=start, limit=limit, with_contents=diff)
        titles, messages = ({}, {}) if json_output else _made_in(workspace, found)
    if json_output:
        io.json([{**change_record(each), **({"diff": patch_of(each.changes)} if diff else {})} for each in found])
        return
    listing = Listing(io, workspace.paths)
    for record in found:
        listing.line(headline(record, titles, messages))
        if diff:
            print_diff(io, workspace.paths, record.changes)
    if not found:
        where = f"in {note}" if note else "here"
        io.note(f"zkchat changed nothing {where}{' since then' if since else ''}.")


def _start(io: CommandIO, vault: Path | None, since: str | None) -> datetime | None:
    return parse_instant("--since", since, calendar_for(io.environment, vault)) if since is not None else None


def _of_note(
    io: CommandIO, vault: Path | None, store: ChangeStore, note: str, since: datetime | None
) -> list[ChangeRecord]:
    """The changes of a note that is there, or was, the latest first. Raises `NoteNotFound` where neither is so."""
    records = store.records(with_contents=False)
    with open_refreshed_library(io, vault, warn=False) as (paths, library):
        try:
            found = [*changes_of(records, find_note(io, paths, library, note))]
        except NoteNotFound as error:
            name = note.removeprefix("[[").removesuffix("]]")
            found = [*changes_of(records, last_path_named(records, name) or name)]
            if not found:
                error.message = f"There is no note {note!r} in the vault, and zkchat changed none of that name."
                raise
    return [record for record in found if since is None or record.at >= since]


def _made_in(workspace: Workspace, records: Sequence[ChangeRecord]) -> tuple[dict[str, str], dict[str, int]]:
    """By id, the titles of the sessions in which the changes were made, and the numbers of the messages that proposed
    them; of those that are gone, nothing."""
    wanted = {record.origin.session_id for record in records} - {""}
    titles: dict[str, str] = {}
    numbers: dict[str, int] = {}
    if not wanted:
        return titles, numbers
    with suppress(StorageError), open_session_store(workspace) as (sessions, _):
        for each in wanted:
            with suppress(SessionError):
                titles[each] = f"“{sessions.get(each).title or each}”"
                thread = thread_of(sessions.entries(each))
                numbers |= {message.id: number for number, message in enumerate(thread, start=1)}
    return titles, numbers


@contextmanager
def _open_store(io: CommandIO, vault: Path | None) -> Iterator[tuple[Workspace, ChangeStore]]:
    workspace = load_workspace(io.environment, vault)
    with open_change_store(workspace, notices=io) as store:
        yield workspace, store
