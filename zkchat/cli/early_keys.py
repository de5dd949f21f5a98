"""Keys that are typed while a chat starts: shown at an early prompt, and kept for the one of the chat."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from zkchat.cli.command_table import HELP_OPTIONS
from zkchat.render.terminal import can_edit_text
from zkchat.repl.terminal_modes import echo_off, has_typed

if TYPE_CHECKING:
    from zkchat.repl.early_prompt import EarlyPrompt

_ERASE_LINE: Final = b"\r\x1b[K"
"""For what the terminal showed of keys before it was told not to; it comes again in the prompt."""
_MARKS_OF_VAULTS: Final = (".zkchat", ".obsidian")


@contextmanager
def keep_early_keys(arguments: Sequence[str], variables: Mapping[str, str]) -> Iterator["EarlyPrompt | None"]:
    """Keep keys for the prompt, where these arguments start a chat that has one; yields the early one that shows them.

    To be called before slow imports.
    """
    if not (sys.stdin and os.isatty(0) and os.isatty(1) and starts_prompt(arguments, variables)):
        yield None
        return
    with echo_off(sys.stdin):
        if has_typed(sys.stdin):
            with suppress(OSError):
                os.write(1, _ERASE_LINE)
        if sys.platform == "win32" or not starts_at_prompt(arguments):
            yield None
            return
        from zkchat.repl.early_prompt import EarlyPrompt

        early = EarlyPrompt(0, 1)
        early.start()
        try:
            yield early
        finally:
            early.end()


def starts_prompt(arguments: Sequence[str], variables: Mapping[str, str]) -> bool:
    """Whether these arguments start a chat whose prompt can be drawn, on a terminal."""
    is_chat = not arguments or (arguments[0] == "chat" and not {"--plain", *HELP_OPTIONS} & set(arguments))
    return is_chat and can_edit_text(variables)


def starts_at_prompt(arguments: Sequence[str]) -> bool:
    """Whether what these arguments start most likely begins with a prompt, and not with a list or a question."""
    if not arguments:
        return any(Path(mark).is_dir() for mark in _MARKS_OF_VAULTS)
    return not {"--resume", "-r"} & set(arguments)
