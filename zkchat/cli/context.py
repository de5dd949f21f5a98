"""`zkchat context`: what the model sees of a conversation, why, what it costs, and how to change it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from zkchat.chat.staleness import changed_items
from zkchat.cli.common import CommandIO, JsonOption, VaultOption, current_io
from zkchat.cli.context_compaction import clear, compact, stats
from zkchat.cli.context_transfer import export_, import_
from zkchat.cli.profiles import profile_store
from zkchat.cli.session_lookup import OptionalSessionArgument, first_line, open_history
from zkchat.compose.library import open_library
from zkchat.context.assembly import request_from
from zkchat.errors import UsageError
from zkchat.model.message import ChatMessage
from zkchat.model.prompt import ModelRequest
from zkchat.model.request_context import RequestContext
from zkchat.model.session_history import History
from zkchat.model.text import counted
from zkchat.model.thread import compaction_of
from zkchat.model.values import to_plain
from zkchat.render import phrases
from zkchat.render.context_lines import counts_line

app = typer.Typer(help="See, measure, summarise and move what a conversation holds.", no_args_is_help=True)
app.command()(stats)
app.command()(compact)
app.command()(clear)
app.command(name="export")(export_)
app.command(name="import")(import_)


@app.command()
def show(
    session: OptionalSessionArgument = None,
    message: Annotated[
        int | None,
        typer.Option(
            "--message", "-m", metavar="N", help="What was sent for the answer N, and why.", show_default=False
        ),
    ] = None,
    request: Annotated[
        bool, typer.Option("--request", help="Build the exact request again that was sent for that answer.")
    ] = False,
    archived: Annotated[bool, typer.Option("--archived", help="Also what the model no longer sees.")] = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show what the model sees of a session, or saw for an answer.

    zkchat context show --message 4 --request
    """
    io = current_io()
    with open_history(io, vault, session) as (found, history):
        if message is not None or request:
            answer = _find_answer(history, message)
            _show_answer(io, history, answer, whole=request, as_json=json_output)
            _print_changes(io, vault, answer)
        elif json_output:
            io.json(
                {
                    "session": found,
                    "model": history.model.name if history.model else None,
                    "window": history.model.window if history.model else None,
                    "summary": history.window.summary,
                    "live": history.window.live,
                    "archived": [*history.archived.values()],
                    "counts": record.counts if (record := _last_record(history)) else None,
                }
            )
        else:
            io.out(f"{found.title or '(untitled)'}  {found.id}")
            if model := history.model:
                io.out(f"Model {model.name}{f', window {model.window:,} tokens' if model.window else ''}.")
            for line in _thread_lines(history, archived=archived):
                io.out(line)


def _thread_lines(history: History, *, archived: bool) -> Iterator[str]:
    for number, message in enumerate(history.thread, start=1):
        if compaction_of(message):
            taken_back = "" if message in history.window.compactions else "  (taken back)"
            yield f"{number:>4}  ── {phrases.compaction(message)}{taken_back}"
        elif message.id not in history.archived:
            pinned = "  (pinned)" if message.id in history.window.pinned else ""
            priority = "" if message.has_usual_priority else f"  (priority {message.priority})"
            yield f"{number:>4}  {message.role}: {first_line(message)}{pinned}{priority}"
        elif archived:
            yield f"{number:>4}  (archived) {message.role}: {first_line(message)}"
    hidden = len(history.archived)
    if hidden and not archived:
        yield f"{counted(hidden, 'archived message')} not listed: --archived lists them."
    if record := _last_record(history):
        yield f"In the last request: {counts_line(record)}"


def _last_record(history: History) -> RequestContext | None:
    return next((message.request_context for message in history.newest_first if message.request_context), None)


def _print_changes(io: CommandIO, vault: Path | None, answer: ChatMessage) -> None:
    """Which rules, notes and agents are not what they were then, beside the result."""
    assert answer.request_context is not None
    with open_library(io.environment, vault, io) as (_, library):
        for changed in changed_items(answer.request_context, profile_store(io, vault).load(), library):
            io.note(changed.sentence)


def _show_answer(io: CommandIO, history: History, answer: ChatMessage, *, whole: bool, as_json: bool) -> None:
    context = answer.request_context
    if context is None:
        raise UsageError(
            "There is no context data for this message.", hint="Only answers that zkchat itself got have it."
        )
    if whole:
        rebuilt = _rebuild_request(history, answer)
        if as_json:
            io.json(rebuilt)
            return
        for said in rebuilt.messages:
            io.out(f"[{said.role}{f' {said.tool_name}' if said.tool_name else ''}]")
            io.out(said.text)
            for call in said.tool_calls:
                io.out(f"→ {call.name} {call.arguments}")
        io.out(f"Tools: {', '.join(tool.name for tool in rebuilt.tools) or 'none'}")
    elif as_json:
        io.json({**to_plain(context), "counts": context.counts})
    else:
        from zkchat.render.context_bar import context_line
        from zkchat.render.context_lines import context_lines

        for line in context_lines(context):
            io.out(line)
        if context.usage:
            io.out(context_line(context.usage))


def _find_answer(history: History, number: int | None) -> ChatMessage:
    """The message of that number, or the last answer."""
    thread = history.thread
    if number is None:
        answers = [message for message in thread if message.role == "assistant"]
        if not answers:
            raise UsageError("There is no answer in this session yet.")
        return answers[-1]
    if not 1 <= number <= len(thread):
        raise UsageError(f"There is no message {number}: the session has {len(thread)}.")
    return thread[number - 1]


def _rebuild_request(history: History, answer: ChatMessage) -> ModelRequest:
    assert answer.request_context is not None
    try:
        return request_from(answer.request_context, history.messages, history.contents)
    except KeyError as error:
        raise UsageError(
            "The request of this answer cannot be built again: the session lacks a part of it.",
            hint="Sessions of older versions and from other programs do not hold all texts.",
        ) from error


@app.command()
def summary(
    session: OptionalSessionArgument = None,
    every: Annotated[bool, typer.Option("--all", help="Every summary, also those that a later one took in.")] = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show the summary that stands for the archived messages."""
    io = current_io()
    with open_history(io, vault, session) as (_, history):
        now = history.window.summary
        parts = [part for message in history.thread if (part := compaction_of(message))] if every else [now]
    known = [part for part in parts if part]
    if json_output:
        io.json(known)
        return
    if not known:
        io.note("Nothing was summarised in this session: the model sees all of it.")
    for part in known:
        by = f"by {part.made_by}" if part.made_by else "from the messages themselves"
        io.out(f"#{part.number}, {part.effect}, made {by}")
        io.out(part.summary or "(no summary)")
        for reference in part.references:
            io.out(f"- {reference.wikilink} is {reference.relative_path}")


@app.command()
def memory(session: OptionalSessionArgument = None, vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Show what was recalled for the last answer. That is facts, the summary, and archived messages that came back."""
    io = current_io()
    with open_history(io, vault, session) as (_, history):
        context = _find_answer(history, None).request_context
        items = [item for item in context.items if item.type in {"memory", "summary", "recall"}] if context else []
        if json_output:
            io.json([{"item": item, "text": history.contents.get(item.digest, "")} for item in items])
            return
        if not items:
            io.note("The last answer was reminded of nothing.")
        for item in items:
            score = "" if item.score is None else f" {item.score:.2f}"
            io.out(f"[{item.type}{score}, {item.tokens:,} tokens] {item.reason}")
            io.out(history.contents.get(item.digest, ""))
