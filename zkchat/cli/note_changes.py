"""What the commands that change notes share: their options, the diff, the question, and what is told afterwards."""

import asyncio
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import chain
from typing import Annotated, Any, Final, TypeVar

import typer
from msgspec import Struct
from msgspec.structs import replace

from zkchat import render, repl
from zkchat.app import (
    Editing,
    Paths,
    Workspace,
    calendar_for,
    link_follower,
    open_change_store,
    open_editing,
    open_session_store,
)
from zkchat.cli.change_review import TerminalInterface
from zkchat.cli.common import CommandIO, Told, argument, flag, option, parameter, told_command, with_parameters
from zkchat.cli.key_questions import KeyQuestions, can_draw_prompt
from zkchat.cli.note_lookup import find_note, open_refreshed_workspace, paths_beside
from zkchat.cli.output import UNDO, Listing, consoles, stdout_console
from zkchat.core import (
    ChangeOrigin,
    ChangeRecord,
    ChangeSet,
    ChangeStore,
    ColorChoice,
    EditRefused,
    FilesChanged,
    NoteNotFound,
    ReviewOutcome,
    SessionError,
    StorageError,
    UsageError,
    ZkchatError,
    changes_of,
    file_changes,
    is_note,
    last_path_named,
    patch_of,
    thread_of,
)
from zkchat.index import Library, NamedNote, find_named_note
from zkchat.notes import parse_instant
from zkchat.render import describe_conflict, headline, undo_question, undone_lines
from zkchat.writing import (
    ChangeReviewer,
    Proposals,
    ReviewPolicy,
    StagedEdit,
    UndoPlan,
    plan_undo_named,
    reversal,
    undo_all,
    why_asked,
)


def print_diff(io: CommandIO, paths: Paths, changes: ChangeSet) -> None:
    """Print the whole diff as the result of a command: drawn on a terminal, as a patch in a pipe."""
    console = stdout_console(io, paths)
    if console:
        render.print_changes(console, changes, whole=True)
    else:
        print_patch(io, changes)


def print_patch(io: CommandIO, changes: ChangeSet) -> None:
    """Print the diff as a patch, in a pipe to the last byte; nothing where nothing changes."""
    if not changes:
        return
    patch = patch_of(changes)
    if io.environment.stdout_is_tty:
        io.out(patch.removesuffix("\n"), as_it_is=True)
    else:
        io.out_exactly(patch)


def print_conflicts(io: CommandIO, error: FilesChanged) -> None:
    """Show, beside the result, what changed in each file, and before that what is to be undone."""
    _, console = consoles(io.environment)
    for sentence, changes in chain.from_iterable(map(describe_conflict, error.conflicts)):
        io.note(sentence)
        if console.is_terminal:
            render.print_changes(console, changes)
        elif changes:
            io.note(patch_of(changes).removesuffix("\n"), as_it_is=True)


def change_record(record: ChangeRecord) -> dict[str, object]:
    """A change set of the journal for scripts."""
    return {
        "id": record.id,
        "at": record.at.isoformat(),
        "state": record.state,
        "title": record.changes.title,
        "command": record.origin.command,
        "session": record.origin.session_id or None,
        "message": record.origin.message_id or None,
        "files": file_records(record.changes),
    }


def file_records(changes: ChangeSet) -> list[dict[str, object]]:
    return [
        {"path": each.path, "action": each.action, "moved_from": each.moved_from or None, "edited": each.is_edited}
        for each in file_changes(changes)
    ]


DryRunOption = Annotated[bool, flag("--dry-run", "Show the diff, and change nothing.")]
UnaskedOption = Annotated[bool, flag("--yes -y", "Change it at once: no diff, no question.")]

_NOTHING_CHANGED: Final = "Nothing was changed."
Stage = TypeVar("Stage", bound="Callable[..., StagedEdit]")


