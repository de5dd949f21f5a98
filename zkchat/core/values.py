"""Values that are stored or printed as JSON: their base, how they are written, and how they are read."""

from datetime import date
from typing import Any, ClassVar, TypeVar

import msgspec
from msgspec import NODEFAULT, Struct

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Read = TypeVar("Read")


class InvalidValue(ValueError):
    """What was read is no such value."""


class Value(Struct, frozen=True):
    """Base of the values that are stored or printed as JSON.

    Unknown fields of newer files are ignored, missing ones of older files take their defaults. Types are checked where
    a value is read, and not where it is made.
    """

    computed: ClassVar[tuple[str, ...]] = ()
    """Properties that are written after the fields."""
    unwritten: ClassVar[frozenset[str]] = frozenset()
    """Fields that are not written."""


class Tagged(Value, frozen=True, tag_field="kind"):
    """One of several classes that are told apart by what is written as their kind."""

    @property
    def kind(self) -> str:
        return str(self.__struct_config__.tag)


class Unknown(Tagged, frozen=True, kw_only=True):
    """One of a kind that only a newer zkchat knows: kept as it is."""

    fields: dict[str, Any]
    """All that is written of it."""

    @property
    def kind(self) -> str:
        return str(self.fields["kind"])


def to_plain(value: object) -> Any:
    """The value as JSON has it: dicts, lists, strings, numbers."""
    if value is None or isinstance(value, str | int | float):
        return value
    match value:
        case Value():
            return _written(value)
        case tuple() | list():
            return [to_plain(each) for each in value]
        case dict():
            return {name: to_plain(each) for name, each in value.items()}
        case date():
            return msgspec.to_builtins(value)
        case _:
            return value


def _written(value: Value) -> dict[str, Any]:
    if isinstance(value, Unknown):
        return value.fields
    cls = type(value)
    tag, unwritten = cls.__struct_config__.tag, cls.unwritten
    written = {} if tag is None else {"kind": tag}
    for name, written_name in zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True):
        if name not in unwritten:
            written[written_name] = to_plain(getattr(value, name))
    for name in cls.computed:
        written[name] = getattr(value, name)
    return written


def plain_without(value: Value, *names: str) -> dict[str, Any]:
    """The same, but without some fields."""
    return {name: each for name, each in _written(value).items() if name not in names}


def without_defaults(value: Value) -> dict[str, Any]:
    """The same, but without the fields that have their default value."""
    cls = type(value)
    defaults, names = defaults_of(cls), zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True)
    given = ((written_name, name, getattr(value, name)) for name, written_name in names)
    return {written: to_plain(each) for written, name, each in given if name not in defaults or each != defaults[name]}


def defaults_of(value_type: type[Value]) -> dict[str, Any]:
    """The default values of its fields; for one that is made anew for each value, what makes it."""
    names, defaults = value_type.__struct_fields__, value_type.__struct_defaults__
    pairs = zip(names[len(names) - len(defaults) :], defaults, strict=True)
    return {name: default for name, default in pairs if default is not NODEFAULT}


def to_json(plain: object) -> str:
    """Raises `UnicodeEncodeError` for half of a surrogate pair, which UTF-8 cannot hold."""
    return msgspec.json.encode(plain).decode()


def from_json(text: str | bytes) -> Any:
    """Raises `ValueError`, also for what is nested too deeply."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ValueError(f"Invalid JSON: {error}") from error


def from_plain(value_type: type[Read], plain: object) -> Read:
    """The value that JSON describes. Raises `InvalidValue`."""
    try:
        return msgspec.convert(plain, value_type, strict=False)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # the latter of half of a surrogate pair
        raise InvalidValue(str(error)) from error


def explain(error: InvalidValue) -> str:
    """What is wrong, after its place."""
    place, why = place_and_reason(error)
    return f"{place}: {why}" if place else why


def place_and_reason(error: ValueError) -> tuple[str, str]:
    """Where a value is wrong, such as `parts[0].text`, and why; no place for one that is wrong altogether."""
    why, _, place = str(error).partition(" - at `$")
    _, _, name = why.partition("Object missing required field ")
    if name:
        place, why = f"{place.rstrip('`')}.{name.strip('`')}", "Field required"
    return place.strip(".`"), why
