"""References, tool calls and token counts in words: the same in every kind of output, and safe to show."""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from zkchat.model.message import ChatMessage, CompactionPart, ContextUsage, DocumentReference
from zkchat.render.sanitize import shown, shown_in_line

_LONGEST_ARGUMENTS: Final = 60
_LONGEST_EXCERPT: Final = 160


def place(reference: DocumentReference) -> str:
    """Where the document is: path, heading, lines. Empty for a broken link."""
    if reference.relative_path is None:
        return ""
    words = shown_in_line(reference.relative_path)
    if reference.anchor:
        words += f" › {shown_in_line(reference.anchor).replace('#', ' › ')}"
    if reference.lines is not None:
        first, last = reference.lines.first, reference.lines.last
        words += f", line {first}" if first == last else f", lines {first}–{last}"
    return words


def reason(reference: DocumentReference) -> str:
    """Why the document is in the list, and whether the answer used it."""
    if reference.via == "withheld":
        return "withheld: it is not sent to this model"
    if reference.status == "missing":
        return f"no such note, {_origin(reference)}"
    if reference.unverified:
        return f"{_origin(reference)}, never given to the model"
    words = [_origin(reference)]
    if reference.hits > 1:
        words.append(f"{reference.hits} times")
    words.append("cited" if reference.cited else "not cited")
    return ", ".join(words)


def _origin(reference: DocumentReference) -> str:
    via = shown_in_line(reference.via)
    if via == "embed":
        return "embedded in a note you linked"
    if reference.reference_type == "direct":
        return f"linked by you ({via})" if via in {"alias", "id", "title"} else "linked by you"
    if via == "answer":
        return "linked by the answer"
    if via in {"", "evidence"}:
        return "found by search"
    # A search gives its hits a score; a tool that simply opened the document has none to give.
    return f"read by {via}" if reference.included and reference.score is None else f"found by {via}"


def doubt(reference: DocumentReference) -> str:
    """What the reader should check: other notes that the link could mean, the closest names, a missing heading."""
    candidates = ", ".join(shown_in_line(candidate) for candidate in reference.candidates)
    words = []
    if reference.status == "missing" and candidates:
        words.append(f"Closest: {candidates}")
    if reference.status == "ambiguous":
        words.append(f"Could also be: {candidates}")
    if not reference.anchor_found:
        words.append(f"No “{shown_in_line(reference.anchor)}” in that note")
    return ". ".join(words)


def excerpt(reference: DocumentReference) -> str:
    """The document in a line: what was found in it, else its summary."""
    return _cut(shown_in_line(reference.snippet or reference.summary), _LONGEST_EXCERPT)


def reference_lines(references: Sequence[DocumentReference], *, most: int) -> Iterator[str]:
    """The list of references without boxes or colour."""
    if references:
        yield "Referenced Documents"
    for number, reference in enumerate(references[:most], start=1):
        about = [place(reference), reason(reference), doubt(reference)]
        yield f"{number}. {shown_in_line(reference.wikilink)}: {'; '.join(filter(None, about))}"
    if len(references) > most:
        yield f"… and {len(references) - most} more"


def tokens_used(usage: ContextUsage) -> str:
    """`1,234 / 8,192 tokens (15 %)`, with `≈` where no exact tokenizer counted."""
    about = "≈ " if usage.estimated else ""
    if not usage.window:
        return f"{about}{usage.total:,} tokens"
    return f"{about}{usage.total:,} / {usage.window:,} tokens ({100 * usage.total // usage.window} %)"


def parts_of(usage: ContextUsage) -> tuple[tuple[str, int], ...]:
    """What fills the window, in the order in which it is sent."""
    return (
        ("system", usage.system),
        ("tools", usage.tools),
        ("memory", usage.memory),
        ("references", usage.references),
        ("messages", usage.messages),
    )


def context_line(usage: ContextUsage) -> str:
    parts = ", ".join(f"{name} {tokens:,}" for name, tokens in parts_of(usage) if tokens)
    return f"Context: {tokens_used(usage)}" + (f": {parts}" if parts else "")


def tool_call(name: str, arguments: str) -> str:
    """`find_excerpts "sleep" limit=4`, whatever the model wrote as arguments."""
    return _cut(f"{shown_in_line(name)} {_arguments(arguments)}".rstrip(), _LONGEST_ARGUMENTS)


def _arguments(written: str) -> str:
    try:
        values = json.loads(written or "{}")
    except (ValueError, RecursionError):
        return shown_in_line(written)
    if not isinstance(values, dict):
        return shown_in_line(written)
    words = [shown_in_line(f"{name}={json.dumps(value, ensure_ascii=False)}") for name, value in values.items()]
    # The first argument says what the call is about; its name only takes room.
    return " ".join([words[0].partition("=")[2], *words[1:]]) if words else ""


def tool_result(summary: str, *, failed: bool) -> str:
    return shown_in_line(summary) or ("failed" if failed else "done")


def warning(text: str, hint: str) -> str:
    return shown(f"warning: {text}" + (f"\n         {hint}" if hint else ""))


def making_room(messages: int, tokens: int) -> str:
    return f"Summarising {messages} older messages ({tokens:,} tokens in the context) …"


def compaction(message: ChatMessage) -> str:
    """The marker in the history where older messages left the prompt."""
    return " ".join(
        f"Context compacted #{part.number}: {len(part.archived)} messages archived, "
        f"~{max(0, part.tokens_before - part.tokens_after):,} tokens freed"
        for part in message.parts
        if isinstance(part, CompactionPart)
    )


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
