"""The command line."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.cli.command_table import EARLIER, FURTHER, GOAL, HELP_OPTIONS
    from zkchat.cli.completion import answer
    from zkchat.cli.help import CommandHelp, Rows, describe
    from zkchat.cli.main import app, run
    from zkchat.cli.terminal import graceful_termination, keep_early_keys
else:
    __getattr__ = lazy_names(__name__, __file__)
