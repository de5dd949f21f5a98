"""Set a property of a note, or add a tag: only the lines of that property change."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from datetime import date
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

from zkchat.core import EditRefused, UsageError, lazy_pattern
from zkchat.notes import Frontmatter, frontmatter_of, parse_note
from zkchat.writing.passages import Splice, checked, spliced, with_line_end

_OPENING: Final = lazy_pattern(r"---[ \t]*(?:\n|\Z)")
_COMMENT: Final = lazy_pattern(r"[ \t]*(?:#[^\n]*)?(?=\n|\Z)")
_HEADER: Final = lazy_pattern(r"[|>][-+0-9]{0,2}")
_BY_HAND: Final = "Edit the text of the frontmatter directly."


class Entry(NamedTuple):
    """A property, as offsets in the YAML."""

    name: str
    value: Any
    """Its node in the YAML tree."""
    start: int
    """Where its line begins."""
    colon_end: int
    value_start: int
    value_end: int
    """After the last character of the value."""
    end: int
    """After the line end of its last line."""


class PropertyLines:
    """The frontmatter of a note with `\\n` as its only line end.

    Raises `EditRefused` where it cannot be read, or has no lines of its own.
    """

    def __init__(self, text: str) -> None:
        import yaml

        self.text = text
        self.matter: Frontmatter = frontmatter_of(text)
        if not self.matter.end and _OPENING.match(text):
            raise EditRefused(
                "The note begins with `---`, but no `name: value` lines with a closing `---` follow.",
                hint="Correct or remove that line first.",
            )
        if self.matter.warning:
            raise EditRefused(self.matter.warning.replace("it was not read", "it was not changed"), hint=_BY_HAND)
        if self.matter.is_template:
            raise EditRefused("The frontmatter has template placeholders, so it was not changed.", hint=_BY_HAND)
        start, end = self.matter.span
        self.source = text[start:end]
        try:
            self._root = yaml.compose(self.source, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except (yaml.YAMLError, UnicodeEncodeError) as error:
            raise EditRefused("The frontmatter is not valid YAML.", hint=_BY_HAND) from error
        if self._root is not None and not isinstance(self._root, yaml.MappingNode):
            raise EditRefused("The frontmatter has no `name: value` lines.", hint=_BY_HAND)
        self.entries = [*self._read_entries()]

    @property
    def indent(self) -> str:
        """What stands before each name."""
        return " " * self._root.start_mark.column if self._root else ""

    def find(self, name: str) -> Entry | None:
        """The property of this name, else the one whose name differs only in case. Raises `EditRefused`."""
        found = [entry for entry in self.entries if entry.name == name]
        found = found or [entry for entry in self.entries if entry.name.casefold() == name.casefold()]
        if len(found) > 1:
            start = self.matter.span[0]
            lines = ", ".join(str(self.text.count("\n", 0, start + entry.start) + 1) for entry in found)
            raise EditRefused(
                f"The property {name} is there {len(found)} times, in lines {lines}.",
                hint="Delete all but one of them first.",
            )
        if found and (reason := self._obstacle(found[0])):
            raise EditRefused(f"The property {found[0].name} {reason}, and was not changed.", hint=_BY_HAND)
        return found[0] if found else None

    def comment(self, entry: Entry) -> str:
        """The comment on the line of a name, with the white space before it; for a value of lines, on its last."""
        place = entry.value_end
        if _is_block_scalar(entry.value):
            header = _HEADER.match(self.source, entry.value_start)
            place = header.end() if header else place
        elif self.is_below(entry):
            place = entry.colon_end
        found = _COMMENT.match(self.source, place)
        return found[0].rstrip() if found else ""

    def is_below(self, entry: Entry) -> bool:
        """Whether the value begins on a line after that of the name."""
        return "\n" in self.source[entry.colon_end : entry.value_start]

    def items(self, entry: Entry) -> list[tuple[int, int]]:
        return [(item.start_mark.index, _end_of(item, self.source)) for item in entry.value.value]

    def others(self, name: str) -> object:
        """All properties but this one, with their values and how they are written, to be compared."""
        written = [(each.name, _canonical(each.value)) for each in self.entries if each.name != name]
        return written, repr([(each, value) for each, value in self.matter.properties.items() if each != name])

    def value_of(self, entry: Entry) -> Any:
        import yaml

        reader = yaml.SafeLoader(self.source)
        try:
            return reader.construct_object(entry.value, deep=True)
        except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError):
            raise EditRefused("The frontmatter has a value that cannot be read.", hint=_BY_HAND) from None
        finally:
            reader.dispose()

    def _read_entries(self) -> Iterator[Entry]:
        if not self._root:
            return
        if self._root.flow_style or any(key.value == "<<" for key, _ in self._root.value):
            raise EditRefused("zkchat cannot change properties written as {a: 1, b: 2} or with `<<`.", hint=_BY_HAND)
        for key, value in self._root.value:
            start = key.start_mark.index - key.start_mark.column
            colon = re.compile(r"[ \t]*:").match(self.source, key.end_mark.index)
            value_end = _end_of(value, self.source)
            yield Entry(
                name=str(key.value),
                value=value,
                start=start,
                colon_end=colon.end() if colon else -1,
                value_start=max(value.start_mark.index, colon.end() if colon else 0),
                value_end=max(value_end, colon.end() if colon else 0),
                end=self.source.find("\n", value_end) + 1 or len(self.source),
            )

    def _obstacle(self, entry: Entry) -> str:
        """Why a property cannot be changed by its lines."""
        import yaml

        key_start = self.source[entry.start :].lstrip(" ")
        if entry.colon_end < 0 or key_start.startswith(("?", "!", "&")):
            return "is not on a line of its own"
        if not _COMMENT.match(self.source, entry.value_end):
            return "shares its line with another"
        has_anchor = "&" in self.source and any(
            getattr(event, "anchor", None) and entry.start <= event.start_mark.index < entry.end
            for event in yaml.parse(self.source, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        )
        if has_anchor or self.source[entry.value_start : entry.value_start + 1] in {"&", "!"}:
            return "uses a YAML anchor (&) or tag (!)"
        return ""


def _is_block_scalar(node: Any) -> bool:
    return node.id == "scalar" and getattr(node, "style", None) in {"|", ">"}


def _end_of(node: Any, source: str) -> int:
    """After the last character of a value, without the comments and blank lines that follow it."""
    if _is_block_scalar(node):
        return len(source[: node.end_mark.index].rstrip())
    if node.id == "scalar" or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1][1] if node.id == "mapping" else node.value[-1]
    return max(_end_of(last, source), int(node.start_mark.index))


def _canonical(node: Any) -> object:
    if node.id == "scalar":
        return node.tag, node.value
    if node.id == "mapping":
        return node.tag, [(_canonical(key), _canonical(value)) for key, value in node.value]
    return node.tag, [_canonical(item) for item in node.value]


PropertyScalar = str | int | float | bool | date
PropertyValue = PropertyScalar | list[PropertyScalar]

_NUMBER: Final = lazy_pattern(r"-?(?:0|[1-9]\d*)(?P<fraction>\.\d+)?")
"""As YAML and JSON both read it; `007`, `1e5` and `1_000` are text."""
_DAY: Final = lazy_pattern(r"\d{4}-\d\d-\d\d")
_MAX_DIGITS: Final = 18
"""Of a number; a longer one is an identifier, which must keep its digits."""
_LIKE_NUMBER: Final = lazy_pattern(r"[-+]?[.\d][\d_.:xobXOBa-fA-F+-]*(?:inf|nan)?|y|n|none", re.IGNORECASE)
"""What some reader of YAML takes for a number, for true or for nothing, though PyYAML does not."""
_UNPRINTABLE: Final = lazy_pattern("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_NOT_DOUBLE: Final = lazy_pattern('[\\\\"\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]')
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def parse_property_value(words: Sequence[str], *, as_text: bool = False) -> PropertyValue:
    """The value that words of a command line mean; several are a list. Raises `UsageError` for JSON that is no value.

    One word that begins with `[` or `"` is JSON: `["a", "b"]` is a list, `"5"` is text.
    """
    if as_text:
        return words[0] if len(words) == 1 else [*words]
    if len(words) == 1 and words[0].startswith(("[", '"')) and not words[0].startswith("[["):
        return _parse_json(words[0])
    values = [_parse_scalar(word) for word in words]
    return values[0] if len(values) == 1 else values


def _parse_scalar(word: str) -> PropertyScalar:
    if word in {"true", "false"}:
        return word == "true"
    number = _NUMBER.fullmatch(word)
    if number and len(word) <= _MAX_DIGITS and not number["fraction"]:
        return int(word)
    if number and repr(float(word)) == word:  # 1.10 is a version: as a number it would be 1.1
        return float(word)
    if _DAY.fullmatch(word):
        try:
            return date.fromisoformat(word)
        except ValueError:
            return word
    return word


def _parse_json(word: str) -> PropertyValue:
    try:
        value = json.loads(word)
    except (ValueError, RecursionError):
        raise UsageError(
            f"{word!r} is not JSON.", hint='Write a list as ["a", "b"], or add --text to set plain text.'
        ) from None
    if isinstance(value, str):
        return value
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str) or (isinstance(each, int | float) and math.isfinite(each)) for each in values):
        raise UsageError("A list can only have texts, numbers, true and false.", hint='For example ["a", 2, true]')
    return [_parse_scalar(each) if isinstance(each, str) and _DAY.fullmatch(each) else each for each in values]


Quotes = Literal["", "'", '"']


def write_scalar(value: PropertyScalar, *, quotes: Quotes = "", in_flow: bool = False) -> str:
    """A value as YAML on one line; a text in the given quotes, or without any where that is safe."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float):
        if not math.isfinite(value):
            raise EditRefused(f"{value} is not a number that a property can have.")
        mantissa, exponent, power = repr(value).partition("e")
        return f"{mantissa}{'.0' if exponent and '.' not in mantissa else ''}{exponent}{power}"
    if not isinstance(value, str) or (not quotes and _is_plain(value, in_flow=in_flow)):
        return str(value)
    if not _UNPRINTABLE.search(value) and (quotes == "'" or (not quotes and ("\\" in value or '"' in value))):
        return "'" + value.replace("'", "''") + "'"
    return '"' + _NOT_DOUBLE.sub(lambda sign: _ESCAPES.get(sign[0]) or f"\\u{ord(sign[0]):04x}", value) + '"'


