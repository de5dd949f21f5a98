"""The changes of notes that a model proposes, as a conversation sees them, and what the model is told of them."""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from msgspec.structs import replace

from zkchat.context.prompt_items import PromptItem, prompt_item
from zkchat.model.change import ChangeOrigin, ChangeRecord, ChangeSet, ReviewOutcome
from zkchat.model.choices import WriteMode
from zkchat.model.entries import ChangesEntry
from zkchat.model.message import ChatMessage
from zkchat.model.patch import edits_of_user
from zkchat.model.session_history import History
from zkchat.ports.tools import Tool

ASK_THE_USER: Final = "They need a yes of the user."
MAX_TOLD_CHARS: Final = 2_000
"""Of what the user edited that the model is told."""
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
    def mode(self) -> WriteMode:
        """Whether the settings have them asked about, or only shown."""
        ...

    @property
    def accepted(self) -> Sequence[str]:
        """Folders, as globs, in which the settings have them applied without a question."""
        ...

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


def undone_entry(record: ChangeRecord, last: ChatMessage) -> ChangesEntry:
    """For changes that the user undid after this message."""
    title = record.changes.title
    return ChangesEntry(
        message_id=last.id,
        decision="undone",
        title=title,
        paths=changed_paths(record.changes),
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
            yield prompt_item("outcome", entry.title, entry.told, reason=REASON, this_turn_only=True)


def changed_paths(changes: ChangeSet) -> tuple[str, ...]:
    """The files that change, by the paths that they have and had."""
    moved = (path for move in changes.moves for path in (move.source, move.target))
    return tuple(dict.fromkeys([*moved, *(write.path for write in changes.writes)]))


def _without(changes: ChangeSet, paths: frozenset[str]) -> ChangeSet:
    """The changes without those of some files."""
    moves = tuple(move for move in changes.moves if paths.isdisjoint((move.source, move.target)))
    return replace(changes, moves=moves, writes=tuple(write for write in changes.writes if write.path not in paths))


def sentence_about(outcome: ReviewOutcome) -> str:
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
