"""Edit a block of a note that has an id: a paragraph, an item of a list, a table, a listing. The id stays."""

from typing import Final, NamedTuple

from zkchat.errors import EditRefused
from zkchat.model.choices import SectionPosition
from zkchat.model.note import Block
from zkchat.model.patterns import lazy_pattern
from zkchat.writing.edits.joining import joins
from zkchat.writing.edits.line_ends import line_end_at, with_line_end
from zkchat.writing.edits.outline_places import ParsedNote
from zkchat.writing.edits.unchanged_rest import Splice, change_of_the_rest, refuse_to_drop_comments

_ITEM: Final = lazy_pattern(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?")
_ID: Final = lazy_pattern(r"[ \t]*\^[A-Za-z0-9-]+[ \t]*$")
_STRUCTURED: Final = lazy_pattern(r"[ \t]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|>|\||```|~~~)")
_ELSEWHERE: Final = "Edit the passage itself, or add the text before or after the block."


class _BlockSpan(NamedTuple):
    """Where the parts of a block are, as character offsets."""

    start: int
    """Where its first line begins."""
    text_start: int
    """After the marker of an item."""
    text_end: int
    """Before the id, or the line end."""
    own_end: int
    """After the line of the block's own text and id, without its line end."""
    end: int
    """After its last line and its id, without the line end."""


def edit_block(parsed: ParsedNote, block: Block, new: str, *, position: SectionPosition, include_children: bool) -> str:
    """The text of a note with a new text in or beside a block. Raises `EditRefused`."""
    span = _span(parsed, block)
    first_line = parsed.flat[span.start : parsed.line_end(span.start)]
    if first_line.lstrip().startswith((">", "#")):
        raise EditRefused(f"The block ^{block.id} is part of a quote or a heading.", hint=_ELSEWHERE)
    if position in {"before", "after"}:
        splice = _beside(parsed, span, new, is_after=position == "after")
    elif position == "replace":
        splice = _replacing(parsed, block, span, new, include_children=include_children)
    else:
        splice = _added(parsed, block, span, new, is_append=position == "append")
    new_text = with_line_end(splice.new, line_end_at(parsed.text, splice.start))
    splice = splice._replace(new=new_text)
    refuse_to_drop_comments(parsed, splice)
    if reason := change_of_the_rest(parsed, splice):
        raise EditRefused(reason, hint=_ELSEWHERE)
    return splice.applied(parsed.text)


def _span(parsed: ParsedNote, block: Block) -> _BlockSpan:
    flat = parsed.flat
    start = parsed.offset_of_line(block.first_line)
    end = _without_line_end(parsed, parsed.offset_of_line(max(block.last_line, block.line)))
    marker = _ITEM.match(flat, start)
    id_line = parsed.offset_of_line(block.line)
    own_end = _without_line_end(parsed, id_line)
    if block.line > block.last_line:  # the id has a line of its own, below
        text_end = _without_line_end(parsed, parsed.offset_of_line(block.last_line))
    else:
        found = _ID.search(flat[id_line:own_end])
        text_end = id_line + (found.start() if found else own_end - id_line)
    return _BlockSpan(start, marker.end() if marker else start, text_end, own_end, end)


def _without_line_end(parsed: ParsedNote, offset: int) -> int:
    """The offset of the line end of the line that begins at an offset."""
    end = parsed.flat.find("\n", offset)
    if end < 0:
        return len(parsed.flat)
    return end - (parsed.text[max(0, end - 1) : end] == "\r" and end > offset)


def _beside(parsed: ParsedNote, span: _BlockSpan, new: str, *, is_after: bool) -> Splice:
    """A text before or after a block; beside an item of a list, one that is an item is indented as that is."""
    block = parsed.flat[span.start : span.end]
    is_item = span.text_start > span.start and _ITEM.match(new) is not None
    if is_item:
        indent = block[: len(block) - len(block.lstrip())]
        new = "\n".join(f"{indent}{line}" if line.strip() else line for line in new.split("\n"))
    if is_after:
        is_joined = is_item or joins(block, new)
        following = parsed.flat[parsed.line_end(span.end) :].partition("\n")[0]
        is_apart = is_joined or not following.strip()
        return Splice(span.end, span.end, ("\n" if is_joined else "\n\n") + new + ("" if is_apart else "\n"))
    before = parsed.flat[parsed.note.body_start : span.start]
    is_apart = is_item or not before.strip() or not before.removesuffix("\n").rpartition("\n")[2].strip()
    return Splice(span.start, span.start, ("" if is_apart else "\n") + new + ("\n" if is_item else "\n\n"))


def _replacing(parsed: ParsedNote, block: Block, span: _BlockSpan, new: str, *, include_children: bool) -> Splice:
    """A new text with the old id. The marker of an item stays, unless the text has one."""
    if not new:
        raise EditRefused(f"The new text of ^{block.id} is empty.", hint="Edit the passage itself to delete it.")
    known = _ID.search(new)
    if known and known[0].strip() == f"^{block.id}":
        new = new[: known.start()].rstrip()
    is_own_line = block.line > block.last_line
    start = span.start if _ITEM.match(new) or is_own_line else span.text_start
    if start == span.start and span.text_start > span.start:
        new = parsed.flat[span.start : span.start + _indent(parsed.flat[span.start :])] + new.lstrip()
    if not is_own_line and ("\n\n" in new or new.rstrip().endswith(("```", "~~~", "|"))):
        raise EditRefused(
            f"The id ^{block.id} belongs to one paragraph, and cannot stay with such a text.", hint=_ELSEWHERE
        )
    if include_children and span.end > span.own_end:
        kept = parsed.flat[span.text_end : span.own_end]
        return Splice(start, span.end, new + kept)
    return Splice(start, span.text_end, new)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _added(parsed: ParsedNote, block: Block, span: _BlockSpan, new: str, *, is_append: bool) -> Splice:
    """More words for a paragraph, or more lines for a list or table."""
    said = parsed.flat[span.start : span.text_end]
    if block.line > block.last_line and (joins(said, new) if is_append else joins(new, said)):
        return (
            Splice(span.text_end, span.text_end, f"\n{new}")
            if is_append
            else Splice(span.start, span.start, f"{new}\n")
        )
    if block.line > block.last_line or "\n" in new or _STRUCTURED.match(new):
        raise EditRefused(f"The text cannot become part of the block ^{block.id}.", hint=_ELSEWHERE)
    if is_append:
        return Splice(span.text_end, span.text_end, f" {new}")
    return Splice(span.text_start, span.text_start, f"{new} ")
