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


def check_goal(goal: Goal, conversation: Conversation, library: Library) -> GoalCheck:
    """Compare what came of each step, and the result, with the notes behind the answers of all of them."""
    ids = [*(step.message_id for step in goal.steps), goal.result_id]
    hidden, messages = conversation.hidden_messages, conversation.history.messages
    answers = {id_: messages[id_] for id_ in ids if id_ in messages and id_ not in hidden}
    notes = [*_notes(library, _paths(answers.values()))]

    def support(id_: str) -> AnswerSupport:
        answer = answers.get(id_)
        return find_support(parse_answer(answer.text).body, notes) if answer else AnswerSupport()

    return GoalCheck(
        steps=tuple(support(step.message_id) if step.state == "done" else AnswerSupport() for step in goal.steps),
        result=support(goal.result_id),
    )


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
            continue  # it is gone since, or stays on this machine
