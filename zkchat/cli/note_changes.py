"""What the commands that change notes share: their options, the diff, the question, and what is told afterwards."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Final

import typer
from msgspec import Struct
from msgspec.structs import replace

from zkchat.cli.change_display import file_records, print_diff
from zkchat.cli.common import CommandIO
from zkchat.cli.consent import TerminalInterface
from zkchat.cli.line_input import can_draw_prompt
from zkchat.cli.note_lookup import open_refreshed_workspace, paths_beside
from zkchat.compose.paths import Paths
from zkchat.compose.workspace import Workspace
from zkchat.compose.writing import Editing, link_follower, open_editing
from zkchat.errors import EditRefused, NoteNotFound, UsageError
from zkchat.model.change import ChangeOrigin, ChangeSet, ReviewOutcome
from zkchat.model.note import is_note
from zkchat.model.patch import patch_of
from zkchat.repl.pick_list import PickRow
from zkchat.repl.picker import pick
from zkchat.vault.library import Library
from zkchat.vault.named_notes import NamedNote, find_named_note
from zkchat.writing.editor import StagedEdit
from zkchat.writing.proposals import Proposals
from zkchat.writing.review import ChangeReviewer, ReviewPolicy, why_asked

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
        chosen = asyncio.run(pick(f"Which {name}?", [PickRow(name=path) for path in paths]))
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
