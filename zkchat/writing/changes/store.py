"""Change sets: checked, written to the journal, carried out whole or not at all, and undone."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol, TypeVar

from msgspec.structs import replace

from zkchat.core import (
    BringToPresent,
    ChangeOrigin,
    ChangeRecord,
    ChangeSet,
    FileMove,
    FilesChanged,
    LockBusy,
    StorageDamaged,
    StorageError,
    UsageError,
    VaultError,
    ZkchatError,
    counted,
    is_in_trash,
    locked,
    path_before,
    touched_paths,
)
from zkchat.storage import sibling
from zkchat.subprocesses import find_program, run_captured
from zkchat.writing.changes.execution import Execution, ProgressFile, check, rests_on
from zkchat.writing.changes.files import VaultTree
from zkchat.writing.changes.journal import (
    Journaled,
    Outlook,
    Plan,
    SqliteChangeJournal,
    State,
    no_such_change,
    plan_changes,
    reverse,
)

_LOCK_SECONDS: Final = 20.0
_MAX_BROUGHT: Final = 9
"""Times that changes are brought to what somebody else, who knows no lock, writes at the same moment."""
_MAX_NAMED: Final = 10
"""Files that are named one by one; of more, their number is told."""

Result = TypeVar("Result")


class JournalFile(Protocol):
    """The file of a journal that may not be there yet."""

    @property
    def exists(self) -> bool: ...

    def open(self) -> SqliteChangeJournal: ...


class VaultChanges:
    """Implements `ChangeStore`."""

    def __init__(
        self,
        files: VaultTree,
        journal: JournalFile,
        *,
        commit: "GitCommits | None" = None,
        notify: Callable[[str], object] = lambda _: None,
    ) -> None:
        """`notify` takes what the user should know of changes that were interrupted."""
        self._files = files
        self.read_bytes, self.is_taken = files.read_bytes, files.is_taken
        self._file = journal
        self._commit = commit
        self._notify = notify
        self._opened: SqliteChangeJournal | None = None

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def records(
        self, *, since: datetime | None = None, limit: int | None = None, with_contents: bool = True
    ) -> list[ChangeRecord]:
        if self._opened is None and not self._file.exists:
            return []
        return self._read(lambda journal: journal.records(since=since, limit=limit, with_contents=with_contents))

    def record(self, record_id: int) -> ChangeRecord:
        if self._opened is None and not self._file.exists:
            raise no_such_change(record_id)
        return self._read(lambda journal: journal.get(record_id)).record

    def last_move(self, move: FileMove) -> ChangeSet | None:
        if self._opened is None and not self._file.exists:
            return None
        return self._read(lambda journal: journal.last_move(move))

    def apply(self, changes: ChangeSet, origin: ChangeOrigin, bring: BringToPresent | None = None) -> ChangeRecord:
        with self._writing() as journal:
            for _ in range(_MAX_BROUGHT):
                try:
                    return self._apply(journal, changes, origin)
                except FilesChanged as error:
                    if bring is None or not error.conflicts:
                        raise
                    changes = bring(changes, error)
            return self._apply(journal, changes, origin)

    def _apply(self, journal: SqliteChangeJournal, changes: ChangeSet, origin: ChangeOrigin) -> ChangeRecord:
        # A whole path is refused before the folders above it, whose names say less, are looked for.
        for path in touched_paths(changes):
            self._files.require_changeable(path, or_trash=True)
        plan = plan_changes(changes, self._files.is_taken)
        if not plan:
            raise VaultError("There is nothing to change.")
        check(plan, self._files, is_undo=False)
        plan = self._with_copies(plan)
        against = self._commit.reason_against(changes) if self._commit else ""
        record = self._carry_out(
            plan, lambda: journal.begin(changes, plan, origin), ending="applied", on_failure="failed"
        )
        return self._committed(record, changes.title, against)

    def undo(self, record_id: int) -> ChangeRecord:
        self._read(lambda journal: journal.get(record_id))
        with self._writing() as journal:
            done = journal.get(record_id)
            self._require_undoable(done)
            if self._is_taken_back(done.plan):
                journal.mark(record_id, "undone")
                title = done.record.changes.title
                told = f"Change {record_id} ({title}) had already been reverted, and counts as undone now."
                return replace(done.record, state="undone", remarks=(told,))
            restored = tuple(  # those that moved a file to the trash which is no longer there, or not as it was
                number
                for number, stage in enumerate(done.plan)
                if stage.move and stage.kept is not None
                if self._files.content_to_move(stage.move.target) != stage.kept
            )
            plan = reverse(done.plan, restored)
            check(plan, self._files, is_undo=True)

            def begin() -> ChangeRecord:
                journal.mark(record_id, "undoing")
                return replace(done.record, state="undone")

            changes = done.record.changes
            against = self._commit.reason_against(changes) if self._commit else ""
            record = self._carry_out(plan, begin, ending="undone", on_failure="applied", restored=restored)
            return self._committed(record, f"Undo: {changes.title}", against)

    def _is_taken_back(self, plan: Plan) -> bool:
        """Whether all files are as they were before it: somebody else has undone it, with git for one."""
        try:
            check(plan, self._files, is_undo=False)
        except VaultError:
            return False
        trashed = [stage for stage in plan if stage.move and stage.kept is not None]
        return all(each.move and self._files.content_to_move(each.move.source) == each.kept for each in trashed)

    def recover(self) -> None:
        """Take back what a process that was killed left unfinished; while another one is at work, do nothing."""
        with suppress(LockBusy), self._writing(seconds=0):
            pass

    @property
    def _journal(self) -> SqliteChangeJournal:
        if self._opened is None:
            self._opened = self._file.open()
        return self._opened

    def _read(self, read: Callable[[SqliteChangeJournal], Result]) -> Result:
        """Read from the journal, from a recovered one if it turns out to be damaged."""
        try:
            return read(self._journal)
        except StorageDamaged:
            self.close()
            return read(self._journal)

    @property
    def _progress(self) -> ProgressFile:
        return ProgressFile(self._journal.path)

    @contextmanager
    def _writing(self, *, seconds: float = _LOCK_SECONDS) -> Iterator[SqliteChangeJournal]:
        """The journal, while no other process changes files of this vault, and with nothing unfinished in it."""
        journal = self._journal
        with locked(sibling(journal.path, ".writing"), seconds=seconds):
            self._finish_interrupted(journal)
            try:
                yield journal
            except OSError as error:  # somebody moves files away while they are looked at
                reason = (error.strerror or str(error)).lower()
                raise StorageError(
                    f"The files to be changed could not be read: {reason}.", hint="Try again."
                ) from error

    def _with_copies(self, plan: Plan) -> Plan:
        """The plan with what the files hold that it moves to the trash."""
        outlook = Outlook(self._files.is_taken)
        stages = []
        for stage in plan:
            kept = None
            if stage.move and is_in_trash(stage.move.target):
                source = outlook.path_on_disk(stage.move.source)
                kept = None if source is None else self._files.content_to_move(source)
            if stage.move:
                outlook.move(stage.move)
            stages.append(replace(stage, kept=kept))
        return tuple(stages)

    def _carry_out(
        self,
        plan: Plan,
        begin: Callable[[], ChangeRecord],
        *,
        ending: State,
        on_failure: State,
        restored: tuple[int, ...] = (),
    ) -> ChangeRecord:
        progress = self._progress.begin(restored)
        try:
            record = begin()
        except BaseException:
            self._progress.clear()
            raise
        execution = Execution(plan, self._files, self._progress, progress)
        try:
            execution.run()
            self._journal.mark(record.id, ending)
        except BaseException as error:
            try:
                is_done, left = _settle(execution)
            except ZkchatError as unsettled:
                message = error.message if isinstance(error, ZkchatError) else f"{type(error).__name__}."
                raise StorageError(
                    f"{message} What was already changed could not be undone: {unsettled.message}",
                    hint="zkchat will undo it at its next start or change.",
                ) from error
            self._journal.mark(record.id, ending if is_done else on_failure)
            self._progress.clear()
            if left and isinstance(error, ZkchatError):
                error.hint = " ".join([*left, error.hint])
            raise
        self._progress.clear()
        return record

    def _finish_interrupted(self, journal: SqliteChangeJournal) -> None:
        progress = self._progress.read()
        for each in journal.unfinished():
            if progress is None:  # its row comes from an old copy of the journal
                journal.mark(each.record.id, "applied" if each.state == "applying" else "undone")
                continue
            is_undo = each.state == "undoing"
            plan = reverse(each.plan, progress.restored) if is_undo else each.plan
            is_done, left = _settle(Execution(plan, self._files, self._progress, progress))
            state: State = "undone" if is_done and is_undo else "applied" if is_done or is_undo else "failed"
            journal.mark(each.record.id, state)
            self._notify(_notice(each.record.changes.title, left, is_undo=is_undo, is_done=is_done))
        if progress is not None:
            self._progress.clear()

    def _require_undoable(self, done: Journaled) -> None:
        number, title = done.record.id, done.record.changes.title
        if done.state == "undone":
            raise UsageError(f"Change {number} ({title}) was undone already.", hint="See: zkchat undo --list")
        if not done.record.has_contents:
            raise VaultError(
                f"Change {number} ({title}) cannot be undone: it is so old that zkchat no longer has the earlier "
                "files.",
                hint="Nothing was changed.",
            )
        for later, its_title, steps in self._journal.later_plans(number):
            if rests_on(steps, done.plan):
                raise FilesChanged(
                    f"Change {number} ({title}) cannot be undone by itself: change {later} ({its_title}) was made to "
                    "the same files after it.",
                    hint=f"Undo that one first: zkchat undo --id {later}",
                )

    def _committed(self, record: ChangeRecord, message: str, against: str) -> ChangeRecord:
        """`against` is why it must not be committed."""
        if self._commit is None:
            return record
        if against:  # unless it has led to what is committed
            warning = against if self._commit.reason_against(record.changes) else ""
        else:
            warning = self._commit(record.changes, message)
        return replace(record, remarks=(warning,)) if warning else record


def _settle(execution: Execution) -> tuple[bool, list[str]]:
    """Take back what was done; where a move cannot be taken back, complete the rest, so that links lead to its file.

    Returns whether all is done, and what was left otherwise, as sentences.
    """
    if blocked := execution.blocked_moves():
        return True, [*blocked, *execution.complete()]
    return False, execution.take_back()


def _notice(title: str, left: Sequence[str], *, is_undo: bool, is_done: bool) -> str:
    """What became of a change that was interrupted, with a line for each file that is not as it should be."""
    how = "completed" if is_done else "undone"
    but = f", except for {counted(len(left), 'file')}" if left and not is_done else ""
    lines = [f"{'The undo of a change' if is_undo else 'A change'} was interrupted and has been {how}{but}: {title}."]
    lines += left[:_MAX_NAMED]
    if len(left) > _MAX_NAMED:
        lines.append(f"… and {len(left) - _MAX_NAMED} more.")
    if is_done:
        lines.append("The change was made to all other files and the links in them; zkchat undo --list shows it.")
    return "\n".join(lines)


_SECONDS: Final = 20.0
_MAX_TITLE: Final = 200

_OVERRIDES: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.editor=:",
    "core.pager=cat",
    "commit.gpgSign=false",
    "commit.template=",
    "commit.verbose=false",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "maintenance.auto=false",
    "gc.auto=0",
)
"""Settings of a repository that would start programs, or change which files are committed."""

_VARIABLES: Final = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": ":",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
}
_PATHS_AT_ONCE: Final = 500
"""On a command line, which has an end."""
_FILES_FROM_INPUT: Final = ("--pathspec-from-file=-", "--pathspec-file-nul")


class _Failed(Exception):
    """Git ended with an error; its last line says which."""


class GitCommits:
    """Commits the files of change sets, and runs nothing of the repository's own.

    It may have come with the vault: its hooks, monitors, filters and signing programs are code of strangers.
    """

    def __init__(self, vault: Path, variables: Mapping[str, str]) -> None:
        self._vault = vault
        self._variables = {name: value for name, value in variables.items() if not name.startswith("GIT_")} | _VARIABLES
        self._program = find_program("git", variables)

    def reason_against(self, changes: ChangeSet) -> str:
        """Why a change set that is about to be made must not be committed: the commit would hold work of the user."""
        if self._program is None:
            return ""
        try:
            if not self._is_in_repository() or self._names_programs():
                return ""
            paths = {*touched_paths(changes), *(path_before(changes, write.path) for write in changes.writes)}
            found = self._list(["status", "--porcelain", "--no-renames", "--untracked-files=all"], sorted(paths))
        except (_Failed, OSError):
            return ""  # committing tells
        if not found:
            return ""
        yours = f"{found[0][3:]} already had uncommitted changes"
        return f"The change was not committed: {yours}. Commit them and this change yourself."

    def __call__(self, changes: ChangeSet, message: str) -> str:
        """Commit exactly the files of a change set. Returns a warning; empty without a repository, or any trouble."""
        if self._program is None:
            return "The change was not committed: git is not installed."
        try:
            if not self._is_in_repository():
                return ""
            return self._commit(changes, message)
        except (_Failed, OSError) as error:
            return f"The change was made, but not committed: {error}"

    def _commit(self, changes: ChangeSet, message: str) -> str:
        if self._names_programs():
            return "The change was not committed: the repository's git filters or hooks would run. Commit it yourself."
        files = self._list(["ls-files", "--cached", "--others", "--exclude-standard"], sorted(touched_paths(changes)))
        if not files or not self._list(["status", "--porcelain", "--untracked-files=all"], files):
            return ""  # git ignores them, or has committed them as they are
        printable = "".join(character if character.isprintable() else " " for character in message)
        title = (" ".join(printable.split()) or "Change notes")[:_MAX_TITLE]
        untracked = self._list(["ls-files", "--others", "--exclude-standard"], files)
        if untracked:
            self._git("add", "--intent-to-add", *_FILES_FROM_INPUT, files=untracked)
        try:
            self._git(
                "commit", "--only", "--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=whitespace",
                f"--message={title}", *_FILES_FROM_INPUT, files=files,
            )  # fmt: skip
        except _Failed:
            if untracked:
                self._git("rm", "--cached", "--quiet", "--force", *_FILES_FROM_INPUT, files=untracked)
            raise
        return ""

    def _is_in_repository(self) -> bool:
        """Whether the vault lies in the files of a repository, wherever that says that its files are."""
        try:
            top = self._git("rev-parse", "--show-toplevel").removesuffix(b"\n")
        except _Failed as error:
            if "not a git repository" in str(error):
                return False
            raise
        return self._vault.resolve().is_relative_to(Path(os.fsdecode(top)).resolve())

    def _names_programs(self) -> bool:
        """Whether the repository brings filters or hooks in its settings: they run for any file that git looks at.

        Those in the user's own settings, as of git-lfs, are the user's programs.
        """
        code, output, errors = self._run(["config", "--show-scope", "--name-only", "--get-regexp", r"^(filter|hook)\."])
        if code not in (0, 1):
            raise _Failed(errors.strip())
        return any(line.startswith((b"local", b"worktree")) for line in output.splitlines())

    def _list(self, command: Sequence[str], paths: Sequence[str]) -> list[str]:
        """What a command lists of these paths and of what is below them."""
        names: set[str] = set()
        for start in range(0, len(paths), _PATHS_AT_ONCE):
            output = self._git(*command, "-z", "--", *paths[start : start + _PATHS_AT_ONCE])
            names.update(map(os.fsdecode, filter(None, output.split(b"\0"))))
        return sorted(names)

    def _git(self, *arguments: str, files: Sequence[str] = ()) -> bytes:
        code, output, errors = self._run(arguments, files)
        if code:
            lines = errors.strip().splitlines() or [os.fsdecode(output).strip().partition("\n")[0]]
            said = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0])
            raise _Failed(f"git says: {said}" if said else f"git failed with exit code {code}.")
        return output

    def _run(self, arguments: Sequence[str], files: Sequence[str] = ()) -> tuple[int, bytes, str]:
        settings = [part for override in _OVERRIDES for part in ("-c", override)]
        command = [self._program or "git", "-C", str(self._vault), "--no-pager", *settings, *arguments]
        text = b"".join(os.fsencode(name) + b"\0" for name in files)
        return run_captured(command, variables=self._variables, text=text, seconds=_SECONDS)