def _is_plain(value: str, *, in_flow: bool) -> bool:
    """Whether a text can stand without quotes, and every reader takes it for a text."""
    import yaml

    if value != value.strip() or _LIKE_NUMBER.fullmatch(value) or re.search(r"\[\[|\{\{|\]\]|\}\}", value):
        return False
    written = yaml.safe_dump([value], default_flow_style=in_flow, width=float("inf"), allow_unicode=True)
    return written == (f"[{value}]\n" if in_flow else f"- {value}\n")


_DASH: Final = lazy_pattern(r"([ \t]*)-([ \t]*)")
_INDENT: Final = "  "
_MAX_KEY: Final = 200
_NOTHING: Final = "tag:yaml.org,2002:null"


class Kept(NamedTuple):
    """An item that stays as it is written, by its number."""

    number: int


Item = Kept | PropertyScalar


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
            f"Comments or nested values in the brackets of the list {entry.name} would be lost.", hint=_BY_HAND
        )
    separator = gaps[1] if len(gaps) > 2 else ", "
    written = [
        source[slice(*spans[item.number])]
        if isinstance(item, Kept)
        else write_scalar(item, quotes=quotes, in_flow=True)
        for item in items
    ]
    opening, closing = (gaps[0], gaps[-1]) if spans else ("", "")
    before = source[entry.colon_end : entry.value_start + 1]
    return f"{before}{opening}{separator.join(written)}{closing}]{lines.comment(entry)}"


