"""The table of slash commands, their lookup, dispatch and completion; and the table of keys, as in docs/keys.md.

A new command is a row here and a function in a module beside this one; an action is a command by itself.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import zip_longest
from textwrap import wrap
from typing import Final

from zkchat.actions import every_action
from zkchat.core import UsageError, ZkchatError
from zkchat.repl.command_context import NOTHING, Command, CommandContext, Leave, Outcome, Send
from zkchat.repl.commands import actions, answer, context_window, history, session
from zkchat.repl.commands.actions import slash_command
from zkchat.repl.commands.context_window import why
from zkchat.repl.commands.places import (
    complete_answer_number,
    complete_message_number,
    complete_place,
    complete_reference_number,
    describe_number,
)

_TWO_COLUMNS_WIDTH: Final = 80
_FOOTER: Final = "N is a number in a list. /help NAME, /help keys and /help all tell more."
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
        return NOTHING


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


async def _help(context: CommandContext, argument: str) -> Outcome:
    if argument.casefold() == _KEYS:
        context.surface.print("\n".join(key_lines(context.surface.width)))
    elif argument.casefold() == _ALL:
        context.surface.print("\n".join(_help_lines(COMMANDS, with_aliases=True)))
    elif argument:
        command = find_command(argument.removeprefix("/"))
        others = f" (also {', '.join(f'/{name}' for name in command.aliases)})" if command.aliases else ""
        context.surface.print(f"{command.usage}{others}: {command.help}. {command.details}".strip())
    else:
        context.surface.print("\n".join([*_command_list(context.surface.width), _FOOTER]))
    return NOTHING


def _command_list(width: int) -> list[str]:
    """The list for `/help`, in two columns on a wide screen."""
    listed = [command for command in COMMANDS if not command.is_minor]
    if width < _TWO_COLUMNS_WIDTH:
        return _help_lines(listed)
    half = (len(listed) + 1) // 2
    pairs = zip_longest(_help_lines(listed[:half]), _help_lines(listed[half:]), fillvalue="")
    return [f"{left:<{_TWO_COLUMNS_WIDTH // 2}}{right}".rstrip() for left, right in pairs]


def _help_lines(commands: Sequence[Command], *, with_aliases: bool = False) -> list[str]:
    usages = [", ".join([each.usage, *(_other_words(each) if with_aliases else [])]) for each in commands]
    start = max(map(len, usages)) + 2
    return [f"{usage:<{start}}{command.help}" for usage, command in zip(usages, commands, strict=True)]


def _other_words(command: Command) -> list[str]:
    """The aliases that are words, not abbreviations."""
    return [f"/{name}" for name in command.aliases if len(name) >= _MIN_WORD]


def _complete_command_name(_context: CommandContext, text: str) -> list[str]:
    topics = [topic for topic in (_KEYS, _ALL) if topic.startswith(text)]
    return [*topics, *_names(text.removeprefix("/"))]


async def _quit(_context: CommandContext, _argument: str) -> Outcome:
    return Leave()


def _complete_history(_context: CommandContext, text: str) -> list[str]:
    return [history.ARCHIVED] if history.ARCHIVED.startswith(text) else []


_OF_NOTES: Final[Sequence[Command]] = (
    Command(
        name="show",
        arguments="[NOTE]",
        help="read a note, its links",
        details="NOTE is the number of a hit, a link such as [[Note#Heading]] or [[Note#^block]], or a path. A "
        "long note comes in pages: /show more continues, /show all shows the rest. Without NOTE: the first "
        "source of the last answer. --links shows the links in it and to it, --mentions where it is "
        "mentioned without a link, --neighbours the notes linked to or from it, --timeline its history.",
        act=actions.show,
        complete=actions.complete_show,
        describe=describe_number,
    ),
    Command(
        name="open",
        arguments="[NOTE]",
        help="open in your editor",
        details="NOTE as in /show. Notes of an Obsidian vault open in Obsidian, others in your system's default "
        "program; without a desktop, in $VISUAL or $EDITOR at the line. The setting ui.open_with changes this.",
        act=actions.open_,
        complete=complete_place,
        describe=describe_number,
    ),
    Command(
        name="today",
        arguments="[DAYS]",
        help="tasks and changes",
        details="Shows today's daily note, open tasks by due date, notes changed in the last DAYS days (default: 7), "
        "notes from this day in earlier years, and mentions without a link. With --summary, a model adds a summary.",
        act=actions.today,
    ),
    Command(
        name="brief",
        is_minor=True,
        arguments="[DAYS]",
        help="/today --summary",
        details="The old name of /today --summary.",
        act=actions.brief,
    ),
    Command(
        name="link",
        is_minor=True,
        arguments="[NOTE]",
        help="link mentioned notes",
        details="Shows each mention of a note without a link: y links it, n does not. With NOTE (as in /show): first "
        "those of NOTE, then those in it. Without NOTE: those in the newest notes. /undo reverts all links at once.",
        act=actions.link,
        complete=complete_place,
        describe=describe_number,
    ),
    Command(
        name="rename",
        is_minor=True,
        arguments="NOTE NAME",
        help="rename a note",
        details="/rename [[Sleep]] Sleep well: every link to the note follows. You see the changes and say yes or no; "
        "/undo reverts it.",
        act=actions.rename,
        complete=complete_place,
        describe=describe_number,
    ),
)
_OF_ANSWERS: Final[Sequence[Command]] = (
    Command(
        name="sources",
        aliases=("refs",),
        arguments="[N]",
        help="sources of an answer",
        details="Lists the sources of the last answer, and why each was used; N shows what was found in source N.",
        act=answer.refs,
        complete=complete_reference_number,
    ),
    Command(
        name="more",
        is_minor=True,
        help="further passages",
        details="What else your notes say about your last question, or the next notes of a list. Repeat it until "
        "there is no more.",
        act=answer.more,
    ),
    Command(
        name="check",
        aliases=("verify",),
        arguments="[N]",
        help="check the answer",
        details="Checks which statements of the last answer, or of answer N in /history, are in your "
        "notes: ✓ word for word, ≈ nearly, ✗ with another number, another name or the opposite, ? not at "
        "all, or in very different words. /show N shows where.",
        act=answer.verify,
        complete=complete_answer_number,
    ),
)
_OTHER: Final[Sequence[Command]] = (
    Command(
        name="copy",
        arguments="[N]",
        help="copy the answer",
        details="The last answer, or message N, goes to the clipboard; if your terminal cannot do that, it is printed.",
        act=answer.copy,
        complete=complete_message_number,
    ),
    Command(
        name="paste",
        is_minor=True,
        arguments="QUESTION",
        help="ask about a copied image",
        details="Sends the image on the clipboard with the question, to a model that sees images.",
        act=answer.paste,
    ),
    Command(
        name="save",
        arguments="[NOTE]",
        help="answer as a new note",
        details="Saves the last answer with its question and its sources as NOTE; without NOTE, zkchat suggests a name "
        "made of the question and asks. Nothing is ever overwritten, and /undo reverts it. Its property "
        "`zkchat-note: answer` tells it from your own notes.",
        act=answer.save,
    ),
    Command(
        name="export",
        is_minor=True,
        arguments="[FILE]",
        help="session as a file",
        details="Saves the session in your vault, as FILE; without FILE, zkchat suggests a name and asks. It is "
        "Markdown with links, or JSON with everything if FILE ends in .json. "
        "/undo reverts it. To write elsewhere: zkchat context export --output FILE.",
        act=answer.export,
    ),
    Command(
        name="changes",
        is_minor=True,
        arguments="[ID]",
        help="what zkchat changed",
        details="The last changes to your notes, with their numbers and who made them; with ID, one of them as a diff.",
        act=answer.changes,
    ),
    Command(
        name="write",
        arguments="[on]",
        help="model may edit notes",
        details="/write on lets the model propose changes to your notes: you see each as a diff after the answer, "
        "and say yes or no. /write off stops that. /write alone tells whether it is on, in which "
        "folders you are not asked, and what happened to the last proposal; /write diff shows that proposal.",
        act=session.write,
        complete=session.complete_write,
    ),
    Command(
        name="goal",
        arguments="[GOAL]",
        help="a task in many steps",
        details="The model makes a plan, which you can change, works through its steps one by one, and the result "
        "is checked against your notes. Ctrl-C keeps what is done, /goal resume continues with the first "
        "open step. With /write on, you review its changes at the end. Without GOAL, shows the checklist. The "
        "limits are the settings goal.steps, goal.tokens and goal.minutes.",
        act=session.goal,
        complete=session.complete_goal,
    ),
    Command(
        name="undo",
        arguments="[N or #ID]",
        help="undo a change",
        details="Shows the last change that zkchat made to your notes, or the last N, and reverts it if you say yes; "
        "/undo #3 reverts change 3, /undo --list lists changes. Files are restored exactly, to the last byte. A file "
        "that has changed since is left alone.",
        act=answer.undo,
    ),
    Command(
        name="retry",
        is_minor=True,
        help="answer once more",
        details="Your last message is answered again. The earlier answer is kept in a branch of its own.",
        act=history.retry,
    ),
    Command(
        name="edit",
        is_minor=True,
        help="change the question",
        details="Your last message comes back to the prompt. What you send replaces it in a new branch.",
        act=history.edit,
    ),
    Command(
        name="branch",
        is_minor=True,
        arguments="[N]",
        help="go back, try another way",
        details="Without N, lists the branches of the session: b1, b2 …, with their first words. /branch b1 goes "
        "to branch 1; /branch 4 continues after message 4 or, if that is a question of yours, instead of it. What came "
        "later is kept as a branch.",
        act=history.branch,
        complete=history.complete_branch,
    ),
    Command(
        name="history",
        is_minor=True,
        arguments="[N]",
        help="what was said",
        details="A line for each message in the context; * marks pinned ones. With N, one whole message; with "
        "--archived, also messages that the model no longer sees.",
        act=history.history,
        complete=_complete_history,
    ),
    Command(
        name="expand",
        is_minor=True,
        arguments="[N]",
        help="what was summarised",
        details="Summary N, or the last one, and the messages it replaces.",
        act=history.expand,
    ),
    Command(
        name="pin",
        is_minor=True,
        arguments="[N]",
        help="keep a message whole",
        details="Message N, or the last answer, is never summarised. /pin N again unpins it.",
        act=history.pin,
        complete=complete_message_number,
    ),
    Command(
        name="priority",
        is_minor=True,
        arguments="N 1-10",
        help="how long a message stays",
        details="From 8 up, message N is kept word for word while it fits; below 5 it is summarised before others. "
        "5 is the default. /stats lists what is pinned and what has another priority.",
        act=history.priority,
        complete=complete_message_number,
    ),
    Command(
        name="sessions",
        is_minor=True,
        arguments="[WORDS]",
        help="sessions of the vault",
        details="Lists sessions, the last used first; with WORDS, only those about them. * marks the one you are in.",
        act=history.sessions,
    ),
    Command(
        name="new", aliases=("clear",), help="begin a new session", details="The current one is kept.", act=history.new
    ),
    Command(
        name="resume",
        arguments="[WORDS]",
        help="continue a session",
        details="WORDS are its title, its id, words said in it, or a time (last week). Without WORDS, choose from "
        "a list: type to search it. The session has its own model and agent.",
        act=history.resume,
        complete=history.complete_session,
    ),
    Command(
        name="model",
        arguments="[NAME]",
        help="which model answers",
        details="Choose from a list with context windows and where models run. With NAME, use that one from now on, "
        "for instance ollama:qwen3:8b or quote; the session keeps it.",
        act=session.model,
        complete=session.complete_model,
    ),
    Command(
        name="context",
        arguments="[N]",
        help="what was sent and why",
        details="For the last answer, or answer N: what was sent and why (always, added by you, or found relevant), "
        "and what was left out.",
        act=context_window.context,
        complete=complete_message_number,
    ),
    Command(
        name="stats",
        is_minor=True,
        help="what fills the context",
        details="How full the context window is, and how many messages are in it, archived and pinned.",
        act=context_window.stats,
    ),
    Command(
        name="compact",
        arguments="[FOCUS]",
        help="summarise what is old",
        details="Older messages leave the context and a summary replaces them. It keeps most about FOCUS, if "
        "given; brief or full before FOCUS makes it shorter or longer. Nothing is deleted, and /uncompact reverts it.",
        act=context_window.compact,
    ),
    Command(
        name="uncompact",
        is_minor=True,
        help="undo a summary",
        details="The model sees the messages of the last summary again.",
        act=context_window.uncompact,
    ),
    Command(
        name="why",
        is_minor=True,
        arguments="[[NOTE]]",
        help="why it was (not) sent",
        details="For the last answer: why the note was sent, or was not, and for which messages it was sent. Also "
        "/why rule NAME and /why tool NAME.",
        act=why,
        complete=session.complete_item,
    ),
    Command(
        name="add",
        is_minor=True,
        arguments="WHAT",
        help="send it every time",
        details="/add [[Note]], /add rule NAME, /add tool NAME or /add memory: it is sent with every message of "
        "this session, now and later. You see how many tokens that takes.",
        act=session.add,
        complete=session.complete_item,
    ),
    Command(
        name="drop",
        is_minor=True,
        arguments="WHAT",
        help="do not send it again",
        details="/drop [[Note]], /drop rule NAME, /drop tool NAME or /drop memory (ZKCHAT.md and facts): it is no "
        "longer sent in this session.",
        act=session.drop,
        complete=session.complete_item_to_drop,
    ),
    Command(
        name="rules",
        is_minor=True,
        help="rules of the session",
        details="Lists the rules, when each is sent and how many tokens it takes; * marks those sent every time.",
        act=session.rules,
    ),
    Command(
        name="tools",
        is_minor=True,
        help="what the model can do",
        details="Lists the tools, when each is sent and how many tokens it takes; * marks those sent every time. "
        "Tools of MCP servers are called server/tool; if a server cannot be used, you see why.",
        act=session.tools,
    ),
    Command(
        name="agent",
        is_minor=True,
        arguments="[NAME]",
        help="who answers",
        details="With NAME, use that agent from now on in this session. @NAME at the start of a message is for "
        "that message only.",
        act=session.agent,
        complete=session.complete_agent,
    ),
    Command(
        name="memory",
        arguments="[FACT]",
        help="keep a fact for later",
        details="The fact is used in other sessions when it is relevant; zkchat memory list shows all facts. "
        "With @NAME before FACT, only that agent gets it. Without "
        "FACT, opens ZKCHAT.md, which is part of every conversation about this vault, in your editor. If "
        "there is none, you can create it.",
        act=session.memory,
    ),
    Command(
        name="remember",
        is_minor=True,
        arguments="TEXT",
        help="keep a fact for later",
        details="The fact is used in other sessions when it is relevant. zkchat memory list shows all facts. "
        "With @NAME before TEXT, only that agent gets it.",
        act=session.remember,
    ),
    Command(
        name="help",
        aliases=("h", "?"),
        arguments="[NAME]",
        help="more on a command",
        details="With NAME, more about one command; /help keys lists the keys of the prompt, /help all every command.",
        act=_help,
        complete=_complete_command_name,
    ),
    Command(name="quit", aliases=("exit", "q"), help="quit, like Ctrl-D", act=_quit),
)
_NAMED: Final = {command.name for command in (*_OF_NOTES, *_OF_ANSWERS, *_OTHER)}
_GENERATED: Final = [
    slash_command(action) for action in every_action().values() if action.in_chat and action.name not in _NAMED
]
_EVERY: Final = (*_GENERATED, *_OF_NOTES, *_OF_ANSWERS, *_OTHER)
COMMANDS: Final[Sequence[Command]] = sorted(_EVERY, key=lambda each: each.is_minor)
"""In the order of `/help`, which leaves out the minor ones. Actions are commands by themselves, unless one above has
their name."""


_MIN_TEXT_CELLS: Final = 24
"""Where less is left beside the keys, what they do is on the next line."""
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
VI_KEYS: Final = (
    "With ui.keys = \"vi\" vi's keys work and the bar shows the mode; Esc is vi's, so /edit changes the last message."
)


def key_lines(width: int) -> list[str]:
    """The table for `/help keys`, wrapped to the width."""
    start = max(len(keys) for rows in KEYS_BY_SECTION.values() for keys, _ in rows) + 4
    lines: list[str] = []
    for title, rows in KEYS_BY_SECTION.items():
        lines.append(title)
        for keys, does in rows:
            if width - start < _MIN_TEXT_CELLS:
                lines += [f"  {keys}", *(f"    {line}" for line in wrap(does, width - 4))]
            else:
                first, *others = wrap(does, width - start)
                lines += [f"  {keys}".ljust(start) + first, *(" " * start + line for line in others)]
    return [*lines, *wrap(VI_KEYS, width)]
