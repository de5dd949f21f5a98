"""Proposals of changes, and whether policy or the user lets them pass."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Final, Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.core import (
    ChangeOrigin,
    ChangeSet,
    ChangeStore,
    Decision,
    DiffLine,
    ExitCode,
    FileConflict,
    FilesChanged,
    FileWrite,
    Glob,
    ReviewOutcome,
    Tool,
    WriteMode,
    ZkchatError,
    hunks_of_write,
    is_in_trash,
    touched_paths,
)
from zkchat.writing.staging import Edit, FollowLinks, StagedChanges, brought_to_present, rebase_changes

Answer = Literal["yes", "no", "stop"]
"""`stop`: no, and nothing more of what made the proposal."""


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer
    changes: ChangeSet
    """As the user leaves them: edited, or without some."""
    edited: bool = False
    always: bool = False
    """Whether the folders of these changes need not be asked about again in this session."""


class ChangeReviewer(Protocol):
    def review(
        self, changes: ChangeSet, *, remarks: Sequence[str] = (), may_always: bool = False, is_asked: bool = True
    ) -> Verdict:
        """Show the changes as a diff, and ask whether to make them.

        `remarks` are sentences to be read with them; `may_always`: the user may also agree to all that follow in these
        folders. Without a question (`is_asked`) they are only shown, and the answer is no.
        """
        ...


class ReviewPolicy(Struct, frozen=True, kw_only=True):
    """What the settings, and the user in this session, say about changes that a model proposes."""

    mode: WriteMode = "ask"
    accept: tuple[str, ...] = ()
    """Folders, as globs, in which they are applied without a question."""
    assumes_yes: bool = False
    """Whether the user has said yes to everything beforehand."""
    is_dry_run: bool = False
    """Whether they are only shown this time, whatever the mode is."""


def folders_of(changes: ChangeSet) -> tuple[str, ...]:
    """The folders that hold what changes; empty for the root of the vault."""
    return tuple(sorted({path.rpartition("/")[0] for path in touched_paths(changes) if not is_in_trash(path)}))


class WhyAsked(Struct, frozen=True, kw_only=True):
    sentences: tuple[str, ...]
    takes_yes: bool = True
    """Whether a yes that was given beforehand answers the question, as `--yes` does."""
    takes_always: bool = True
    """Whether the user may agree to all that follow in the same folders."""

    @property
    def sentence(self) -> str:
        return " ".join(self.sentences)


def why_asked(
    changes: ChangeSet,
    policy: ReviewPolicy,
    *,
    always: Sequence[str] = (),
    reasons: Sequence[str] = (),
    is_withheld: Callable[[str], bool] = lambda _: False,
) -> WhyAsked | None:
    """Why the user has to be asked about these changes; None where they may be applied at once.

    `always` are the folders that the user has agreed to in this session, `reasons` what else calls for a question, and
    `is_withheld` tells the paths of notes that the model may not see. Deletions are always asked about.
    """
    sentences = [*dict.fromkeys(reasons)]
    if withheld := [*filter(is_withheld, touched_paths(changes))]:
        more = f" and {len(withheld) - 1} more" if withheld[1:] else ""
        sentences.append(f"This model may not see {withheld[0]}{more}.")
    if sentences:
        return WhyAsked(sentences=tuple(sentences), takes_yes=False, takes_always=False)
    if any(is_in_trash(move.target) for move in changes.moves):
        return WhyAsked(sentences=("You are always asked before a file goes to the trash.",), takes_always=False)
    outside = [path for path in touched_paths(changes) if not _accepting(path, policy.accept, always)]
    if not outside:
        return None
    if policy.accept or always:
        return WhyAsked(sentences=(f"{outside[0]} is outside the folders where you accept changes unasked.",))
    return WhyAsked(sentences=("You are asked about every change.",))


def why_not_asked(changes: ChangeSet, policy: ReviewPolicy, *, always: Sequence[str] = ()) -> str:
    """Why changes need no question, as a sentence."""
    reasons = dict.fromkeys(_accepting(path, policy.accept, always) for path in touched_paths(changes))
    return f"You were not asked, because the file is in {', and in '.join(filter(None, reasons))}."


def _accepting(path: str, globs: Sequence[str], folders: Sequence[str]) -> str:
    """What lets a file be changed without a question, to be read after `in`; empty where nothing does."""
    components = path.split("/")
    for glob in globs:
        if glob.strip("/") and Glob(glob.strip("/").split("/"), whole=False).matches(components):
            return f"{glob}, which your setting write.accept names"
    folder = path.rpartition("/")[0]
    return f"{folder or 'the top folder'}, where you accepted all changes in this session" if folder in folders else ""


PROPOSE_ONLY: Final = 'It is only shown, because write.mode is "propose".'
NEEDS_ASKING: Final = "This change needs your yes at a terminal."
MAX_ATTEMPTS: Final = 3
"""Times that a proposal is brought to files that changed meanwhile, where links follow or the user is asked again."""

Edits = Mapping[str, Sequence[Edit]]
"""By path, how a file was changed."""


class Proposals(Struct, kw_only=True, eq=False, dict=True):
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
    follow_links: FollowLinks | None = None
    """Adds the links to changes with moves that were written since these were staged."""
    is_on: bool = False
    """Whether the model may propose changes now."""
    raises: bool = False
    """Whether what cannot be applied is an error, as in a command of the user; else it is kept, with the reason."""
    is_deferred: bool = False
    """Whether they are to be reviewed later than at the end of the turn."""
    always: set[str] = field(default_factory=set)
    """Folders that the user has agreed to in this session."""

    @property
    def mode(self) -> WriteMode:
        return self.policy.mode

    @property
    def accepted(self) -> tuple[str, ...]:
        return self.policy.accept

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self.make_tools())

    @property
    def tool_names(self) -> frozenset[str]:
        return frozenset(tool.spec.name for tool in self.tools) if "tools" in self.__dict__ else frozenset()

    def ask_because(self, reason: str) -> None:
        if self.staged and reason not in self.staged.reasons_to_ask:
            self.staged.reasons_to_ask.append(reason)

    def drop(self, reason: str) -> ReviewOutcome | None:
        changes = self._take()
        if not changes:
            return None
        outcome = ReviewOutcome(decision="dropped", proposed=changes, changes=changes, reason=reason)
        return replace(outcome, withheld=self._withheld(changes))

    def settle(self, origin: ChangeOrigin) -> ReviewOutcome | None:
        reasons, remarks, edits = tuple(self.staged.reasons_to_ask), tuple(self.staged.remarks), self.staged.edits()
        refusal = " ".join(self.staged.refusals.values())
        changes = self._take()
        if not changes:
            return None
        if refusal:
            self._show(changes, *remarks)
            return replace(_kept(changes, refusal, ExitCode.VAULT), withheld=frozenset(touched_paths(changes)))
        withheld = self._withheld(changes)
        outcome = self._settled(changes, self._why_asked(changes, reasons), remarks, edits, origin)
        return replace(outcome, withheld=withheld | self._withheld(outcome.changes))

    def _settled(
        self, changes: ChangeSet, why: WhyAsked | None, remarks: Sequence[str], edits: Edits, origin: ChangeOrigin
    ) -> ReviewOutcome:
        if self.policy.is_dry_run or self.policy.mode == "propose":
            self._show(changes, *remarks)
            return _kept(changes, "It is only shown: this is a dry run." if self.policy.is_dry_run else PROPOSE_ONLY)
        said: tuple[str, ...] = ()
        is_asked = why is not None and not (self.policy.assumes_yes and why.takes_yes)
        if why is None or not is_asked:
            self._show(changes, *remarks)
            verdict = Verdict(answer="yes", changes=changes)
            unseen = () if self.reviewer else tuple(remarks)
            said = unseen if why else (*unseen, why_not_asked(changes, self.policy, always=tuple(self.always)))
        elif self.reviewer is None:
            nobody = "Nobody could be asked. Use a terminal or --yes, or list the folder in the setting write.accept."
            reason = nobody if why.takes_yes else f"{NEEDS_ASKING} {why.sentence}"
            return _kept(changes, reason, ExitCode.USAGE)
        else:
            unusual = () if why.takes_yes else why.sentences
            verdict = self.reviewer.review(changes, remarks=(*unusual, *remarks), may_always=why.takes_always)
            if verdict.always:
                self.always.update(folders_of(verdict.changes))
        reasons = why.sentences if why and not why.takes_yes else ()
        agreed = _Agreed(proposed=changes, verdict=verdict, remarks=said, reasons=reasons, is_asked=is_asked)
        return self._conclude(agreed.made_by(edits), origin)

    def _why_asked(self, changes: ChangeSet, reasons: Sequence[str]) -> WhyAsked | None:
        withheld = self._withheld(changes).__contains__
        return why_asked(changes, self.policy, always=tuple(self.always), reasons=reasons, is_withheld=withheld)

    def _withheld(self, changes: ChangeSet) -> frozenset[str]:
        return frozenset(path for path in touched_paths(changes) if self.is_withheld(changes, path))

    def _take(self) -> ChangeSet:
        changes = self.staged.change_set()
        self.staged.clear()
        return changes

    def _show(self, changes: ChangeSet, *remarks: str) -> None:
        if self.reviewer:
            self.reviewer.review(changes, remarks=remarks, is_asked=False)

    def _conclude(self, agreed: "_Agreed", origin: ChangeOrigin) -> ReviewOutcome:
        """Apply what the user agreed to; what cannot be applied is kept as the user left it, with the reason."""
        try:
            for _ in range(MAX_ATTEMPTS):
                agreed = self._with_new_links(agreed)
                if agreed.verdict.answer != "yes" or not agreed.verdict.changes:
                    return agreed.outcome("declined")
                steps = [agreed]
                try:
                    record = self.store.apply(agreed.verdict.changes, origin, partial(_brought, steps))
                except FilesChanged as error:
                    agreed = self._asked_again(steps[-1], error)
                else:
                    reason = " ".join((*steps[-1].remarks, *record.remarks))
                    return replace(steps[-1].outcome("applied"), record_id=record.id, reason=reason)
            raise FilesChanged("Another program keeps changing the same files. Nothing was written.")
        except ZkchatError as error:
            if self.raises:
                raise
            reason = f"{error.message} {error.hint}".strip()
            return replace(agreed.outcome("kept"), reason=reason, exit_code=error.exit_code)

    def _with_new_links(self, agreed: "_Agreed") -> "_Agreed":
        """The same with the links that were written since the moves were staged.

        The user is asked again where they are in notes that were not shown.
        """
        verdict = agreed.verdict
        if self.follow_links is None or verdict.answer != "yes" or not verdict.changes.moves:
            return agreed
        try:
            followed = self.follow_links(verdict.changes, agreed.left_out)
        except FilesChanged as clash:
            self._show(_foreign_changes(clash.conflicts))
            raise
        agreed = agreed.brought_to(followed.changes, *followed.remarks)
        if not followed.unseen:
            return agreed
        changes = followed.changes
        why = self._why_asked(changes, agreed.reasons)
        if why is None or (self.policy.assumes_yes and why.takes_yes):
            return agreed
        if self.reviewer is None:
            raise FilesChanged(f"Links were added in the meantime, in {', '.join(followed.unseen)}. {NEEDS_ASKING}")
        said = () if why.takes_yes else why.sentences
        return agreed.answered(self.reviewer.review(changes, remarks=(*followed.remarks, *said)))

    def _asked_again(self, agreed: "_Agreed", error: FilesChanged) -> "_Agreed":
        """The changes on top of what somebody else wrote meanwhile; asked about where they are others now.

        Raises `FilesChanged`, once the user has seen what changed, where they clash.
        """
        if not error.conflicts:
            raise error
        if self.follow_links and agreed.verdict.changes.moves:
            return agreed  # which is brought to the present files with the links
        try:
            brought = agreed.rebased(error)
        except FilesChanged as clash:
            self._show(_foreign_changes(clash.conflicts))
            raise
        if not brought.must_be_asked(agreed):
            return brought
        if self.reviewer is None:
            raise error
        return brought.answered(self.reviewer.review(brought.verdict.changes, remarks=brought.remarks))


class _Agreed(Struct, frozen=True, kw_only=True):
    """What the user has agreed to, and what is to be said when it is applied."""

    proposed: ChangeSet
    verdict: Verdict
    remarks: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why the user had to be asked whatever the settings accept."""
    is_asked: bool = False
    """Whether the user has agreed to the very diff."""
    edits: Edits = field(default_factory=dict)
    """How the files were changed that are as they were proposed."""

    @property
    def left_out(self) -> frozenset[str]:
        kept = {write.path for write in self.verdict.changes.writes}
        return frozenset(write.path for write in self.proposed.writes if write.path not in kept)

    def brought_to(self, changes: ChangeSet, *remarks: str) -> "_Agreed":
        """The same on top of the present files, which is no edit of the user."""
        is_as_proposed = self.proposed == self.verdict.changes
        return replace(
            self,
            proposed=changes if is_as_proposed else self.proposed,
            verdict=replace(self.verdict, changes=changes),
            remarks=tuple(dict.fromkeys((*self.remarks, *remarks))),
        )

    def answered(self, again: Verdict) -> "_Agreed":
        """After the user was asked again."""
        asked = replace(self, proposed=self.verdict.changes, verdict=again).made_by(self.edits)
        return replace(
            asked, proposed=self.proposed, verdict=replace(again, edited=self.verdict.edited or again.edited)
        )

    def made_by(self, edits: Edits) -> "_Agreed":
        """The same with how it was made, but for what the user has edited."""
        same = {write.path for write in self.verdict.changes.writes if write in self.proposed.writes}
        return replace(self, edits={path: made for path, made in edits.items() if path in same})

    def must_be_asked(self, before: "_Agreed") -> bool:
        """Whether the user has seen another diff before it was brought to the present text."""
        return self.is_asked and changed_lines(self.verdict.changes) != changed_lines(before.verdict.changes)

    def rebased(self, error: FilesChanged) -> "_Agreed":
        """The same on top of what was found. Raises `FilesChanged` where it clashes, or already exists."""
        changes, paths = rebase_changes(self.verdict.changes, error.conflicts, self.edits)
        if not changes:
            there = FilesChanged(f"{error.message} The note already says what was proposed.")
            there.exit_code = ExitCode.OK
            raise there
        return self.brought_to(changes, brought_to_present(paths))

    def outcome(self, decision: Decision) -> ReviewOutcome:
        made, edited, stops = self.verdict.changes, self.verdict.edited, self.verdict.answer == "stop"
        return ReviewOutcome(decision=decision, proposed=self.proposed, changes=made, edited=edited, stops=stops)


