"""Keys that are typed while a chat starts: not echoed, and kept for its prompt."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from zkchat.render.terminal import can_edit_text
from zkchat.repl.terminal_modes import echo_off


def keep_early_keys(arguments: Sequence[str], variables: Mapping[str, str]) -> AbstractContextManager[None]:
    """Keep keys for the prompt, where these arguments start a chat that has one. To be called before slow imports."""
    if sys.stdin and os.isatty(0) and os.isatty(1) and starts_prompt(arguments, variables):
        return echo_off(sys.stdin)
    return nullcontext()


def starts_prompt(arguments: Sequence[str], variables: Mapping[str, str]) -> bool:
    """Whether these arguments start a chat whose prompt can be drawn, on a terminal."""
    is_chat = not arguments or (arguments[0] == "chat" and not {"--plain", "--help"} & set(arguments))
    return is_chat and can_edit_text(variables)
