"""Set a property of a note, or add a tag: only the lines of that property change."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, NamedTuple

from zkchat.errors import EditRefused
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.notes.parse import parse_note
from zkchat.writing.edits.note_text import Splice, checked, spliced, with_line_end
from zkchat.writing.properties.lines import Entry, PropertyLines
from zkchat.writing.properties.values import PropertyScalar, Quotes, write_literal, write_scalar

_DASH: Final = lazy_pattern(r"([ \t]*)-([ \t]*)")
_INDENT: Final = "  "
_MAX_KEY: Final = 200
_NOTHING: Final = "tag:yaml.org,2002:null"
_BY_HAND: Final = "Edit the passage of the frontmatter itself."


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


def _quotes(entry: Entry) -> Quotes:
    """The quotes that all items have which are texts."""
    styles = {getattr(item, "style", None) or "" for item in entry.value.value if item.id == "scalar"}
    return next((quotes for quotes in ("'", '"') if styles == {quotes}), "")


def _flow(lines: PropertyLines, entry: Entry, items: Sequence[Item]) -> str:
    spans = lines.items(entry)
    source, quotes = lines.source, _quotes(entry)
    edges = [(0, entry.value_start + 1), *spans, (entry.value_end - 1, 0)]
    gaps = [source[before[1] : after[0]] for before, after in pairwise(edges)]
    if any(gap.strip(" \t\n,") for gap in gaps):
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
    end = len(lines.source[: entry.end].rstrip("\n"))
    dash = _DASH.match(lines.source, starts[0])
    assert dash
    marker = f"{dash[1]}-{dash[2] or ' '}"
    chunks = [lines.source[one:two].rstrip("\n") for one, two in pairwise([*starts, end])]
    lead = lines.source[entry.colon_end : starts[0]].rstrip("\n")
    if sum(isinstance(item, Kept) for item in items) < len(chunks) and _has_inner_comments(lines, entry):
        raise EditRefused(
            f"The list {entry.name} has comments, and an item of it would go.", hint="Edit the passage itself."
        )
    written = (
        chunks[item.number] if isinstance(item, Kept) else f"{marker}{write_scalar(item, quotes=_quotes(entry))}"
        for item in items
    )
    return "\n".join((lead, *written))


def _item_lines(lines: PropertyLines, entry: Entry) -> Iterator[int]:
    """Where the line of each item begins."""
    for start, _ in lines.items(entry):
        line = lines.source.rfind("\n", 0, start) + 1
        dash = _DASH.match(lines.source, line)
        if not dash or dash.end() < start:
            raise EditRefused(
                f"The list {entry.name} is written in a form that has no line for each item.",
                hint="Edit the passage itself.",
            )
        yield line


PropertyValue = PropertyScalar | list[PropertyScalar]


def set_property(text: str, key: str, value: PropertyScalar | Sequence[PropertyScalar] | None) -> str:
    """The text with a property set to a value; None removes it. Where it has that value, the text is as it was.

    A name is matched exactly, else without regard to case. Only the lines of that property change: quotes, the form of
    a list, its indentation and a comment on the line stay. A value is written so that YAML reads it back as it was
    given. A note without properties gets a block of them at its top.

    Raises `EditRefused` where the frontmatter cannot be read, and where anything else would change.
    """
    name = _checked_name(key)
    new = None if value is None else _checked_value(value)
    return spliced(text, lambda plain: _splice(PropertyLines(plain), name, new))


def _splice(lines: PropertyLines, name: str, value: PropertyValue | None) -> Splice:
    entry = lines.find(name)
    if value is None:
        return _removed(lines, entry, name)
    if not entry:
        splice = _added(lines, name, value)
    elif _is_same(lines.value_of(entry), value):
        return Splice(0, 0, "")
    else:
        start = lines.matter.span[0]
        end = start + len(lines.source[: entry.end].removesuffix("\n"))
        splice = Splice(start + entry.colon_end, end, _written(lines, entry, value))
    after = _verify_rest(lines, splice.applied(lines.text), entry.name if entry else name)
    found = after.find(name)
    if not found or not _is_same(after.value_of(found), value):
        raise EditRefused(f"The property {name} would not be read back as it was given.", hint=_BY_HAND)
    return splice


def add_tag(text: str, tag: str) -> str:
    """The text with one more tag among its properties, in the form that they have there.

    A tag that the note has, in whatever case, as a property or in its text, leaves the text as it was.
    """
    name = tag.strip().removeprefix("#")
    if parse_note("", f"#{name}").tags != (name,):
        raise EditRefused(
            f"“{tag}” is no tag.", hint="A tag has letters, digits, `-`, `_` and `/`, no spaces, and is no number."
        )
    if name.casefold() in {each.casefold() for each in parse_note("", text).tags}:
        return text
    changed = set_property(text, *_tags_with(PropertyLines(with_line_end(text.removeprefix("\ufeff"), "\n")), name))
    if name.casefold() not in {each.casefold() for each in parse_note("", changed).tags}:
        raise EditRefused("The note has more than one list of tags, and another one counts.", hint=_BY_HAND)
    return changed


def _tags_with(lines: PropertyLines, name: str) -> tuple[str, str | list[PropertyScalar]]:
    """The property that holds the tags of a note, and its value with one more."""
    entry = lines.find("tags") or lines.find("tag")
    if not entry or entry.value.tag == _NOTHING:
        return entry.name if entry else "tags", [name]
    if entry.value.id == "scalar":  # `a, b`, `a b`; one tag alone becomes a list
        written = str(entry.value.value).strip()
        separator = re.search(r",\s*|\s+", written)
        return entry.name, f"{written}{separator[0]}{name}" if separator else [written, name]
    if entry.value.id != "sequence":
        raise EditRefused(f"The property {entry.name} is no list of tags.")
    known = [each for each in lines.value_of(entry) if each is not None]  # a list of one empty item is filled in
    is_marked = bool(known) and all(str(each).startswith("#") for each in known)
    return entry.name, [*known, f"#{name}" if is_marked else name]


def _checked_name(key: str) -> str:
    name = key.strip().removesuffix(":").rstrip()
    if not name or len(name) > _MAX_KEY or not name.isprintable() or name == "<<":
        raise EditRefused(f"“{key[:_MAX_KEY]}” cannot be the name of a property.")
    return name


def _checked_value(value: PropertyScalar | Sequence[PropertyScalar]) -> PropertyValue:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return _checked_scalar(value)
    return [_checked_scalar(each) for each in value]


def _checked_scalar(value: PropertyScalar) -> PropertyScalar:
    if not isinstance(value, str | int | float | bool | date):
        raise EditRefused(f"A property holds a text, a number, a date, or a list of them, no {type(value).__name__}.")
    if isinstance(value, str):
        checked(value)
    return value


def _is_same(value: object, other: object) -> bool:
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(_is_same, value, other))
    return type(value) is type(other) and value == other


def _removed(lines: PropertyLines, entry: Entry | None, name: str) -> Splice:
    if not entry:
        names = ", ".join(each.name for each in lines.entries[:40])
        raise EditRefused(f"The note has no property {name}.", hint=f"It has: {names}." if names else "It has none.")
    if not (lines.source[: entry.start] + lines.source[entry.end :]).strip():
        end = lines.matter.end
        if not lines.text.startswith("---", end):  # which would begin properties again
            return Splice(0, end, "")
    start = lines.matter.span[0]
    splice = Splice(start + entry.start, start + entry.end, "")
    _verify_rest(lines, splice.applied(lines.text), entry.name)
    return splice


def _added(lines: PropertyLines, name: str, value: PropertyValue) -> Splice:
    """A new property, as the last one."""
    written = f"{lines.indent}{write_scalar(name)}:{_fresh(lines, value)}\n"
    place = lines.matter.span[1] if lines.matter.end else 0
    return Splice(place, place, written if lines.matter.end else f"---\n{written}---\n")


def _written(lines: PropertyLines, entry: Entry, value: PropertyValue) -> str:
    """What follows the colon of a property that is there, without the line end."""
    node, comment = entry.value, lines.comment(entry)
    if node.id == "mapping" or (node.id == "sequence" and any(item.id == "mapping" for item in node.value)):
        raise EditRefused(f"The property {entry.name} holds properties of its own.", hint="Edit the passage itself.")
    if isinstance(value, list) and value and (entry.is_block_list or entry.is_flow_list):
        items = kept_and_new(lines, entry, value)
        return _flow(lines, entry, items) if entry.is_flow_list else _block(lines, entry, items)
    if _has_inner_comments(lines, entry):
        raise EditRefused(f"The property {entry.name} has comments inside its value.", hint="Edit the passage itself.")
    if isinstance(value, list):
        return _fresh(lines, value, comment)
    space = re.compile(r"[ \t]*").match(lines.source, entry.colon_end)
    lead = space[0] if space and space[0] and not lines.is_below(entry) and entry.value_end > entry.value_start else " "
    style = getattr(node, "style", None)
    quotes: Quotes = style if style in {"'", '"'} else ""
    return _fresh(lines, value, comment, lead=lead, quotes=quotes)


def _fresh(
    lines: PropertyLines, value: PropertyValue, comment: str = "", *, lead: str = " ", quotes: Quotes = ""
) -> str:
    """What follows the colon of a property that has no value yet."""
    if isinstance(value, list):
        if not value:
            return f" []{comment}"
        indent = _list_indent(lines)
        return comment + "".join(f"\n{indent}- {write_scalar(item)}" for item in value)
    assert isinstance(value, str | int | float | date)
    if isinstance(value, str) and "\n" in value and not quotes:
        literal = write_literal(value, lines.indent + _INDENT)
        if literal:
            header, _, rest = literal.partition("\n")
            return f"{lead}{header}{comment}\n{rest}"
    return f"{lead}{write_scalar(value, quotes=quotes)}{comment}"


def _list_indent(lines: PropertyLines) -> str:
    """The indentation of the other lists of the note."""
    for entry in lines.entries:
        if entry.is_block_list and entry.value.value:
            return " " * int(entry.value.start_mark.column)
    return lines.indent + _INDENT


def _has_inner_comments(lines: PropertyLines, entry: Entry) -> bool:
    """Whether comments stand on other lines than that of the name."""
    start = entry.colon_end + len(lines.comment(entry)) if lines.is_below(entry) else entry.value_start
    items = lines.items(entry) if entry.value.id == "sequence" else [(entry.value_start, entry.value_end)]
    end = entry.end if lines.is_below(entry) else entry.value_end
    return any("#" in lines.source[one[1] : two[0]] for one, two in pairwise([(0, start), *items, (end, 0)]))


def _verify_rest(lines: PropertyLines, changed: str, name: str) -> PropertyLines:
    try:
        after = PropertyLines(changed)
    except EditRefused:
        raise EditRefused(
            f"With that value of {name} the frontmatter could no longer be read.", hint=_BY_HAND
        ) from None
    is_same = (
        changed[after.matter.end :] == lines.text[lines.matter.end :]
        and _others(lines.values(), name) == _others(after.values(), name)
        and repr(_others(lines.matter.properties.items(), name)) == repr(_others(after.matter.properties.items(), name))
    )
    if not is_same:
        raise EditRefused(f"The property {name} cannot be set without changing others.", hint=_BY_HAND)
    return after


def _others(values: Iterable[tuple[str, object]], name: str) -> list[tuple[str, object]]:
    return [(each, value) for each, value in values if each != name]
