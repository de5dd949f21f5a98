"""How a conversation settles the changes that its model proposes: allowed, reviewed or dropped, and recorded."""

from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from zkchat.chat.journal import Journal
from zkchat.chat.proposed_changes import ProposedChanges, changed_paths, sentence_about, undone_entry
from zkchat.chat.refused_changes import refused_changes
from zkchat.errors import UsageError
from zkchat.model.change import ChangeOrigin, ChangeRecord, ReviewOutcome
from zkchat.model.entries import ChangesEntry
from zkchat.model.events import ChangesReviewed, Event
from zkchat.model.message import ChatMessage
from zkchat.model.parts import ToolCallPart
from zkchat.model.patch import patch_of
from zkchat.ports.models import ModelProvider
from zkchat.tools.toolbox import Toolbox

MAX_DIFF_CHARS: Final = 1_000_000
"""Of a patch that is kept in the session."""
STOPPED: Final = "The answer was stopped before you were asked."
FAILED: Final = "The answer failed before you were asked."
OTHER_MODEL: Final = "Choose another one: /model"


class ChangeSettlement:
    """Settles what is proposed in one conversation, and stores the outcome in its session."""

    def __init__(
        self, proposals: ProposedChanges | None, journal: Journal, provider: ModelProvider, tools: Toolbox
    ) -> None:
        """`proposals` is None where the model cannot propose changes."""
        self.proposals = proposals
        self._journal = journal
        self._provider = provider
        self._tools = tools
        self._dropped: ChangesReviewed | None = None

    @property
    def is_on(self) -> bool:
        """Whether the model may propose changes of notes now."""
        return self.proposals is not None and self.proposals.is_on

    def allow(self, allowed: bool) -> None:
        """Let the model propose changes of notes from now on, or no longer."""
        if self.proposals is None:
            name = self._provider.info.name
            raise UsageError(f"{name} calls no tools, so that it cannot propose changes.", hint=OTHER_MODEL)
        self.proposals.is_on = allowed
        if allowed:
            self._tools.add(self.proposals.tools)

    def keep_accepted_folders(self, before: "ChangeSettlement") -> None:
        """Ask about no more folders than the same conversation did before it was opened anew."""
        if self.proposals and before.proposals:
            self.proposals.always |= before.proposals.always

    def end_turn(self, answer: ChatMessage | None) -> Iterator[Event]:
        """Have what a turn proposed reviewed, unless that is deferred; of one that failed it is dropped."""
        if answer and (refused := refused_changes(self._turn(), self._tool_names)):
            yield refused
        if self.proposals is None or self.proposals.is_deferred:
            return
        if reviewed := self.settle(answer.id) if answer else self._drop(FAILED):
            yield reviewed

    def stop_turn(self) -> None:
        """Drop what a turn that is stopped had proposed, unless the review is deferred."""
        self._dropped = None if self.proposals is None or self.proposals.is_deferred else self._drop(STOPPED)

    def settle(self, message_id: str = "", command: str = "") -> ChangesReviewed | None:
        """Have the staged changes reviewed as those of this answer, or of the last message; None where none are."""
        if self.proposals is None:
            return None
        last = self._journal.history.last
        message_id = message_id or (last.id if last else "")
        origin = ChangeOrigin(
            command=command or ", ".join(self._tools_called()),
            session_id=self._journal.session_id,
            message_id=message_id,
        )
        return self._record(self.proposals.settle(origin), message_id)

    def drop(self, reason: str) -> ChangesReviewed | None:
        """Forget what was proposed while the review was deferred; the session keeps what it was."""
        self._dropped = self._drop(reason)
        return self._dropped

    def take_dropped(self) -> ChangesReviewed | None:
        """What the last turn had proposed when it was stopped; once."""
        dropped, self._dropped = self._dropped, None
        return dropped

    def tell_undone(self, record: ChangeRecord) -> None:
        """Have the next request say that changes were undone, where the model of this session proposed them."""
        last = self._journal.history.last
        if last and record.origin.message_id and record.origin.session_id == self._journal.session_id:
            self._journal.append(undone_entry(record, last))

    def _drop(self, reason: str) -> ChangesReviewed | None:
        return self._record(self.proposals.drop(reason), "") if self.proposals else None

    def _record(self, outcome: ReviewOutcome | None, message_id: str) -> ChangesReviewed | None:
        if outcome is None:
            return None
        last = self._journal.history.last
        reviewed = ChangesReviewed(
            message_id=message_id or (last.id if last else ""),
            decision=outcome.decision,
            title=outcome.changes.title,
            paths=changed_paths(outcome.changes),
            edited=outcome.edited,
            record=outcome.record_id,
            reason=outcome.reason,
            diff=patch_of(outcome.changes).encode(errors="surrogateescape").decode(errors="replace"),
            exit_code=outcome.exit_code,
            stops=outcome.stops,
        )
        self._journal.append(
            ChangesEntry(
                message_id=reviewed.message_id,
                decision=reviewed.decision,
                title=reviewed.title,
                paths=reviewed.paths,
                edited=reviewed.edited,
                record=reviewed.record,
                reason=reviewed.reason,
                told=sentence_about(outcome),
                diff=reviewed.diff[:MAX_DIFF_CHARS],
            )
        )
        return reviewed

    def _tools_called(self) -> list[str]:
        parts = (part for message in self._turn() for part in message.parts if isinstance(part, ToolCallPart))
        return [*dict.fromkeys(part.name for part in parts if part.name in self._tool_names)]

    @property
    def _tool_names(self) -> frozenset[str]:
        return self.proposals.tool_names if self.proposals else frozenset()

    def _turn(self) -> list[ChatMessage]:
        """The messages of the last turn after its question."""
        return [*takewhile(lambda message: message.role != "user", self._journal.history.newest_first)][::-1]
