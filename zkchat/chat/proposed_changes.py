"""What a conversation does with the changes of notes that its model proposes: it has them settled, and records that."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Protocol

from zkchat.chat.journal import Journal
from zkchat.context.assembly import PromptItem, prompt_item
from zkchat.model.change import ChangeOrigin, ChangeRecord, ChangeSet, ReviewOutcome
from zkchat.model.events import ChangesReviewed, Warned
from zkchat.model.message import ChatMessage, ToolCallPart, ToolResultPart
from zkchat.model.patch import edits_of_user, patch_of
from zkchat.model.session import ChangesEntry, History
from zkchat.ports import Tool

ASK_THE_USER: Final = "They need a yes of the user."
MAX_DIFF_CHARS: Final = 1_000_000
"""Of a patch that is kept in the session."""
MAX_TOLD_CHARS: Final = 2_000
"""Of what the user edited that the model is told."""
MAX_REASON_CHARS: Final = 200
"""Of why a change was refused that the user is told."""
STOPPED: Final = "The answer was stopped before you were asked."
FAILED: Final = "The answer failed before you were asked."
REASON: Final = "what became of the changes it proposed"


class ProposedChanges(Protocol):
    """The changes that are staged for the user's review; `writing.proposals.Proposals` implements it."""

    is_on: bool
    """Whether the model may propose changes now."""
    is_deferred: bool
    """Whether they are to be reviewed later than at the end of the turn."""

    always: set[str]
    """Folders that the user has agreed to in this session."""

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools that propose changes."""
        ...

    @property
    def tool_names(self) -> frozenset[str]:
        """Their names, as far as they were ever offered."""
        ...

    def ask_because(self, reason: str) -> None:
        """Have the user asked about what is staged in every folder, for this reason, a sentence."""
        ...

    def settle(self, origin: ChangeOrigin) -> ReviewOutcome | None:
        """Have what is staged reviewed, and apply what the user agrees to; None where nothing is staged."""
        ...

    def drop(self, reason: str) -> ReviewOutcome | None:
        """Forget what is staged, and return it; None where nothing is."""
        ...


class ChangeSettlement:
    """Settles what is proposed in one conversation, and stores the outcome in its session."""

    def __init__(self, proposals: ProposedChanges, journal: Journal) -> None:
        self.proposals = proposals
        self._journal = journal

    def settle(self, message_id: str = "") -> ChangesReviewed | None:
        """Have the staged changes reviewed as those of this answer, or of the last message."""
        origin = ChangeOrigin(
            command=", ".join(self._tools_called()), session_id=self._journal.session_id, message_id=message_id
        )
        return self._record(self.proposals.settle(origin), message_id)

    def refused(self) -> Warned | None:
        """That the last turn proposed nothing because every change that its model tried was refused."""
        failed: list[ToolResultPart] = []
        for message in self._journal.history.newest_first:
            if message.role == "user":
                break
            results = [part for part in message.parts if isinstance(part, ToolResultPart)]
            failed[:0] = [part for part in results if part.failed and part.name in self.proposals.tool_names]
        if not failed:
            return None
        what = "1 change was" if len(failed) == 1 else f"{len(failed)} changes were"
        reason = next(iter(failed[-1].text.splitlines()), "")[:MAX_REASON_CHARS]
        return Warned(text=f"{what} refused: {failed[-1].name}: {reason} Nothing was proposed.")

    def drop(self, reason: str) -> ChangesReviewed | None:
        """Forget the staged changes of a turn that did not come to its end; the session keeps what they were."""
        return self._record(self.proposals.drop(reason), "")

    def _record(self, outcome: ReviewOutcome | None, message_id: str) -> ChangesReviewed | None:
        if outcome is None:
            return None
        last = self._journal.history.last
        reviewed = ChangesReviewed(
            message_id=message_id or (last.id if last else ""),
            decision=outcome.decision,
            title=outcome.changes.title,
            paths=_paths(outcome.changes),
            edited=outcome.edited,
            record=outcome.record_id,
            reason=outcome.reason,
            diff=patch_of(outcome.changes).encode(errors="surrogateescape").decode(errors="replace"),
            exit_code=outcome.exit_code,
            stops=outcome.stops,
        )
        kept = reviewed.model_dump(exclude={"kind", "exit_code", "stops"}) | {"diff": reviewed.diff[:MAX_DIFF_CHARS]}
        self._journal.append(ChangesEntry(**kept, told=_sentence(outcome)))
        return reviewed

    def _tools_called(self) -> list[str]:
        names = self.proposals.tool_names
        called: list[str] = []
        for message in self._journal.history.newest_first:
            if message.role == "user":
                break
            called += [part.name for part in message.parts if isinstance(part, ToolCallPart) and part.name in names]
        return [*dict.fromkeys(reversed(called))]


def undone_entry(record: ChangeRecord, last: ChatMessage) -> ChangesEntry:
    """For changes that the user undid after this message."""
    title = record.changes.title
    return ChangesEntry(
        message_id=last.id,
        decision="undone",
        title=title,
        paths=_paths(record.changes),
        record=record.id,
        told=f"The changes that you proposed ({title}) were applied, and the user has undone them: the notes are again "
        "what they were before.",
    )


def outcome_items(history: History, user: ChatMessage, hidden: frozenset[str]) -> Iterator[PromptItem]:
    """What a request for this question says of the changes that were proposed in the turn before it.

    Of messages that are `hidden` from the model, by their ids, it says nothing.
    """
    told: list[ChangesEntry] = []
    message = history.messages.get(user.parent_id or "")
    while message is not None and message.role != "user":
        told[:0] = history.changes.get(message.id, []) if message.id not in hidden else []
        message = history.messages.get(message.parent_id or "")
    for entry in told:
        if entry.told:
            yield prompt_item("memory", entry.title, entry.told, reason=REASON, this_turn_only=True)


def _paths(changes: ChangeSet) -> tuple[str, ...]:
    moved = (path for move in changes.moves for path in (move.source, move.target))
    return tuple(dict.fromkeys([*moved, *(write.path for write in changes.writes)]))


def _without(changes: ChangeSet, paths: frozenset[str]) -> ChangeSet:
    """The changes without those of some files."""
    moves = tuple(move for move in changes.moves if paths.isdisjoint((move.source, move.target)))
    return replace(changes, moves=moves, writes=tuple(write for write in changes.writes if write.path not in paths))


def _sentence(outcome: ReviewOutcome) -> str:
    """What the model is told."""
    what = f"The changes that you proposed ({outcome.proposed.title})"
    match outcome.decision:
        case "applied":
            if outcome.edited or outcome.changes != outcome.proposed:
                shown = (_without(changes, outcome.withheld) for changes in (outcome.proposed, outcome.changes))
                edits = edits_of_user(*shown)[:MAX_TOLD_CHARS]
                return f"{what} were applied as the user edited them:\n{edits}".rstrip()
            return f"{what} were applied."
        case "declined":
            return f"{what} were declined by the user: nothing was changed. Do not propose them again unasked."
        case "kept" | "dropped":
            names_withheld = any(path in outcome.reason for path in outcome.withheld)
            reason = ASK_THE_USER if names_withheld else outcome.reason
            return f"{what} were not applied: nothing was changed. {reason}"
