"""Reading a line or a yes from the terminal of a chat, beside its prompt."""

import signal
from typing import TYPE_CHECKING

from zkchat.cli.common import CommandIO
from zkchat.render.sanitize import sanitize_text
from zkchat.repl.terminal_modes import echo_on

if TYPE_CHECKING:
    from zkchat.environment import Environment


class PromptIO(CommandIO):
    """Echoes keys while it asks; otherwise the terminal of a chat does not."""

    def confirm(self, question: str) -> bool:
        if not self.environment.stdin_is_tty:
            return False
        with echo_on(self.environment.stdin):
            return super().confirm(question)


def read_line(io: CommandIO, prompt: str) -> str:
    """Read a line without editing; a terminal shows the prompt. Raises EOFError at the end."""
    environment = io.environment
    if environment.stdin_is_tty:
        environment.stderr.write(sanitize_text(prompt))
        environment.stderr.flush()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the loop's own would not be heard here
    try:
        line = environment.stdin.readline()
    except KeyboardInterrupt:
        if environment.stdin_is_tty:
            raise
        raise EOFError from None
    if not line:
        if environment.stdin_is_tty:
            io.note("")  # Ctrl-D does not end the line of the prompt
        raise EOFError
    return line


def can_draw_prompt(environment: "Environment") -> bool:
    """Whether the terminal can be drawn on while the user types."""
    from zkchat.render.terminal import can_move_cursor

    is_terminal = environment.stdin_is_tty and environment.stdout_is_tty
    return is_terminal and can_move_cursor(environment.variables) and not environment.variables.get("CI")
