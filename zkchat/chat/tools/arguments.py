"""The arguments of tools: read from what a model wrote, and described to it as a JSON schema."""

from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields, replace

from zkchat.core import InvalidValue, from_plain, place_and_reason


def Text(
    *, description: str = "", min_length: int = 0, max_length: int | None = None, also: tuple[str, ...] = ()
) -> Meta:
    """`also` are other names that models have for the argument."""
    about = description or None
    return Meta(description=about, min_length=min_length or None, max_length=max_length, extra={"also": also})


def Number(
    *, description: str = "", at_least: int | None = None, at_most: int | None = None, also: tuple[str, ...] = ()
) -> Meta:
    """A whole number. Whoever wants more than `at_most` gets as many."""
    return Meta(description=description or None, ge=at_least, extra={"also": also, "at_most": at_most})


MAX_FOUND: Final = 20
"""Passages, notes or messages that one call finds."""

Limit = Annotated[int, Number(at_least=1, at_most=MAX_FOUND)]
"""How many are wanted; whoever wants more than there may be gets as many as there may be."""


class Arguments(Struct, frozen=True, kw_only=True):
    """Base of every tool's arguments; unknown ones are ignored, and the model is told."""


A = TypeVar("A", bound=Arguments)


_MEANT: Final = {"yes": True, "on": True, "no": False, "off": False}
"""What models write for a switch, beside what JSON has for it."""


class WrongValue(ValueError):
    """Why arguments are refused, as sentences for the model."""


def _kinds(type_: type[Arguments]) -> dict[str, dict[str, Any]]:
    """By the name of each argument, what stands beside its type."""
    beside = {field.name: getattr(field.type, "__metadata__", ()) for field in fields(type_)}
    return {name: {**(kinds[-1].extra or {})} if kinds else {} for name, kinds in beside.items()}


def _names(type_: type[Arguments]) -> dict[str, tuple[str, ...]]:
    """By the name of each argument, all names that models have for it."""
    return {name: (name, *kind.get("also", ())) for name, kind in _kinds(type_).items()}


def known_names(type_: type[Arguments]) -> set[str]:
    return {name for names in _names(type_).values() for name in names}


def read_arguments(type_: type[A], given: object) -> A:
    """The arguments that a model gave. Raises `WrongValue`."""
    if not isinstance(given, dict):
        raise WrongValue(f"arguments: Expected `object`, got `{type(given).__name__}`.")
    named = {
        name: given[written]
        for name, names in _names(type_).items()
        if (written := next((each for each in names if each in given), None))
    }
    if missing := [field.name for field in fields(type_) if field.required and field.name not in named]:
        raise WrongValue(" ".join(f"{name}: Field required." for name in missing))
    try:
        wanted = from_plain(type_, named)
    except InvalidValue as error:
        place, why = place_and_reason(error)
        written = named.get(place)
        meant = _MEANT.get(written.strip().casefold(), written.strip()) if isinstance(written, str) else written
        if meant == written:
            raise WrongValue(f"{place}: {why}.") from None
        return read_arguments(type_, {**named, place: meant})
    most = {name: kind["at_most"] for name, kind in _kinds(type_).items() if kind.get("at_most")}
    return replace(wanted, **{name: min(getattr(wanted, name), bound) for name, bound in most.items()})


def full_schema_of(type_: type[Arguments]) -> dict[str, Any]:
    """The JSON schema with bounds and defaults, for programs that check what they send."""
    _, components = msgspec.json.schema_components((type_,))
    schema = components[type_.__name__]
    schema["properties"] = {name: dict(sorted(each.items())) for name, each in schema["properties"].items()}
    return {name: schema[name] for name in sorted(schema) if name != "title" and schema[name] != []}


def schema_of(type_: type[Arguments]) -> dict[str, Any]:
    """The JSON schema of the arguments, with nothing but what a model needs: it is sent with every request.

    In the order of Ollama's client, so that a definition is the same text for every server.
    """
    full = full_schema_of(type_)
    required = {"required": full["required"]} if "required" in full else {}
    return {
        "type": "object",
        **required,
        "properties": {name: _short(each) for name, each in full["properties"].items()},
    }


def _short(schema: dict[str, Any]) -> dict[str, Any]:
    first = schema.get("anyOf", [schema])[0]
    return {"type": first.get("type", "string")} | {name: schema[name] for name in ("description",) if name in schema}
