"""Arguments of commands: numbers of messages as in `/history`, numbers of documents as in the panel."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from zkchat.errors import UsageError
from zkchat.model.message import ChatMessage
from zkchat.model.parts import ToolCallPart
from zkchat.model.references import DocumentReference
from zkchat.model.thread import compaction_of
from zkchat.repl.command_context import CommandContext

_MAX_DIGITS: Final = 12
"""Digits of a number that are read; Python refuses to convert numbers of any length."""


def parse_number(argument: str, count: int, what: str, hint: str) -> int:
    """Parse a number between 1 and `count`. Raises `UsageError` for anything else."""
    typed = argument.strip().removeprefix("#")
    if not (typed.isascii() and typed.isdigit()):
        raise UsageError(f"{argument!r} is not the number of a {what}.", hint=hint)
    number = int(typed[:_MAX_DIGITS])
    if not 1 <= number <= count:
        there = f"there are {count}" if count > 1 else "there is one" if count else "there is none yet"
        raise UsageError(f"There is no {what} {number}: {there}.", hint=hint)
    return number


def message_numbered(context: CommandContext, argument: str) -> ChatMessage:
    messages = context.conversation.messages
    return messages[parse_number(argument, len(messages), "message", "/history numbers them.") - 1]


def answer_numbered(context: CommandContext, argument: str) -> ChatMessage:
    """The message with a number, if it is an answer. Raises `UsageError` for any other."""
    message = message_numbered(context, argument)
    if is_answer(message):
        return message
    number = number_of(context, message)
    kind = "is a message of yours" if message.role == "user" else "is no answer"
    following = next((each for each in _answer_numbers(context) if each > number), None)
    hint = f"The answer after it is message {following}." if following else "/history numbers them."
    raise UsageError(f"Message {number} {kind}.", hint=hint)


def number_of(context: CommandContext, message: ChatMessage) -> int:
    """The number of a message in `/history`."""
    return next(number for number, known in enumerate(context.conversation.messages, start=1) if known.id == message.id)


def is_answer(message: ChatMessage) -> bool:
    """Whether it is a final answer, and not a step with tool calls or a compaction."""
    calls = any(isinstance(part, ToolCallPart) for part in message.parts)
    return message.role == "assistant" and not calls and compaction_of(message) is None


def last_answer(context: CommandContext) -> ChatMessage:
    return _first(_answers(context), "There is no answer yet.")


def last_answer_id(context: CommandContext) -> str:
    """The id of the last answer; a text that is no id before the first one."""
    return next((answer.id for answer in _answers(context)), "(none)")


def last_references(context: CommandContext) -> Sequence[DocumentReference]:
    """The documents of the last answer, as the vault is now; none before the first one."""
    return context.links.current(next((answer.references for answer in _answers(context)), ()))


def _answers(context: CommandContext) -> Iterator[ChatMessage]:
    """The answers, the latest first."""
    return (message for message in reversed(context.conversation.messages) if is_answer(message))


def _answer_numbers(context: CommandContext) -> list[int]:
    numbered = enumerate(context.conversation.messages, start=1)
    return [number for number, message in numbered if is_answer(message)]


def last_question(context: CommandContext) -> ChatMessage:
    questions = (message for message in reversed(context.conversation.messages) if message.role == "user")
    return _first(questions, "You have not asked anything yet.")


def _first(messages: Iterator[ChatMessage], otherwise: str) -> ChatMessage:
    found = next(messages, None)
    if found is None:
        raise UsageError(otherwise, hint="Ask something first.")
    return found


def references_of_last_answer(context: CommandContext) -> Sequence[DocumentReference]:
    """The references that the panel numbers."""
    last_answer(context)  # raises where there is none
    if references := last_references(context):
        return references
    raise UsageError("The last answer rests on no documents.")


def reference_numbered(context: CommandContext, argument: str) -> DocumentReference:
    references = references_of_last_answer(context)
    return references[parse_number(argument, len(references), "document", "/refs numbers them.") - 1]


def complete_message_number(context: CommandContext, text: str) -> list[str]:
    """Complete the number of a message, the latest first."""
    return number_completions(text, reversed(range(1, len(context.conversation.messages) + 1)))


def complete_answer_number(context: CommandContext, text: str) -> list[str]:
    """Complete the number of an answer, the latest first."""
    return number_completions(text, reversed(_answer_numbers(context)))


def complete_reference_number(context: CommandContext, text: str) -> list[str]:
    return number_completions(text, range(1, len(last_references(context)) + 1))


def number_completions(text: str, numbers: Iterable[int]) -> list[str]:
    """Those of the numbers that begin with what was typed."""
    return [number for number in map(str, numbers) if number.startswith(text)]
