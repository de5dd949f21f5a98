"""Commands for what is sent to the model: usage, compaction, and why something was in a request."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, get_args

from msgspec import Struct
from msgspec.structs import replace

from zkchat.actions import explained
from zkchat.chat import Question, SessionItems
from zkchat.core import (
    ChatMessage,
    DocumentReference,
    LeftOut,
    LeftOutReason,
    RequestItem,
    SessionItemType,
    SummaryDetail,
    UsageError,
    compaction_of,
    cost_of,
    counted,
    totals_of,
    turn_of,
)
from zkchat.render import context_lines, cost_lines, describe_reason, messages_line, phrases, totals_lines, vector_lines
from zkchat.repl.command_context import CommandContext, Outcome, Play, slash
from zkchat.repl.commands.actions import show_result
from zkchat.repl.commands.places import (
    complete_message_number,
    is_answer,
    last_answer,
    last_question,
    message_numbered,
    number_of,
)
from zkchat.repl.commands.session import complete_item, parse_item

DETAILS: Final[tuple[SummaryDetail, ...]] = get_args(SummaryDetail)


class _Subject(Struct, frozen=True, kw_only=True):
    """The note, rule or tool in question."""

    name: str
    """Of a note, its path."""
    kind: SessionItemType
    session_items: SessionItems

    def matches(self, item: RequestItem) -> bool:
        if self.kind == "reference":
            is_of_note = item.type in {"reference", "evidence", "memory"}
            return is_of_note and self.session_items.is_place_in(item.name, self.name)
        return item.type == self.kind and item.name == self.name

    def items(self, answer: ChatMessage) -> list[RequestItem]:
        return [*filter(self.matches, answer.request_context.items)] if answer.request_context else []

    def left_out(self, answer: ChatMessage) -> list[LeftOut]:
        left = answer.request_context.left_out if answer.request_context else ()
        return [each for each in left if self.matches(each.item)]

    def found(self, answer: ChatMessage) -> list[DocumentReference]:
        """References to the note that a tool or a search found during the answer."""
        references = answer.references if self.kind == "reference" else ()
        return [each for each in references if each.relative_path == self.name and each.included]

    def is_in(self, answer: ChatMessage) -> bool:
        return bool(self.items(answer) or self.found(answer))


@slash("stats", "what fills the context")
async def stats(context: CommandContext, _argument: str) -> None:
    """How full the context window is, and how many messages are in it, archived and pinned."""
    conversation = context.conversation
    if conversation.model.needs_notes:
        context.surface.print(phrases.NO_MODEL)
    elif conversation.usage:
        context.surface.print_usage(conversation.usage)
    else:
        context.surface.print("Nothing has been sent to the model yet.")
    context.surface.print(messages_line(conversation.history, is_read=not conversation.model.needs_notes))
    for line in _importance_lines(conversation.messages, conversation.window.pinned):
        context.surface.print(line)
    for line in cost_lines(conversation.history.messages.values()):
        context.surface.print(line)
    for line in vector_lines(context.embedding_progress()):
        context.surface.print(f"{line[:1].upper()}{line[1:]}")
    window = conversation.usage.window if conversation.usage and not conversation.model.needs_notes else None
    context.surface.print_dimmed(
        f"{phrases.model_line(conversation.model.shown, window)}. "
        f"Session {conversation.session_id or '(begins with your first message)'}."
    )


def _importance_lines(messages: Sequence[ChatMessage], pinned: AbstractSet[str]) -> Iterator[str]:
    """The numbers of the pinned messages, and of those with another priority than usual."""
    numbered = [*enumerate(messages, start=1)]
    if held := [str(number) for number, message in numbered if message.id in pinned]:
        yield f"Pinned: {', '.join(held)}."
    others = [(number, message.priority) for number, message in numbered if not message.has_usual_priority]
    for priority in sorted({priority for _, priority in others}, reverse=True):
        numbers = ", ".join(str(number) for number, each in others if each == priority)
        yield f"Priority {priority}: {numbers} ({phrases.priority_effect(priority)})."


@slash("context [N]", "what was sent and why", complete=complete_message_number)
async def context(context: CommandContext, argument: str) -> None:
    """For the last answer, or answer N: what was sent and why (always, added by you, or found relevant), and what was
    left out.
    """
    if argument == "stats":  # as in a shell
        await stats.run(context, "")
        return
    message = message_numbered(context, argument) if argument else last_answer(context)
    if message.request_context is None:
        raise UsageError(
            "It is not known what was sent for that message.",
            hint="It is kept for answers only; /history shows the numbers.",
        )
    conversation = context.conversation
    history, count = conversation.history, conversation.tokenizer.count
    is_summarised = conversation.messages[-1] in conversation.window.compactions
    if is_summarised and not argument and not conversation.model.needs_notes:
        coming = await conversation.measure()
        context.surface.print("Older messages are a summary now. Your next message is sent with this:")
        context.surface.print("\n".join(context_lines(replace(coming.context, usage=coming.usage))))
        return
    turn = totals_of(turn_of(message, history.messages), count)
    lines = context_lines(message.request_context, message.provider, cost_of([message]), turn)
    context.surface.print("\n".join(lines))
    if conversation.model.needs_notes and not argument:
        window = conversation.window
        texts = [each.text for each in window.live] + [window.summary.summary if window.summary else ""]
        what = f"{counted(len(window.live), 'message')}{' and the summary of older ones' * bool(texts[-1])}"
        context.surface.print(f"A model would get {what}, about {sum(map(count, texts)):,} tokens. /model chooses one.")
    if not argument:
        for line in totals_lines(totals_of(history.messages.values(), count)):
            context.surface.print_dimmed(line)
    for changed in context.items.changed(message.request_context):
        context.surface.print_dimmed(changed.sentence)


@slash("compact [FOCUS]", "summarise what is old")
async def compact(context: CommandContext, argument: str) -> Outcome:
    """Older messages leave the context and a summary replaces them. It keeps most about FOCUS, if given; brief or full
    before FOCUS makes it shorter or longer. Nothing is deleted, and /uncompact reverts it.
    """
    if not context.conversation.window.live:
        raise UsageError("There is nothing to summarise yet.")
    first, _, rest = argument.partition(" ")
    detail = next((each for each in DETAILS if each == first.lower()), None)
    return Play(context.conversation.compact(rest.strip() if detail else argument, detail=detail))


@slash("uncompact", "undo a summary")
async def uncompact(context: CommandContext, _argument: str) -> None:
    """The model sees the messages of the last summary again."""
    message = context.conversation.uncompact()
    part = compaction_of(message) if message else None
    if part is None:
        raise UsageError("Nothing is summarised in this conversation.")
    archived, whole = len(part.archived), len(part.shortened | part.stripped)
    back = [f"{counted(archived, 'message')} in the context again"] if archived else []
    back += [f"{counted(whole, 'message')} sent in full again"] if whole else []
    what = ", ".join(back) or "the earlier summary is used again"
    context.surface.print(f"Summary #{part.number} is undone: {what}.")


@slash("why [[NOTE]]", "why it was (not) sent", complete=complete_item)
async def why(context: CommandContext, argument: str) -> None:
    """For the last answer: why the note was sent, or was not, and for which messages it was sent. Also /why rule NAME
    and /why tool NAME.
    """
    answer = last_answer(context)
    if answer.request_context is None:
        raise UsageError("It is not known what was sent for the last answer.")
    items, (kind, name) = context.items, parse_item("why", argument)
    known = items.place_of(name)[0] if kind == "reference" else items.find(kind, name).item.name
    subject = _Subject(name=known, kind=kind, session_items=items)
    reasons = [*_reasons(context, subject, answer)]
    if subject.is_in(answer):
        context.surface.print(f"{subject.name} was sent for the last answer:")
    elif reasons:
        context.surface.print(f"{subject.name} was not sent for the last answer:")
    else:
        context.surface.print(f"{subject.name} was not sent for the last answer: it did not match the question.")
        if kind == "reference":
            # Say where the search for the last question lost a note.
            asked, messages = last_question(context), context.conversation.messages
            library, earlier = context.browser.refreshed(), messages[: messages.index(asked)]
            question = Question.of(asked).after(reversed(earlier), library)
            show_result(context, explained(library, question, subject.name))
    for reason in reasons:
        context.surface.print(f"- {reason}")
    answers = [each for each in context.conversation.messages if is_answer(each) and subject.is_in(each)]
    if answers:
        *others, last = (str(number_of(context, each)) for each in answers)
        numbers = f"messages {', '.join(others)} and {last}" if others else f"message {last}"
        context.surface.print_dimmed(f"It was sent for {numbers}.")
    else:
        context.surface.print_dimmed("It was never sent in this session.")


def _reasons(context: CommandContext, subject: _Subject, answer: ChatMessage) -> Iterator[str]:
    numbers = {message.id: number for number, message in enumerate(context.conversation.messages, start=1)}
    for item in subject.items(answer):
        place = f"with message {numbers[item.part_of]}: " if item.part_of in numbers else ""
        yield f"{place}{item.reason or 'always there'}, {item.tokens:,} tokens"
    for reference in subject.found(answer):
        if reference.reference_type == "search" and reference.via != "context":
            yield describe_reason(reference)
    for left in subject.left_out(answer):
        item = left.item
        yield _WHY_NOT[left.why].format(tokens=item.tokens, score=item.score or 0, reason=item.reason)


_WHY_NOT: Final[Mapping[LeftOutReason, str]] = {
    "budget": "there was no room for its {tokens:,} tokens",
    "score": "it was not relevant enough ({score:.2f} of 1)",
    "removed": "you dropped it",
    "private": "it is private, and the model is not on this machine",
    "missing": "it could not be read",
    "unapproved": "it came with the vault and you have not approved it: zkchat config trust",
    "abstained": "{reason}",
    "unanswered": "{reason}",
    "off": "{reason}",
    "repeated": "{reason}",
}
