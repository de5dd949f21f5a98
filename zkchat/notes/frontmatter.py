"""The YAML block at the top of a note, parsed as untrusted input."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from zkchat.core import lazy_pattern
from zkchat.notes.markdown import Span

if TYPE_CHECKING:
    import yaml


MAX_CHARACTERS = 50_000
"""Characters; more is no description of a note, and the time it takes to read is the reader's."""
MAX_DEPTH = 30
"""Levels of nesting. The C loader recurses without a limit of its own."""
_INNOCENT = 100
"""So few brackets, dashes and colons cannot nest deep enough to harm."""

_TEXT = "tag:yaml.org,2002:str"
_NOTHING = "tag:yaml.org,2002:null"

_OPENING = lazy_pattern(r"---[ \t]*\n")
_CLOSING = lazy_pattern(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)
_PROPERTY = lazy_pattern(r"^([^\s#\-\[{][^\n:]*):(?=\s|\Z)", re.MULTILINE)
_PLAIN_TEXT = r"[^\W\d_][\w'./ -]*"
_PLAIN_TEXTS = lazy_pattern(_PLAIN_TEXT)
_PLAIN_LINE = r"[^\W\d_][\w'.,;/ -]*"
"""A text outside a list, where commas mean nothing."""
_PLAIN_PROPERTY = lazy_pattern(
    r"(?P<name>[^\W\d_][\w-]{0,50}):"
    rf"(?: +(?P<text>{_PLAIN_LINE})| +(?P<day>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})"
    rf"|(?P<listed> +\[{_PLAIN_TEXT}(?:, *{_PLAIN_TEXT})*\]"
    rf"|\n(?P<indent> *)- +{_PLAIN_TEXT}(?:\n(?P=indent)- +{_PLAIN_TEXT})*)|)\n"
)
_NO_TEXTS = frozenset({"yes", "no", "true", "false", "on", "off", "null"})
"""Words that YAML takes for something else, in any case."""
_QUOTED_OR_COMMENT = lazy_pattern(r"\"[^\"\n]*\"|'[^'\n]*'|(?<!\S)#[^\n]*")

PLACEHOLDER = lazy_pattern(r"\{\{[^{}\n]{0,300}\}\}|<%.{0,300}?%>|\{%.{0,300}?%\}", re.DOTALL)
"""What Obsidian's templates, Templater and Nunjucks fill in."""

Written = str | list[str]
"""A property as it is written: a text, or the texts of a list; an empty list if it is neither."""
Properties = tuple[dict[str, Any], dict[str, Written]]
"""With their values, and as they are written by lower-cased name."""


class Frontmatter(Struct, frozen=True, kw_only=True):
    properties: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    span: Span = (0, 0)
    """Where the YAML stands."""
    end: int = 0
    """Where the body begins."""
    warning: str = ""
    is_template: bool = False
    """Whether it could be read only without its placeholders."""


def cut(flat: str, start: int = 0) -> Frontmatter:
    """Parse the frontmatter that begins at `start`, if any. A block that is no mapping is text between two rules."""
    opening = _OPENING.match(flat, start)
    closing = _CLOSING.search(flat, opening.end()) if opening else None
    if not opening or not closing:
        return Frontmatter(end=start)
    span = opening.end(), closing.start()
    source, is_template = flat[span[0] : span[1]], 0
    try:
        found = _read(source)
    except _Refused as refused:
        filled, is_template = PLACEHOLDER.subn("", source)  # of a template, without what is filled in later
        if not is_template:
            warning = f"The frontmatter {refused}; it was not read."
            return Frontmatter(span=span, end=closing.end(), warning=warning)
        found = {}, {}
        with suppress(_Refused):
            found = _read(filled) or found
    if found is None:
        return Frontmatter(end=start)
    properties, written = found
    return Frontmatter(
        properties=properties,
        title=" ".join(" ".join(_listed(written.get("title"))[:1]).split()),
        aliases=distinct(name for key in ("aliases", "alias") for name in _listed(written.get(key), ",")),
        tags=distinct(tag.lstrip("#") for key in ("tags", "tag") for tag in _listed(written.get(key), r"[,\s]+")),
        span=span,
        end=closing.end(),
        is_template=bool(is_template),
    )


