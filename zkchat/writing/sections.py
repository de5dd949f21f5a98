"""Edit what stands under a heading of a note or in a block that has an id, or append to the note."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from zkchat.core import Block, EditRefused, Heading, SectionPosition, lazy_pattern
from zkchat.notes import heading_key, parse_note
from zkchat.writing.passages import (
    ParsedNote,
    Section,
    Splice,
    change_of_the_rest,
    checked,
    is_text_at,
    joins,
    refuse_placeholders,
    refuse_to_drop_comments,
    spliced,
    with_line_end,
    without_blank_edges,
)

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


def _block_splice(
    parsed: ParsedNote, block: Block, new: str, *, position: SectionPosition, include_children: bool
) -> Splice:
    """A new text in or beside a block. Raises `EditRefused`."""

    def end_of_line(number: int) -> int:
        end = parsed.text.find("\n", parsed.offset_of_line(number))
        return end if end >= 0 else len(parsed.text)

    start, id_line = parsed.offset_of_line(block.first_line), parsed.offset_of_line(block.line)
    own_end = end_of_line(block.line)
    marker = _ITEM.match(parsed.text, start)
    if block.line > block.last_line:  # the id has a line of its own, below
        text_end = end_of_line(block.last_line)
    else:
        found = _ID.search(parsed.text[id_line:own_end])
        text_end = id_line + found.start() if found else own_end
    end = end_of_line(max(block.last_line, block.line))
    span = _BlockSpan(start, marker.end() if marker else start, text_end, own_end, end)
    first_line = parsed.text[span.start : parsed.line_end(span.start)]
    if first_line.lstrip().startswith((">", "#")):
        raise EditRefused(f"The block ^{block.id} is part of a quote or a heading.", hint=_ELSEWHERE)
    if position in {"before", "after"}:
        splice = _beside(parsed, span, new, is_after=position == "after")
    elif position == "replace":
        splice = _replacing_block(parsed, block, span, new, include_children=include_children)
    else:
        splice = _added_to_block(parsed, block, span, new, is_append=position == "append")
    refuse_to_drop_comments(parsed, splice)
    if reason := change_of_the_rest(parsed, splice):
        raise EditRefused(reason, hint=_ELSEWHERE)
    return splice


def _beside(parsed: ParsedNote, span: _BlockSpan, new: str, *, is_after: bool) -> Splice:
    """A text before or after a block; beside an item of a list, one that is an item is indented as that is."""
    block = parsed.text[span.start : span.end]
    is_item = span.text_start > span.start and _ITEM.match(new) is not None
    if is_item:
        indent = block[: len(block) - len(block.lstrip())]
        new = "\n".join(f"{indent}{line}" if line.strip() else line for line in new.split("\n"))
    if is_after:
        is_joined = is_item or joins(block, new)
        following = parsed.text[parsed.line_end(span.end) :].partition("\n")[0]
        is_apart = is_joined or not following.strip()
        return Splice(span.end, span.end, ("\n" if is_joined else "\n\n") + new + ("" if is_apart else "\n"))
    before = parsed.text[parsed.note.body_start : span.start]
    is_apart = is_item or not before.strip() or not before.removesuffix("\n").rpartition("\n")[2].strip()
    return Splice(span.start, span.start, ("" if is_apart else "\n") + new + ("\n" if is_item else "\n\n"))


def _replacing_block(parsed: ParsedNote, block: Block, span: _BlockSpan, new: str, *, include_children: bool) -> Splice:
    """A new text with the old id. The marker of an item stays, unless the text has one."""
    if not new:
        raise EditRefused(f"The new text of ^{block.id} is empty.", hint="Edit the passage itself to delete it.")
    known = _ID.search(new)
    if known and known[0].strip() == f"^{block.id}":
        new = new[: known.start()].rstrip()
    is_own_line = block.line > block.last_line
    start = span.start if _ITEM.match(new) or is_own_line else span.text_start
    if start == span.start and span.text_start > span.start:
        own = parsed.text[span.start :]
        new = own[: len(own) - len(own.lstrip(" \t"))] + new.lstrip()
    if not is_own_line and ("\n\n" in new or new.rstrip().endswith(("```", "~~~", "|"))):
        raise EditRefused(f"^{block.id} marks one paragraph; the new text must be one paragraph too.", hint=_ELSEWHERE)
    if include_children and span.end > span.own_end:
        return Splice(start, span.end, new + parsed.text[span.text_end : span.own_end])
    return Splice(start, span.text_end, new)


def _added_to_block(parsed: ParsedNote, block: Block, span: _BlockSpan, new: str, *, is_append: bool) -> Splice:
    """More words for a paragraph, or more lines for a list or table."""
    said = parsed.text[span.start : span.text_end]
    if block.line > block.last_line and (joins(said, new) if is_append else joins(new, said)):
        place = span.text_end if is_append else span.start
        return Splice(place, place, f"\n{new}" if is_append else f"{new}\n")
    if block.line > block.last_line or "\n" in new or _STRUCTURED.match(new):
        raise EditRefused(f"The text cannot become part of the block ^{block.id}.", hint=_ELSEWHERE)
    if is_append:
        return Splice(span.text_end, span.text_end, f" {new}")
    return Splice(span.text_start, span.text_start, f"{new} ")


def edit_section(text: str, place: str, new: str, *, position: SectionPosition, include_children: bool = False) -> str:
    """The text with `new` in or around the section that `place` names: `Heading`, `Heading#Sub` or `^block`.

    `append` adds to the end of the section's own text, which ends where its first subsection begins; with
    `include_children` to the end of its last subsection. `prepend` adds right after the heading. `replace` replaces
    the section's own text, with `include_children` its subsections too; the heading stays. `before` and `after` add
    beside the whole section. Blank lines are set as Markdown needs them, an item continues a list, line ends are those
    of the place. All other headings, links and blocks are checked to be what they were.

    Raises `EditRefused` with the note's outline where there is no such section or more than one, and where the new
    text would change what the rest of the note means.
    """
    new = without_blank_edges(checked(new))
    if not new and position != "replace":
        raise EditRefused("There is nothing to add: the text is empty.")
    return spliced(text, lambda plain: _section_splice(ParsedNote(plain), place, new, position, include_children))


def _section_splice(
    parsed: ParsedNote, place: str, new: str, position: SectionPosition, include_children: bool
) -> Splice:
    found = parsed.find(place)
    if position == "replace":
        refuse_placeholders(new, parsed.text)
    if not isinstance(found, Heading):
        return _block_splice(parsed, found, new, position=position, include_children=include_children)
    section = parsed.section(found)
    if position not in {"before", "after"}:
        first = next(iter(parse_note("", new).headings), None)
        is_own = first and not new[: first.start].strip() and first.level == found.level
        if first and is_own and heading_key(first.text) == heading_key(found.text):
            new = without_blank_edges(new[ParsedNote(new).text_start(first) :])
        if not new and position != "replace":
            raise EditRefused("There is nothing to add: the text is only the heading.")
        for heading in parse_note("", new).headings:  # those that would end the section, or that it has already
            if heading.level <= section.heading.level:
                raise EditRefused(
                    f"The text holds the heading “{heading.text}” of level {heading.level}, "
                    "which would end the section.",
                    hint="Add it after the section, or give it more #.",
                )
            is_there = any(heading_key(each.text) == heading_key(heading.text) for each in section.children)
            if position == "replace" and is_there and not include_children:
                raise EditRefused(
                    f"The text holds the subsection “{heading.text}”, which would then be there twice.",
                    hint="Replace the section with its subsections (include_children), or leave them out of the text.",
                )
    reason = ""
    for splice in _splices(parsed, section, new, position, include_children=include_children):
        refuse_to_drop_comments(parsed, splice)
        reason = change_of_the_rest(parsed, splice)
        if not reason:
            return splice
    raise EditRefused(reason, hint="Close what the text opens: code, comments, formulas.")


class _Region(NamedTuple):
    """Lines of a note; `first` to `last` is what stands there without blank lines around it."""

    start: int
    first: int
    last: int
    """After the line end of the last line that is not blank."""
    end: int


def _region(parsed: ParsedNote, start: int, end: int) -> _Region:
    said = parsed.text[start:end]
    stripped = said.strip()
    if not stripped:
        return _Region(start, end, end, end)
    first = parsed.line_start(start + len(said) - len(said.lstrip()))
    return _Region(start, max(start, first), parsed.line_end(start + len(said.rstrip()) - 1), end)


def _splices(
    parsed: ParsedNote, section: Section, new: str, position: SectionPosition, *, include_children: bool
) -> Iterator[Splice]:
    """The ways to make an edit: as the note is set, then with a blank line before what follows."""
    end = section.end if include_children or position == "after" else section.own_end
    region = _region(parsed, section.text_start, end)
    for is_spaced in (False, True):
        if position == "before":
            yield _before(parsed, section, new, is_spaced=is_spaced)
        elif region.first == region.last:
            yield _into_empty(parsed, region, new, is_spaced=is_spaced)
        elif position == "replace":
            yield _replacing(parsed, region, new, is_spaced=is_spaced)
        elif position == "prepend":
            gap = "" if joins(new, parsed.text[region.first : region.last]) else "\n"
            yield Splice(region.first, region.first, f"{new}\n{gap}")
        else:
            said = parsed.text[region.start : region.last]
            gap = "" if position == "append" and joins(said, new) else "\n"
            added = f"{gap}{new}\n" + "\n" * is_spaced if said.endswith("\n") else f"\n{gap}{new}"
            yield Splice(region.last, region.last, added)


def _replacing(parsed: ParsedNote, region: _Region, new: str, *, is_spaced: bool) -> Splice:
    if not new:
        has_blanks = region.first > region.start and region.end > region.last
        return Splice(region.first, region.end if has_blanks else region.last, "")
    ends_line = parsed.text[region.last - 1] == "\n"
    return Splice(region.first, region.last, new + "\n" * ends_line + "\n" * is_spaced)


def _into_empty(parsed: ParsedNote, region: _Region, new: str, *, is_spaced: bool) -> Splice:
    """Put a text into a section that has none: after one blank line if there is one, and before another."""
    if not new:
        return Splice(region.start, region.start, "")
    if not parsed.text[: region.start].endswith("\n"):
        return Splice(region.start, region.start, "\n" + "\n" * sets_headings_apart(parsed) + new)
    place = parsed.line_end(region.start) if region.end > region.start else region.start
    is_followed = place == region.end < len(parsed.text)
    if place > region.start and parsed.text[place - 1] != "\n":  # blanks without a line end, at the end of the note
        return Splice(place, place, f"\n{new}")
    lead = "\n" * (place == region.start and sets_headings_apart(parsed))
    trail = "\n" * (is_followed and (bool(lead) or place > region.start or is_spaced))
    return Splice(place, place, f"{lead}{new}\n{trail}")


def _before(parsed: ParsedNote, section: Section, new: str, *, is_spaced: bool) -> Splice:
    place = section.start
    said = parsed.text[parsed.note.body_start : place]
    is_apart = not said.strip() or not said.removesuffix("\n").rpartition("\n")[2].strip()
    ends_in_heading = any(
        parsed.text_start(each) == place for each in parsed.note.headings if each.start < section.heading.start
    )
    lead = "" if is_apart or ends_in_heading else "\n"
    trail = "\n" if is_apart or is_spaced else ""
    return Splice(place, place, f"{lead}{new}\n{trail}")


def sets_headings_apart(parsed: ParsedNote) -> bool:
    """Whether most headings of the note are followed by a blank line."""
    apart = together = 0
    for heading in parsed.note.headings:
        start = parsed.text_start(heading)
        if start < len(parsed.text):
            is_blank = not parsed.text[start : parsed.line_end(start)].strip()
            apart, together = apart + is_blank, together + (not is_blank)
    return apart > together


def append_text(text: str, new: str) -> str:
    """The text with `new` at its end: after a blank line, unless it goes on with a list or table.

    Line ends are those of the note, and a final newline is there afterwards where it was before. Raises `EditRefused`
    where the note, or the new text, ends in code or a comment that is not closed.
    """
    new = without_blank_edges(with_line_end(new, "\n"))
    if not new:
        raise EditRefused("There is nothing to add: the text is empty.")
    changed = spliced(text, lambda plain: _append_splice(ParsedNote(plain), new))
    if not is_text_at(changed, len(changed)):
        raise EditRefused(
            "The text opens code or HTML that it does not close: what is added later would become part of it.",
            hint="Close it in the text.",
        )
    return changed


def _append_splice(parsed: ParsedNote, new: str) -> Splice:
    text, body, headings = parsed.text, parsed.text[parsed.note.body_start :], parsed.note.headings
    *_, before, last = ("", "", *text.split("\n"))
    ends_in_heading = bool(headings) and not text[parsed.text_start(headings[-1]) :].strip()
    follows_at_once = (
        not body.strip()
        or (not last and not before.strip())
        or joins(body, new)
        or (ends_in_heading and not sets_headings_apart(parsed))
    )
    gap = "" if follows_at_once else "\n"
    lead = gap if text.endswith("\n") or not text else f"\n{gap}"
    trail = "\n" if text.endswith("\n") or not body.strip() else ""
    splice = Splice(len(text), len(text), f"{lead}{new}{trail}")
    is_bare = bool(text) and not body.strip() and not text.endswith("\n")  # properties without a line end after them
    if not is_bare and (reason := change_of_the_rest(parsed, splice)):
        raise EditRefused(reason, hint="Name a section of the note, or close what is open.")
    return splice
