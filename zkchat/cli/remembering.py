"""The person at the terminal, asked what may be remembered: what a model wants to keep, and what was said."""

import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

from zkchat.cli.common import Process
from zkchat.errors import ZkchatError
from zkchat.render.sanitize import shown_in_line

if TYPE_CHECKING:
    from zkchat.chat.conversation import Conversation


def asked_to_remember(here: Process) -> Callable[[str], bool]:
    """Shows what a model wants to keep, and tells what the user says to it. Nobody there to ask is a no."""

    def may_remember(text: str) -> bool:
        if here.environment.stdin_is_tty:
            here.note("")  # the line that says what the model is doing has not ended
        return _agrees(here, text)

    return may_remember


def _agrees(here: Process, text: str) -> bool:
    # The chat's own way to hear Ctrl-C does not reach somebody who waits for a line.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return here.confirm(f"Remember “{shown_in_line(text)}”?")
    except KeyboardInterrupt:
        return False
    finally:
        signal.signal(signal.SIGINT, before)


class LearningPoints:
    """What is proposed from one conversation: after a compaction, and when the user leaves. Each thing once."""

    def __init__(self, here: Process, conversation: "Conversation", *, is_wanted: bool) -> None:
        self._here = here
        self._conversation = conversation
        self._is_wanted = is_wanted and here.environment.stdin_is_tty
        self.heard = {message.id for message in conversation.messages}
        """What was looked at already, or was said before this chat began."""
        self._compactions = len(conversation.window.compactions)

    def after_turn(self) -> None:
        before, self._compactions = self._compactions, len(self._conversation.window.compactions)
        if self._compactions > before:
            self.propose()

    def propose(self) -> None:
        new = [message for message in self._conversation.messages if message.id not in self.heard]
        self.heard.update(message.id for message in new)
        for point in self._conversation.worth_keeping(new) if self._is_wanted else ():
            if _agrees(self._here, point):
                self._keep(point)

    def _keep(self, point: str) -> None:
        try:
            self._here.note(self._conversation.remember(point, "session").sentence)
        except ZkchatError as error:
            self._here.fail(error)
