"""Short forms of messages: what stays of one in the prompt when it, or what it brings along, is too long. Pure."""

from typing import Final

from msgspec.structs import replace

from zkchat.context.condensing import Count, condense_message
from zkchat.context.documents import MIN_EXCERPT_TOKENS, TAG_TOKENS, excerpt_document
from zkchat.context.formatting import augmented_text
from zkchat.context.images import NO_ROOM, images_of, words_alone
from zkchat.context.strategies import truncation_level
from zkchat.model.message import ChatMessage
from zkchat.model.parts import EvidencePart, FilePart, ImagePart, Part, TextPart

READ_ON: Final = "(read_attachment reads on in this text.)"


def short_form(message: ChatMessage, budget: int, count: Count, *, can_read: bool) -> str:
    """A message in at most `budget` tokens: its words as they are, and of its documents what there is room for; only
    where the words alone are too long, a short form of them. Of its images their names stay."""
    words, unsent = _without_documents(message), [NO_ROOM] * len(images_of(message))
    text = augmented_text(words, can_read=can_read, unsent=unsent)
    if count(text) > budget:
        if unsent and count(bare := words_alone(message)) <= budget:
            return bare
        remark = READ_ON if can_read and message.role == "user" else ""
        return condense_message(message.text, budget, count, remark=remark)
    room = budget - count(text)
    while room >= MIN_EXCERPT_TOKENS:
        shown = _with_documents(message, words, room, count)
        longer = augmented_text(shown, can_read=can_read, unsent=unsent)
        over = count(longer) - budget
        if over <= 0:
            return longer
        room -= max(over, budget // 50)
    return text


def _without_documents(message: ChatMessage) -> ChatMessage:
    """The words of a message, and its links as links to documents that do not follow."""
    references = tuple(replace(each, included=False, extent="") for each in message.references)
    parts = tuple(part for part in message.parts if isinstance(part, TextPart | ImagePart))
    return replace(message, parts=parts, references=references)


def _with_documents(message: ChatMessage, words: ChatMessage, room: int, count: Count) -> ChatMessage:
    """The message with so many tokens of what it brings along: passages that answer first, then documents."""
    passages: list[Part] = []
    for part in message.parts:
        if isinstance(part, EvidencePart) and part.evidence:
            tokens = count("\n".join(each.text for each in part.evidence)) + TAG_TOKENS * len(part.evidence)
            if tokens <= room:
                passages.append(part)
                room -= tokens
    files = [part for part in message.parts if isinstance(part, FilePart)]
    level = truncation_level([count(part.text) + TAG_TOKENS for part in files], room) - TAG_TOKENS
    shortened = [_excerpt(part, level, count, message.text) for part in files]
    included = {part.name: part.extent for part in shortened if part.text}
    references = tuple(
        replace(each, included=True, extent=included[name])
        if (name := _file_of(each.relative_path, included))
        else each
        for each in words.references
    )
    parts = (*words.parts, *(part for part in shortened if part.text), *passages)
    return replace(message, parts=parts, references=references)


def _excerpt(part: FilePart, budget: int, count: Count, question: str) -> FilePart:
    found = excerpt_document(part.text, budget, count, question)
    extent = part.extent if not found.extent else "a smaller part" if part.extent else found.extent
    return replace(part, text=found.text, extent=extent)


def _file_of(path: str | None, names: dict[str, str]) -> str:
    """The name of the included document, or of a section of it, that a reference leads to; empty if there is none."""
    return next((name for name in names if path and name.partition("#")[0] == path), "")
