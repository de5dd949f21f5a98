"""Write the items of a list in a frontmatter as those that are there are written."""

from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, NamedTuple

from zkchat.errors import EditRefused
from zkchat.model.patterns import lazy_pattern
from zkchat.writing.edits.line_ends import with_line_end
from zkchat.writing.properties.lines import Entry, PropertyLines
from zkchat.writing.properties.scalars import PropertyScalar, Quotes, write_scalar

_DASH: Final = lazy_pattern(r"([ \t]*)-([ \t]*)")
_LINE_END: Final = lazy_pattern(r"[\r\n]")
_COMMENT_LINE: Final = lazy_pattern(r"[ \t]*#")


class Kept(NamedTuple):
    """An item that stays as it is written, by its number."""

    number: int


Item = Kept | PropertyScalar


def kept_and_new(lines: PropertyLines, entry: Entry, values: Sequence[PropertyScalar]) -> list[Item]:
    """The items of a list that is to hold these values, with those that are there already."""
    present = [_key(value) for value in lines.value_of(entry)]
    wanted = [_key(value) for value in values]
    items: list[Item] = []
    for kind, start, end, first, last in SequenceMatcher(None, present, wanted, autojunk=False).get_opcodes():
        items += [Kept(number) for number in range(start, end)] if kind == "equal" else values[first:last]
    return items


def _key(value: object) -> str:
    return f"{type(value).__name__} {value!r}"


def write_list(lines: PropertyLines, entry: Entry, items: Sequence[Item]) -> str:
    """What follows the colon of a property that is a list, without the line end. Raises `EditRefused`."""
    return _flow(lines, entry, items) if entry.is_flow_list else _block(lines, entry, items)


def _quotes(entry: Entry) -> Quotes:
    """The quotes that all items have which are texts."""
    styles = {getattr(item, "style", None) or "" for item in entry.value.value if item.id == "scalar"}
    return next((quotes for quotes in ("'", '"') if styles == {quotes}), "")


def _flow(lines: PropertyLines, entry: Entry, items: Sequence[Item]) -> str:
    spans = lines.items(entry)
    source, quotes = lines.source, _quotes(entry)
    edges = [(0, entry.value_start + 1), *spans, (entry.value_end - 1, 0)]
    gaps = [source[before[1] : after[0]] for before, after in pairwise(edges)]
    if any(gap.strip(" \t\r\n,") for gap in gaps):
        raise EditRefused(
            f"The property {entry.name} has comments or keys inside its brackets.", hint="Edit the passage itself."
        )
    separator = gaps[1] if len(gaps) > 2 else ", "
    written = [
        source[slice(*spans[item.number])]
        if isinstance(item, Kept)
        else write_scalar(item, quotes=quotes, in_flow=True)
        for item in items
    ]
    opening = gaps[0] if spans else ""
    closing = gaps[-1] if spans else ""
    before = source[entry.colon_end : entry.value_start + 1]
    return f"{before}{opening}{separator.join(written)}{closing}]{lines.comment(entry)}"


def _block(lines: PropertyLines, entry: Entry, items: Sequence[Item]) -> str:
    starts = [*_item_lines(lines, entry)]
    end = len(lines.source[: entry.end].rstrip("\r\n"))
    dash = _DASH.match(lines.source, starts[0])
    assert dash
    marker = f"{dash[1]}-{dash[2] or ' '}"
    chunks = [with_line_end(lines.source[one:two], "\n").rstrip("\n") for one, two in pairwise([*starts, end])]
    lead = with_line_end(lines.source[entry.colon_end : starts[0]], "\n").rstrip("\n")
    kept = {item.number for item in items if isinstance(item, Kept)}
    _refuse_to_drop_comments(lines, entry, kept)
    written = [lead]
    number = 0
    for item in items:
        if isinstance(item, Kept):
            written += _comments_of_dropped(chunks, range(number, item.number))
            written.append(chunks[item.number])
            number = item.number + 1
        else:
            written.append(f"{marker}{write_scalar(item, quotes=_quotes(entry))}")
    written += _comments_of_dropped(chunks, [each for each in range(number, len(chunks)) if each not in kept])
    return "\n".join(written)


def _refuse_to_drop_comments(lines: PropertyLines, entry: Entry, kept: Collection[int]) -> None:
    """Refuse to drop an item that has a comment on its own line."""
    for number, (_, end) in enumerate(lines.items(entry)):
        if number not in kept and "#" in _LINE_END.split(lines.source[end : entry.end], maxsplit=1)[0]:
            raise EditRefused(
                f"The list {entry.name} has a comment at an item that would go.", hint="Edit the passage itself."
            )


def _comments_of_dropped(chunks: Sequence[str], numbers: Sequence[int]) -> Iterator[str]:
    """The comments on lines of their own below items that are no longer there."""
    for number in numbers:
        yield from (line for line in chunks[number].split("\n")[1:] if _COMMENT_LINE.match(line))


def _item_lines(lines: PropertyLines, entry: Entry) -> Iterator[int]:
    """Where the line of each item begins."""
    for start, _ in lines.items(entry):
        line = max(lines.source.rfind("\n", 0, start), lines.source.rfind("\r", 0, start)) + 1
        dash = _DASH.match(lines.source, line)
        if not dash or dash.end() < start:
            raise EditRefused(
                f"The list {entry.name} is written in a form that has no line for each item.",
                hint="Edit the passage itself.",
            )
        yield line