def _block(lines: PropertyLines, entry: Entry, items: Sequence[Item]) -> str:
    starts = []  # of the line of each item
    for start, _ in lines.items(entry):
        line = lines.source.rfind("\n", 0, start) + 1
        dash = _DASH.match(lines.source, line)
        if not dash or dash.end() < start:
            raise EditRefused(f"The list {entry.name} does not have a line for each item.", hint=_BY_HAND)
        starts.append(line)
    end = len(lines.source[: entry.end].rstrip("\n"))
    dash = _DASH.match(lines.source, starts[0])
    assert dash
    marker = f"{dash[1]}-{dash[2] or ' '}"
    chunks = [lines.source[one:two].rstrip("\n") for one, two in pairwise([*starts, end])]
    lead = lines.source[entry.colon_end : starts[0]].rstrip("\n")
    if sum(isinstance(item, Kept) for item in items) < len(chunks) and _has_inner_comments(lines, entry):
        raise EditRefused(f"The comments (# …) in the list {entry.name} would be lost.", hint=_BY_HAND)
    written = (
        chunks[item.number] if isinstance(item, Kept) else f"{marker}{write_scalar(item, quotes=_quotes(entry))}"
        for item in items
    )
    return "\n".join((lead, *written))


def set_property(text: str, key: str, value: PropertyScalar | Sequence[PropertyScalar] | None) -> str:
    """The text with a property set to a value; None removes it. Where it has that value, the text is as it was.

    A name is matched exactly, else without regard to case. Only the lines of that property change: quotes, the form of
    a list, its indentation and a comment on the line stay. A value is written so that YAML reads it back as it was
    given. A note without properties gets a block of them at its top.

    Raises `EditRefused` where the frontmatter cannot be read, and where anything else would change.
    """
    name = key.strip().removesuffix(":").rstrip()
    if not name or len(name) > _MAX_KEY or not name.isprintable() or name == "<<":
        raise EditRefused(f"“{key[:_MAX_KEY]}” cannot be the name of a property.")
    new: PropertyValue | None = None
    if value is not None:
        new = (
            _checked_scalar(value)
            if isinstance(value, str) or not isinstance(value, Sequence)
            else [*map(_checked_scalar, value)]
        )
    return spliced(text, lambda plain: _splice(PropertyLines(plain), name, new))


