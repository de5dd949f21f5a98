"""Commands for the messages of this session, its branches, and the other sessions of the vault."""

from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from rich.cells import cell_len

from zkchat.core import (
    DEFAULT_PRIORITY,
    MAX_PRIORITY,
    STOPPED,
    ChatMessage,
    Session,
    SessionNotFound,
    ToolCallPart,
    ToolResultPart,
    UsageError,
    compaction_of,
    counted,
    local_time,
    messages_of,
    shorten,
)
from zkchat.render import fit_cells, phrases, sanitize_line
from zkchat.repl.command_context import CommandContext, Edit, Outcome, Play, Switch, slash
from zkchat.repl.commands.places import (
    complete_message_number,
    is_answer,
    last_answer,
    last_question,
    message_numbered,
    number_of,
    one_of,
    parse_number,
)
from zkchat.repl.picker import QUESTION, session_rows, sessions_to_resume, where_said

ARCHIVED: Final = "--archived"
_PRIORITIES: Final = [str(priority) for priority in range(1, MAX_PRIORITY + 1)]
_MAX_LISTED_SESSIONS: Final = 15
_MIN_TITLE_CELLS: Final = 10
_NOT_SAID: Final = "No session matches “{}” by its title, its words or its time."


@slash("retry", "answer once more")
async def retry(context: CommandContext, _argument: str) -> Outcome:
    """Your last message is answered again. The earlier answer is kept in a branch of its own."""
    last_question(context)
    return Play(context.conversation.retry())


@slash("edit", "change the question")
async def edit(context: CommandContext, _argument: str) -> Outcome:
    """Your last message comes back to the prompt. What you send replaces it in a new branch."""
    question = last_question(context)
    number = number_of(context, question)
    follows = number < len(context.conversation.messages)
    kept = "the old messages are kept" if follows else "the old one is kept"
    context.surface.print(f"Your new text replaces message {number}; {kept} (/branch).")
    context.surface.print_dimmed("Ctrl-C cancels.")
    return Edit(question.text, replaces=question.id)


def complete_branch(context: CommandContext, text: str) -> list[str]:
    names = (f"b{branch.number}" for branch in context.conversation.branches())
    return [*(name for name in names if name.startswith(text)), *complete_message_number(context, text)]


@slash("branch [N]", "go back, try another way", complete=complete_branch)
async def branch(context: CommandContext, argument: str) -> None:
    """Without N, lists the branches of the session: b1, b2 …, with their first words. /branch b1 goes to branch 1;
    /branch 4 continues after message 4 or, if that is a question of yours, instead of it. What came later is kept as a
    branch.
    """
    messages = context.conversation.messages
    if not argument:
        conversation = context.conversation
        branches = conversation.branches()
        if not branches:
            raise UsageError("Nothing has been said yet.")
        for each in branches:
            mark = "*" if each.is_current else " "
            start = f"{mark} b{each.number:<3} {local_time(each.updated_at)}  {counted(each.messages, 'message'):>14}  "
            words = sanitize_line(each.first_words) or "(no text)"
            context.surface.print(start + fit_cells(words, max(_MIN_TITLE_CELLS, context.surface.width - len(start))))
        if not any(each.is_current for each in branches):
            context.surface.print(f"You are after message {len(conversation.messages)}; your next begins a new branch.")
        context.surface.print_dimmed(
            "* is where you are. /branch b1 goes to branch 1, /branch 4 continues from message 4."
        )
        return
    if not argument.removeprefix("#").isdigit():
        _continue_after(context, _head_named(context, argument))
        return
    message = message_numbered(context, argument)
    if message.role == "user":
        _continue_after(context, message.parent_id)
        return
    if not is_answer(message) and compaction_of(message) is None:
        raise UsageError(
            f"Message {argument} is only a step on the way to an answer.", hint="Choose a question or a whole answer."
        )
    if message.id == messages[-1].id:
        raise UsageError("You are there already.")
    _continue_after(context, message.id)


@slash("history [N]", "what was said", complete=one_of(ARCHIVED))
async def history(context: CommandContext, argument: str) -> None:
    """A line for each message in the context; * marks pinned ones. With N, one whole message; with --archived, also
    messages that the model no longer sees.
    """
    if argument not in {"", ARCHIVED}:
        whole = message_numbered(context, argument)
        context.surface.print_dimmed(f"{speaker(whole)}, {local_time(whole.created_at)}")
        for told in filter(None, [phrases.compaction(whole), *_tool_lines(whole)]):
            context.surface.print(told)
        if whole.text:
            context.surface.print_markdown(whole.text)
        if whole.error:
            context.surface.print_dimmed(f"{whole.status}: {whole.error}")
        return
    messages, window = context.conversation.messages, context.conversation.window
    if not messages:
        raise UsageError("Nothing has been said yet.")
    live, in_force = ({message.id for message in group} for group in (window.live, window.compactions))
    for number, message in enumerate(messages, start=1):
        line = _line(context, number, message, is_pinned=message.id in window.pinned)
        if compaction_of(message) and message.id not in in_force:
            line += " (undone)"
        if message.id in live:
            context.surface.print(line)
        elif compaction_of(message) or argument == ARCHIVED:
            context.surface.print_dimmed(line)
    hidden = sum(compaction_of(message) is None for message in messages) - len(live)
    if hidden and argument != ARCHIVED:
        context.surface.print_dimmed(f"{counted(hidden, 'archived message')} not listed: /history {ARCHIVED}")


