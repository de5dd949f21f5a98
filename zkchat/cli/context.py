"""`zkchat context`: what the model sees of a conversation, why, what it costs, and how to change it."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Final

import typer
from msgspec.structs import asdict, replace

from zkchat.app import ConversationOptions, OpenConversation, open_conversation, open_library
from zkchat.chat import (
    FALLBACK_ENCODING,
    NOTHING_TO_SUMMARISE,
    AssembledRequest,
    Conversation,
    Preview,
    changed_items,
    request_from,
    selection_use,
    tokenizer_for,
    turns_left,
)
from zkchat.cli.change_review import TerminalInterface
from zkchat.cli.common import CommandIO, JsonOption, ModelOption, Told, VaultOption, command, current_io, flag, option
from zkchat.cli.context_transfer import OptionalSessionArgument, export_, import_, open_history
from zkchat.cli.note_lookup import progress
from zkchat.cli.rules import profile_store
from zkchat.cli.sessions import find_session_or_last
from zkchat.core import (
    ChatMessage,
    Compacted,
    Compacting,
    CompactionStrategy,
    Event,
    History,
    ModelRequest,
    RequestContext,
    SummaryDetail,
    Totals,
    UsageError,
    Warned,
    compaction_of,
    cost_of,
    counted,
    local_time,
    shorten,
    to_plain,
    totals_of,
    turn_of,
)
from zkchat.render import context_line, context_lines, cost_lines, counts_line, messages_line, phrases, totals_lines

app = typer.Typer(help="See what a model is sent, make room, export and import conversations.", no_args_is_help=True)


MAX_LINE_LENGTH = 100


def first_line(message: ChatMessage) -> str:
    words = " ".join(message.text.split()) or f"({', '.join(part.kind for part in message.parts) or 'nothing'})"
    return shorten(words, MAX_LINE_LENGTH)


def model_line(conversation: Conversation) -> str:
    """The model that answers in a session, and its window."""
    if conversation.model.needs_notes:
        return phrases.NO_MODEL
    unknown = " (last known; its server does not answer now)" if conversation.connection_problem else ""
    return f"{phrases.model_line(conversation.model.shown, conversation.requests.budget.window)}{unknown}."


def model_record(conversation: Conversation) -> dict[str, object]:
    """The same for scripts, with why the model could not be reached."""
    return {
        "model": conversation.model.name,
        "window": conversation.requests.budget.window,
        "trouble": conversation.connection_problem.text if conversation.connection_problem else "",
    }


def print_problem(io: CommandIO, conversation: Conversation, *, unless: str = "") -> None:
    """Say that the model cannot be reached, `unless` that was said."""
    problem = conversation.connection_problem
    if problem and problem.text not in unless:
        io.note(f"warning: {problem.text} {problem.hint}".strip())


@contextmanager
def open_session_conversation(io: CommandIO, session: str | None, model: str | None) -> Iterator[OpenConversation]:
    with io.sessions() as store:
        found = find_session_or_last(store, session, listed=True)
    options = ConversationOptions(vault=io.vault, model=model, session=found.id, user_interface=TerminalInterface(io))
    with open_conversation(io.environment, options) as opened:
        for warning in opened.warnings:
            io.note(f"{warning.text} {warning.hint}".strip())
        yield opened


def about_which(opened: OpenConversation) -> str:
    """Which conversation a command speaks of that was given none."""
    found = opened.store.get(opened.conversation.session_id or "")
    title = shorten(found.title, MAX_LINE_LENGTH) or "untitled"
    return f"The conversation “{title}”, last used {local_time(found.updated_at)} ({found.id})."


@command(app)
def stats(io: CommandIO, session: OptionalSessionArgument = None, model: ModelOption = None) -> Told:
    """Show what fills the context, and how long it will last. By part and by message."""
    with open_session_conversation(io, session, model) as opened:
        conversation = opened.conversation
        with progress(io.environment, "Asking the model's server"):
            measured = asyncio.run(conversation.measure())
        print_problem(io, conversation)
        lines, which = [*_stats_lines(conversation, measured)], [] if session else [about_which(opened)]
        return Told(data=_stats_record(conversation, measured), lines=lines, notes=which)


def _stats_record(conversation: Conversation, measured: AssembledRequest) -> dict[str, object]:
    calibration = conversation.requests.calibration
    sizes = [(each, measured.sizes.get(each.id, 0)) for each in conversation.window.live]
    return {
        "session": conversation.session_id,
        **model_record(conversation),
        "usage": conversation.usage or measured.usage,
        "messages": [{"id": each.id, "role": each.role, "tokens": tokens} for each, tokens in sizes],
        "archived": len(conversation.history.archived),
        "compactions": [part for each in conversation.messages if (part := compaction_of(each))],
        "calibration": {"ratio": calibration.ratio, "samples": calibration.samples},
        "turns_left": _turns_left(conversation),
        "selection": selection_use(conversation.messages),
        "cost": cost_of(conversation.history.messages.values()),
        "totals": _totals(conversation),
    }


_BUDGETS: Final = {"system": "instructions", "tools": "tools", "messages": "messages with notes", "memory": "memory"}
"""What each share of the window is for, in the words of the other lines."""


def _totals(conversation: Conversation) -> Totals:
    return totals_of(conversation.history.messages.values(), conversation.tokenizer.count)


def _stats_lines(conversation: Conversation, measured: AssembledRequest) -> Iterator[str]:
    usage, calibration = conversation.usage or measured.usage, conversation.requests.calibration
    yield model_line(conversation)
    if conversation.model.needs_notes:
        return
    yield context_line(usage)
    for name, share in usage.budgets.items():
        yield f"  {_BUDGETS[name]:<20} {share.used:>8,} of {share.limit:,} ({share.percent:.0f} %)"
    yield from filter(None, (measured.context.burst_rule, measured.context.burst_tools))
    yield from _message_lines(conversation, measured.sizes)
    if calibration.samples:
        yield f"{conversation.model.shown} counts {calibration.ratio:.2f} tokens where zkchat counts 1."
    if (use := selection_use(conversation.messages)).chosen:
        used = f"{use.used} of {use.chosen} ({100 * use.used / use.chosen:.0f} %)"
        yield f"Of the notes, passages and tools chosen for your messages, answers used {used}."
    yield from totals_lines(_totals(conversation))
    yield from cost_lines(conversation.history.messages.values())
    left = _turns_left(conversation)
    yield (
        "After a few more questions zkchat can estimate how many more fit."
        if left is None
        else f"At this pace there is room for about {left} more questions."
    )


def _turns_left(conversation: Conversation) -> int | None:
    answers = [each.request_context.usage for each in conversation.messages if each.request_context]
    return turns_left([usage for usage in answers if usage])


def _message_lines(conversation: Conversation, sizes: Mapping[str, int]) -> Iterator[str]:
    """How many messages the model gets, and the largest of them."""
    yield messages_line(conversation.history)
    for each in sorted(conversation.window.live, key=lambda each: -sizes.get(each.id, 0))[:5]:
        yield f"  {sizes.get(each.id, 0):>8,}  {each.role}: {first_line(each)[:60]}"


@app.command()
def compact(
    session: OptionalSessionArgument = None,
    focus: Annotated[str, option("--focus", "TEXT", "What the summary should focus on.")] = "",
    dry_run: Annotated[
        bool, flag("--dry-run", "Show which messages would be archived, and the summary; change nothing.")
    ] = False,
    keep: Annotated[int | None, option("--keep", "N", "How many of the newest messages stay.", min=1)] = None,
    strategy: Annotated[
        CompactionStrategy | None,
        option("--strategy", None, "What happens to older messages; default: the setting context.strategy."),
    ] = None,
    detail: Annotated[
        SummaryDetail | None,
        option("--detail", None, "How detailed the summary is; default: the setting context.summary_detail."),
    ] = None,
    model: ModelOption = None,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Summarise and archive older messages now. Nothing is deleted; /uncompact in a chat reverts it.

    zkchat context compact --dry-run --focus "the budget"
    """
    io = current_io(vault)
    with open_session_conversation(io, session, model) as opened:
        conversation = opened.conversation
        if session is None and not json_output:
            io.note(about_which(opened))
        is_summarised = (strategy or conversation.strategy) != "discard"
        what = "Summarising older messages" if is_summarised else "Archiving older messages"
        if dry_run:
            with progress(io.environment, what):
                found = asyncio.run(conversation.preview(focus, keep=keep, strategy=strategy, detail=detail))
            _print_preview(io, conversation, found, as_json=json_output)
        else:
            events = conversation.compact(focus, keep=keep, strategy=strategy, detail=detail)
            with progress(io.environment, what):
                seen = asyncio.run(_collected(events))
            _print_compaction(io, conversation, seen, as_json=json_output)


