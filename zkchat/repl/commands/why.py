"""`/why`: why a note, rule or tool was in the last request or left out of it, and which requests contained it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from zkchat.chat.session_items import SessionItems
from zkchat.errors import UsageError
from zkchat.model.choices import LeftOutReason, SessionItemType
from zkchat.model.message import ChatMessage
from zkchat.model.references import DocumentReference
from zkchat.model.request_context import LeftOut, RequestItem
from zkchat.render.references import describe_reason
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome
from zkchat.repl.commands.arguments import is_answer, last_answer, number_of
from zkchat.repl.commands.session import parse_item

_NOTE_ITEM_TYPES: Final = {"reference", "evidence", "memory"}


class _Subject(Struct, frozen=True, kw_only=True):
    """The note, rule or tool in question."""

    name: str
    """Of a note, its path."""
    kind: SessionItemType
    session_items: SessionItems

    def matches(self, item: RequestItem) -> bool:
        if self.kind == "reference":
            return item.type in _NOTE_ITEM_TYPES and self.session_items.is_place_in(item.name, self.name)
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


async def why(context: CommandContext, argument: str) -> Outcome:
    answer = last_answer(context)
    if answer.request_context is None:
        raise UsageError("There is no context data for the last answer.")
    subject = _subject(context.items, argument)
    reasons = [*_reasons(context, subject, answer)]
    if subject.is_in(answer):
        context.surface.print(f"{subject.name} was in the request of the last answer:")
    elif reasons:
        context.surface.print(f"{subject.name} was left out of the request of the last answer:")
    else:
        context.surface.print(f"{subject.name} was not in the request of the last answer: nothing led to it.")
    for reason in reasons:
        context.surface.print(f"- {reason}")
    answers = [each for each in context.conversation.messages if is_answer(each) and subject.is_in(each)]
    if answers:
        context.surface.print_dimmed(
            f"It was there for {_messages([str(number_of(context, each)) for each in answers])}."
        )
    else:
        context.surface.print_dimmed("No request of this session held it.")
    return NOTHING


def _messages(numbers: Sequence[str]) -> str:
    """As in "messages 2, 4 and 6"."""
    *others, last = numbers
    return f"messages {', '.join(others)} and {last}" if others else f"message {last}"


def _subject(items: SessionItems, argument: str) -> _Subject:
    kind, name = parse_item("why", argument)
    known = items.place_of(name)[0] if kind == "reference" else items.find(kind, name).item.name
    return _Subject(name=known, kind=kind, session_items=items)


def _reasons(context: CommandContext, subject: _Subject, answer: ChatMessage) -> Iterator[str]:
    numbers = {message.id: number for number, message in enumerate(context.conversation.messages, start=1)}
    for item in subject.items(answer):
        place = f"with message {numbers[item.part_of]}: " if item.part_of in numbers else ""
        score = "" if item.score is None else f" {item.score:.2f}"
        yield f"{place}{item.reason or 'always there'} [{item.include}{score}], {item.tokens:,} tokens"
    for reference in subject.found(answer):
        if reference.reference_type == "search" and reference.via != "context":
            yield describe_reason(reference)
    for left in subject.left_out(answer):
        yield _why_not(left)


_WHY_NOT: Final[Mapping[LeftOutReason, str]] = {
    "budget": "there was no room for its {tokens:,} tokens",
    "score": "your message did not call for it (nearness {score:.2f})",
    "removed": "you dropped it",
    "private": "it must not leave this machine",
    "missing": "it could not be read",
    "unapproved": "it came with the vault and you have not approved it: zkchat trust",
    "abstained": "{reason}",
    "unanswered": "{reason}",
    "off": "{reason}",
    "repeated": "{reason}",
}


def _why_not(left: LeftOut) -> str:
    item = left.item
    return _WHY_NOT[left.why].format(tokens=item.tokens, score=item.score or 0, reason=item.reason)
