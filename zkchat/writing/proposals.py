"""The changes that a model proposes: staged by its tools, reviewed when it has answered, applied together."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from zkchat.errors import ExitCode, FileConflict, FilesChanged, ZkchatError
from zkchat.model.change import ChangeOrigin, ChangeSet, Decision, FileWrite, ReviewOutcome
from zkchat.model.line_diff import DiffLine
from zkchat.model.patch import hunks_of_write
from zkchat.ports import ChangeStore, Tool
from zkchat.writing.rebase import rebase_changes
from zkchat.writing.review import ChangeReviewer, ReviewPolicy, Verdict, WhyAsked, folders_of, touched_paths, why_asked
from zkchat.writing.staging import StagedChanges

PROPOSE_ONLY: Final = 'It is only shown, because write.mode is "propose".'
NOBODY_ASKED: Final = "Nobody could be asked: it needs a terminal, --yes, or a folder of write.accept."
NEEDS_ASKING: Final = "It needs a yes at a terminal."
ALWAYS_CHANGING: Final = "Somebody else writes to the same files all the time. Nothing was written."
MAX_ATTEMPTS: Final = 3
"""Times that a proposal is brought to files that changed meanwhile."""


@dataclass(kw_only=True)
class Proposals:
    """What a conversation holds of the changes that its model proposes.

    Implements `chat.proposed_changes.ProposedChanges`.
    """

    staged: StagedChanges
    store: ChangeStore
    make_tools: Callable[[], Sequence[Tool]] = tuple
    """Makes the tools that stage changes, once they are needed."""
    reviewer: ChangeReviewer | None = None
    policy: ReviewPolicy = field(default_factory=ReviewPolicy)
    is_withheld: Callable[[ChangeSet, str], bool] = lambda _changes, _path: False
    """Tells which paths of a change set are notes that the model may not see."""
    is_on: bool = False
    """Whether the model may propose changes now."""
    is_deferred: bool = False
    """Whether they are to be reviewed later than at the end of the turn."""
    always: set[str] = field(default_factory=set)
    """Folders that the user has agreed to in this session."""

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that stage changes."""
        return tuple(self.make_tools())

    @property
    def tool_names(self) -> frozenset[str]:
        """Their names; none before writing was switched on for the first time."""
        return frozenset(tool.spec.name for tool in self.tools) if "tools" in self.__dict__ else frozenset()

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Let what is staged grow over several turns; whoever defers it settles it, or drops it, at the end."""
        before, self.is_deferred = self.is_deferred, True
        try:
            yield
        finally:
            self.is_deferred = before

    def ask_because(self, reason: str) -> None:
        """Have the user asked about what is staged in every folder, for this reason, a sentence."""
        if self.staged and reason not in self.staged.reasons_to_ask:
            self.staged.reasons_to_ask.append(reason)

    def drop(self, reason: str) -> ReviewOutcome | None:
        """Forget what is staged, and return it; None where nothing is."""
        changes = self._take()
        if not changes:
            return None
        outcome = ReviewOutcome(decision="dropped", proposed=changes, changes=changes, reason=reason)
        return replace(outcome, withheld=self._withheld(changes))

    def settle(self, origin: ChangeOrigin) -> ReviewOutcome | None:
        """Have what is staged reviewed, and apply what the user agrees to; None where nothing is staged."""
        reasons, remarks = tuple(self.staged.reasons_to_ask), tuple(self.staged.remarks)
        changes = self._take()
        if not changes:
            return None
        withheld = self._withheld(changes)
        why = why_asked(
            changes, self.policy, always=tuple(self.always), reasons=reasons, is_withheld=withheld.__contains__
        )
        return replace(self._settled(changes, why, remarks, origin), withheld=withheld)

    def _settled(
        self, changes: ChangeSet, why: WhyAsked | None, remarks: Sequence[str], origin: ChangeOrigin
    ) -> ReviewOutcome:
        if self.policy.mode == "propose":
            self._show(changes)
            return _kept(changes, PROPOSE_ONLY)
        if why is None or (self.policy.assumes_yes and why.takes_yes):
            self._show(changes)
            verdict = Verdict(answer="yes", changes=changes)
        elif self.reviewer is None:
            reason = NOBODY_ASKED if why.takes_yes else f"{NEEDS_ASKING} {why.sentence}"
            return _kept(changes, reason, ExitCode.USAGE)
        else:
            verdict = self._ask(changes, why, *remarks)
        return self._conclude(changes, verdict, origin)

    def _withheld(self, changes: ChangeSet) -> frozenset[str]:
        return frozenset(path for path in touched_paths(changes) if self.is_withheld(changes, path))

    def _take(self) -> ChangeSet:
        changes = self.staged.change_set()
        self.staged.clear()
        return changes

    def _show(self, changes: ChangeSet) -> None:
        if self.reviewer:
            self.reviewer.review(changes, is_asked=False)

    def _ask(self, changes: ChangeSet, why: WhyAsked, *remarks: str) -> Verdict:
        assert self.reviewer is not None
        said = () if why.takes_yes else (why.sentence,)
        verdict = self.reviewer.review(changes, remarks=(*said, *remarks), may_always=why.takes_always)
        if verdict.always:
            self.always.update(folders_of(verdict.changes))
        return verdict

    def _conclude(self, proposed: ChangeSet, verdict: Verdict, origin: ChangeOrigin) -> ReviewOutcome:
        """Apply what the user agreed to; what was kept of it says why."""
        try:
            for _ in range(MAX_ATTEMPTS):
                if verdict.answer != "yes" or not verdict.changes:
                    return _outcome("declined", proposed, verdict)
                try:
                    record = self.store.apply(verdict.changes, origin)
                except FilesChanged as error:
                    verdict = self._rebased(verdict, error)
                else:
                    outcome = _outcome("applied", proposed, verdict)
                    return replace(outcome, record_id=record.id, reason=" ".join(record.remarks))
        except ZkchatError as error:
            return _kept(proposed, f"{error.message} {error.hint}".strip(), error.exit_code)
        return _kept(proposed, ALWAYS_CHANGING, ExitCode.VAULT)

    def _rebased(self, verdict: Verdict, error: FilesChanged) -> Verdict:
        """The changes on top of what somebody else wrote meanwhile; asked about again where they are others now.

        Raises `FilesChanged`, once the user has seen what changed, where they clash.
        """
        try:
            rebased = rebase_changes(verdict.changes, error.conflicts)
        except FilesChanged as clash:
            self._show(_foreign_changes(clash.conflicts))
            raise
        if not rebased.changes:
            raise FilesChanged(f"{error.message} It holds what was proposed already.")
        changes = rebased.changes
        if changed_lines(changes) == changed_lines(verdict.changes):
            return replace(verdict, changes=changes)
        if self.reviewer is None:
            raise error
        said = f"Changed meanwhile: {', '.join(rebased.paths)}. The proposal is brought to the present text."
        again = self.reviewer.review(changes, remarks=(said,))
        return replace(again, edited=verdict.edited or again.edited)


def _foreign_changes(conflicts: Sequence[FileConflict]) -> ChangeSet:
    """What somebody else wrote meanwhile, to be shown."""
    writes = (
        FileWrite(path=each.path, before=each.expected, after=each.found or b"")
        for each in conflicts
        if each.found != each.expected
    )
    return ChangeSet(title="What changed meanwhile", writes=tuple(writes))


def changed_lines(changes: ChangeSet) -> list[tuple[str, list[DiffLine]]]:
    """By file, the lines that go and those that come, without what stands around them."""
    return [
        (write.path, [line for hunk in hunks_of_write(write) for line in hunk.lines if line.mark != " "])
        for write in changes.writes
    ]


def _outcome(decision: Decision, proposed: ChangeSet, verdict: Verdict) -> ReviewOutcome:
    return ReviewOutcome(
        decision=decision,
        proposed=proposed,
        changes=verdict.changes,
        edited=verdict.edited,
        stops=verdict.answer == "stop",
    )


def _kept(changes: ChangeSet, reason: str, exit_code: int = 0) -> ReviewOutcome:
    return ReviewOutcome(decision="kept", proposed=changes, changes=changes, reason=reason, exit_code=exit_code)
