"""Changes of notes that a host's model makes: proposed, agreed to by the host's user, applied through the journal."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.chat.proposed_changes import changed_paths, sentence_about
from zkchat.compose.proposals import proposals_over
from zkchat.compose.user_interface import Notices, Unattended
from zkchat.compose.workspace import Workspace
from zkchat.compose.writing import open_change_store
from zkchat.compose.writing_options import WritingOptions
from zkchat.model.change import ChangeOrigin, ChangeSet
from zkchat.model.parts import ToolCallPart
from zkchat.model.patch import patch_of
from zkchat.ports.models import LocatedModel
from zkchat.ports.tools import ToolOutcome
from zkchat.render.sanitize import sanitize_text
from zkchat.tools.readings import NothingBefore, Readings
from zkchat.tools.toolbox import Toolbox
from zkchat.vault.library import Library
from zkchat.writing.proposals import Proposals
from zkchat.writing.review import Verdict, touched_paths, why_asked

WITHHELD_TOUCHED: Final = (
    "It would change notes that are kept from this host: nothing was changed. Do it with `zkchat note` in a terminal."
)
WILL_BE_WITHHELD: Final = "It makes a note that will be kept from this host."
MAX_SHOWN_CHARS: Final = 8_000
"""Characters of a diff that the host shows to its user."""


class Question(Struct, frozen=True, kw_only=True):
    """Changes that the host's user is to be asked about."""

    message: str
    """What the user reads: why they are asked, and the diff."""
    state: str
    """Names the changes: who says yes says it with this."""


class Settled(Struct, frozen=True, kw_only=True):
    """What became of a call that changes notes."""

    text: str
    applied: bool = False
    title: str = ""
    paths: tuple[str, ...] = ()
    record: int | None = None
    failed: bool = False


class _CallsAsTurns(NothingBefore):
    """Implements `GivenBefore` for a host, of whose messages nothing is known: each call is a turn of its own."""

    def __init__(self) -> None:
        self.calls = 0

    def question(self) -> tuple[str, dict[str, str]]:
        return str(self.calls), {}


class _HostReview:
    """Implements `ChangeReviewer`: the answer is yes to the changes that the host's user has seen."""

    def __init__(self) -> None:
        self.agreed = ""

    def review(
        self,
        changes: ChangeSet,
        *,
        remarks: Sequence[str] = (),  # noqa: ARG002 - they were shown with the question
        may_always: bool = False,  # noqa: ARG002
        is_asked: bool = True,
    ) -> Verdict:
        is_agreed = is_asked and bool(self.agreed) and _name_of(changes) == self.agreed
        return Verdict(answer="yes" if is_agreed else "no", changes=changes)


class _HostInterface(Unattended):
    """Implements `UserInterface`: the host's user is asked about changes, and about nothing else."""

    def __init__(self, review: _HostReview) -> None:
        self.change_reviewer = review


