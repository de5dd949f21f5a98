"""`zkchat context stats|compact|clear`: what fills the prompt of a session, and how to make room in it."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Annotated

import typer
from msgspec.structs import asdict, replace

from zkchat.chat.conversation import Conversation
from zkchat.chat.manual_compaction import NOTHING_TO_SUMMARISE, Preview
from zkchat.cli.common import CommandIO, JsonOption, ModelOption, VaultOption, current_io
from zkchat.cli.session_lookup import (
    OptionalSessionArgument,
    first_line,
    model_line,
    model_record,
    open_session_conversation,
    print_problem,
)
from zkchat.context.assembly import AssembledRequest
from zkchat.context.budget import turns_left
from zkchat.model.choices import CompactionStrategy
from zkchat.model.events import Compacted, Compacting, Event, Warned
from zkchat.model.text import counted
from zkchat.model.thread import compaction_of
from zkchat.model.values import to_plain
from zkchat.render import phrases
from zkchat.render.context_bar import context_line


def stats(
    session: OptionalSessionArgument = None,
    model: ModelOption = None,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show what fills the context, and how long it will last. By part and by message."""
    io = current_io()
    with open_session_conversation(io, vault, session, model) as opened:
        conversation = opened.conversation
        measured = asyncio.run(conversation.measure())
        print_problem(io, conversation)
        if json_output:
            io.json(_stats_record(conversation, measured))
            return
        for line in _stats_lines(conversation, measured):
            io.out(line)


def _stats_record(conversation: Conversation, measured: AssembledRequest) -> dict[str, object]:
    calibration = conversation.calibration
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
    }


def _stats_lines(conversation: Conversation, measured: AssembledRequest) -> Iterator[str]:
    usage, calibration = conversation.usage or measured.usage, conversation.calibration
    yield model_line(conversation)
    yield context_line(usage)
    for name, share in usage.budgets.items():
        yield f"  {name:<10} {share.used:>8,} of {share.limit:,} ({share.percent:.0f} %)"
    yield from _message_lines(conversation, measured.sizes)
    if calibration.samples:
        yield f"{conversation.model.name} counts {calibration.ratio:.2f} tokens for each of ours."
    left = _turns_left(conversation)
    yield "No pace to speak of yet." if left is None else f"At this pace, room for about {left} more turns."


def _turns_left(conversation: Conversation) -> int | None:
    answers = [each.request_context.usage for each in conversation.messages if each.request_context]
    return turns_left([usage for usage in answers if usage])


def _message_lines(conversation: Conversation, sizes: Mapping[str, int]) -> Iterator[str]:
    """How many messages the model gets, and the largest of them."""
    if conversation.model.needs_notes:
        yield f"{conversation.model.name} reads your question only: no earlier message is sent to it."
        return
    window = conversation.window
    archived, in_force = len(conversation.history.archived), counted(len(window.compactions), "compaction")
    yield f"{counted(len(window.live), 'message')} in the prompt, {archived} archived, {in_force} in force."
    for each in sorted(window.live, key=lambda each: -sizes.get(each.id, 0))[:5]:
        yield f"  {sizes.get(each.id, 0):>8,}  {each.role}: {first_line(each)[:60]}"


def compact(
    session: OptionalSessionArgument = None,
    focus: Annotated[str, typer.Option("--focus", metavar="TEXT", help="What the summary should care about.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show which messages would leave, and the summary; change nothing.")
    ] = False,
    keep: Annotated[
        int | None,
        typer.Option("--keep", min=1, metavar="N", help="Messages at the end that stay.", show_default=False),
    ] = None,
    strategy: Annotated[
        CompactionStrategy | None,
        typer.Option(
            "--strategy",
            help="How older messages leave; else as the setting context.strategy says.",
            show_default=False,
        ),
    ] = None,
    model: ModelOption = None,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Summarise and archive older messages now. Nothing is deleted; /uncompact in a chat takes it back.

    zkchat context compact --dry-run --focus "the budget"
    """
    io = current_io()
    with open_session_conversation(io, vault, session, model) as opened:
        conversation = opened.conversation
        if dry_run:
            found = asyncio.run(conversation.preview(focus, keep=keep, strategy=strategy))
            _print_preview(io, conversation, found, as_json=json_output)
        else:
            events = conversation.compact(focus, keep=keep, strategy=strategy)
            asyncio.run(_print_compaction(io, conversation, events, as_json=json_output))


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
        io.out(f"Would shorten {counted(len(part.shortened), 'message')} that would stay.")
    if part.stripped:
        io.out(f"Would leave out or shorten the documents of {counted(len(part.stripped), 'message')}.")
    io.out(f"The summary would be:\n{part.summary or '(none)'}")


async def _print_compaction(
    io: CommandIO, conversation: Conversation, events: AsyncGenerator[Event, None], *, as_json: bool
) -> None:
    warned = ""
    async for event in events:
        if isinstance(event, Compacted):
            print_problem(io, conversation, unless=warned)
            if as_json:
                info = conversation.model
                marker = replace(event.message, provider=info.provider, model=info.id)
                io.json({**to_plain(marker), "window": conversation.requests.budget.window})
            else:
                io.out(phrases.compaction(event.message))
                io.out(model_line(conversation))
        elif isinstance(event, Compacting):
            io.note(phrases.notice(event))
        elif isinstance(event, Warned):
            warned = f"{warned} {event.text}"
            io.note(phrases.warning(event.text, event.hint))


def clear(session: OptionalSessionArgument = None, vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Archive every message without a summary. The next question starts afresh; nothing is deleted."""
    io = current_io()
    with open_session_conversation(io, vault, session, "quote") as opened:
        marker = opened.conversation.clear()
        count = len(opened.conversation.history.archived)
    if json_output:
        io.json({"archived": count if marker else 0, "marker": marker})
    elif marker is None:
        io.note("There is nothing to archive.")
    else:
        io.out(f"{count} messages are archived; the model sees none of them. They are still in the session.")
