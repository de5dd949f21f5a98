"""The YAML block at the top of a note: cut off at offset 0, read safely, never trusted."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from zkchat.vault.markdown import Span

if TYPE_CHECKING:
    import yaml


class Node(Protocol):
    """A node of the YAML tree."""

    @property
    def id(self) -> str: ...
    @property
    def tag(self) -> str: ...
    @property
    def value(self) -> Any: ...


LARGEST = 50_000
"""Characters; more is no description of a note, and the time it takes to read is the reader's."""
DEEPEST = 30
"""Levels of nesting. The C loader recurses without a limit of its own."""
_INNOCENT = 100
"""So few brackets, dashes and colons cannot nest deep enough to harm."""

_LONGEST_NUMBER = 1024
"""Bits."""
_TEXT = "tag:yaml.org,2002:str"
_NOTHING = "tag:yaml.org,2002:null"

_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)
_PROPERTY = re.compile(r"^([^\s#\-\[{][^\n:]*):(?=\s|\Z)", re.MULTILINE)
_QUOTED_OR_COMMENT = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|(?<!\S)#[^\n]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontmatter:
    properties: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    span: Span = (0, 0)
    """Where the YAML stands."""
    end: int = 0
    """Where the body begins."""
    warning: str = ""


def cut(flat: str, start: int = 0) -> Frontmatter:
    """Read the frontmatter that begins at `start`, if one does. What is no mapping is text between two rules."""
    opening = _OPENING.match(flat, start)
    closing = _CLOSING.search(flat, opening.end()) if opening else None
    if not opening or not closing:
        return Frontmatter(end=start)
    span = opening.end(), closing.start()
    try:
        found = _read(flat[span[0] : span[1]])
    except _Refused as refused:
        warning = f"The frontmatter {refused}; it was left unread."
        return Frontmatter(span=span, end=closing.end(), warning=warning)
    if found is None:
        return Frontmatter(end=start)
    properties, written = found
    return Frontmatter(
        properties=properties,
        title=" ".join(" ".join(_scalars(written.get("title"))[:1]).split()),
        aliases=distinct(name for key in ("aliases", "alias") for name in _scalars(written.get(key), ",")),
        tags=distinct(tag.lstrip("#") for key in ("tags", "tag") for tag in _scalars(written.get(key), r"[,\s]+")),
        span=span,
        end=closing.end(),
    )


def properties_at(flat: str, span: Span) -> list[tuple[int, str]]:
    """The top-level property names with the offsets where they begin."""
    return [(match.start(), match[1].strip("\"' ")) for match in _PROPERTY.finditer(flat, *span)]


def comments_in(flat: str, span: Span) -> list[Span]:
    return [match.span() for match in _QUOTED_OR_COMMENT.finditer(flat, *span) if match[0].startswith("#")]


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Without empty ones, and without those that differ from an earlier one in case only."""
    kept: dict[str, str] = {}
    for name in names:
        kept.setdefault(name.strip().casefold(), name.strip())
    kept.pop("", None)
    return tuple(kept.values())


class _Refused(Exception):
    """Why a frontmatter is not read, as the end of a sentence."""


def _read(source: str) -> tuple[dict[str, Any], dict[str, Node]] | None:
    """The properties, with their nodes by lower-cased name; None if the source is no mapping."""
    import yaml

    if len(source) > LARGEST:
        raise _Refused(f"is longer than {LARGEST:,} characters")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if sum(map(source.count, "[{-?:")) > _INNOCENT or ("&" in source and "*" in source):
            _inspect(yaml.parse(source, loader))
        reader = loader(source)
        try:
            node = reader.get_single_node()
            if isinstance(node, yaml.MappingNode):
                return _value(node, reader), {str(key.value).lower(): value for key, value in node.value}
            return ({}, {}) if node is None else None
        finally:
            reader.dispose()
    except yaml.MarkedYAMLError as error:
        place = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        raise _Refused(f"is not valid YAML ({error.problem}{place})") from None
    # What PyYAML's constructors let through: dates that do not exist, endless numbers, tags that do not fit.
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError) as error:
        raise _Refused(f"holds a value that cannot be read ({' '.join(str(error).split())})") from None


def _inspect(events: "Iterable[yaml.Event]") -> None:
    """Refuse what would overrun the loader's stack, or grow when it is copied."""
    import yaml

    depth = 0
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.AliasEvent):
            raise _Refused("uses YAML aliases")
        if depth > DEEPEST:
            raise _Refused(f"is nested more than {DEEPEST} levels deep")


def _value(node: Node, reader: "yaml.SafeLoader") -> Any:
    """What a node stands for, with texts for keys, so that it can be written down as JSON."""
    if node.id == "mapping":
        return {_key(key): _value(value, reader) for key, value in node.value}
    if node.id == "sequence":
        return [_value(item, reader) for item in node.value]
    if node.tag == _TEXT:
        return node.value
    value = reader.construct_object(node)
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        raise _Refused("holds a number that is too long")
    return value


def _key(node: Node) -> str:
    if node.id != "scalar":
        raise _Refused(f"has a {node.id} where a name should be")
    return str(node.value)


def _scalars(node: Node | None, separator: str = "") -> list[str]:
    """The texts of a list, or of one text that may be a list in disguise, as they are written.

    YAML would make a 7 of the alias `007`, and a truth of `yes`.
    """
    if node is None or node.tag == _NOTHING:
        return []
    if node.id == "sequence":
        return [item.value for item in node.value if item.id == "scalar" and item.tag != _NOTHING]
    if node.id == "scalar":
        return re.split(separator, node.value) if separator else [node.value]
    return []