class HostChanges:
    """Calls tools that change notes. Only the worker's thread uses it."""

    def __init__(
        self,
        proposals: Proposals,
        readings: Readings,
        turns: _CallsAsTurns,
        review: _HostReview,
        clock: "_Clock",
        was_withheld: Callable[[ChangeSet, str], bool],
    ) -> None:
        """`was_withheld` is `Proposals.is_withheld` over the notes without what is staged."""
        self.readings = readings
        self._was_withheld = was_withheld
        self._proposals = proposals
        self._turns = turns
        self._review = review
        self._clock = clock
        self._toolbox = Toolbox(proposals.tools)

    def call(self, tool: str, arguments: str, *, can_ask: bool, agreed: str = "") -> Question | Settled:
        """Propose a change, and apply it if it was `agreed` to or nobody has to be asked.

        Where the host has no way to ask its user, its approval of the call is the review.
        """
        self._turns.calls += 1
        name = self._clock.begin(agreed)
        try:
            outcome = asyncio.run(self._toolbox.call(ToolCallPart(call_id="", name=tool, arguments=arguments)))
            if outcome.failed or not self._proposals.staged:
                return Settled(text=outcome.text, failed=outcome.failed)
            return self._settle(tool, outcome, can_ask, name)
        finally:
            self._proposals.staged.clear()
            self._clock.at, self._review.agreed = None, ""

    def _settle(self, tool: str, outcome: ToolOutcome, can_ask: bool, agreed: str) -> Question | Settled:
        proposals = self._proposals
        changes = proposals.staged.change_set()
        is_refused = bool(proposals.staged.refusals)  # which is told as if the user had not agreed
        if not is_refused and any(self._was_withheld(_unwritten(changes), path) for path in touched_paths(changes)):
            return Settled(text=WITHHELD_TOUCHED, title=changes.title, failed=True)
        reasons, remarks = tuple(proposals.staged.reasons_to_ask), tuple(proposals.staged.remarks)
        if any(proposals.is_withheld(changes, path) for path in touched_paths(changes)):
            reasons = reasons or (WILL_BE_WITHHELD,)
        why = why_asked(changes, proposals.policy, reasons=reasons)
        is_asked = why is not None and can_ask and proposals.policy.mode != "propose"
        name = _name_of(changes)
        if why and is_asked and agreed != name:
            said = [*(() if why.takes_yes else why.sentences), *remarks]
            return Question(message=_shown(changes, said), state=f"{self._clock().isoformat()} {name}")
        may_apply = why is None or is_asked or why.takes_yes
        self._review.agreed = name if may_apply else ""
        if why and not may_apply:
            refusal = f"{changes.title}: nothing was changed, because it needs a yes of the user. {why.sentence}"
            return Settled(text=refusal, failed=True)
        return self._applied(tool, outcome)

    def _applied(self, tool: str, outcome: ToolOutcome) -> Settled:
        settled = self._proposals.settle(ChangeOrigin(command=f"mcp {tool}"))
        assert settled is not None
        told = sentence_about(settled)
        applied = settled.decision == "applied"
        paths = tuple(path for path in changed_paths(settled.changes) if path not in settled.withheld)
        details = outcome.text.partition("\n")[2]
        return Settled(
            text="\n".join(filter(None, [told, details if applied else ""])),
            applied=applied,
            title=settled.changes.title,
            paths=paths,
            record=settled.record_id,
            failed=not applied,
        )


class _Clock(Struct):
    """The time of a proposal, which is the same when it is made again after the user's yes."""

    now: Callable[[], datetime]
    at: datetime | None = None

    def __call__(self) -> datetime:
        return self.at or self.now()

    def begin(self, state: str) -> str:
        """Take the time of a proposal from its state, and return its name; else the time is now."""
        at, _, name = state.partition(" ")
        try:
            self.at = datetime.fromisoformat(at).astimezone(UTC)
        except (ValueError, OverflowError):  # no state of ours
            self.at, name = self.now(), ""
        return name


@contextmanager
def open_host_changes(
    workspace: Workspace, library: Library, model: LocatedModel, notices: Notices
) -> Iterator[HostChanges]:
    """What a host may change notes with, over the notes that its model may see."""
    clock, review, turns = _Clock(workspace.environment.now), _HostReview(), _CallsAsTurns()
    workspace = replace(workspace, environment=replace(workspace.environment, now=clock))
    with open_change_store(workspace, library, notices) as store:
        options = WritingOptions(enabled=True)
        parts = proposals_over(store, workspace, model, _HostInterface(review), options)
        visible = library.overlaid(parts.staged).guarded_for(model)
        readings = Readings(visible, turns)
        proposals = parts.proposals(visible, readings)
        was_withheld = partial(parts.is_withheld, library.guarded_for(model))
        yield HostChanges(proposals, readings, turns, review, clock, was_withheld)


def _unwritten(changes: ChangeSet) -> ChangeSet:
    """The same changes with what files hold before them."""
    return replace(changes, writes=tuple(replace(write, after=write.before or b"") for write in changes.writes))


def _shown(changes: ChangeSet, remarks: Sequence[str]) -> str:
    patch = patch_of(changes)
    cut = [f"Only the first {MAX_SHOWN_CHARS:,} of {len(patch):,} characters of the diff are shown."]
    said = [f"{changes.title}?", *remarks, *(cut if len(patch) > MAX_SHOWN_CHARS else []), patch[:MAX_SHOWN_CHARS]]
    return sanitize_text("\n\n".join(said)).encode(errors="replace").decode()


def _name_of(changes: ChangeSet) -> str:
    """The same for the same changes of the same files."""
    return sha256(repr((changes.moves, changes.writes)).encode(errors="backslashreplace")).hexdigest()[:32]
