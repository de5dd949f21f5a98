"""The open tasks of a note: items of lists with an empty box, outside code and comments."""

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from zkchat.model.note import TaskLine
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.notes.markdown import Lines

if TYPE_CHECKING:
    from zkchat.vault.notes.wikilink import Prose

_OPEN_BOXES: Final = ("[ ]", "[/]")
_BOX: Final = lazy_pattern(r"\[(?P<state>[ /])\][ \t]+(?=\S)(?P<text>[^\n]+)")
_ITEM: Final = lazy_pattern(r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+")
"""What stands before a box: in quotations and callouts too, and where an item holds nothing but another list."""
_MAX_INDENT: Final = 200
"""Characters before a box."""
MAX_TASKS: Final = 2_000
"""Of one note."""
MAX_TASK_CHARACTERS: Final = 500
"""Of one task; what is longer is cut."""


def find_tasks(body: str, prose: "Prose") -> tuple[TaskLine, ...]:
    """The open tasks of a parsed text, in order. Those that are done, cancelled or of another kind are not looked at.

    `body` is the flattened text, `prose` the same with code blanked out.
    """
    if not any(box in body for box in _OPEN_BOXES):
        return ()
    lines = Lines(body)
    starts = [start for start, _ in prose.comments]
    found: list[TaskLine] = []
    for match in _BOX.finditer(prose.rest):
        box = match.start()
        line = prose.rest.rfind("\n", max(0, box - _MAX_INDENT), box) + 1
        comment = bisect_right(starts, box) - 1
        in_comment = comment >= 0 and box < prose.comments[comment][1]
        if in_comment or box - line > _MAX_INDENT or not _ITEM.fullmatch(prose.rest, line, box):
            continue
        start, end = match.span("text")
        text = " ".join(body[start : min(end, start + MAX_TASK_CHARACTERS)].split())
        found.append(TaskLine(lines.at(box), match["state"], text))
        if len(found) == MAX_TASKS:
            break
    return tuple(found)
