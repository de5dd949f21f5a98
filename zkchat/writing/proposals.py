"""The changes that a model proposes: staged by its tools, reviewed when it has answered, applied together."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Final

from zkchat.errors import StorageError, VaultError, ZkchatError
from zkchat.model.change import ChangeOrigin, ChangeSet, Decision, ReviewOutcome
from zkchat.ports import ChangeStore, Tool
from zkchat.writing.review import ChangeReviewer, ReviewPolicy, Verdict, WhyAsked, folders_of, why_asked
from zkchat.writing.staging import StagedChanges

PROPOSE_ONLY: Final = 'It is only shown, because write.mode is "propose".'
NOBODY_ASKED: Final = "Nobody could be asked: it needs a terminal, --yes, or a folder of write.accept."
NEEDS_ASKING: Final = "It needs a yes at a terminal."
MAX_ATTEMPTS: Final = 3
"""Times that a proposal is brought to files that changed meanwhile."""


@dataclass(kw_only=True)
class Proposals:
    """What a conversation holds of the changes that its model proposes.

    Implements `chat.proposed_changes.ProposedChanges`.
    """

    staged: StagedChanges
    store: ChangeStore
    tools: tuple[Tool, ...] = ()
    reviewer: ChangeReviewer | None = None
    policy: ReviewPolicy = field(default_factory=ReviewPolicy)
    is_withheld: Callable[[ChangeSet, str], bool] = lambda _changes, _path: False
    """Tells which paths of a change set are notes that the model may not see."""
    reasons: Callable[[], Iterable[str]] = tuple
    """Why what is staged needs a question in every folder, as sentences."""
    applied: Callable[[], object] = lambda: None
    """Called when files have changed."""
    is_on: bool = False
    """Whether the model may propose changes now."""
    is_deferred: bool = False
    """Whether they are to be reviewed later than at the end of the turn."""
    always: set[str] = field(default_factory=set)
    """Folders that the user has agreed to in this session."""

    @property
    def tool_names(self) -> frozenset[str]:
        return frozenset(tool.spec.name for tool in self.tools)

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
        return ReviewOutcome(decision="dropped", proposed=changes, changes=changes, reason=reason) if changes else None

    def settle(self, origin: ChangeOrigin) -> ReviewOutcome | None:
        """Have what is staged reviewed, and apply what the user agrees to; None where nothing is staged."""
        reasons = tuple(self.reasons())
        changes = self._take()
        if not changes:
            return None
        if self.policy.mode == "propose":
            self._show(changes)
            return _kept(changes, PROPOSE_ONLY)
        why = why_asked(
            changes,
            self.policy,
            always=tuple(self.always),
            reasons=reasons,
            is_withheld=lambda path: self.is_withheld(changes, path),
        )
        if why is None or (self.policy.assumes_yes and why.takes_yes):
            verdict = Verdict(answer="yes", changes=changes)
        elif self.reviewer is None:
            return _kept(changes, NOBODY_ASKED if why.takes_yes else f"{NEEDS_ASKING} {why.sentence}")
        else:
            verdict = self._ask(changes, why)
        return self._conclude(changes, verdict, origin)

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
        verdict = self.reviewer.review(changes, remarks=(*said, *remarks), may_always=why.takes_yes)
        if verdict.always:
            self.always.update(folders_of(verdict.changes))
        return verdict

    def _conclude(self, proposed: ChangeSet, verdict: Verdict, origin: ChangeOrigin) -> ReviewOutcome:
        stops = verdict.answer == "stop"
        if verdict.answer != "yes" or not verdict.changes:
            return _outcome("declined", proposed, verdict, stops=stops)
        try:
            record = self.store.apply(verdict.changes, origin)
        except ZkchatError as error:
            return _kept(proposed, f"{error.message} {error.hint}".strip())
        with suppress(StorageError, VaultError):  # the next turn refreshes what is known of the notes, and reports it
            self.applied()
        return replace(_outcome("applied", proposed, verdict), record_id=record.id)


def _outcome(decision: Decision, proposed: ChangeSet, verdict: Verdict, *, stops: bool = False) -> ReviewOutcome:
    return ReviewOutcome(
        decision=decision, proposed=proposed, changes=verdict.changes, edited=verdict.edited, stops=stops
    )


def _kept(changes: ChangeSet, reason: str) -> ReviewOutcome:
    return ReviewOutcome(decision="kept", proposed=changes, changes=changes, reason=reason)