def _print_preview(io: CommandIO, conversation: Conversation, found: Preview | None, *, as_json: bool) -> None:
    print_problem(io, conversation, unless=found.trouble if found else "")
    if found is None:
        if as_json:
            io.json(None)
        io.note(NOTHING_TO_SUMMARISE)
        return
    part, numbers = found.part, {message.id: n for n, message in enumerate(conversation.messages, start=1)}
    if as_json:
        plan = {"plan": asdict(found.plan), "compaction": part, "trouble": found.trouble}
        io.json({**model_record(conversation), **plan})
        return
    if found.trouble:
        io.note(f"warning: {found.trouble}")
    io.out(model_line(conversation))
    if part.archived:
        which = ", ".join(str(numbers[id_]) for id_ in part.archived)
        io.out(f"Would archive {counted(len(part.archived), 'message')} ({which}).")
    io.out(f"Tokens: {part.tokens_before:,} now, about {part.tokens_after:,} after.")
    if part.shortened:
        io.out(f"Would keep {counted(len(part.shortened), 'message')}, but shortened.")
    if part.stripped:
        io.out(f"Would leave out or shorten the notes sent with {counted(len(part.stripped), 'message')}.")
    io.out(f"The summary would be:\n{part.summary or '(none)'}")


async def _collected(events: AsyncGenerator[Event, None]) -> list[Event]:
    return [event async for event in events]


