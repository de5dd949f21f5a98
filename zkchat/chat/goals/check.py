"""The check of a goal: where the sentences of its results stand in the notes that the model was given."""

from collections.abc import Iterable, Iterator
from typing import Final

from zkchat.chat.conversation import Conversation
from zkchat.chat.goals.marks import parse_answer
from zkchat.chat.goals.support import NoteText, find_support
from zkchat.errors import StorageError, VaultError
from zkchat.model.goal import AnswerSupport, Goal, GoalCheck
from zkchat.model.message import ChatMessage
from zkchat.vault.library import Library

MAX_NOTES: Final = 40
"""Notes that the results are compared with, those of the last steps first."""


class GoalChecker:
    """Compares what came of each step, and the result, with the notes behind the answers so far.

    An answer is compared once, so that what is written into notes afterwards does not speak for it.
    """

    def __init__(self, conversation: Conversation, library: Library) -> None:
        """`library` holds the notes as they are on disk, without what is staged."""
        self._conversation = conversation
        self._library = library
        self._checked: dict[str, AnswerSupport] = {}

    def check(self, goal: Goal) -> GoalCheck:
        ids = [*(step.message_id for step in goal.steps if step.state == "done"), goal.result_id]
        hidden, messages = self._conversation.hidden_messages, self._conversation.history.messages
        answers = {id_: messages[id_] for id_ in ids if id_ in messages and id_ not in hidden}
        if unchecked := {id_: answer for id_, answer in answers.items() if id_ not in self._checked}:
            notes = [*_notes(self._library, _paths(answers.values()))]
            for id_, answer in unchecked.items():
                self._checked[id_] = find_support(parse_answer(answer.text).body, notes)
        return GoalCheck(
            steps=tuple(self._support(step.message_id if step.state == "done" else "") for step in goal.steps),
            result=self._support(goal.result_id),
        )

    def _support(self, message_id: str) -> AnswerSupport:
        return self._checked.get(message_id, AnswerSupport())


def _paths(answers: Iterable[ChatMessage]) -> list[str]:
    given = (
        reference.relative_path
        for answer in reversed([*answers])
        for reference in answer.references
        if reference.relative_path and (reference.was_given or reference.cited)
    )
    return [*dict.fromkeys(given)][:MAX_NOTES]


def _notes(library: Library, paths: Iterable[str]) -> Iterator[NoteText]:
    for path in paths:
        try:
            yield NoteText(path, library.read(path))
        except (VaultError, StorageError):
            continue  # it is gone since
