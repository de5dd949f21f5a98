"""What the messages of a conversation say was given to the model of each note."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from zkchat.chat.journal import Journal
from zkchat.chat.privacy import ConversationPrivacy
from zkchat.chat.quotations import given_texts
from zkchat.chat.staleness import last_readings, read_in
from zkchat.model.message import ChatMessage


class GivenNotes(Struct, frozen=True, kw_only=True):
    """Implements `tools.readings.GivenBefore`, from the messages that the model sees."""

    journal: Journal
    privacy: ConversationPrivacy

    def question(self) -> tuple[str, Mapping[str, str]]:
        question = self.journal.history.last_question
        return (question.id, _given_in(question)) if question else ("", {})

    def before(self) -> Mapping[str, str]:
        history = self.journal.history
        question, hidden = history.last_question, self.privacy.hidden()
        earlier: list[ChatMessage] = []
        for message in history.window.live:
            if question and message.id == question.id:
                break
            if message.id not in hidden:
                earlier.append(message)
        passages = {name: "" for message in earlier for name in _given_in(message)}
        return passages | last_readings(map(read_in, earlier))

    def texts(self, path: str) -> Sequence[str]:
        hidden = self.privacy.hidden()
        live = (message for message in self.journal.history.window.live if message.id not in hidden)
        return [given.text for given in given_texts(live) if given.path.partition("#")[0] == path]


def _given_in(message: ChatMessage) -> dict[str, str]:
    """The notes of which a message brought any text, with digests where that was the whole."""
    passages = {each.relative_path: "" for each in message.references if each.relative_path and each.included}
    return passages | read_in(message)
