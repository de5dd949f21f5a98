"""Commands for what is sent to the model: context usage, record of a request, compaction."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from zkchat.errors import UsageError
from zkchat.model.message import ChatMessage
from zkchat.model.parts import CompactionPart
from zkchat.model.text import counted
from zkchat.model.thread import compaction_of
from zkchat.render import phrases
from zkchat.render.context_bar import tokens_used
from zkchat.render.context_lines import context_lines
from zkchat.render.vector_progress import vector_lines
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome, Play
from zkchat.repl.commands.arguments import last_answer, message_numbered


async def stats(context: CommandContext, _argument: str) -> Outcome:
    conversation = context.conversation
    if conversation.usage:
        context.surface.print_usage(conversation.usage)
    else:
        context.surface.print("Nothing has been sent to the model yet.")
    window = conversation.window
    said = [message for message in conversation.messages if compaction_of(message) is None]
    archived = len(said) - len(window.live)
    context.surface.print(
        f"{counted(len(said), 'message')}: {len(window.live)} in the context, {archived} archived, "
        f"{len(window.pinned)} pinned. {counted(len(window.compactions), 'compaction')} in force."
    )
    for line in _importance_lines(conversation.messages, window.pinned):
        context.surface.print(line)
    for line in vector_lines(context.embedding_progress()):
        context.surface.print(f"{line[:1].upper()}{line[1:]}")
    context.surface.print_dimmed(
        f"Model {conversation.model.name}. Session {conversation.session_id or '(begins with your first message)'}."
    )
    return NOTHING


def _importance_lines(messages: Sequence[ChatMessage], pinned: AbstractSet[str]) -> Iterator[str]:
    """The numbers of the pinned messages, and of those with another priority than usual."""
    numbered = [*enumerate(messages, start=1)]
    if held := [str(number) for number, message in numbered if message.id in pinned]:
        yield f"Pinned: {', '.join(held)}."
    others = [(number, message.priority) for number, message in numbered if not message.has_usual_priority]
    for priority in sorted({priority for _, priority in others}, reverse=True):
        numbers = ", ".join(str(number) for number, each in others if each == priority)
        yield f"Priority {priority}: {numbers} ({phrases.priority_effect(priority)})."


async def context(context: CommandContext, argument: str) -> Outcome:
    message = message_numbered(context, argument) if argument else last_answer(context)
    if message.request_context is None:
        raise UsageError("There is no context data for that message.", hint="Answers have it: /history numbers them.")
    for line in context_lines(message.request_context):
        context.surface.print(line)
    for changed in context.items.changed(message.request_context):
        context.surface.print_dimmed(changed.sentence)
    if taken := message.request_context.usage:
        context.surface.print(f"That request took {tokens_used(taken)}.")
    if not argument and (usage := context.conversation.usage):
        context.surface.print("What the next one holds before your question:")
        context.surface.print_usage(usage)
    return NOTHING


async def compact(context: CommandContext, argument: str) -> Outcome:
    if not context.conversation.window.live:
        raise UsageError("There is nothing to compact yet.")
    return Play(context.conversation.compact(argument))


async def uncompact(context: CommandContext, _argument: str) -> Outcome:
    message = context.conversation.uncompact()
    part = compaction_of(message) if message else None
    if part is None:
        raise UsageError("Nothing is compacted in this conversation.")
    context.surface.print(f"Compaction #{part.number} is taken back: {_what_is_back(part)}.")
    return NOTHING


def _what_is_back(part: CompactionPart) -> str:
    archived, whole = len(part.archived), len(part.shortened | part.stripped)
    back = [f"{counted(archived, 'message')} in the context again"] if archived else []
    back += [f"{counted(whole, 'message')} whole again"] if whole else []
    return ", ".join(back) or "the earlier summary stands again"
