"""Keys that are typed while a chat starts: not shown, and kept for its prompt."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from zkchat.cli.command_table import HELP_OPTIONS
from zkchat.render.terminal import can_edit_text
from zkchat.repl.terminal_modes import echo_off

_ERASE_LINE = b"\r\x1b[K"
"""For what the terminal showed of keys before it was told not to; it comes again in the prompt."""


@contextmanager
def keep_early_keys(arguments: Sequence[str], variables: Mapping[str, str]) -> Iterator[None]:
    """Keep keys for the prompt, where these arguments start a chat that has one. To be called before slow imports."""
    if not (sys.stdin and os.isatty(0) and os.isatty(1) and starts_prompt(arguments, variables)):
        yield
        return
    with echo_off(sys.stdin):
        with suppress(OSError):
            os.write(1, _ERASE_LINE)
        yield


def starts_prompt(arguments: Sequence[str], variables: Mapping[str, str]) -> bool:
    """Whether these arguments start a chat whose prompt can be drawn, on a terminal."""
    is_chat = not arguments or (arguments[0] == "chat" and not {"--plain", *HELP_OPTIONS} & set(arguments))
    return is_chat and can_edit_text(variables)