def _print_compaction(io: CommandIO, conversation: Conversation, events: Sequence[Event], *, as_json: bool) -> None:
    warned = ""
    for event in events:
        if isinstance(event, Compacted):
            print_problem(io, conversation, unless=warned)
            if as_json:
                info = conversation.model
                marker = replace(event.message, provider=info.provider, model=info.id)
                io.json({**to_plain(marker), "window": conversation.requests.budget.window})
            else:
                io.out(phrases.compacted(event.message))
                io.out(phrases.KEPT_FOR_A_MODEL if conversation.model.needs_notes else model_line(conversation))
        elif isinstance(event, Compacting):
            io.note(phrases.notice(event))
        elif isinstance(event, Warned):
            warned = f"{warned} {event.text}"
            io.note(phrases.warning(event.text, event.hint))


@command(app)
def clear(io: CommandIO, session: OptionalSessionArgument = None) -> Told:
    """Archive every message without a summary. The next question starts afresh; nothing is deleted."""
    with open_session_conversation(io, session, "quote") as opened:
        marker = opened.conversation.clear()
        count = len(opened.conversation.history.archived)
    if marker is None:
        return Told(data={"archived": 0, "marker": None}, notes=["There is nothing to archive."])
    line = f"{count} messages are archived; the model sees none of them. They are still in the session."
    return Told(data={"archived": count, "marker": marker}, lines=[line])


app.command(name="export")(export_)
app.command(name="import")(import_)


@command(app)
def show(
    io: CommandIO,
    session: OptionalSessionArgument = None,
    message: Annotated[int | None, option("--message -m", "N", "What was sent for message N, an answer.")] = None,
    request: Annotated[bool, flag("--request", "Rebuild the exact request that was sent for that answer.")] = False,
    archived: Annotated[bool, flag("--archived", "Also list messages that the model no longer sees.")] = False,
) -> Told:
    """Show what the model sees of a session, or saw for an answer.

    zkchat context show --message 4 --request
    """
    with open_history(io, session) as (found, history):
        if message is not None or request:
            answer = _find_answer(history, message)
            told = _answer_told(history, answer, whole=request)
            # Which rules, notes and agents are not what they were then, beside the result.
            assert answer.request_context is not None
            with open_library(io.environment, io.vault, io) as (_, library):
                for changed in changed_items(answer.request_context, profile_store(io).load(), library):
                    io.note(changed.sentence)
            return told
        model, record = history.model, _last_record(history)
        head = [f"{found.title or '(untitled)'}  {found.id}"]
        if model and model.name == "quote":
            head.append(phrases.NO_MODEL)
        elif model:
            head.append(f"{phrases.model_line(model.name, model.window)}.")
        head.append(messages_line(history, is_read=not model or model.name != "quote"))
        return Told(
            data={
                "session": found,
                "model": model.name if model else None,
                "window": model.window if model else None,
                "summary": history.window.summary,
                "live": history.window.live,
                "archived": [*history.archived.values()],
                "counts": record.counts if record else None,
            },
            lines=[*head, *_thread_lines(history, archived=archived)],
        )