@slash("expand [N]", "what was summarised")
async def expand(context: CommandContext, argument: str) -> None:
    """Summary N, or the last one, and the messages it replaces."""
    markers = [(part, message) for message in context.conversation.messages if (part := compaction_of(message))]
    if not markers:
        raise UsageError("Nothing is summarised in this conversation.")
    wanted = parse_number(argument, markers[-1][0].number, "summary", "/history shows them.") if argument else 0
    part, message = next(((part, message) for part, message in markers if part.number == wanted), markers[-1])
    context.surface.print(phrases.compaction(message))
    if part.summary:
        context.surface.print_markdown(part.summary)
    changed = {*part.archived} | part.shortened | part.stripped
    for number, old in enumerate(context.conversation.messages, start=1):
        if old.id in changed:
            context.surface.print_dimmed(_line(context, number, old, is_pinned=False))


@slash("pin [N]", "keep a message whole", complete=complete_message_number)
async def pin(context: CommandContext, argument: str) -> None:
    """Message N, or the last answer, is never summarised. /pin N again unpins it."""
    message = _said_message(context, argument) if argument else last_answer(context)
    number, is_pinned = number_of(context, message), message.id in context.conversation.window.pinned
    context.conversation.pin(message.id, pinned=not is_pinned)
    if is_pinned:
        context.surface.print(f"Message {number} is no longer pinned.")
    else:
        context.surface.print(f"Message {number} is pinned: it is never summarised. /pin {number} unpins it.")


@slash("priority N 1-10", "how long a message stays", complete=complete_message_number)
async def priority(context: CommandContext, argument: str) -> None:
    """From 8 up, message N is kept word for word while it fits; below 5 it is summarised before others. 5 is the
    default. /stats lists what is pinned and what has another priority.
    """
    number, _, typed = argument.partition(" ")
    if typed.strip() not in _PRIORITIES:
        raise UsageError(
            f"Give a message and its priority, from 1 to {MAX_PRIORITY} ({DEFAULT_PRIORITY} is the default).",
            hint="For example: /priority 4 9. /history shows the numbers.",
        )
    message, chosen = _said_message(context, number), int(typed)
    context.conversation.prioritise(message.id, chosen)
    effect = phrases.priority_effect(chosen)
    context.surface.print(f"Message {number_of(context, message)} has priority {chosen}: {effect}.")


def _said_message(context: CommandContext, argument: str) -> ChatMessage:
    """The message of that number. Raises `UsageError` for the marker of a compaction, which is no message."""
    message = message_numbered(context, argument)
    if compaction_of(message):
        raise UsageError(f"{argument} is a summary, not a message.", hint="/history shows the numbers.")
    return message


@slash("sessions [WORDS]", "sessions of the vault")
async def sessions(context: CommandContext, argument: str) -> None:
    """Lists sessions, the last used first; with WORDS, only those about them. * marks the one you are in."""
    known = _about(context, argument) if argument else sessions_to_resume(context.store)
    if not known:
        raise UsageError(_NOT_SAID.format(argument) if argument else "There are no sessions in this vault yet.")
    for session in known[:_MAX_LISTED_SESSIONS]:
        here = "*" if session.id == context.conversation.session_id else " "
        said = counted(session.message_count, "message")
        start = f"{here} {session.id}  {local_time(session.updated_at)}  {said:>14}  "
        title = sanitize_line(session.title) or "(untitled)"
        context.surface.print(start + fit_cells(title, max(_MIN_TITLE_CELLS, context.surface.width - len(start))))
    if len(known) > _MAX_LISTED_SESSIONS:
        context.surface.print_dimmed(f"… and {len(known) - _MAX_LISTED_SESSIONS} older ones: zkchat sessions list")


def complete_session(context: CommandContext, text: str) -> list[str]:
    """Titles that contain what was typed, and ids that begin with it."""
    wanted, known = text.casefold(), sessions_to_resume(context.store)
    titles = [session.title for session in known if session.title and wanted in session.title.casefold()]
    ids = [session.id for session in known if text and session.id.startswith(text)]
    return [*dict.fromkeys(titles), *ids]


@slash("resume [WORDS]", "continue a session", complete=complete_session)
async def resume(context: CommandContext, argument: str) -> Outcome:
    """WORDS are its title, its id, words said in it, or a time (last week). Without WORDS, choose from a list: type to
    search it. The session has its own model and agent.
    """
    session = await _session_named(context, argument) if argument else await _pick_session(context)
    if session is None:
        return None
    if session.id == context.conversation.session_id:
        raise UsageError("You are in that session.")
    return Switch(session=session.id)