class OpenNotes(Struct, frozen=True):
    io: CommandIO
    workspace: Workspace
    library: Library
    editing: Editing

    def find(self, name: str) -> NamedNote:
        """The one note that the user names. Where it could be several, the user chooses, or the error lists them."""
        is_name = "/" not in name and "[[" not in name and not is_note(name)
        beside = paths_beside(self.io, self.workspace.paths, name)
        found = find_named_note(self.library, name, beside, search="zkchat search")
        if is_name and is_note(found.path):  # a name that several notes have means none of them, wherever they are
            with suppress(NoteNotFound, UsageError):
                linked = find_named_note(self.library, f"[[{name}]]", search="zkchat search")
                found = linked if found.path in (linked.path, *linked.others) else found
        return self._choose(name, found) if found.others else found

    def find_path(self, name: str) -> str:
        """The path of the one note, or of the folder, that the user names; a folder ends in a slash."""
        if not name.endswith("/"):
            try:
                return self.find(name).path
            except NoteNotFound:
                if folder := self.library.find_folder(f"{name}/"):
                    raise NoteNotFound(
                        f"{name!r} is a folder, not a note.", hint=f"Add a slash to its name: {folder}"
                    ) from None
                raise
        beside = next(paths_beside(self.io, self.workspace.paths, name), name).strip("/")
        for path in (beside, name.strip("/")):
            if any(row.path.startswith(f"{path}/") for row in self.library.files()):
                return path
        raise NoteNotFound(f"There is no folder {name} in the vault.", hint="Write its path inside the vault.")

    def _choose(self, name: str, found: NamedNote) -> NamedNote:
        paths = (found.path, *found.others)
        if not can_draw_prompt(self.io.environment):
            raise EditRefused(
                f"{name} could mean any of {len(paths)} files.", hint=f"Give its path: {', '.join(paths)}"
            )
        chosen = asyncio.run(repl.pick(f"Which {name}?", [repl.PickRow(name=path) for path in paths]))
        if chosen is None:
            raise UsageError("No note was chosen, and nothing was changed.")
        return replace(found, path=paths[chosen], others=())


@contextmanager
def open_notes(io: CommandIO) -> Iterator[OpenNotes]:
    """The notes of a vault, up to date, to be changed."""
    with (
        open_refreshed_workspace(io, warn=False) as (workspace, library),
        open_editing(workspace, library, io) as editing,
    ):
        yield OpenNotes(io, workspace, library, editing)


def note_command(app: typer.Typer, name: str = "") -> Callable[[Stage], Stage]:
    """Make a command of a function that stages a change; `--yes` and `--dry-run` come after its own parameters."""

    def declare(stage: Stage) -> Stage:
        def change(io: CommandIO, *, yes: bool, dry_run: bool, **given: Any) -> Told:
            title = f"note {name or stage.__name__}"
            return change_notes(io, title, lambda notes: stage(notes, **given), yes=yes, dry_run=dry_run)

        first, *own = inspect.signature(stage).parameters.values()
        more = parameter("yes", UnaskedOption, False), parameter("dry_run", DryRunOption, False)
        app.command(name or None)(told_command(with_parameters(change, stage, [first, *own, *more])))
        return stage

    return declare


def change_notes(
    io: CommandIO, command: str, stage: Callable[[OpenNotes], StagedEdit], *, yes: bool, dry_run: bool
) -> Told:
    """Stage a change, show it, ask, apply it and tell. The journal has it under the name of the `command`."""
    with open_notes(io) as notes:
        edit = stage(notes)
        changes, paths = notes.editing.staged.change_set(), notes.workspace.paths
        known = (*filter(None, [edit.follow]), *edit.remarks)
        if not changes or dry_run:
            why = "this is a dry run" if changes else f"{edit.path} already says this"
            record = change_summary(changes, None, known, path=edit.path, title=changes.title or edit.title)
            return Told(
                data=record | {"diff": patch_of(changes)},
                show=lambda: print_diff(io, paths, changes),
                notes=[*edit.remarks, f"Nothing was changed: {why}."],
            )
        outcome = _settled(notes, command, edit, yes=yes)
        beside = [*filter(None, [outcome.reason])]
        made = outcome.changes
        data = change_summary(made, outcome.record_id, (*known, *beside), path=edit.path, title=made.title)
        return Told(
            data=data,
            lines=[f"{made.title}: done."],
            # Without --yes they stood with the question, and the diff.
            notes=[*(known if yes else ()), *beside, *[UNDO] * io.environment.stdout_is_tty],
        )


def change_summary(
    changes: ChangeSet | None, number: int | None, remarks: Sequence[str], **more: object
) -> dict[str, object]:
    """What scripts are told of a change; without a number it was not made."""
    files = file_records(changes) if changes else []
    return {"id": number, "applied": number is not None, **more, "files": files, "remarks": remarks}


