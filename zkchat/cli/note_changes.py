"""What the commands that change notes share: their options, the diff, the question, and what is told afterwards."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from msgspec import Struct
from msgspec.structs import replace

from zkchat import repl
from zkchat.app import (
    Editing,
    Paths,
    Workspace,
    calendar_for,
    link_follower,
    load_workspace,
    open_change_store,
    open_editing,
    open_session_store,
)
from zkchat.cli.change_review import TerminalInterface
from zkchat.cli.common import CommandIO, JsonOption, VaultOption, current_io
from zkchat.cli.key_questions import KeyQuestions, can_draw_prompt
from zkchat.cli.note_lookup import find_note, open_refreshed_library, open_refreshed_workspace, paths_beside
from zkchat.cli.output import Listing, consoles, stdout_console
from zkchat.core import (
    ChangeOrigin,
    ChangeRecord,
    ChangeSet,
    ChangeStore,
    EditRefused,
    FilesChanged,
    NoteNotFound,
    ReviewOutcome,
    SessionError,
    StorageError,
    UsageError,
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

if TYPE_CHECKING:
    from rich.console import Console


def print_diff(io: CommandIO, paths: Paths, changes: ChangeSet) -> None:
    """Print the whole diff as the result of a command: drawn on a terminal, as a patch in a pipe."""
    console = stdout_console(io, paths)
    if console:
        _draw(console, changes, whole=True)
    else:
        print_patch(io, changes)


def print_patch(io: CommandIO, changes: ChangeSet) -> None:
    """Print the diff as a patch, in a pipe to the last byte; nothing where nothing changes."""
    if not changes:
        return
    patch = patch_of(changes)
    if io.environment.stdout_is_tty:
        io.out(patch.removesuffix("\n"))
    else:
        io.out_exactly(patch)


def print_conflicts(io: CommandIO, error: FilesChanged) -> None:
    """Show, beside the result, what changed in each file, and before that what is to be undone."""
    _, console = consoles(io.environment, "auto")
    for sentence, changes in chain.from_iterable(map(describe_conflict, error.conflicts)):
        io.note(sentence)
        if console.is_terminal:
            _draw(console, changes)
        elif changes:
            io.note(patch_of(changes).removesuffix("\n"))


def _draw(console: "Console", changes: ChangeSet, *, whole: bool = False) -> None:
    from zkchat.render import print_changes

    print_changes(console, changes, whole=whole)


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


DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show the diff, and change nothing.")]
UnaskedOption = Annotated[bool, typer.Option("--yes", "-y", help="Change it at once: no diff, no question.")]

_NOTHING_CHANGED: Final = "Nothing was changed."


class ChangeOptions(Struct, frozen=True):
    """How a command that changes notes was called."""

    command: str
    """As the journal names it."""
    vault: Path | None
    yes: bool
    dry_run: bool
    json: bool


class OpenNotes(Struct, frozen=True):
    """The notes of a vault, and what changes them."""

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
                        f"There is no note {name!r} in the vault, but a folder.", hint=f"Name it with a slash: {folder}"
                    ) from None
                raise
        beside = next(paths_beside(self.io, self.workspace.paths, name), name).strip("/")
        for path in (beside, name.strip("/")):
            if any(row.path.startswith(f"{path}/") for row in self.library.files()):
                return path
        raise NoteNotFound(f"There is no folder {name} in the vault.", hint="Folders are named from the vault on.")

    def _choose(self, name: str, found: NamedNote) -> NamedNote:
        paths = (found.path, *found.others)
        if not can_draw_prompt(self.io.environment):
            raise EditRefused(
                f"{name} could mean any of {len(paths)} files.", hint=f"Name its path: {', '.join(paths)}"
            )
        chosen = asyncio.run(repl.pick(f"Which {name}?", [repl.PickRow(name=path) for path in paths]))
        if chosen is None:
            raise UsageError("No note was chosen, and nothing was changed.")
        return replace(found, path=paths[chosen], others=())


@contextmanager
def open_notes(io: CommandIO, vault: Path | None) -> Iterator[OpenNotes]:
    """The notes of a vault, up to date, to be changed."""
    with (
        open_refreshed_workspace(io, vault, warn=False) as (workspace, library),
        open_editing(workspace, library, io) as editing,
    ):
        yield OpenNotes(io, workspace, library, editing)


def change_notes(io: CommandIO, options: ChangeOptions, stage: "Callable[[OpenNotes], StagedEdit]") -> Path | None:
    """Stage a change, show it, ask, apply it and tell. The note that was changed; None where nothing was."""
    with open_notes(io, options.vault) as notes:
        edit = stage(notes)
        changes = notes.editing.staged.change_set()
        report = ChangeReport(io, notes.workspace.paths, options, edit)
        if not changes or options.dry_run:
            report.tell_unchanged(changes)
            return None
        report.tell_applied(_settled(notes, options, edit))
        return notes.workspace.paths.vault / edit.path


def _settled(notes: OpenNotes, options: ChangeOptions, edit: StagedEdit) -> ReviewOutcome:
    """Apply what is staged, once the user agrees; nobody is asked about folders of `write.accept`.

    Raises `UsageError` where the answer is no, or nobody can be asked, and `FilesChanged`.
    """
    editing, settings = notes.editing, notes.workspace.settings
    policy = ReviewPolicy(accept=tuple(settings.write.accept), assumes_yes=options.yes)
    reviewer = None
    if not options.yes and why_asked(editing.staged.change_set(), policy):
        reviewer = reviewer_of(notes.io, _NOTHING_CHANGED, settings.ui.color)
        editing.staged.remarks += edit.remarks
    proposals = Proposals(
        staged=editing.staged,
        store=editing.store,
        reviewer=reviewer,
        policy=policy,
        follow_links=link_follower(notes.workspace, notes.library, editing.store),
        raises=True,
    )
    outcome = proposals.settle(ChangeOrigin(command=options.command))
    if outcome is None or outcome.decision != "applied":
        raise UsageError(_NOTHING_CHANGED)
    return outcome


def reviewer_of(io: CommandIO, nothing: str, color: str) -> ChangeReviewer:
    """Who is asked, in colour as `ui.color` says.

    Raises `UsageError` where nobody is there; it begins with `nothing`: what was not done.
    """
    reviewer = TerminalInterface(io, color=lambda: color).change_reviewer
    if reviewer is None:
        raise UsageError(
            f"{nothing} You are asked first, and here is no terminal to ask at.",
            hint="Do it without a question: --yes; only show the diff: --dry-run",
        )
    return reviewer


class ChangeReport(Struct, frozen=True):
    """What the user, or a script, is told of one change."""

    io: CommandIO
    paths: Paths
    options: ChangeOptions
    edit: StagedEdit

    def tell_unchanged(self, changes: ChangeSet) -> None:
        """Of a dry run, and of a change that would leave everything as it is."""
        if self.options.json:
            self.io.json({**self._record(changes, None), "diff": patch_of(changes)})
            return
        print_diff(self.io, self.paths, changes)
        self._tell(self.edit.remarks)
        why = "this is a dry run" if changes else f"{self.edit.path} says so already"
        self.io.note(f"Nothing was changed: {why}.")

    def tell_applied(self, outcome: ReviewOutcome) -> None:
        beside = tuple(filter(None, [outcome.reason]))
        if self.options.json:
            told = self._record(outcome.changes, outcome.record_id)
            self.io.json(told | {"remarks": [*self._remarks, *beside]})
            return
        self.io.out(f"{outcome.changes.title}: done.")
        if self.options.yes:  # else they stood with the question, and the diff
            self._tell(self._remarks)
        self._tell(beside)
        if self.io.environment.stdout_is_tty:
            self.io.note("zkchat undo takes it back.")

    def _record(self, changes: ChangeSet, number: int | None) -> dict[str, object]:
        return {
            "id": number,
            "applied": number is not None,
            "path": self.edit.path,
            "title": changes.title if changes else self.edit.title,
            "files": file_records(changes),
            "remarks": self._remarks,
        }

    @property
    def _remarks(self) -> tuple[str, ...]:
        """All that is to be known without the diff."""
        return (*filter(None, [self.edit.follow]), *self.edit.remarks)

    def _tell(self, remarks: tuple[str, ...]) -> None:
        for remark in remarks:
            self.io.note_wrapped(remark)


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
