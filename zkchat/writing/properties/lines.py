"""The frontmatter of a note as lines to edit: where each property and its value stand."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from zkchat.errors import EditRefused
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.notes.frontmatter import Frontmatter
from zkchat.vault.notes.parse import frontmatter_of

if TYPE_CHECKING:
    import yaml

_OPENING: Final = lazy_pattern(r"---[ \t]*(?:\n|\Z)")
_COMMENT: Final = lazy_pattern(r"[ \t]*(?:#[^\n]*)?(?=\n|\Z)")
_HEADER: Final = lazy_pattern(r"[|>][-+0-9]{0,2}")
_BY_HAND: Final = "Edit the passage of the frontmatter itself."


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

    @property
    def is_block_scalar(self) -> bool:
        return self.value.id == "scalar" and getattr(self.value, "style", None) in {"|", ">"}

    @property
    def is_block_list(self) -> bool:
        return self.value.id == "sequence" and not self.value.flow_style

    @property
    def is_flow_list(self) -> bool:
        return self.value.id == "sequence" and bool(self.value.flow_style)


class PropertyLines:
    """The frontmatter of a note with `\\n` as its only line end.

    Raises `EditRefused` where it cannot be read, or has no lines of its own.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.matter: Frontmatter = frontmatter_of(text)
        if not self.matter.end and _OPENING.match(text):
            raise EditRefused(
                "The note begins with a line `---` that opens no properties: it is not closed, or holds no names.",
                hint="Correct or remove that line first.",
            )
        if self.matter.warning:
            raise EditRefused(self.matter.warning.replace("it was left unread", "it is left as it is"), hint=_BY_HAND)
        if self.matter.is_template:
            raise EditRefused("The frontmatter is a template that is filled in later.", hint=_BY_HAND)
        start, end = self.matter.span
        self.source = text[start:end]
        self._root = _compose(self.source)
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
                f"The property {name} is there {len(found)} times, in lines {lines}.", hint="Leave one of them first."
            )
        if found and (reason := self._obstacle(found[0])):
            raise EditRefused(f"The property {found[0].name} {reason}, and is left as it is.", hint=_BY_HAND)
        return found[0] if found else None

    def comment(self, entry: Entry) -> str:
        """The comment on the line of a name, with the white space before it; for a value of lines, on its last."""
        place = entry.value_end
        if entry.is_block_scalar:
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
        """Where the items of a list stand."""
        return [(item.start_mark.index, _end_of(item, self.source)) for item in entry.value.value]

    def values(self) -> list[tuple[str, object]]:
        """Each property with its value and how it is written, to be compared."""
        return [(entry.name, _canonical(entry.value)) for entry in self.entries]

    def value_of(self, entry: Entry) -> Any:
        return _construct(entry.value, self.source)

    def _read_entries(self) -> Iterator[Entry]:
        if not self._root:
            return
        if self._root.flow_style or any(key.value == "<<" for key, _ in self._root.value):
            raise EditRefused("The properties are written in a form that has no lines of their own.", hint=_BY_HAND)
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
        key_start = self.source[entry.start :].lstrip(" ")
        if entry.colon_end < 0 or key_start.startswith(("?", "!", "&")):
            return "is written in a form that has no line of its own"
        if not _COMMENT.match(self.source, entry.value_end):
            return "shares its line with another"
        if self.source[entry.value_start : entry.value_start + 1] in {"&", "!"} or self._has_anchor(entry):
            return "has an anchor or a type"
        return ""

    def _has_anchor(self, entry: Entry) -> bool:
        if "&" not in self.source:
            return False
        import yaml

        return any(
            getattr(event, "anchor", None) and entry.start <= event.start_mark.index < entry.end
            for event in yaml.parse(self.source, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        )


def _compose(source: str) -> "yaml.MappingNode | None":
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node = yaml.compose(source, loader)
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise EditRefused("The frontmatter is not valid YAML.", hint=_BY_HAND) from error
    if node is not None and not isinstance(node, yaml.MappingNode):
        raise EditRefused("The frontmatter holds no names with values.", hint=_BY_HAND)
    return node


def _construct(node: Any, source: str) -> Any:
    import yaml

    reader = yaml.SafeLoader(source)
    try:
        return reader.construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError):
        raise EditRefused("The frontmatter holds a value that cannot be read.", hint=_BY_HAND) from None
    finally:
        reader.dispose()


def _end_of(node: Any, source: str) -> int:
    """After the last character of a value, without the comments and blank lines that follow it."""
    if node.id == "scalar" and getattr(node, "style", None) in {"|", ">"}:
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