def _settled(notes: OpenNotes, command: str, edit: StagedEdit, *, yes: bool) -> ReviewOutcome:
    """Apply what is staged, once the user agrees; nobody is asked about folders of `write.accept`.

    Raises `UsageError` where the answer is no, or nobody can be asked, and `FilesChanged`.
    """
    editing, settings = notes.editing, notes.workspace.settings
    policy = ReviewPolicy(accept=tuple(settings.write.accept), assumes_yes=yes)
    reviewer = None
    if not yes and why_asked(editing.staged.change_set(), policy):
        reviewer = reviewer_of(notes.io, _NOTHING_CHANGED, settings.ui.colors)
        editing.staged.remarks += edit.remarks
    proposals = Proposals(
        staged=editing.staged,
        store=editing.store,
        reviewer=reviewer,
        policy=policy,
        follow_links=link_follower(notes.workspace, notes.library, editing.store),
        raises=True,
    )
    outcome = proposals.settle(ChangeOrigin(command=command))
    if outcome is None or outcome.decision != "applied":
        raise UsageError(_NOTHING_CHANGED)
    return outcome


def reviewer_of(io: CommandIO, nothing: str, color: ColorChoice) -> ChangeReviewer:
    """Who is asked, in colour as `ui.color` says.

    Raises `UsageError` where nobody is there; it begins with `nothing`: what was not done.
    """
    reviewer = TerminalInterface(io, color=lambda: color).change_reviewer
    if reviewer is None:
        raise UsageError(
            f"{nothing} This asks you first and needs a terminal.",
            hint="To skip the question: --yes; to only show the diff: --dry-run",
        )
    return replace(reviewer, is_of_model=False)


SinceOption = Annotated[
    str | None, option("--since", "TIME", "List only changes since this day or time, e.g. 2026-03-01, last week, 3d.")
]
DiffOption = Annotated[bool, flag("--diff", "Show what was changed.")]
LimitOption = Annotated[int, option("--limit", "N", "Maximum number to list.", min=1, show_default=True)]

_NOTHING_UNDONE: Final = "Nothing was undone."
_WHICH: Final = "zkchat undo 3 reverts the last three changes, zkchat undo --id 3 only change 3."


@told_command
def undo(
    io: CommandIO,
    which: Annotated[str, argument("N | NOTE", "How many changes to undo (default: 1). NOTE only with --list.")] = "",
    number: Annotated[str, option("--id", "N", "The change with this number.")] = "",
    yes: UnaskedOption = False,
    dry_run: DryRunOption = False,
    listed: Annotated[bool, flag("--list", "List the changes, of all notes or of NOTE, and undo nothing.")] = False,
    since: SinceOption = None,
    diff: DiffOption = False,
    limit: LimitOption = 20,
) -> Told:
    """Undo what zkchat changed last. Files are restored exactly, to the last byte.

    A change to several notes is undone as a whole. If one of its files has changed since, it is not undone, and you
    see both changes.

    zkchat undo

    zkchat undo 3 --dry-run

    zkchat undo --id 12

    zkchat undo --list --since yesterday
    """
    if listed:
        wanted = number.removeprefix("#")
        if wanted and not (wanted.isascii() and wanted.isdecimal()):
            raise UsageError(f"{number!r} is not the number of a change.", hint="For example: undo --list --id 3")
        return _changes(io, which, since, int(wanted) if wanted else None, diff, limit)
    if since or diff:
        raise UsageError("--since and --diff need --list.", hint="zkchat undo --list --since yesterday --diff")
    if which and number:
        raise UsageError("Give either N or --id, not both.", hint=_WHICH)
    with _open_store(io) as (workspace, store):
        try:
            plan = plan_undo_named(store, f"#{number.removeprefix('#')}" if number else which, _WHICH)
        except FilesChanged as error:
            print_conflicts(io, error)
            raise
        if dry_run:
            return _dry_run(io, workspace.paths, plan)
        if plan.chosen and not yes:
            _ask(io, plan.chosen, workspace.settings.ui.colors)
        return _undo_all(io, store, plan)


