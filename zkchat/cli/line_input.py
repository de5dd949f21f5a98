"""Reading a line without editing it, where no prompt can be drawn."""

import signal
from typing import TYPE_CHECKING

from zkchat.cli.common import CommandIO
from zkchat.render.sanitize import sanitize_text
from zkchat.render.terminal import can_edit_text

if TYPE_CHECKING:
    from zkchat.environment import Environment


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
    return environment.stdin_is_tty and environment.stdout_is_tty and can_edit_text(environment.variables)
