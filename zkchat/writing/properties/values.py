"""Values of properties: as a person types them, and as YAML that is read back as it was given."""

import json
import math
import re
from collections.abc import Sequence
from datetime import date
from typing import Final, Literal

from zkchat.errors import EditRefused, UsageError
from zkchat.model.patterns import lazy_pattern

PropertyScalar = str | int | float | bool | date
PropertyValue = PropertyScalar | list[PropertyScalar]

_NUMBER: Final = lazy_pattern(r"-?(?:0|[1-9]\d*)(?P<fraction>\.\d+)?")
"""As YAML and JSON both read it; `007`, `1e5` and `1_000` are text."""
_DAY: Final = lazy_pattern(r"\d{4}-\d\d-\d\d")
_MAX_DIGITS: Final = 18
"""Of a number; a longer one is an identifier, which must keep its digits."""
_LIKE_NUMBER: Final = lazy_pattern(r"[-+]?[.\d][\d_.:xobXOBa-fA-F+-]*(?:inf|nan)?|y|n|none", re.IGNORECASE)
"""What some reader of YAML takes for a number, for true or for nothing, though PyYAML does not."""
_LIKE_LINK: Final = lazy_pattern(r"\[\[|\{\{|\]\]|\}\}")
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
            f"{word!r} is not JSON.", hint='A list is ["a", "b"]; with --text it is taken as it is.'
        ) from None
    if isinstance(value, str):
        return value
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str) or (isinstance(each, int | float) and math.isfinite(each)) for each in values):
        raise UsageError(
            "A list holds texts, numbers, true and false, nothing else.", hint='For example ["a", 2, true]'
        )
    return [_parse_scalar(each) if isinstance(each, str) and _DAY.fullmatch(each) else each for each in values]


Quotes = Literal["", "'", '"']


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
    if not _UNPRINTABLE.search(value) and (quotes == "'" or (not quotes and ("\\" in value or '"' in value))):
        return "'" + value.replace("'", "''") + "'"
    return '"' + _NOT_DOUBLE.sub(lambda sign: _ESCAPES.get(sign[0]) or f"\\u{ord(sign[0]):04x}", value) + '"'


def _is_plain(value: str, *, in_flow: bool) -> bool:
    """Whether a text can stand without quotes, and every reader takes it for a text."""
    import yaml

    if value != value.strip() or _LIKE_NUMBER.fullmatch(value) or _LIKE_LINK.search(value):
        return False
    written = yaml.safe_dump([value], default_flow_style=in_flow, width=float("inf"), allow_unicode=True)
    return written == (f"[{value}]\n" if in_flow else f"- {value}\n")
