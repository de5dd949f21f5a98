"""Edit what stands under a heading of a note, or in a block that has an id."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from zkchat.errors import EditRefused
from zkchat.model.choices import SectionPosition
from zkchat.model.note import Heading
from zkchat.vault.links.anchors import heading_key
from zkchat.vault.notes.parse import parse_note
from zkchat.writing.edits.blocks import edit_block
from zkchat.writing.edits.joining import joins, without_blank_edges
from zkchat.writing.edits.line_ends import checked, line_end_at, with_line_end
from zkchat.writing.edits.outline_places import ParsedNote, Section
from zkchat.writing.edits.placeholders import refuse_placeholders
from zkchat.writing.edits.unchanged_rest import Splice, change_of_the_rest, refuse_to_drop_comments

_INSIDE: Final = frozenset({"append", "prepend", "replace"})


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
    parsed = ParsedNote(text)
    found = parsed.find(place)
    if position == "replace":
        refuse_placeholders(new, text)
    if not isinstance(found, Heading):
        return edit_block(parsed, found, new, position=position, include_children=include_children)
    section = parsed.section(found)
    if position in _INSIDE:
        new = _without_own_heading(new, section)
        if not new and position != "replace":
            raise EditRefused("There is nothing to add: the text is only the heading.")
        _check_headings(new, section, position, include_children=include_children)
    reason = ""
    for splice in _splices(parsed, section, new, position, include_children=include_children):
        refuse_to_drop_comments(parsed, splice)
        reason = change_of_the_rest(parsed, splice)
        if not reason:
            return splice.applied(text)
    raise EditRefused(reason, hint="Close what the text opens: code, comments, formulas.")


def _without_own_heading(new: str, section: Section) -> str:
    """The text without the heading of the section it is for, if it begins with it."""
    first = next(iter(parse_note("", new).headings), None)
    if not first or new[: first.start].strip() or first.level != section.heading.level:
        return new
    if heading_key(first.text) != heading_key(section.heading.text):
        return new
    return without_blank_edges(new[ParsedNote(new).text_start(first) :])


def _check_headings(new: str, section: Section, position: SectionPosition, *, include_children: bool) -> None:
    """Refuse headings that would end the section, or that it has already."""
    for heading in parse_note("", new).headings:
        if heading.level <= section.heading.level:
            raise EditRefused(
                f"The text holds the heading “{heading.text}” of level {heading.level}, which would end the section.",
                hint="Add it after the section, or give it a lower level.",
            )
        is_there = any(heading_key(each.text) == heading_key(heading.text) for each in section.children)
        if position == "replace" and is_there and not include_children:
            raise EditRefused(
                f"The text holds the subsection “{heading.text}”, which would then be there twice.",
                hint="Replace the section with its subsections (include_children), or leave them out of the text.",
            )


class _Region(NamedTuple):
    """Lines of a note; `first` to `last` is what stands there without blank lines around it."""

    start: int
    first: int
    last: int
    """After the line end of the last line that is not blank."""
    end: int

    @property
    def is_blank(self) -> bool:
        return self.first == self.last


def _region(parsed: ParsedNote, start: int, end: int) -> _Region:
    said = parsed.flat[start:end]
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
        elif region.is_blank:
            yield _into_empty(parsed, region, new, is_spaced=is_spaced)
        elif position == "replace":
            yield _replacing(parsed, region, new, is_spaced=is_spaced)
        elif position == "prepend":
            yield _prepending(parsed, region, new)
        else:
            yield _appending(parsed, region, new, is_list=position == "append", is_spaced=is_spaced)


def _splice(parsed: ParsedNote, start: int, end: int, new: str) -> Splice:
    return Splice(start, end, with_line_end(new, line_end_at(parsed.text, start)))


def _appending(parsed: ParsedNote, region: _Region, new: str, *, is_list: bool, is_spaced: bool) -> Splice:
    said = parsed.flat[region.start : region.last]
    is_joined = is_list and joins(said, new)
    gap = "" if is_joined else "\n"
    if not said.endswith("\n"):
        return _splice(parsed, region.last, region.last, f"\n{gap}{new}")
    return _splice(parsed, region.last, region.last, f"{gap}{new}\n" + "\n" * is_spaced)


def _prepending(parsed: ParsedNote, region: _Region, new: str) -> Splice:
    gap = "" if joins(new, parsed.flat[region.first : region.last]) else "\n"
    return _splice(parsed, region.first, region.first, f"{new}\n{gap}")


def _replacing(parsed: ParsedNote, region: _Region, new: str, *, is_spaced: bool) -> Splice:
    if not new:
        has_blanks = region.first > region.start and region.end > region.last
        return Splice(region.first, region.end if has_blanks else region.last, "")
    ends_line = parsed.flat[region.last - 1] == "\n"
    return _splice(parsed, region.first, region.last, new + "\n" * ends_line + "\n" * is_spaced)


def _into_empty(parsed: ParsedNote, region: _Region, new: str, *, is_spaced: bool) -> Splice:
    """Put a text into a section that has none: after one blank line if there is one, and before another."""
    if not new:
        return Splice(region.start, region.start, "")
    if not parsed.flat[: region.start].endswith("\n"):
        return _splice(parsed, region.start, region.start, "\n" + "\n" * sets_headings_apart(parsed) + new)
    place = parsed.line_end(region.start) if region.end > region.start else region.start
    is_followed = place == region.end < len(parsed.text)
    if place > region.start and parsed.flat[place - 1] != "\n":  # blanks without a line end, at the end of the note
        return _splice(parsed, place, place, f"\n{new}")
    lead = "\n" * (place == region.start and sets_headings_apart(parsed))
    trail = "\n" * (is_followed and (bool(lead) or place > region.start or is_spaced))
    return _splice(parsed, place, place, f"{lead}{new}\n{trail}")


def _before(parsed: ParsedNote, section: Section, new: str, *, is_spaced: bool) -> Splice:
    place = section.start
    said = parsed.flat[parsed.note.body_start : place]
    last_line = said.removesuffix("\n").rpartition("\n")[2]
    is_first = not said.strip()
    is_apart = is_first or not last_line.strip()
    ends_in_heading = any(
        parsed.text_start(each) == place for each in parsed.note.headings if each.start < section.heading.start
    )
    lead = "" if is_apart or ends_in_heading else "\n"
    trail = "\n" if is_apart or is_spaced else ""
    return _splice(parsed, place, place, f"{lead}{new}\n{trail}")


def sets_headings_apart(parsed: ParsedNote) -> bool:
    """Whether most headings of the note are followed by a blank line."""
    apart = together = 0
    for heading in parsed.note.headings:
        start = parsed.text_start(heading)
        if start < len(parsed.flat):
            is_blank = not parsed.flat[start : parsed.line_end(start)].strip()
            apart, together = apart + is_blank, together + (not is_blank)
    return apart > together
