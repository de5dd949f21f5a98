"""From stored messages to the request a model gets. Pure, so that a stored turn can be rebuilt and shown again."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from zkchat.context.budget import Budget, usage_of
from zkchat.context.documents import wrapped
from zkchat.errors import UsageError
from zkchat.model.context import ContextUsage, RequestContext, RequestItem
from zkchat.model.message import (
    ChatMessage,
    EvidencePart,
    FilePart,
    ImagePart,
    ToolCallPart,
    ToolResultPart,
)
from zkchat.model.prompt import ModelRequest, PromptMessage, ToolSpec
from zkchat.model.reference import DocumentReference
from zkchat.ports import Tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    request: ModelRequest
    context: RequestContext
    usage: ContextUsage
    omitted: int
    """Older messages that did not fit."""


def as_prompt(message: ChatMessage, *, can_read: bool) -> list[PromptMessage]:
    """A stored message as the model sees it: always the same text for the same message."""
    results = [part for part in message.parts if isinstance(part, ToolResultPart)]
    if results:
        return [
            PromptMessage(role="tool", text=part.text, tool_call_id=part.call_id, tool_name=part.name)
            for part in results
        ]
    text = augmented_text(message, can_read=can_read)
    calls = tuple(part for part in message.parts if isinstance(part, ToolCallPart))
    images = tuple(part for part in message.parts if isinstance(part, ImagePart))
    if not (text or calls or images):
        return []  # an answer that failed before its first word
    return [PromptMessage(role=message.role, text=text, tool_calls=calls, images=images)]


def augmented_text(message: ChatMessage, *, can_read: bool) -> str:
    """The words of a message, followed by what its links and the search brought along."""
    if message.role != "user":
        return message.text
    blocks = [
        message.text,
        _reference_list(message.references, can_read=can_read),
        *(wrapped(part.name, part.text) for part in message.parts if isinstance(part, FilePart)),
        *(_evidence(part) for part in message.parts if isinstance(part, EvidencePart)),
    ]
    return "\n\n".join(block for block in blocks if block)


def _reference_list(references: Sequence[DocumentReference], *, can_read: bool) -> str:
    linked = [reference for reference in references if reference.reference_type == "direct"]
    if not linked:
        return ""
    lines = ["Referenced Documents:", *(_reference_line(reference) for reference in linked)]
    if can_read and any(reference.relative_path and not reference.included for reference in linked):
        lines.append("(read_document gives the text of those that do not follow below.)")
    return "\n".join(lines)


def _reference_line(reference: DocumentReference) -> str:
    if reference.relative_path is None:
        return f"- {reference.wikilink}: there is no such note"
    summary = f": {reference.summary}" if reference.summary else ""
    return f"- {reference.wikilink} is {reference.relative_path}{summary}"


def _evidence(part: EvidencePart) -> str:
    lines = [f"- {found.wikilink}: {found.sentence}" for found in part.evidence]
    body = "\n".join(lines).replace("</evidence", "<\u200b/evidence")
    return f"<evidence>\n{body}\n</evidence>"


def assemble(
    *,
    instructions: str,
    history: Sequence[ChatMessage],
    user: ChatMessage,
    tools: Sequence[ToolSpec],
    budget: Budget,
    tokenizer: Tokenizer,
) -> Assembled:
    """The request for one turn, never over the window less its reserve; the newest turns are kept when not all fit."""
    system_tokens = tokenizer.count(instructions)
    tool_tokens = sum(tokenizer.count(spec.model_dump_json()) for spec in tools)
    room = budget.left_for_messages(system=system_tokens, tools=tool_tokens)
    if user.augmented_token_count > room:
        raise UsageError(
            f"Your message takes {user.augmented_token_count:,} tokens; the model has room for {room:,}.",
            hint="Shorten it, raise context.max_tokens, or choose a model with a larger window.",
        )
    kept = _newest_that_fit(history, room - user.augmented_token_count)
    prompt = [PromptMessage(role="system", text=instructions)]
    for message in (*kept, user):
        prompt.extend(as_prompt(message, can_read=bool(tools)))
    evidence = [found for part in user.parts if isinstance(part, EvidencePart) for found in part.evidence]
    references = user.augmented_token_count - user.token_count
    usage = usage_of(
        budget,
        system=system_tokens,
        tools=tool_tokens,
        messages=sum(_size(message) for message in kept) + user.token_count,
        references=references,
        exact=tokenizer.exact,
    )
    return Assembled(
        request=ModelRequest(
            messages=tuple(prompt), tools=tuple(tools), evidence=tuple(evidence), window=budget.window
        ),
        context=RequestContext(
            items=tuple(_items(instructions, system_tokens, tools, kept, user, tokenizer)), usage=usage
        ),
        usage=usage,
        omitted=len(history) - len(kept),
    )


def _size(message: ChatMessage) -> int:
    return max(message.augmented_token_count, message.token_count) + message.tool_tokens


def _newest_that_fit(history: Sequence[ChatMessage], left: int) -> list[ChatMessage]:
    """Whole turns from the end. A cut falls only before a user's message: a tool call stays with its result."""
    kept: list[ChatMessage] = []
    turn: list[ChatMessage] = []
    for message in reversed(history):
        turn.append(message)
        if message.role != "user":
            continue
        left -= sum(_size(part_of_turn) for part_of_turn in turn)
        if left < 0:
            break
        kept.extend(turn)
        turn = []
    return kept[::-1]


def _items(
    instructions: str,
    system_tokens: int,
    tools: Sequence[ToolSpec],
    history: Sequence[ChatMessage],
    user: ChatMessage,
    tokenizer: Tokenizer,
) -> list[RequestItem]:
    items = [
        RequestItem(type="system", name="default", tokens=system_tokens, digest=digest(instructions)),
        *(
            RequestItem(
                type="tool",
                name=spec.name,
                server=spec.server,
                tokens=tokenizer.count(spec.model_dump_json()),
                digest=digest(spec.model_dump_json()),
            )
            for spec in tools
        ),
        *(RequestItem(type="message", name=message.id, tokens=_size(message)) for message in history),
        RequestItem(type="message", name=user.id, tokens=user.token_count),
    ]
    for part in user.parts:
        if isinstance(part, FilePart):
            text, reason = part.text, "linked in the message"
            items.append(_reference_item(part.name, text, reason, tokenizer))
        elif isinstance(part, EvidencePart):
            items.extend(
                _reference_item(found.relative_path, found.sentence, "answers the question", tokenizer, found.score)
                for found in part.evidence
            )
    return items


def _reference_item(name: str, text: str, reason: str, tokenizer: Tokenizer, score: float | None = None) -> RequestItem:
    return RequestItem(
        type="reference" if score is None else "evidence",
        name=name,
        include="manual" if score is None else "agent",
        score=score,
        tokens=tokenizer.count(text),
        digest=digest(text),
        reason=reason,
    )


def digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
