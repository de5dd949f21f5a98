"""Append lines to a note."""

from typing import Final

from zkchat.errors import EditRefused
from zkchat.model.patterns import lazy_pattern
from zkchat.writing.edits.joining import joins, without_blank_edges
from zkchat.writing.edits.line_ends import line_end_at, with_line_end
from zkchat.writing.edits.outline_places import ParsedNote
from zkchat.writing.edits.sections import sets_headings_apart
from zkchat.writing.edits.unchanged_rest import Splice, change_of_the_rest, is_text_at

_ENDS_WITH_BLANK_LINE: Final = lazy_pattern(r"(?:\r\n|\n|\r(?!\n))[ \t]*(?:\r\n|\n|\r)\Z")


def append_text(text: str, new: str) -> str:
    """The text with `new` at its end: after a blank line, unless it goes on with a list or table.

    Line ends are those of the note, and a final newline is there afterwards where it was before. Raises `EditRefused`
    where the note, or the new text, ends in code or a comment that is not closed.
    """
    new = without_blank_edges(with_line_end(new, "\n"))
    if not new:
        raise EditRefused("There is nothing to add: the text is empty.")
    parsed = ParsedNote(text)
    body = text[parsed.note.body_start :].removeprefix("\ufeff")
    if not body.strip():
        if text.strip("\ufeff") and not text.endswith(("\n", "\r")):  # properties without a line end after them
            text += line_end_at(text, len(text))
            parsed = ParsedNote(text)
        lead, trail = "", "\n"
    else:
        gap = "" if _follows_at_once(parsed, body, new) else "\n"
        lead, trail = (gap, "\n") if text.endswith(("\n", "\r")) else (f"\n{gap}", "")
    end = len(text)
    splice = Splice(end, end, with_line_end(f"{lead}{new}{trail}", line_end_at(text, end)))
    if reason := change_of_the_rest(parsed, splice):
        raise EditRefused(reason, hint="Name a section of the note, or close what is open.")
    changed = splice.applied(text)
    if not is_text_at(changed, len(changed)):
        raise EditRefused(
            "The text opens code or HTML that it does not close: what is added later would become part of it.",
            hint="Close it in the text.",
        )
    return changed


def _follows_at_once(parsed: ParsedNote, body: str, new: str) -> bool:
    """Whether no blank line has to part the end of the note from what is added."""
    if _ENDS_WITH_BLANK_LINE.search(parsed.text) or joins(with_line_end(body, "\n"), new):
        return True
    headings = parsed.note.headings
    ends_in_heading = bool(headings) and not parsed.text[parsed.text_start(headings[-1]) :].strip()
    return ends_in_heading and not sets_headings_apart(parsed)
