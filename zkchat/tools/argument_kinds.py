"""What an argument of a tool may be: read leniently from what a model wrote, and described to it as a JSON schema."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final, Protocol

from msgspec import Struct

from zkchat.model.patterns import lazy_pattern

_MAX_WRITTEN_DIGITS: Final = 4_300
_INTEGER: Final = lazy_pattern(r"([+-]?[0-9]+(?:_[0-9]+)*)(?:\.0*)?")
_LARGEST: Final = 2**63 - 1
_TOO_LARGE: Final = "Unable to parse input string as an integer, exceeded maximum size"
_TRUE: Final = frozenset({"1", "true", "t", "yes", "y", "on"})
_FALSE: Final = frozenset({"0", "false", "f", "no", "n", "off"})


class WrongValue(ValueError):
    """Why a value is refused: sentences, each with where in the value it belongs."""

    def __init__(self, *complaints: tuple[str, str]) -> None:
        super().__init__(*complaints)
        self.complaints = complaints


class Kind(Protocol):
    """What an argument may be. Put beside its type: `Annotated[str, Text(...)]`."""

    @property
    def also(self) -> tuple[str, ...]:
        """Other names that models have for it."""
        ...

    def read(self, value: object) -> object:
        """The value that was meant. Raises `WrongValue`."""
        ...

    def schema(self) -> dict[str, Any]: ...


class Text(Struct, frozen=True, kw_only=True):
    description: str = ""
    min_length: int = 0
    max_length: int | None = None
    also: tuple[str, ...] = ()

    def read(self, value: object) -> object:
        if not isinstance(value, str):
            raise WrongValue(("", "Input should be a valid string"))
        if len(value) < self.min_length:
            raise WrongValue(("", f"String should have at least {_characters(self.min_length)}"))
        if self.max_length is not None and len(value) > self.max_length:
            raise WrongValue(("", f"String should have at most {_characters(self.max_length)}"))
        return value

    def schema(self) -> dict[str, Any]:
        bounds = {"minLength": self.min_length or None, "maxLength": self.max_length}
        return schema_for("string", self.description, bounds)


class Number(Struct, frozen=True, kw_only=True):
    """A whole number, also one that is written as a text."""

    description: str = ""
    at_least: int | None = None
    at_most: int | None = None
    """Whoever wants more gets as many."""
    also: tuple[str, ...] = ()

    def read(self, value: object) -> object:
        number = _whole_number(value)
        if self.at_least is not None and number < self.at_least:
            raise WrongValue(("", f"Input should be greater than or equal to {self.at_least}"))
        return number if self.at_most is None else min(number, self.at_most)

    def schema(self) -> dict[str, Any]:
        return schema_for("integer", self.description, {"minimum": self.at_least})


class Switch(Struct, frozen=True, kw_only=True):
    description: str = ""
    also: tuple[str, ...] = ()

    def read(self, value: object) -> object:
        if isinstance(value, int | float) and value in (0, 1):
            return bool(value)
        written = value.lower() if isinstance(value, str) else ""
        if written in _TRUE or written in _FALSE:
            return written in _TRUE
        is_number = isinstance(value, int | float) and abs(value) <= _LARGEST and value == int(value)
        if isinstance(value, str) or is_number:
            raise WrongValue(("", "Input should be a valid boolean, unable to interpret input"))
        raise WrongValue(("", "Input should be a valid boolean"))

    def schema(self) -> dict[str, Any]:
        return schema_for("boolean", self.description, {})


class OneOf(Struct, frozen=True, kw_only=True):
    """One of a few words."""

    choices: tuple[str, ...]
    description: str = ""
    also: tuple[str, ...] = ()

    def read(self, value: object) -> object:
        if isinstance(value, str) and value in self.choices:
            return value
        quoted = [f"'{choice}'" for choice in self.choices]
        raise WrongValue(("", f"Input should be {', '.join(quoted[:-1])} or {quoted[-1]}"))

    def schema(self) -> dict[str, Any]:
        return schema_for("string", self.description, {"enum": list(self.choices)})


def schema_for(type_: str, description: str, bounds: Mapping[str, object]) -> dict[str, Any]:
    """A JSON schema; bounds that are None are left out."""
    about = {"description": description} if description else {}
    return {**about, **{name: bound for name, bound in bounds.items() if bound is not None}, "type": type_}


def _characters(number: int) -> str:
    return f"{number} character{'' if number == 1 else 's'}"


def _whole_number(value: object) -> int:
    match value:
        case int():
            return int(value)
        case float():
            return _without_fraction(value)
        case str():
            return _written_number(value)
        case _:
            raise WrongValue(("", "Input should be a valid integer"))


def _without_fraction(value: float) -> int:
    if not isfinite(value):
        raise WrongValue(("", "Input should be a finite number"))
    if not value.is_integer():
        raise WrongValue(("", "Input should be a valid integer, got a number with a fractional part"))
    if abs(value) > _LARGEST:
        raise WrongValue(("", _TOO_LARGE))
    return int(value)


def _written_number(value: str) -> int:
    written = _INTEGER.fullmatch(value.strip())
    if written is None:
        raise WrongValue(("", "Input should be a valid integer, unable to parse string as an integer"))
    if len(value) > _MAX_WRITTEN_DIGITS:
        raise WrongValue(("", _TOO_LARGE))
    return int(written[1])