def _splice(lines: PropertyLines, name: str, value: PropertyValue | None) -> Splice:
    entry = lines.find(name)
    if value is None:
        return _removed(lines, entry, name)
    if not entry:  # as the last one
        written = f"{lines.indent}{write_scalar(name)}:{_fresh(lines, value)}\n"
        place = lines.matter.span[1] if lines.matter.end else 0
        splice = Splice(place, place, written if lines.matter.end else f"---\n{written}---\n")
    elif _is_same(lines.value_of(entry), value):
        return Splice(0, 0, "")
    else:
        start = lines.matter.span[0]
        end = start + len(lines.source[: entry.end].removesuffix("\n"))
        splice = Splice(start + entry.colon_end, end, _written(lines, entry, value))
    after = _verify_rest(lines, splice.applied(lines.text), entry.name if entry else name)
    found = after.find(name)
    if not found or not _is_same(after.value_of(found), value):
        raise EditRefused(f"That value of the property {name} cannot be stored as it is.", hint=_BY_HAND)
    return splice


def add_tag(text: str, tag: str) -> str:
    """The text with one more tag among its properties, in the form that they have there.

    A tag that the note has, in whatever case, as a property or in its text, leaves the text as it was.
    """
    name = tag.strip().removeprefix("#")
    if parse_note("", f"#{name}").tags != (name,):
        raise EditRefused(
            f"“{tag}” is not a tag.",
            hint="A tag has letters, digits, `-`, `_` and `/`, no spaces, and is not a number.",
        )
    if name.casefold() in {each.casefold() for each in parse_note("", text).tags}:
        return text
    changed = set_property(text, *_tags_with(PropertyLines(with_line_end(text.removeprefix("\ufeff"), "\n")), name))
    if name.casefold() not in {each.casefold() for each in parse_note("", changed).tags}:
        raise EditRefused("The note has several lists of tags, and the tag would be ignored.", hint=_BY_HAND)
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
        raise EditRefused(f"The property {entry.name} is not a list of tags.")
    known = [each for each in lines.value_of(entry) if each is not None]  # a list of one empty item is filled in
    is_marked = bool(known) and all(str(each).startswith("#") for each in known)
    return entry.name, [*known, f"#{name}" if is_marked else name]


def _checked_scalar(value: PropertyScalar) -> PropertyScalar:
    if not isinstance(value, str | int | float | bool | date):
        raise EditRefused(f"A property holds a text, a number, a date, or a list of them, not {type(value).__name__}.")
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


def _written(lines: PropertyLines, entry: Entry, value: PropertyValue) -> str:
    """What follows the colon of a property that is there, without the line end."""
    node, comment = entry.value, lines.comment(entry)
    if node.id == "mapping" or (node.id == "sequence" and any(item.id == "mapping" for item in node.value)):
        raise EditRefused(f"The property {entry.name} has properties of its own.", hint=_BY_HAND)
    if isinstance(value, list) and value and node.id == "sequence":
        present, wanted = (
            [f"{type(each).__name__} {each!r}" for each in values] for values in (lines.value_of(entry), value)
        )
        items: list[Item] = []
        for kind, start, end, first, last in SequenceMatcher(None, present, wanted, autojunk=False).get_opcodes():
            items += [Kept(number) for number in range(start, end)] if kind == "equal" else value[first:last]
        return _flow(lines, entry, items) if node.flow_style else _block(lines, entry, items)
    if _has_inner_comments(lines, entry):
        raise EditRefused(f"The comments (# …) in the property {entry.name} would be lost.", hint=_BY_HAND)
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
        nodes = (each.value for each in lines.entries)
        lists = (node for node in nodes if node.id == "sequence" and not node.flow_style and node.value)
        columns = (int(node.start_mark.column) for node in lists)  # of the other lists of the note
        indent = " " * next(columns, len(lines.indent + _INDENT))
        return comment + "".join(f"\n{indent}- {write_scalar(item)}" for item in value)
    assert isinstance(value, str | int | float | date)
    if isinstance(value, str) and "\n" in value and not quotes:
        written = value.removesuffix("\n").split("\n")
        is_plain = all(not _UNPRINTABLE.search(line.replace("\t", " ")) for line in written)
        if is_plain and written[1:] and written[0].strip() and written[-1].strip() and not written[0][0].isspace():
            block = "".join(f"\n{lines.indent}{_INDENT}{line}" if line else "\n" for line in written)
            return f"{lead}{'|' if value.endswith(chr(10)) else '|-'}{comment}{block}"
    return f"{lead}{write_scalar(value, quotes=quotes)}{comment}"


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
    if changed[after.matter.end :] != lines.text[lines.matter.end :] or lines.others(name) != after.others(name):
        raise EditRefused(f"The property {name} cannot be set without changing others.", hint=_BY_HAND)
    return after
