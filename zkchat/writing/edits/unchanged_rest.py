"""Check that an edit leaves the rest of a note what it was: headings, links, blocks and comments."""

from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from zkchat.errors import EditRefused
from zkchat.model.note import Note
from zkchat.vault.notes.markdown import flatten
from zkchat.vault.notes.parse import parse_note
from zkchat.writing.edits.line_ends import with_line_end
from zkchat.writing.edits.outline_places import ParsedNote, trails


class Splice(NamedTuple):
    """A text in place of a part of another."""

    start: int
    end: int
    new: str

    def applied(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]

    def is_outside(self, start: int, end: int) -> bool:
        """Whether a span is not wholly within the part."""
        return not self.start <= start < end <= self.end

    def moved(self, offset: int) -> int:
        """Where an offset outside the part is after the edit."""
        return offset if offset < self.end else offset + len(self.new) - (self.end - self.start)


def change_of_the_rest(parsed: ParsedNote, splice: Splice) -> str:
    """What else an edit would change, as a sentence; nothing if the rest of the note stays what it is."""
    changed = splice.applied(parsed.text)
    before, after = parsed.note, parse_note("", changed)
    inserted = Splice(splice.start, splice.start + len(splice.new), "")
    if before.body_start != after.body_start:
        return "The text would be read as properties of the note."
    if [*_headings(before, splice, is_before=True)] != [*_headings(after, inserted)]:
        return "Headings of the note would no longer be what they are, or stand under others."
    is_same = (
        [*_links(before, splice, is_before=True)] == [*_links(after, inserted)]
        and [*_comments(before, splice, is_before=True)] == [*_comments(after, inserted)]
        and [*_blocks(before, splice, parsed.text)] == [*_blocks(after, inserted, changed)]
    )
    if not is_same:
        return "Links, comments or blocks with an id elsewhere in the note would no longer be what they are."
    if splice.start == splice.end and not is_text_at(parsed.text, splice.start):
        return "The section ends in code, HTML or a comment that is not closed: the text would become part of it."
    return ""


def refuse_to_drop_comments(parsed: ParsedNote, splice: Splice) -> None:
    """Refuse to replace comments, which a model was not shown, unless the new text has them."""
    kept = with_line_end(splice.new, "\n")
    for start, end in parsed.note.comments:
        is_inside = splice.start <= start and end <= splice.end
        if is_inside and with_line_end(parsed.text[start:end], "\n") not in kept:
            raise EditRefused(
                "A comment (%% … %%) stands there that the new text leaves out.",
                hint="Edit the passages around it instead.",
            )


def _headings(note: Note, splice: Splice, *, is_before: bool = False) -> Iterator[tuple[object, ...]]:
    for heading, above in trails(note.headings):
        if splice.is_outside(heading.start, heading.start + 1):
            yield heading.text, heading.level, above, splice.moved(heading.start) if is_before else heading.start


def _links(note: Note, splice: Splice, *, is_before: bool = False) -> Iterator[tuple[object, ...]]:
    for link in note.links:
        if splice.is_outside(link.start, link.end):
            yield link.text, link.in_comment, splice.moved(link.start) if is_before else link.start


def _comments(note: Note, splice: Splice, *, is_before: bool = False) -> Iterator[tuple[int, int]]:
    for start, end in note.comments:
        if splice.is_outside(start, end):
            yield (splice.moved(start), splice.moved(end - 1) + 1) if is_before else (start, end)


def _blocks(note: Note, splice: Splice, text: str) -> Iterator[str]:
    if not note.blocks:
        return
    lines = flatten(text).split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    for block in note.blocks:
        end = starts[block.line - 1] + len(lines[block.line - 1].rstrip())
        if splice.is_outside(end - 1, end):
            yield block.id


def is_text_at(text: str, place: int) -> bool:
    """Whether a heading would be one at a place, and no part of code, HTML or a comment."""
    probe = Splice(place, place, "\n\n# -\n\n").applied(text)
    return any(heading.start == place + 2 for heading in parse_note("", probe).headings)
