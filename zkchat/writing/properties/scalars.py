"""Write a value as YAML so that it is read back as it was given."""

import math
import re
from datetime import date
from typing import Final, Literal

from zkchat.errors import EditRefused
from zkchat.model.patterns import lazy_pattern

PropertyScalar = str | int | float | bool | date
Quotes = Literal["", "'", '"']

_WORDS: Final = frozenset({"y", "n", "yes", "no", "true", "false", "on", "off", "null", "none"})
"""Texts that some reader of YAML takes for something else, in any case."""
_NUMBER: Final = lazy_pattern(r"[-+]?[.\d][\d_.:xobXOBa-fA-F+-]*(?:inf|nan)?|[-+]?\.(?:inf|nan)", re.IGNORECASE)
_INDICATORS: Final = frozenset("!&*-?:,[]{}#|>@`\"'%=~<")
"""Signs that no plain text begins with."""
_UNPRINTABLE: Final = lazy_pattern("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_NOT_DOUBLE: Final = lazy_pattern('[\\\\"\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]')
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_NOT_PLAIN: Final = lazy_pattern(r":(?:\s|\Z)|\s#|\[\[|\{\{|\]\]|\}\}")
_NOT_PLAIN_IN_FLOW: Final = lazy_pattern(r"[\[\]{},]")


def write_scalar(value: PropertyScalar, *, quotes: Quotes = "", in_flow: bool = False) -> str:
    """A value as YAML on one line; a text in the given quotes, or without any where that is safe."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _write_text(value, quotes, in_flow=in_flow)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float):
        return _write_float(value)
    return str(value)


def write_literal(value: str, indent: str) -> str | None:
    """A text of several lines as a literal block, from its `|` on; None where it cannot be one."""
    lines = value.removesuffix("\n").split("\n")
    is_plain = all(not _UNPRINTABLE.search(line.replace("\t", " ")) for line in lines)
    if len(lines) < 2 or not lines[0].strip() or not lines[-1].strip() or lines[0][0].isspace() or not is_plain:
        return None
    written = (f"{indent}{line}" if line else "" for line in lines)
    return "\n".join(("|" if value.endswith("\n") else "|-", *written))


def _write_float(value: float) -> str:
    if not math.isfinite(value):
        raise EditRefused(f"{value} is no number that a property can hold.")
    mantissa, exponent, power = repr(value).partition("e")
    if exponent and "." not in mantissa:
        mantissa += ".0"
    return mantissa + exponent + power


def _write_text(value: str, quotes: Quotes, *, in_flow: bool) -> str:
    if not quotes and _is_plain(value, in_flow=in_flow):
        return value
    if _UNPRINTABLE.search(value):
        return _double(value)
    if quotes == "'" or (not quotes and ("\\" in value or '"' in value)):
        return "'" + value.replace("'", "''") + "'"
    return _double(value)


def _double(value: str) -> str:
    return '"' + _NOT_DOUBLE.sub(lambda sign: _escaped(sign[0]), value) + '"'


def _escaped(sign: str) -> str:
    return _ESCAPES.get(sign) or f"\\u{ord(sign):04x}"


def _is_plain(value: str, *, in_flow: bool) -> bool:
    """Whether a text can stand without quotes, and every reader takes it for a text."""
    if not value or value != value.strip() or value[0] in _INDICATORS or _UNPRINTABLE.search(value):
        return False
    if value.lower() in _WORDS or _NUMBER.fullmatch(value) or _NOT_PLAIN.search(value):
        return False
    if in_flow and _NOT_PLAIN_IN_FLOW.search(value):
        return False
    return _is_read_as_text(value)


def _is_read_as_text(value: str) -> bool:
    """Whether PyYAML takes a plain value for a text; dates and times have too many forms to tell here."""
    import yaml

    node = yaml.compose(f"- {value}", yaml.SafeLoader)
    return isinstance(node, yaml.SequenceNode) and node.value[0].tag == "tag:yaml.org,2002:str"
