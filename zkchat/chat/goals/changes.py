"""The changes that a goal run proposes: staged over several turns, staged again after a stop, reviewed together."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from zkchat.chat.change_settlement import calls_with_results
from zkchat.chat.conversation import Conversation
from zkchat.chat.tools.readings import is_from_web
from zkchat.core import DECIDED, ChangesReviewed, ChatMessage, Goal, ToolCallPart, Warned, counted

INTERRUPTED: Final = "The run was interrupted; they are proposed again when it goes on."


class GoalChanges:
    """What one goal run does with the changes of notes that its model proposes."""

    def __init__(self, conversation: Conversation) -> None:
        self._talk = conversation
        self._proposals = conversation.writing.proposals
        self._undecided: set[str] = set()
        """Answers whose changes were to be reviewed in this run, and nobody could: they are staged no longer."""

    @property
    def are_proposed(self) -> bool:
        """Whether the model may propose changes."""
        return self._proposals is not None and self._proposals.is_on

    @contextmanager
    def deferred(self, wanted: bool) -> Iterator[None]:
        """Let what is staged grow over the turns of a run.

        The model may propose changes in one that is to, and afterwards only if it might before.
        """
        if self._proposals is None:
            yield
            return
        before = self._proposals.is_on
        if wanted and not before:
            self._talk.writing.allow(True)
        self._proposals.is_deferred = True
        try:
            yield
        finally:
            self._proposals.is_deferred = False
            if self._proposals.is_on and not before:
                self._talk.writing.allow(False)

    def settle(self, goal: Goal) -> tuple[Goal, ChangesReviewed | None]:
        """Have all that is staged reviewed as one change set; the goal notes which steps were decided on."""
        for reason in self._reasons_to_ask(goal):
            assert self._proposals is not None
            self._proposals.ask_because(reason)
        reviewed = self._talk.writing.settle(command="goal")
        if reviewed is None:
            return (goal.all_reviewed(self._undecided) if self.are_proposed else goal), None
        if reviewed.decision in DECIDED:
            goal = goal.all_reviewed(self._undecided)
        else:
            self._undecided |= {step.message_id for step in goal.steps if step.is_settled and not step.reviewed}
        return goal.with_decision(reviewed.decision), reviewed

    def drop(self) -> ChangesReviewed | None:
        """Forget what is staged, because the run is interrupted; the calls that staged it are in the session."""
        return self._talk.writing.drop(INTERRUPTED)

    async def stage_again(self, goal: Goal) -> Warned | None:
        """Make the calls again that staged what nobody decided on before the run was stopped."""
        if not self.are_proposed:
            return None
        open_steps = [step for step in goal.steps if step.is_settled and not step.reviewed]
        calls = [call for step in open_steps for call in self._calls(step.message_id)]
        results = [(call, await self._talk.requests.planner.tools.call(call)) for call in calls]
        if not results:
            return None
        refused = [outcome.text for _, outcome in results if outcome.failed]
        when = "when the run ended" if goal.result_id else "before the run was stopped"
        text = f"Proposed again, as {when}: {counted(len(results) - len(refused), 'change')}."
        if refused:
            reason, _, _ = refused[0].partition("\n")
            text += f" {counted(len(refused), 'change')} could not be. {reason}"
        return Warned(text=text)

    def _calls(self, answer_id: str) -> list[ToolCallPart]:
        """The calls of the turn of an answer that proposed changes, and were not refused."""
        assert self._proposals is not None
        turn: list[ChatMessage] = []
        message = self._talk.history.messages.get(answer_id)
        while message is not None and message.role != "user":
            turn.insert(0, message)
            message = self._talk.history.messages.get(message.parent_id or "")
        names, answered = self._proposals.tool_names, calls_with_results(turn)
        return [call for call, result in answered if call.name in names and not result.failed]

    def _reasons_to_ask(self, goal: Goal) -> Iterator[str]:
        """A clipping that was first read in the run calls for a question: nobody was there between its steps."""
        if not self.are_proposed:
            return
        before: set[str] = set()
        during: dict[str, None] = {}
        is_begun = False
        for message in self._talk.messages:
            is_begun = is_begun or (message.role == "user" and message.brief is not None and message.text == goal.text)
            given = [each.relative_path for each in message.references if each.relative_path and each.was_given]
            (during.update(dict.fromkeys(given)) if is_begun else before.update(given))
        for path in during:
            if path not in before and is_from_web(self._talk.library, path):
                yield f"The model first read {path}, a web clipping, in this run."
