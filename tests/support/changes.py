"""A vault in memory that can be changed, and reviewers that answer as they are told: fakes at the ports of writing."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from tests.support.sessions import NOON
from zkchat.chat.tools.readings import Readings
from zkchat.chat.tools.registry import Arguments, FunctionTool
from zkchat.core.changes import ChangeOrigin, ChangeRecord, ChangeSet, FileMove
from zkchat.core.errors import FileConflict, FilesChanged, OutsideVault, UsageError
from zkchat.core.ports import BringToPresent, ToolOutcome
from zkchat.index.library import GuardedLibrary
from zkchat.writing.proposals import Proposals, Verdict
from zkchat.writing.staging import StagedChanges


class ChangesInMemory:
    """Implements `ports.changes.ChangeStore`."""

    def __init__(self, **notes: str) -> None:
        self.files = {f"{name}.md": text.encode() for name, text in notes.items()}
        self.journal: list[ChangeRecord] = []
        self.before_apply: Callable[[], object] = lambda: None
        """What somebody else does at the last moment."""
        self.remarks: tuple[str, ...] = ()

    def read_bytes(self, path: str) -> bytes | None:
        return self.files.get(path)

    def is_taken(self, path: str) -> bool:
        if ".." in path.split("/"):
            raise OutsideVault(f"{path!r} leads out of the vault.")
        return path in self.files or any(each.startswith(f"{path}/") for each in self.files)

    def apply(self, changes: ChangeSet, origin: ChangeOrigin, bring: BringToPresent | None = None) -> ChangeRecord:
        try:
            return self._apply(changes, origin)
        except FilesChanged as error:
            if bring is None or not error.conflicts:
                raise
            return self._apply(bring(changes, error), origin)

    def _apply(self, changes: ChangeSet, origin: ChangeOrigin) -> ChangeRecord:
        self.before_apply()
        files = dict(self.files)
        for move in changes.moves:
            for path in [*files]:
                if path == move.source or path.startswith(f"{move.source}/"):
                    files[move.target + path[len(move.source) :]] = files.pop(path)
        conflicts = [
            FileConflict(path=each.path, expected=each.before, wanted=each.after, found=files.get(each.path))
            for each in changes.writes
            if files.get(each.path) != each.before
        ]
        if conflicts:
            raise FilesChanged(f"{conflicts[0].path} has changed meanwhile.", conflicts=conflicts)
        self.files = files | {each.path: each.after for each in changes.writes}
        self.journal.append(
            ChangeRecord(id=len(self.journal) + 1, at=NOON, state="applied", origin=origin, changes=changes)
        )
        return replace(self.journal[-1], remarks=self.remarks)

    def undo(self, record_id: int) -> ChangeRecord:
        record = self.journal[record_id - 1]
        conflicts = [
            FileConflict(path=each.path, expected=each.after, wanted=each.before, found=self.files.get(each.path))
            for each in record.changes.writes
            if self.files.get(each.path) != each.after
        ]
        if conflicts:
            raise FilesChanged(f"{conflicts[0].path} has changed since.", hint="Undo it by hand.", conflicts=conflicts)
        for each in record.changes.writes:
            self.files.pop(each.path)
            self.files |= {each.path: each.before} if each.before is not None else {}
        for move in reversed(record.changes.moves):
            self.files = {move.reversed().follow(path) or path: content for path, content in self.files.items()}
        self.journal[record_id - 1] = replace(record, state="undone")
        return self.journal[record_id - 1]

    def records(
        self, *, since: datetime | None = None, limit: int | None = None, with_contents: bool = True
    ) -> list[ChangeRecord]:
        return self.journal[::-1][:limit]

    def record(self, record_id: int) -> ChangeRecord:
        found = next((each for each in self.journal if each.id == record_id), None)
        if found is None:
            raise UsageError(f"There is no change {record_id}.")
        return found

    def last_move(self, move: FileMove) -> ChangeSet | None:
        return next((each.changes for each in reversed(self.journal) if move in each.changes.moves), None)


class Answering:
    """Implements `writing.review.ChangeReviewer`: each proposal is answered by the next of the answers."""

    def __init__(self, *answers: Callable[[ChangeSet], Verdict]) -> None:
        self._answers = [*answers]
        self.shown: list[ChangeSet] = []
        self.asked: list[ChangeSet] = []
        self.remarks: list[str] = []
        self.may_always: list[bool] = []

    def review(
        self, changes: ChangeSet, *, remarks: Sequence[str] = (), may_always: bool = False, is_asked: bool = True
    ) -> Verdict:
        (self.asked if is_asked else self.shown).append(changes)
        self.remarks += remarks
        self.may_always.append(may_always)
        return self._answers.pop(0)(changes) if is_asked else no(changes)


def yes(changes: ChangeSet) -> Verdict:
    return Verdict(answer="yes", changes=changes)


def always(changes: ChangeSet) -> Verdict:
    return Verdict(answer="yes", changes=changes, always=True)


def no(changes: ChangeSet) -> Verdict:
    return Verdict(answer="no", changes=changes)


def stop(changes: ChangeSet) -> Verdict:
    return Verdict(answer="stop", changes=changes)


def edited(path: str, text: str) -> Callable[[ChangeSet], Verdict]:
    """Yes, with another text for one of the files."""

    def answer(changes: ChangeSet) -> Verdict:
        writes = tuple(replace(each, after=text.encode()) if each.path == path else each for each in changes.writes)
        return Verdict(answer="yes", changes=replace(changes, writes=writes), edited=True)

    return answer


class Line(Arguments, frozen=True, kw_only=True):
    text: str
    relative_path: str = "Sleep"


class AppendingVault:
    """A note in memory to which a tool proposes to append lines, and whoever is asked about it."""

    def __init__(self) -> None:
        self.store = ChangesInMemory(Sleep="# Sleep\n")
        self.proposals: Proposals | None = None

    def proposing(self, reviewer: Answering | None, **more: Any) -> Callable[[GuardedLibrary, Readings], Proposals]:
        def make(_library: GuardedLibrary, _readings: Readings) -> Proposals:
            staged = StagedChanges(self.store)

            def append(line: Line) -> ToolOutcome:
                text = staged.read("Sleep.md")
                assert text is not None
                if line.relative_path != "Sleep":
                    said = f"There is no note {line.relative_path}.\nThe closest is Sleep."
                    return ToolOutcome(text=said, failed=True)
                staged.write("Sleep.md", f"{text}{line.text}\n", made_from=text, title="Append to Sleep.md")
                return ToolOutcome(text="Proposed.", summary="Append to Sleep.md", stages_change=True)

            tool = FunctionTool("append", "Append a line.", Line, append)
            settings = {"is_on": True, **more}
            self.proposals = Proposals(
                staged=staged, store=self.store, make_tools=lambda: (tool,), reviewer=reviewer, **settings
            )
            return self.proposals

        return make