def _thread_lines(history: History, *, archived: bool) -> Iterator[str]:
    for number, message in enumerate(history.thread, start=1):
        if compaction_of(message):
            taken_back = "" if message in history.window.compactions else "  (undone)"
            yield f"{number:>4}  ── {phrases.compaction(message)}{taken_back}"
        elif message.id not in history.archived:
            pinned = "  (pinned)" if message.id in history.window.pinned else ""
            priority = "" if message.has_usual_priority else f"  (priority {message.priority})"
            yield f"{number:>4}  {message.role}: {first_line(message)}{_status(message)}{pinned}{priority}"
        elif archived:
            yield f"{number:>4}  (archived) {message.role}: {first_line(message)}{_status(message)}"
    hidden = len(history.archived)
    if hidden and not archived:
        yield f"{counted(hidden, 'archived message')} not listed: --archived lists them."
    is_quoted = history.model and history.model.name == "quote"
    if not is_quoted and (record := _last_record(history)):
        yield f"Sent for the last answer: {counts_line(record)}."


def _status(message: ChatMessage) -> str:
    """Whether, and why, it is no whole answer."""
    if message.status == "complete":
        return ""
    return f"  (unfinished: {message.error})" if message.error else "  (unfinished)"


def _last_record(history: History) -> RequestContext | None:
    return next((message.request_context for message in history.newest_first if message.request_context), None)


def _answer_told(history: History, answer: ChatMessage, *, whole: bool) -> Told:
    context = answer.request_context
    if context is None:
        raise UsageError(
            "It is not known what was sent for this message.", hint="It is kept only for answers that zkchat gave."
        )
    if not whole:
        turn = totals_of(turn_of(answer, history.messages), tokenizer_for(FALLBACK_ENCODING).count)
        return Told(
            data={**to_plain(context), "counts": context.counts, "turn": turn},
            lines=[*context_lines(context, answer.provider, cost_of([answer]), turn)],
        )
    rebuilt = _rebuild_request(history, answer)
    lines = []
    for said in rebuilt.messages:
        lines += [f"[{said.role}{f' {said.tool_name}' if said.tool_name else ''}]", said.text]
        lines += [f"→ {call.name} {call.arguments}" for call in said.tool_calls]
    lines.append(f"Tools: {', '.join(tool.name for tool in rebuilt.tools) or 'none'}")
    return Told(data=rebuilt, lines=lines)


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
            "The request for this answer cannot be rebuilt: part of it is missing from the session.",
            hint="Not all that was sent is recorded in sessions of older versions and of other programs.",
        ) from error


@command(app)
def summary(
    io: CommandIO,
    session: OptionalSessionArgument = None,
    every: Annotated[bool, flag("--all", "All summaries, including older ones that were replaced.")] = False,
) -> Told:
    """Show the summary that replaces the archived messages."""
    with open_history(io, session) as (_, history):
        now = history.window.summary
        parts = [part for message in history.thread if (part := compaction_of(message))] if every else [now]
    known = [part for part in parts if part]
    lines = []
    for part in known:
        by = f"made by {part.made_by}" if part.made_by else "made without a model, from excerpts of the messages"
        lines += [f"#{part.number}, {part.effect}, {by if part.summary else 'without a summary'}"]
        lines += filter(None, [part.summary])
        lines += [f"- {reference.wikilink} is {reference.relative_path}" for reference in part.references]
    nothing = "Nothing was summarised in this session: the model sees all of it."
    return Told(data=known, lines=lines, notes=[] if known else [nothing])


@command(app)
def memory(io: CommandIO, session: OptionalSessionArgument = None) -> Told:
    """Show what was recalled for the last answer. That is facts, the summary, and archived messages that came back."""
    with open_history(io, session) as (_, history):
        context = _find_answer(history, None).request_context
        items = [item for item in context.items if item.type in {"memory", "summary", "recall"}] if context else []
        recalled = [(item, history.contents.get(item.digest, "")) for item in items]
    lines = []
    for item, text in recalled:
        score = "" if item.score is None else f" {item.score:.2f}"
        lines += [f"[{item.type}{score}, {item.tokens:,} tokens] {item.reason}", text]
    return Told(
        data=[{"item": item, "text": text} for item, text in recalled],
        lines=lines,
        notes=[] if items else ["Nothing was recalled for the last answer."],
    )
