"""`zkchat sessions`: the conversations of a vault, listed, shown, searched, renamed, deleted; pins and priorities."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from zkchat.app import calendar_for, load_workspace, stores
from zkchat.cli.common import CommandIO, JsonOption, VaultOption, YesOption, current_io
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
    SessionStore,
    TitleEntry,
    UsageError,
    branches_of,
    compaction_of,
    counted,
    local_time,
    messages_of,
    thread_of,
)
from zkchat.core import message as parts
from zkchat.notes import parse_instant
from zkchat.render import phrases, priority_effect

if TYPE_CHECKING:
    from zkchat.chat import ConversationSearch

app = typer.Typer(help="List, show, search, rename and delete conversations.", no_args_is_help=True)


SessionArgument = Annotated[
    str, typer.Argument(metavar="SESSION", help="Its id, the beginning of its id, or its title.", show_default=False)
]


@app.command(name="list")
def list_(
    every: Annotated[bool, typer.Option("--all", help="Single questions of `zkchat ask` too.")] = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """List the sessions of the vault, the last used first.

    A question of `zkchat ask` is a session too. It is listed once you go on with it (`ask -c`, `chat --continue`) or
    rename it; --all lists it before.
    """
    io = current_io()
    with stores.open_sessions(io.environment, vault, io) as store:
        known = store.sessions()
    sessions = known if every else [session for session in known if session.listed]
    if json_output:
        io.json(sessions)
        return
    if (left_out := len(known) - len(sessions)) and io.environment.stderr_is_tty:
        io.note(f"{counted(left_out, 'single question')} of zkchat ask: zkchat sessions list --all")
    elif not known:
        io.note("There are no sessions in this vault yet. Start one: zkchat chat")
    for session in sessions:
        used, title = local_time(session.updated_at), session.title or "(untitled)"
        io.out(f"{session.id}  {used}  {counted(session.message_count, 'message'):>14}  {title}")


@app.command()
def show(
    session: SessionArgument,
    last: Annotated[
        int | None, typer.Option("--last", min=1, metavar="N", help="Only the newest N messages.", show_default=False)
    ] = None,
    role: Annotated[Role | None, typer.Option("--role", help="Only messages of this role.", show_default=False)] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="From this day or time on, e.g. 2026-03-01, last week, 3d."),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Up to this day or time, e.g. 2026-03-01T18:00.")
    ] = None,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show the messages of a session, or some of them."""
    io = current_io()
    calendar = calendar_for(io.environment, vault)
    wanted = EntryFilter(
        last=last,
        role=role,
        since=parse_instant("--since", since, calendar),
        until=parse_instant("--until", until, calendar, at_end=True),
    )
    with stores.open_sessions(io.environment, vault, io) as store:
        found = store.find(session)
        entries = store.entries(found.id, wanted)
    messages = list(messages_of(entries).values())
    branches = branches_of(History(entries)) if wanted == EntryFilter() else None  # what was left out may be a branch
    if json_output:
        io.json({"session": found, "messages": messages, "branches": branches})
        return
    io.out(f"{found.title or '(untitled)'}  {found.id}")
    for message in messages:
        io.out("")
        for line in _message_lines(message):
            io.out(line)
    for line in _branch_lines(branches or ()):
        io.out(line)


@app.command()
def search(
    query: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORDS", help="Words that were said. A name or a date helps.", show_default=False),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="SESSION", help="Only in this one.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="How many at most.")] = 10,
    from_stdin: Annotated[
        bool, typer.Option("--stdin", help="A query on each line of standard input; a line of JSON for each.")
    ] = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Search what was said, in one session or in all.

    zkchat sessions search the deadline Anna mentioned in March
    """
    io = current_io()
    text = " ".join(query or ())
    if from_stdin == bool(text.strip()):
        raise UsageError(
            "A search takes words or --stdin, one of the two.", hint="For example: zkchat sessions search sleep"
        )
    with _open_search(io, vault) as (store, conversations):
        only = store.find(session).id if session is not None else None
        conversations.catch_up(store, only)
        if from_stdin:
            for line in io.environment.stdin:
                asked = line.rstrip("\r\n")
                io.json_line({"query": asked, "hits": conversations.search(asked, session=only, limit=limit)})
            return
        hits = conversations.search(text, session=only, limit=limit)
        titles = {each.id: each.title or "(untitled)" for each in store.sessions()}
    if json_output:
        io.json(hits)
        return
    if not hits and io.environment.stderr_is_tty:
        io.note("Nothing that was said matches. Try fewer or other words.")
    for number, hit in enumerate(hits, start=1):
        io.out(f"{number}. [{hit.name or hit.role}]  {local_time(hit.time)}  {titles[hit.session]}  {hit.session}")
        io.out(f"   {hit.snippet}")


@app.command()
def rename(
    session: SessionArgument,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="The new title.", show_default=False)],
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Give a session another title."""
    io = current_io()
    words = " ".join(title.split())
    if not words:
        raise UsageError("The new title is empty.", hint="Write at least one character.")
    with stores.open_sessions(io.environment, vault, io) as store:
        found = store.find(session)
        store.append(found.id, [TitleEntry(title=words), ListingEntry(listed=True)])
        renamed = store.get(found.id)
    if json_output:
        io.json(renamed)
    else:
        io.out(f"{renamed.id} is now called: {renamed.title}")


