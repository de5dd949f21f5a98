"""The user at the terminal, asked for consent: to a compaction, and to what may be remembered."""

import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from zkchat.chat.conversation import Conversation
from zkchat.cli.call_review import TerminalCallReviewer
from zkchat.cli.change_review import TerminalChangeReviewer
from zkchat.cli.common import CommandIO
from zkchat.cli.editors import edit_text
from zkchat.cli.output import configured_color
from zkchat.cli.progress import progress
from zkchat.context.strategies import CompactionPlan
from zkchat.errors import ZkchatError
from zkchat.render.sanitize import sanitize_line
from zkchat.vault.indexing.indexer import Progress


class TerminalInterface:
    """Implements `compose.user_interface.UserInterface`."""

    def __init__(
        self, io: CommandIO, *, plain: bool = False, reviews: bool = True, color: Callable[[], str] = lambda: "auto"
    ) -> None:
        """`reviews`: the user can be asked about changes of notes, where there is a terminal; `color` is `ui.color`."""
        self._color = color
        self._io = io
        self._plain = plain
        self._reviews = reviews

    @property
    def color(self) -> str:
        """As `ui.color` says."""
        return self._color()

    @property
    def reviewer(self) -> "TerminalReviewer | None":
        return TerminalReviewer(self._io) if self._io.environment.stdin_is_tty else None

    @property
    def change_reviewer(self) -> TerminalChangeReviewer | None:
        environment = self._io.environment
        if not (self._reviews and environment.stdin_is_tty and environment.stderr_is_tty):
            return None
        return TerminalChangeReviewer(self._io, color=lambda: self.color, plain=self._plain)

    @property
    def call_reviewer(self) -> TerminalCallReviewer | None:
        environment = self._io.environment
        if not (self._reviews and environment.stdin_is_tty and environment.stderr_is_tty):
            return None
        return TerminalCallReviewer(self._io, color=lambda: self.color, plain=self._plain)

    def may_remember(self, text: str) -> bool:
        if self._io.environment.stdin_is_tty:
            self._io.note("")  # the line that says what the model is doing has not ended
        return confirm_memory(self._io, text)

    def indexing_progress(self) -> AbstractContextManager[Progress]:
        return progress(self._io.environment, "Indexing notes")


def terminal_interface(io: CommandIO, vault: Path | None, *, plain: bool, reviews: bool) -> TerminalInterface:
    """For one command, which draws changes in colour as the settings of the vault say."""
    return TerminalInterface(io, plain=plain, reviews=reviews, color=lambda: configured_color(io, vault))


class TerminalReviewer:
    """Implements `chat.compaction.Reviewer`."""

    def __init__(self, io: CommandIO) -> None:
        self._io = io

    async def agrees(self, plan: CompactionPlan, tokens: int) -> bool:
        count = len(plan.archived)
        return self._io.confirm(f"The context is full ({tokens:,} tokens). Summarise {count} older messages?")

    async def edits(self, summary: str) -> str:
        """The summary as the user leaves it in the editor; as it was where that cannot be used."""
        edited = edit_text(self._io, summary.encode(errors="replace"), "summary.md")
        return summary if edited is None else edited.decode()


def confirm_memory(io: CommandIO, text: str) -> bool:
    """Whether the user agrees that this is remembered. Nobody there to ask is a no, and so is Ctrl-C."""
    # The chat's own way to hear Ctrl-C does not reach somebody who waits for a line.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return io.confirm(f"Remember “{sanitize_line(text)}”?")
    except KeyboardInterrupt:
        return False
    finally:
        signal.signal(signal.SIGINT, before)


class MemoryProposals:
    """Proposes facts of one conversation to be remembered: after a compaction, and when the user leaves. Each once."""

    def __init__(self, io: CommandIO, conversation: Conversation, *, enabled: bool) -> None:
        self._io = io
        self._conversation = conversation
        self._enabled = enabled and io.environment.stdin_is_tty
        self.seen = {message.id for message in conversation.messages}
        """The ids of messages that were looked at already, or were there before this chat began."""
        self._compactions = len(conversation.window.compactions)

    def after_turn(self) -> None:
        before, self._compactions = self._compactions, len(self._conversation.window.compactions)
        if self._compactions > before:
            self.propose()

    def propose(self) -> None:
        new = [message for message in self._conversation.messages if message.id not in self.seen]
        self.seen.update(message.id for message in new)
        for fact in self._conversation.worth_keeping(new) if self._enabled else ():
            if confirm_memory(self._io, fact):
                self._remember(fact)

    def _remember(self, fact: str) -> None:
        try:
            self._io.note(self._conversation.remember(fact, "session").sentence)
        except ZkchatError as error:
            self._io.fail(error)
