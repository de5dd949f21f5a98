"""Where two pieces of Markdown can stand on lines that follow each other, and where a blank line has to part them."""

from typing import Final

from zkchat.model.patterns import lazy_pattern
from zkchat.vault.notes.runs import is_delimiter

_ITEM: Final = lazy_pattern(r"\s*(?:([-*+])|\d{1,9}[.)])(?:[ \t]|$)")
_RULER: Final = lazy_pattern(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_BLANK_LINES_BEFORE: Final = lazy_pattern(r"\A(?:[ \t]*\n)+")


def without_blank_edges(text: str) -> str:
    """The text without blank lines around it; the indentation of its first line stays."""
    return _BLANK_LINES_BEFORE.sub("", text.rstrip()) if text.strip() else ""


def joins(before: str, after: str) -> bool:
    """Whether a text goes on with the list or table that the one before it ends with."""
    lines = before.rstrip().split("\n")
    following = after.split("\n", 2)
    first = following[0]
    if lines[-1].lstrip().startswith("|") and first.lstrip().startswith("|"):
        return len(following) < 2 or not is_delimiter(following[1])
    kind = _item_kind(first)
    return kind is not None and kind == _last_item(lines) and not _is_loose(lines)


def _item_kind(line: str) -> bool | None:
    """Whether a line begins an item with a bullet; None if it begins none."""
    item = _ITEM.match(line)
    return None if not item or _RULER.fullmatch(line) else item[1] is not None


def _last_item(lines: list[str]) -> bool | None:
    """The kind of the item that a text ends with; of the outermost one."""
    kind: bool | None = None
    for line in reversed(lines):
        if not line.strip():
            if kind is not None:
                return kind
            continue
        found = _item_kind(line)
        kind = kind if found is None else found
        if not line[0].isspace():
            return found
    return kind


def _is_loose(lines: list[str]) -> bool:
    """Whether a blank line stands before the last item and belongs to its list."""
    for number in range(len(lines) - 1, 1, -1):
        if _item_kind(lines[number]) is not None and not lines[number][0].isspace():
            return not lines[number - 1].strip() and _last_item(lines[: number - 1]) is not None
    return False