def _dry_run(io: CommandIO, paths: Paths, plan: UndoPlan) -> Told:
    def show() -> None:
        for record in plan.taken_back:
            io.note(f"Change {record.id} ({record.changes.title}) was already undone.")
        for record in plan.chosen:
            io.out(headline(record))
            print_diff(io, paths, reversal(record.changes))

    rows = [{**change_record(record), "diff": patch_of(reversal(record.changes))} for record in plan.chosen]
    notes = [f"{_NOTHING_UNDONE} This is a dry run."]
    return Told(data={"undone": [], "would_undo": rows}, show=show, notes=notes)


def _ask(io: CommandIO, chosen: Sequence[ChangeRecord], color: ColorChoice) -> None:
    reviewer = reviewer_of(io, _NOTHING_UNDONE, color)
    for record in chosen:
        reviewer.review(reversal(record.changes), remarks=[headline(record).strip()], is_asked=False)
    if not KeyQuestions(io, color=color).confirm(undo_question(chosen)):
        raise UsageError(_NOTHING_UNDONE)


def _undo_all(io: CommandIO, store: ChangeStore, plan: UndoPlan) -> Told:
    """Undo, and tell what was undone; an error comes after that."""
    undone: list[ChangeRecord] = []
    failure: ZkchatError | KeyboardInterrupt | None = None
    try:
        for record in undo_all(store, plan):
            undone += [record]
    except (ZkchatError, KeyboardInterrupt) as error:
        failure = error

    def end() -> None:
        for remark in (remark for record in undone for remark in record.remarks):
            io.note(remark)
        if isinstance(failure, FilesChanged):
            print_conflicts(io, failure)
        if failure:
            raise failure

    taken_back = {record.id for record in plan.taken_back}
    lines = undone_lines([record for record in undone if record.id not in taken_back])
    return Told(data={"undone": [change_record(record) for record in undone]}, lines=lines, then=end)


@told_command
def changes(
    io: CommandIO,
    note: Annotated[str, argument("NOTE", "Only changes of this note.")] = "",
    since: SinceOption = None,
    number: Annotated[int | None, option("--id", "N", "Only the change with this number, with its diff.")] = None,
    diff: DiffOption = False,
    limit: LimitOption = 20,
) -> Told:
    """Show what zkchat changed in your notes, newest first.

    Each with its number, its time, and the command or the message that made it.

    zkchat changes --since yesterday

    zkchat changes Compost --diff

    zkchat changes --id 12
    """
    return _changes(io, note, since, number, diff, limit)


def _changes(io: CommandIO, note: str, since: str | None, number: int | None, diff: bool, limit: int) -> Told:
    start = parse_instant("--since", since, calendar_for(io.environment, io.vault))
    if number is not None and (note or since):
        raise UsageError("--id already names a change.", hint="Leave out the note and --since.")
    diff = diff or number is not None
    with _open_store(io) as (workspace, store):
        if number is not None:
            found = [store.record(number)]
        elif note:
            found = _of_note(io, store, note, start)[:limit]
            found = [store.record(each.id) for each in found] if diff else found
        else:
            found = store.records(since=start, limit=limit, with_contents=diff)

    def show() -> None:
        listing, made_in = Listing(io, workspace.paths), _made_in(workspace, found)
        for record in found:
            listing.line(headline(record, *made_in))
            if diff:
                print_diff(io, workspace.paths, record.changes)

    nothing = f"zkchat changed nothing {f'in {note}' if note else 'in this vault'}{' since then' if since else ''}."
    data = [{**change_record(each), **({"diff": patch_of(each.changes)} if diff else {})} for each in found]
    return Told(data=data, show=show, notes=[] if found else [nothing])


def _of_note(io: CommandIO, store: ChangeStore, note: str, since: datetime | None) -> list[ChangeRecord]:
    """The changes of a note that is there, or was, newest first. Raises `NoteNotFound` where neither is so."""
    records = store.records(with_contents=False)
    with open_refreshed_workspace(io, warn=False, tell_empty=True) as (workspace, library):
        try:
            found = [*changes_of(records, find_note(io, workspace.paths, library, note))]
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
def _open_store(io: CommandIO) -> Iterator[tuple[Workspace, ChangeStore]]:
    workspace = io.workspace()
    with open_change_store(workspace, notices=io) as store:
        yield workspace, store
