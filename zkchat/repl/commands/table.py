"""The table of slash commands, their lookup, dispatch and completion; and the table of keys, as in docs/keys.md.

A new command is a function marked with `@slash` in a module beside this one; an action is a command by itself.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import zip_longest
from textwrap import wrap
from typing import Final

from msgspec.structs import replace

from zkchat.actions import every_action
from zkchat.core import UsageError, ZkchatError
from zkchat.repl.command_context import Command, CommandContext, Leave, Outcome, Send, slash
from zkchat.repl.commands import actions, answer, context_window, history, session
from zkchat.repl.commands.actions import slash_command

_TWO_COLUMNS_WIDTH: Final = 80
_KEYS: Final = "keys"
_ALL: Final = "all"
_MIN_WORD: Final = 3
MEANT: Final = {
    "bye": "/quit",
    "chats": "/resume",
    "config": "`zkchat config` in a shell",
    "continue": "/resume",
    "delete": "`zkchat note trash NOTE` in a shell",
    "docs": "/sources",
    "find": "/search",
    "grep": "/search",
    "models": "/model",
    "move": "`zkchat note move NOTE FOLDER` in a shell",
    "note": "/show NOTE, or `zkchat note` in a shell to write one",
    "references": "/sources",
    "settings": "`zkchat config` in a shell",
    "source": "/sources",
    "summarize": "/compact",
    "summary": "/compact",
    "tasks": "/today",
    "tokens": "/stats",
    "trash": "`zkchat note trash NOTE` in a shell",
    "usage": "/stats",
}
"""What people type who do not know the commands, and what does it."""


async def run(context: CommandContext, line: str) -> Outcome:
    """Run a line that begins with a slash. Errors are printed, not raised.

    A message that begins with a path, such as `/usr/bin/env: what is it?`, is a message. `/server:prompt` is a prompt
    of an MCP server.
    """
    name, argument = (*line.strip().removeprefix("/").split(maxsplit=1), "", "")[:2]
    prompt = session.split_prompt(context, name)
    if "/" in name and not prompt:
        return Send(line)
    try:
        if prompt:
            return await session.send_prompt(context, *prompt, argument)
        return await find_command(name).run(context, argument)
    except ZkchatError as error:
        hint = (error.hint or "").replace("zkchat undo", "/undo")
        context.surface.print(f"{error.message} {hint}".strip())
        return None


def find_command(name: str) -> Command:
    """Find a command by name or alias, case-insensitively. Raises `UsageError` with close matches as a hint."""
    wanted = name.casefold()
    named = {called: command for command in COMMANDS for called in (command.name, *command.aliases)}
    if wanted in named:
        return named[wanted]
    if meant := MEANT.get(wanted):
        raise UsageError(f"There is no command /{name}.", hint=f"Did you mean {meant}?")
    beginning = [command.name for command in COMMANDS if wanted and command.name.startswith(wanted)]
    closest = beginning[:3] or get_close_matches(wanted, [command.name for command in COMMANDS], n=2, cutoff=0.6)
    hint = f"Did you mean {' or '.join(f'/{called}' for called in closest)}?" if closest else "/help all lists them."
    raise UsageError(f"There is no command /{name}.", hint=hint)


def completions(context: CommandContext, line: str) -> list[str]:
    """Completions of a line that begins with a slash: names of commands, then arguments."""
    name, gap, argument = line.removeprefix("/").partition(" ")
    if not gap:
        return [f"/{each}" for each in _names(name.casefold())]
    try:
        return find_command(name).complete(context, argument.lstrip())
    except ZkchatError:
        return []


def _names(beginning: str) -> list[str]:
    """The names that begin like this; those that the list leaves out only where it has none."""
    names = [command.name for command in COMMANDS if not command.is_minor]
    others = [name for command in COMMANDS for name in (command.name, *command.aliases) if name not in names]
    found = [[name for name in each if name.startswith(beginning)] for each in (names, others)]
    return found[0] or found[1]


def described_completions(context: CommandContext, line: str) -> list[tuple[str, str]]:
    """The completions of a line, each with the help text of its command, or what the argument means."""
    found = completions(context, line)
    name, gap, _ = line.removeprefix("/").partition(" ")
    if gap:
        return [(text, find_command(name).describe(context, text)) for text in found]
    descriptions = {f"/{called}": each.help for each in COMMANDS for called in (each.name, *each.aliases)}
    return [*((text, descriptions.get(text, "")) for text in found), *session.prompt_completions(context, name)]


def _complete_command_name(_context: CommandContext, text: str) -> list[str]:
    topics = [topic for topic in (_KEYS, _ALL) if topic.startswith(text)]
    return [*topics, *_names(text.removeprefix("/"))]


@slash("help [NAME]", "more on a command", aliases=("h", "?"), complete=_complete_command_name)
async def _help(context: CommandContext, argument: str) -> None:
    """With NAME, more about one command; /help keys lists the keys of the prompt, /help all every command."""
    if argument.casefold() == _KEYS:
        context.surface.print("\n".join(key_lines(context.surface.width)))
    elif argument.casefold() == _ALL:
        context.surface.print("\n".join(_help_lines(COMMANDS, with_aliases=True)))
    elif argument:
        command = find_command(argument.removeprefix("/"))
        others = f" (also {', '.join(f'/{name}' for name in command.aliases)})" if command.aliases else ""
        context.surface.print(f"{command.usage}{others}: {command.help}. {command.details}".strip())
    else:
        more = "N is a number in a list. /help NAME, /help keys and /help all tell more."
        context.surface.print("\n".join([*_command_list(context.surface.width), more]))


def _command_list(width: int) -> list[str]:
    """The list for `/help`, in two columns on a wide screen."""
    listed = [command for command in COMMANDS if not command.is_minor]
    if width < _TWO_COLUMNS_WIDTH:
        return _help_lines(listed)
    half = (len(listed) + 1) // 2
    pairs = zip_longest(_help_lines(listed[:half]), _help_lines(listed[half:]), fillvalue="")
    return [f"{left:<{_TWO_COLUMNS_WIDTH // 2}}{right}".rstrip() for left, right in pairs]


def _help_lines(commands: Sequence[Command], *, with_aliases: bool = False) -> list[str]:
    # Of the aliases those that are words, not abbreviations.
    others = [[f"/{name}" for name in each.aliases if with_aliases and len(name) >= _MIN_WORD] for each in commands]
    usages = [", ".join([each.usage, *more]) for each, more in zip(commands, others, strict=True)]
    start = max(map(len, usages)) + 2
    return [f"{usage:<{start}}{command.help}" for usage, command in zip(usages, commands, strict=True)]


@slash("quit", "quit, like Ctrl-D", aliases=("exit", "q"))
async def _quit(_context: CommandContext, _argument: str) -> Outcome:
    return Leave()


LISTED: Final = (
    "search", "show", "open", "today", "sources", "check", "copy", "save", "write", "goal", "undo",
    "new", "resume", "model", "context", "compact", "memory", "help", "quit",
)  # fmt: skip
"""The commands that `/help` lists, in its order; `/help all` lists the others below them."""
_OWN: Final = [
    each
    for module in (actions, answer, history, context_window, session)
    for each in vars(module).values()
    if isinstance(each, Command)
]
_NAMED: Final = {command.name for command in _OWN}
_GENERATED: Final = [
    slash_command(action) for action in every_action().values() if action.in_chat and action.name not in _NAMED
]
COMMANDS: Final[Sequence[Command]] = [
    replace(each, is_minor=each.name not in LISTED)
    for each in sorted([*_GENERATED, *_OWN, _help, _quit], key=lambda each: (*LISTED, each.name).index(each.name))
]
"""Actions are commands by themselves, unless a module above has one of their name."""


KEYS_BY_SECTION: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "Sending and stopping": (
        ("Enter", "send; inside an open code fence, begin a new line"),
        ("Alt-Enter, Ctrl-J, \\ Enter, Shift-Enter", "begin a new line"),
        ("Esc, Ctrl-C", "stop the answer; at the prompt, Ctrl-C empties it (Up brings it back)"),
        ("Ctrl-D", "quit, at an empty prompt"),
        ("Ctrl-Z", "suspend zkchat; fg resumes it"),
    ),
    "Writing": (
        ("Ctrl-X Ctrl-E, Ctrl-G", "write in your editor ($VISUAL or $EDITOR)"),
        ("Esc Esc", "empty the prompt (Up brings it back); if it is empty, change the last message"),
        ("Up, Down", "earlier messages; lines of a long one"),
        ("Ctrl-R", "search earlier messages; Enter takes one"),
        ("Ctrl-A, Ctrl-E", "go to the beginning, or the end, of the line"),
        ("Ctrl-W, Ctrl-U, Ctrl-K", "delete a word; to the line's beginning; to its end"),
        ("Ctrl-Y, Ctrl-_", "insert what was deleted; undo"),
    ),
    "Completing": (
        ("[[", "notes by title or alias; [[Note# its headings, [[Note#^ its blocks"),
        ("@", "agents, notes, files and folders; / after a folder shows what is in it"),
        ("#", "tags of your notes, and how many notes have each"),
        ("/", "commands and their arguments, at the beginning of a line"),
        ("Tab, Down", "choose the first row of the menu, then the next; Enter takes it"),
    ),
    "The screen": (
        ("Ctrl-L", "clear the screen; what you typed stays"),
        ("Ctrl-T", "show or hide the model's thinking, in the last answer and later ones"),
    ),
    "In a list (/resume)": (
        ("letters", "search"),
        ("Up, Down, PageUp, PageDown", "move"),
        ("Enter", "choose"),
        ("Esc, Ctrl-C", "leave the list"),
    ),
}
"""Keys that do the same, and what they do, by sections."""
VI_KEYS: Final = "With ui.keys = \"vi\" vi's keys work, and the bar shows the mode. Esc is vi's, so use /edit."


def key_lines(width: int) -> list[str]:
    """The table for `/help keys`, wrapped to the width."""
    start = max(len(keys) for rows in KEYS_BY_SECTION.values() for keys, _ in rows) + 4
    lines: list[str] = []
    for title, rows in KEYS_BY_SECTION.items():
        lines.append(title)
        for keys, does in rows:
            if width - start < 24:  # then what they do is on the next line
                lines += [f"  {keys}", *(f"    {line}" for line in wrap(does, width - 4))]
            else:
                first, *others = wrap(does, width - start)
                lines += [f"  {keys}".ljust(start) + first, *(" " * start + line for line in others)]
    return [*lines, *wrap(VI_KEYS, width)]