NumberArgument = Annotated[
    int, typer.Argument(metavar="N", min=1, help="The message, as context show numbers them.", show_default=False)
]


@app.command()
def pin(
    session: SessionArgument,
    number: NumberArgument,
    off: Annotated[bool, typer.Option("--off", help="Let it go again.")] = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Keep a message word for word through compactions.

    zkchat sessions pin "Sleep and light" 4
    """

    def entry(message: ChatMessage) -> PinEntry:
        return PinEntry(message_id=message.id, pinned=not off)

    io = current_io()
    message = _change_message(io, vault, session, number, entry)
    if json_output:
        io.json({"number": number, "message": message.id, "pinned": not off})
    elif off:
        io.out(f"Message {number} is not pinned any more.")
    else:
        io.out(f"Message {number} is pinned: compactions leave it as it is.")


@app.command()
def priority(
    session: SessionArgument,
    number: NumberArgument,
    value: Annotated[
        int,
        typer.Argument(
            metavar="PRIORITY",
            min=1,
            max=MAX_PRIORITY,
            help="From 1 (leaves first) to 10; 5 is usual.",
            show_default=False,
        ),
    ],
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Set how important a message is when the context is compacted.

    From 8 on it is kept word for word while it fits; below 5 it leaves before others.

    zkchat sessions priority "Sleep and light" 4 9
    """

    def entry(message: ChatMessage) -> PriorityEntry:
        return PriorityEntry(message_id=message.id, priority=value)

    io = current_io()
    message = _change_message(io, vault, session, number, entry)
    if json_output:
        io.json({"number": number, "message": message.id, "priority": value})
    else:
        io.out(f"Message {number} has priority {value}: {priority_effect(value)}.")


def _change_message(
    io: CommandIO, vault: Path | None, session: str, number: int, entry: Callable[[ChatMessage], EntryBody]
) -> ChatMessage:
    """Append the entry for the message of that number, and return the message."""
    with stores.open_sessions(io.environment, vault, io) as store:
        found = store.find(session)
        thread = thread_of(store.entries(found.id))
        hint = f"zkchat context show {found.id} numbers them."
        if number > len(thread):
            raise UsageError(f"There is no message {number}: the session has {len(thread)}.", hint=hint)
        if compaction_of(message := thread[number - 1]):
            raise UsageError(f"{number} is a compaction, which is always kept.", hint=hint)
        store.append(found.id, [entry(message)])
    return message


@app.command()
def delete(
    session: SessionArgument, yes: YesOption = False, vault: VaultOption = None, json_output: JsonOption = False
) -> None:
    """Delete a session for good. It goes from copies, damaged files and what the prompt offers too."""
    from zkchat.repl import forget_typed

    io = current_io()
    with _open_search(io, vault) as (store, conversations):
        found = store.find(session)
        name = f"{found.id} ({found.title or 'untitled'}, {counted(found.message_count, 'message')})"
        if not yes and not io.confirm(f"Delete {name} for good?"):
            raise UsageError(
                f"Nothing was deleted: {name} is still there.", hint="To delete without being asked: --yes"
            )
        typed = [message.text.strip() for message in messages_of(store.entries(found.id)).values()]
        conversations.forget(found.id)
        store.delete(found.id)
        forget_typed(io.environment.data_dir / "history", found.id, {*typed} - {""})
    if json_output:
        io.json({"deleted": found})
    else:
        io.out(f"Deleted {name}.")


@contextmanager
def _open_search(io: CommandIO, vault: Path | None) -> Iterator["tuple[SessionStore, ConversationSearch]"]:
    """The sessions of a vault, and the search over what was said in them."""
    workspace = load_workspace(io.environment, vault)
    with (
        stores.open_sessions(io.environment, vault, io) as store,
        stores.open_message_search(workspace) as conversations,
    ):
        yield store, conversations


def _branch_lines(branches: Sequence[Branch]) -> Iterator[str]:
    """Nothing where there is one."""
    if len(branches) < 2:
        return
    yield f"\n{len(branches)} branches; in a chat, /branch b1 goes to the first of them:"
    for each in branches:
        mark, used = "*" if each.is_current else " ", local_time(each.updated_at)
        yield f"{mark} b{each.number}  {used}  {counted(each.messages, 'message'):>14}  {each.first_words}"


def _message_lines(message: ChatMessage) -> Iterator[str]:
    state = "" if message.status == "complete" else f"  ({message.status})"
    state += "" if message.has_usual_priority else f"  (priority {message.priority})"
    yield f"[{message.role}]  {local_time(message.created_at)}  {message.id}{state}"
    yield from (line for part in message.parts if (line := _format_part(part)))
    if message.error:
        yield message.error


def _format_part(part: Part) -> str:
    """A part as text; thinking and evidence are left to `--json`."""
    match part:
        case parts.TextPart():
            text = part.text
        case parts.ThinkingPart() | parts.EvidencePart():
            text = ""
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
            assert_never(part)
    return text
