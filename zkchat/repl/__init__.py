"""The prompt of a chat and its slash commands."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.repl.background import Background
    from zkchat.repl.command_context import Command, CommandContext, Edit, Leave, Outcome, Play, Send, Switch
    from zkchat.repl.commands.places import describe_next_steps
    from zkchat.repl.commands.table import COMMANDS, described_completions, find_command, run
    from zkchat.repl.completion import LinkCompleter, MenuCompleter
    from zkchat.repl.key_bindings import forget_typed
    from zkchat.repl.loop import converse
    from zkchat.repl.note_names import NameCache, NamedNote, NoteNames, normalize_name
    from zkchat.repl.picker import (
        QUESTION,
        Further,
        PickRow,
        ago,
        numbered_lines,
        pick,
        session_rows,
        sessions_to_resume,
        where_said,
    )
    from zkchat.repl.prompt import Prompt, status_of
    from zkchat.repl.surface import DrawnSurface, PlainSurface, Position, Surface, VaultBrowser, VaultView
else:
    __getattr__ = lazy_names(__name__, __file__)
