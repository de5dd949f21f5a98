"""Values of properties as a person types them: numbers, dates, true and false, lists, and text."""

import json
import math
from collections.abc import Sequence
from datetime import date
from typing import Final

from zkchat.errors import UsageError
from zkchat.model.patterns import lazy_pattern

PropertyScalar = str | int | float | bool | date
PropertyValue = PropertyScalar | list[PropertyScalar]

_NUMBER: Final = lazy_pattern(r"-?(?:0|[1-9]\d*)(?P<fraction>\.\d+)?")
"""As YAML and JSON both read it; `007`, `1e5` and `1_000` are text."""
_DAY: Final = lazy_pattern(r"\d{4}-\d\d-\d\d")
_MAX_DIGITS: Final = 18
"""Of a number; a longer one is an identifier, which must keep its digits."""


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
    if not all(isinstance(each, str | int | float) and _is_finite(each) for each in values):
        raise UsageError(
            "A list holds texts, numbers, true and false, nothing else.", hint='For example ["a", 2, true]'
        )
    return [_parse_scalar(each) if isinstance(each, str) and _DAY.fullmatch(each) else each for each in values]


def _is_finite(value: str | float) -> bool:
    return isinstance(value, str) or math.isfinite(value)