def properties_at(flat: str, span: Span) -> list[tuple[int, str]]:
    return [(match.start(), match[1].strip("\"' ")) for match in _PROPERTY.finditer(flat, *span)]


def comments_in(flat: str, span: Span) -> list[Span]:
    return [match.span() for match in _QUOTED_OR_COMMENT.finditer(flat, *span) if match[0].startswith("#")]


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Drop empty texts and those that differ from an earlier one only in case."""
    kept: dict[str, str] = {}
    for name in names:
        kept.setdefault(name.strip().casefold(), name.strip())
    kept.pop("", None)
    return tuple(kept.values())


class _Refused(Exception):
    """Why a frontmatter was rejected, worded as the end of a sentence."""


def _read(source: str) -> Properties | None:
    if len(source) > MAX_CHARACTERS:
        raise _Refused(f"is longer than {MAX_CHARACTERS:,} characters")
    return read_plain(source) or read_yaml(source)


def read_plain(source: str) -> Properties | None:
    """The result of `read_yaml` if the source has only plain texts, dates and lists of texts; else None.

    Most frontmatters are of this kind, and the YAML parser is much slower on them.
    """
    properties: dict[str, Any] = {}
    written: dict[str, Written] = {}
    end = 0
    for match in _PLAIN_PROPERTY.finditer(source):
        name, text, listed, day = match.group("name", "text", "listed", "day")
        texts = [found.rstrip(" ") for found in ([text] if text else _PLAIN_TEXTS.findall(listed or ""))]
        if match.start() != end or not _NO_TEXTS.isdisjoint(map(str.lower, texts)):
            return None
        end = match.end()
        try:
            properties[name] = texts[0] if text else texts if listed else date.fromisoformat(day) if day else None
        except ValueError:
            return None
        written[name.lower()] = texts[0] if text else day or texts
    return (properties, written) if end == len(source) else None


def read_yaml(source: str) -> Properties | None:
    """Parse YAML; None if the source is not a mapping."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if sum(map(source.count, "[{-?:")) > _INNOCENT or ("&" in source and "*" in source):
            _inspect(yaml.parse(source, loader))
        reader = loader(source)
        try:
            node = reader.get_single_node()
            if isinstance(node, yaml.MappingNode):
                return _value(node, reader), {str(key.value).lower(): _written(value) for key, value in node.value}
            return ({}, {}) if node is None else None
        finally:
            reader.dispose()
    except yaml.MarkedYAMLError as error:
        place = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        raise _Refused(f"is not valid YAML ({error.problem}{place})") from None
    # What PyYAML's constructors let through: dates that do not exist, endless numbers, tags that do not fit.
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError) as error:
        raise _Refused(f"has a value that cannot be read ({' '.join(str(error).split())})") from None


def _inspect(events: "Iterable[yaml.Event]") -> None:
    """Reject nesting that would overflow the loader's stack, and aliases that expand when copied."""
    import yaml

    depth = 0
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.AliasEvent):
            raise _Refused("uses YAML aliases")
        if depth > MAX_DEPTH:
            raise _Refused(f"is nested more than {MAX_DEPTH} levels deep")


def _value(node: Any, reader: "yaml.SafeLoader") -> Any:
    """The value of a node as JSON types: keys are strings."""
    if node.id == "mapping":
        return {_key(key): _value(value, reader) for key, value in node.value}
    if node.id == "sequence":
        return [_value(item, reader) for item in node.value]
    if node.tag == _TEXT:
        return node.value
    value = reader.construct_object(node)
    if isinstance(value, int) and value.bit_length() > 1024:
        raise _Refused("has a number that is too long")
    return value


def _key(node: Any) -> str:
    if node.id != "scalar":
        raise _Refused(f"has a {node.id} where a property's name should be")
    return str(node.value)


def _written(node: Any) -> Written:
    """The scalar as written: YAML would turn the alias `007` into 7, and `yes` into a boolean."""
    if node.id == "sequence":
        return [item.value for item in node.value if item.id == "scalar" and item.tag != _NOTHING]
    return node.value if node.id == "scalar" and node.tag != _NOTHING else []


def _listed(written: Written | None, separator: str = "") -> list[str]:
    """The texts of a list, or of one text that is split as a list."""
    if isinstance(written, str):
        return re.split(separator, written) if separator else [written]
    return written or []