def _brought(steps: list[_Agreed], changes: ChangeSet, error: FilesChanged) -> ChangeSet:
    """A `BringToPresent` that asks no question; the last of the steps is what was agreed to so far."""
    if changes.moves:  # whose links are to be looked for
        raise error
    steps.append(steps[-1].rebased(error))
    if steps[-1].must_be_asked(steps[-2]):
        steps.pop()
        raise error
    return steps[-1].verdict.changes


def _foreign_changes(conflicts: Sequence[FileConflict]) -> ChangeSet:
    """What somebody else wrote meanwhile, to be shown."""
    writes = (
        FileWrite(path=each.path, before=each.expected, after=each.found or b"", goes_away=each.found is None)
        for each in conflicts
        if each.found != each.expected
    )
    return ChangeSet(title="What changed meanwhile", writes=tuple(writes))


def changed_lines(changes: ChangeSet) -> list[tuple[str, list[DiffLine]]]:
    """By file, the lines that go and those that come, without what stands around them and blank ones."""
    found = [(write.path, [line for hunk in hunks_of_write(write) for line in hunk.lines]) for write in changes.writes]
    return [(path, [each for each in lines if each.mark != " " and each.text.strip()]) for path, lines in found]


def _kept(changes: ChangeSet, reason: str, exit_code: int = 0) -> ReviewOutcome:
    return ReviewOutcome(decision="kept", proposed=changes, changes=changes, reason=reason, exit_code=exit_code)