async def _pick_session(context: CommandContext, some: Sequence[Session] = ()) -> Session | None:
    known = some or sessions_to_resume(context.store)
    if not known:
        raise UsageError("There are no sessions in this vault yet.")
    rows = session_rows(known, now=context.now(), current=context.conversation.session_id, with_ids=bool(some))
    named_by = "ID" if some else "NUMBER, TITLE, ID or words that were said"
    with context.said() as said:
        chosen = await context.surface.pick(
            QUESTION, rows, f"To continue one of them: /resume {named_by}.", where_said(known, said)
        )
    return None if chosen is None else known[chosen]


def _about(context: CommandContext, words: str) -> list[Session]:
    """The sessions with these words in their titles, or else those in which they were said; single questions only where
    there are no others."""
    known, wanted = [each for each in context.store.sessions() if each.message_count], words.casefold().split()
    found = [session for session in known if all(word in session.title.casefold() for word in wanted)]
    by_id = {session.id: session for session in known}
    with context.said() as said:
        found = found or [by_id[each] for each in said(words, with_read=True) if each in by_id]
    return [session for session in found if session.listed] or found


async def _session_named(context: CommandContext, name: str) -> Session | None:
    """By its number in the list that `/resume` prints, its title or its id, or else what was said in it."""
    known = sessions_to_resume(context.store)
    numbers = {str(number): session for number, session in enumerate(known, 1)}
    if name in numbers and all(session.title != name for session in known):
        return numbers[name]
    try:
        return context.store.find(name)
    except SessionNotFound as error:
        if found := _about(context, name):
            return found[0] if len(found) == 1 else await _pick_session(context, found)
        hint = error.hint.replace("zkchat sessions list", "/sessions")
        raise SessionNotFound(_NOT_SAID.format(name), hint=hint) from error


@slash("new", "begin a new session", aliases=("clear",))
async def new(context: CommandContext, _argument: str) -> Outcome:
    """The current one is kept."""
    context.surface.print("A new session begins with your next message. /sessions lists the others.")
    return Switch(session=None)


def _continue_after(context: CommandContext, message_id: str | None) -> None:
    conversation = context.conversation
    left = next(iter(conversation.messages[-1:]), None)
    if left and left.id == message_id:
        raise UsageError("You are there already.")
    in_force = conversation.window.compactions
    conversation.branch(message_id)
    count = len(conversation.messages)
    place = f"after message {count}" if count else "at its beginning"
    context.surface.print(f"The conversation continues {place}.")
    if count and (said := conversation.messages[-1]).role == "assistant":
        context.surface.print_dimmed(f"That message says: {shorten(sanitize_line(said.text), 1_000)}")
    there = {marker.id for marker in conversation.window.compactions}
    for marker in in_force:
        if count and marker.id not in there and (part := compaction_of(marker)):
            context.surface.print(f"Summary #{part.number} is not used in this branch. /compact makes a new one.")
    name = next((f"b{each.number}" for each in conversation.branches() if left and each.head == left.id), "")
    if name:
        context.surface.print_dimmed(f"/branch {name} returns to where you were; /branch lists all branches.")


def _head_named(context: CommandContext, name: str) -> str:
    """The last message of a branch, by the branch's name or by the id of any message."""
    branches = context.conversation.branches()
    if (digits := name.casefold().removeprefix("b")).isdigit():
        hint = "/branch lists them."
        return branches[parse_number(digits, len(branches), "branch", hint) - 1].head
    session_id = context.conversation.session_id
    if not session_id or name not in messages_of(context.store.entries(session_id)):
        raise UsageError(f"There is no branch {name!r} in this session.", hint="/branch lists them.")
    return name


def _line(context: CommandContext, number: int, message: ChatMessage, *, is_pinned: bool) -> str:
    """A message as one line that fits the screen."""
    said = phrases.compaction(message) or sanitize_line(" ".join([message.text, *_tool_lines(message)]))
    is_stopped = message.status == "error" and message.error == STOPPED
    remarks = "" if message.status == "complete" else f" ({'stopped' if is_stopped else message.status})"
    remarks += "" if message.has_usual_priority else f" (priority {message.priority})"
    start = f"{number:>4}{'*' if is_pinned else ' '} {sanitize_line(speaker(message)):<9} "
    width = max(20, context.surface.width - cell_len(start) - len(remarks))
    return start + fit_cells(said, width) + remarks


def _tool_lines(message: ChatMessage) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            yield f"→ {phrases.tool_call(part.name, part.arguments)}"
        elif isinstance(part, ToolResultPart):
            yield f"← {part.name}{' failed' if part.failed else ''}: {part.text}"


def speaker(message: ChatMessage) -> str:
    """The author of a message in a word; a dash for the marker of a compaction."""
    if compaction_of(message):
        return "──"
    if message.name:
        return message.name
    match message.role:
        case "user":
            return "you"
        case "assistant":
            return "answer"
        case "system" | "tool":
            return message.role
        case _:
            assert_never(message.role)
