"""`zkchat sessions`: the conversations of a vault, listed, shown, searched, renamed, deleted; pins and priorities."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer
from msgspec import UNSET
from rich.console import Console

from zkchat import repl
from zkchat.app import calendar_for, stores
from zkchat.chat import ConversationSearch
from zkchat.cli.common import CommandIO, Told, YesOption, argument, command, flag, option
from zkchat.cli.output import stdout_console
from zkchat.core import (
    MAX_PRIORITY,
    Branch,
    ChatMessage,
    EntryBody,
    EntryFilter,
    History,
    ListingEntry,
    Part,
    PinEntry,
    PriorityEntry,
    Role,
    Session,
    SessionNotFound,
    SessionStore,
    TitleEntry,
    UsageError,
    branches_of,
    compaction_of,
    cost_of,
    counted,
    local_time,
    messages_of,
    thread_of,
)
from zkchat.core import message as parts
from zkchat.notes import parse_instant
from zkchat.render import cost_lines, phrases, print_markdown, priority_effect

app = typer.Typer(help="List, show, search, rename and delete conversations.", no_args_is_help=True)


SessionArgument = Annotated[str, argument("SESSION", "Its id, the start of its id, or its title.")]


def find_session_or_last(store: SessionStore, name: str | None, *, listed: bool = False) -> Session:
    """The one named, else the last one used; where it is to be one that lists show, the last question is the last."""
    if name is not None:
        return store.find(name)
    sessions = store.sessions()
    if not sessions:
        raise SessionNotFound("There are no sessions in this vault yet.", hint="Start one: zkchat")
    return next((each for each in sessions if each.listed or not listed), sessions[0])


@command(app, "list")
def list_(
    io: CommandIO, every: Annotated[bool, flag("--all", "Also list single questions of `zkchat ask`.")] = False
) -> Told:
    """List the sessions of the vault, the last used first.

    Single questions (`zkchat ask`) are listed with --all, or once you continued or renamed them.
    """
    with io.sessions() as store:
        known = store.sessions()
    sessions = known if every else [session for session in known if session.listed]
    notes = [] if known else ["There are no sessions in this vault yet. Start one: zkchat"]
    if (left_out := len(known) - len(sessions)) and (io.environment.stderr_is_tty or not sessions):
        notes = [f"Not listed: {counted(left_out, 'single question')} (zkchat ask). See: zkchat sessions list --all"]
    lines = [
        f"{session.id}  {local_time(session.updated_at)}  {counted(session.message_count, 'message'):>14}  "
        + (session.title or "(untitled)")
        for session in sessions
    ]
    return Told(data=sessions, lines=lines, notes=notes)


@command(app)
def show(
    io: CommandIO,
    session: SessionArgument,
    last: Annotated[int | None, option("--last", "N", "Only the newest N messages.", min=1)] = None,
    role: Annotated[Role | None, option("--role", None, "Only messages of this role.")] = None,
    since: Annotated[
        str | None, option("--since", "TIME", "From this day or time on, e.g. 2026-03-01, last week, 3d.")
    ] = None,
    until: Annotated[str | None, option("--until", "TIME", "Up to this day or time, e.g. 2026-03-01T18:00.")] = None,
) -> Told:
    """Show the messages of a session, or some of them."""
    calendar = calendar_for(io.environment, io.vault)
    wanted = EntryFilter(
        last=last,
        role=role,
        since=parse_instant("--since", since, calendar),
        until=parse_instant("--until", until, calendar, at_end=True),
    )
    with io.sessions() as store:
        found = store.find(session)
        entries = store.entries(found.id, wanted)
    messages = list(messages_of(entries).values())
    branches = branches_of(History(entries)) if wanted == EntryFilter() else None  # what was left out may be a branch

    def draw() -> None:
        console = stdout_console(io, io.workspace().paths)
        io.out(f"{found.title or '(untitled)'}  {found.id}")
        for message in messages:
            _print_message(io, console, message)
        for line in (*_branch_lines(branches or ()), *cost_lines(messages if branches is not None else ())):
            io.out(line)

    return Told(
        data={"session": found, "messages": messages, "branches": branches, "cost": cost_of(messages)}, show=draw
    )


@command(app)
def search(
    io: CommandIO,
    query: Annotated[list[str] | None, argument("WORDS", "Words to look for; a name or a date helps.")] = None,
    session: Annotated[str | None, option("--session", "SESSION", "Search only this session.")] = None,
    limit: Annotated[int, option("--limit", "N", "Maximum number to show.", min=1, show_default=True)] = 10,
    from_stdin: Annotated[
        bool, flag("--stdin", "Read one query per line from standard input; print a line of JSON for each.")
    ] = False,
) -> Told:
    """Search what was said and read, in one session or in all.

    zkchat sessions search the deadline Anna mentioned in March
    """
    text = " ".join(query or ())
    if from_stdin == bool(text.strip()):
        wrong = "Give either words or --stdin, not both." if from_stdin else "What do you want to search for?"
        raise UsageError(wrong, hint="For example: zkchat sessions search sleep")
    calendar = calendar_for(io.environment, io.vault)
    with _open_search(io) as (store, conversations):
        only = store.find(session).id if session is not None else None
        conversations.catch_up(store, only)
        if from_stdin:
            for line in io.environment.stdin:
                asked = line.rstrip("\r\n")
                hits = conversations.look_up(store, asked, calendar, session=only, limit=limit)
                io.json_line({"query": asked, "hits": hits})
            return Told(data=UNSET)
        hits = conversations.look_up(store, text, calendar, session=only, limit=limit)
        titles = {each.id: each.title or "(untitled)" for each in store.sessions()}
    lines = [
        f"{number}. [{hit.name or hit.role}]  {local_time(hit.time)}  {titles[hit.session]}  {hit.session}\n"
        f"   {hit.snippet}"
        for number, hit in enumerate(hits, start=1)
    ]
    if not hits:
        return Told(data=hits, notes=["No message matches. Try fewer or other words."])
    told = f"To continue the first session: zkchat --session {hits[0].session}"
    return Told(data=hits, lines=lines, notes=[told] * io.environment.stderr_is_tty)


@command(app)
def rename(io: CommandIO, session: SessionArgument, title: Annotated[str, argument("TITLE", "The new title.")]) -> Told:
    """Give a session another title."""
    words = " ".join(title.split())
    if not words:
        raise UsageError("The new title is empty.", hint="Write at least one character.")
    with io.sessions() as store:
        found = store.find(session)
        store.append(found.id, [TitleEntry(title=words), ListingEntry(listed=True)])
        renamed = store.get(found.id)
    return Told(data=renamed, lines=[f"{renamed.id} is now called: {renamed.title}"])


NumberArgument = Annotated[int, argument("N", "The number of the message; zkchat context show lists them.", min=1)]


@command(app)
def pin(
    io: CommandIO,
    session: SessionArgument,
    number: NumberArgument,
    off: Annotated[bool, flag("--off", "Unpin it.")] = False,
) -> Told:
    """Keep a message from being summarised.

    zkchat sessions pin "Sleep and light" 4
    """
    message = _change_message(io, session, number, lambda id_: PinEntry(message_id=id_, pinned=not off))
    state = "is no longer pinned." if off else "is pinned: it is never summarised."
    return Told(data={"number": number, "message": message, "pinned": not off}, lines=[f"Message {number} {state}"])


@command(app)
def priority(
    io: CommandIO,
    session: SessionArgument,
    number: NumberArgument,
    value: Annotated[
        int, argument("PRIORITY", "1 (summarised first) to 10 (last); 5 is the default.", min=1, max=MAX_PRIORITY)
    ],
) -> Told:
    """Set how important a message is when older ones are summarised.

    From 8 up it is kept word for word while it fits; below 5 it is summarised before others.

    zkchat sessions priority "Sleep and light" 4 9
    """
    message = _change_message(io, session, number, lambda id_: PriorityEntry(message_id=id_, priority=value))
    return Told(
        data={"number": number, "message": message, "priority": value},
        lines=[f"Message {number} has priority {value}: {priority_effect(value)}."],
    )


def _change_message(io: CommandIO, session: str, number: int, entry: Callable[[str], EntryBody]) -> str:
    """Append the entry for the message of that number, and return its id."""
    with io.sessions() as store:
        found = store.find(session)
        thread = thread_of(store.entries(found.id))
        hint = f"zkchat context show {found.id} shows the numbers."
        if number > len(thread):
            raise UsageError(f"There is no message {number}: the session has {len(thread)}.", hint=hint)
        if compaction_of(message := thread[number - 1]):
            raise UsageError(f"{number} is a summary, not a message.", hint=hint)
        store.append(found.id, [entry(message.id)])
    return message.id


@command(app)
def delete(io: CommandIO, session: SessionArgument, yes: YesOption = False) -> Told:
    """Delete a session for good. It is removed from backups and the input history too."""
    with _open_search(io) as (store, conversations):
        found = store.find(session)
        name = f"{found.id} ({found.title or 'untitled'}, {counted(found.message_count, 'message')})"
        if not yes and not io.confirm(f"Delete {name} for good?"):
            raise UsageError(
                f"Nothing was deleted: {name} is still there.", hint="To delete without being asked: --yes"
            )
        typed = [message.text.strip() for message in messages_of(store.entries(found.id)).values()]
        conversations.forget(found.id)
        store.delete(found.id)
        repl.forget_typed(io.environment.data_dir / "history", found.id, {*typed} - {""})
    return Told(data={"deleted": found}, lines=[f"Deleted {name}."])


@contextmanager
def _open_search(io: CommandIO) -> Iterator[tuple[SessionStore, ConversationSearch]]:
    """The sessions of a vault, and the search over what was said in them."""
    with io.sessions() as store, stores.open_message_search(io.workspace()) as conversations:
        yield store, conversations


def _branch_lines(branches: Sequence[Branch]) -> Iterator[str]:
    """Nothing where there is one."""
    if len(branches) < 2:
        return
    yield f"\n{len(branches)} branches; in a chat, /branch b1 goes to the first of them:"
    for each in branches:
        mark, used = "*" if each.is_current else " ", local_time(each.updated_at)
        yield f"{mark} b{each.number}  {used}  {counted(each.messages, 'message'):>14}  {each.first_words}"


def _print_message(io: CommandIO, console: Console | None, message: ChatMessage) -> None:
    """Print a message; on a terminal, what an assistant wrote is drawn as Markdown."""
    state = "" if message.status == "complete" else f"  ({message.status})"
    state += "" if message.has_usual_priority else f"  (priority {message.priority})"
    io.out(f"\n[{message.role}]  {local_time(message.created_at)}  {message.id}{state}")
    for part in message.parts:
        text = _format_part(part)
        if text and console and message.role == "assistant" and isinstance(part, parts.TextPart):
            print_markdown(console, text)
        elif text:
            io.out(text)
    if message.error:
        io.out(message.error)


def _format_part(part: Part) -> str:
    """A part as text; thinking and evidence are left to `--json`."""
    match part:
        case parts.TextPart():
            text = part.text
        case parts.ToolCallPart():
            text = f"→ {part.name} {part.arguments}"
        case parts.ToolResultPart():
            text = f"← {part.name}{' failed' if part.failed else ''}: {part.text}"
        case parts.FilePart():
            text = f"[{part.name}]"
        case parts.ImagePart():
            text = f"[image {part.name}]"
        case parts.CompactionPart():
            text = f"{phrases.compaction_part(part)}\n{part.summary}"
        case parts.UnknownPart():
            text = f"[{part.kind}]"
        case _:
            text = ""
    return text
