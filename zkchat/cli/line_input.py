"""Reading a line without editing it, where no prompt can be drawn."""

import signal

from zkchat.cli.common import CommandIO
from zkchat.environment import Environment
from zkchat.render.sanitize import sanitize_text
from zkchat.render.terminal import can_edit_text
from zkchat.repl.single_key import CTRL_C, CTRL_D
from zkchat.repl.terminal_modes import echo_on, without_paste_marks


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


def read_answer(io: CommandIO, question: str) -> str:
    """Read a line that answers a question; Ctrl-D at the end of the input, Ctrl-C where that was pressed."""
    environment = io.environment
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # the loop's own would not be heard here,
    wakeup = signal.set_wakeup_fd(-1)  # and is not to hear of it afterwards
    line, ended_by = "", CTRL_D
    try:
        with echo_on(environment.stdin):
            environment.stderr.write(sanitize_text(question))
            environment.stderr.flush()
            line = without_paste_marks(environment.stdin.readline())
    except KeyboardInterrupt:
        ended_by = CTRL_C
    finally:
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGINT, before)
        if not line:
            io.note("")  # Ctrl-C and Ctrl-D do not end the line of the question
    return line.strip() if line else ended_by


def can_draw_prompt(environment: Environment) -> bool:
    """Whether the terminal can be drawn on while the user types."""
    return environment.stdin_is_tty and environment.stdout_is_tty and can_edit_text(environment.variables)
