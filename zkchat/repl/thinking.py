"""Ctrl-T: whether a chat shows the thinking of models whole, and the thinking of its last answer."""

from collections.abc import Sequence
from typing import Final

from zkchat.model.choices import ThinkingView
from zkchat.model.message import ChatMessage
from zkchat.repl.command_context import Surface

_SHOWN: Final = "Thinking is shown from now on; Ctrl-T folds it."
_NOT_SHOWN: Final = "Thinking is {} from now on; Ctrl-T shows it."


class ThinkingToggle:
    """How thinking is shown in this chat: as the settings say, until the user changes it."""

    def __init__(self, setting: ThinkingView) -> None:
        self.view: ThinkingView = setting
        self._off: ThinkingView = "folded" if setting == "shown" else setting
        self._announced = setting

    def switch(self) -> None:
        """Show thinking, or fold it again, without a word; for the time of a turn."""
        self.view = self._off if self.view == "shown" else "shown"

    def toggle(self, messages: Sequence[ChatMessage], surface: Surface) -> None:
        """Show it from now on, and that of the last answer at once; or fold it again."""
        self.switch()
        if self.view == "shown" and (thought := _last_thinking(messages)):
            surface.print_dimmed(f"Thinking of the last answer:\n{thought}\n")
        self.announce(surface)

    def announce(self, surface: Surface) -> None:
        """Say how thinking is shown, where that changed since it was said."""
        if self.view != self._announced:
            self._announced = self.view
            surface.print_dimmed(_SHOWN if self.view == "shown" else _NOT_SHOWN.format(self.view))


def _last_thinking(messages: Sequence[ChatMessage]) -> str:
    """What the model thought for the last question, also between its calls of tools."""
    asked = next((place for place, message in reversed([*enumerate(messages)]) if message.role == "user"), 0)
    answers = [message for message in messages[asked:] if message.role == "assistant"]
    return "\n\n".join(thought for message in answers if (thought := message.thinking.strip()))
