"""The arguments of tools: read from what a model wrote, and described to it as a JSON schema."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Final, TypeVar

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from zkchat.tools.argument_kinds import Kind, Number, Switch, Text, WrongValue

MAX_FOUND: Final = 20
"""Passages, notes or messages that one call finds."""

Limit = Annotated[int, Number(at_least=1, at_most=MAX_FOUND)]
"""How many are wanted; whoever wants more than there may be gets as many as there may be."""


class Arguments(Struct, frozen=True, kw_only=True):
    """Base of every tool's arguments; unknown ones are ignored, and the model is told."""


A = TypeVar("A", bound=Arguments)


class Argument(Struct, frozen=True):
    """One of the arguments of a tool."""

    name: str
    kind: Kind
    default: object

    @property
    def is_required(self) -> bool:
        return self.default is NODEFAULT

    @property
    def names(self) -> tuple[str, ...]:
        return self.name, *self.kind.also


_KINDS: Final[Mapping[type, Kind]] = {str: Text(), int: Number(), bool: Switch()}


@cache
def arguments_of(type_: type[Arguments]) -> tuple[Argument, ...]:
    return tuple(Argument(field.name, _kind(field.type), field.default) for field in fields(type_))


def _kind(type_: Any) -> Kind:
    """The last kind that stands beside a type, or else that of the type alone."""
    beside = [each for each in getattr(type_, "__metadata__", ()) if hasattr(each, "read")]
    return beside[-1] if beside else _KINDS[type_]


def read_arguments(type_: type[A], given: object) -> A:
    """The arguments that a model gave. Raises `WrongValue` with a sentence for each that is wrong."""
    if not isinstance(given, dict):
        raise WrongValue(("", f"Input should be a valid dictionary or instance of {type_.__name__}"))
    values: dict[str, object] = {}
    complaints: list[tuple[str, str]] = []
    for argument in arguments_of(type_):
        written = next((name for name in argument.names if name in given), None)
        if written is None:
            if argument.is_required:
                complaints.append((argument.name, "Field required"))
            continue
        try:
            values[argument.name] = argument.kind.read(given[written])
        except WrongValue as wrong:
            complaints += [(f"{written}.{place}" if place else written, said) for place, said in wrong.complaints]
    if complaints:
        raise WrongValue(*complaints)
    return type_(**values)


def known_names(type_: type[Arguments]) -> set[str]:
    return {name for argument in arguments_of(type_) for name in argument.names}


def schema_of(type_: type[Arguments]) -> dict[str, Any]:
    """The JSON schema of the arguments, with nothing but what a model needs: it is sent with every request.

    In the order of Ollama's client, so that a definition is the same text for every server.
    """
    arguments = arguments_of(type_)
    required = [argument.name for argument in arguments if argument.is_required]
    properties = {argument.name: _short(argument.kind.schema()) for argument in arguments}
    return {"type": "object", **({"required": required} if required else {}), "properties": properties}


def _short(schema: Mapping[str, Any]) -> dict[str, Any]:
    type_ = schema["type"] if "type" in schema else schema["anyOf"][0]["type"]
    return {"type": type_, **({"description": schema["description"]} if "description" in schema else {})}


def full_schema_of(type_: type[Arguments]) -> dict[str, Any]:
    """The JSON schema with bounds and defaults, for programs that check what they send."""
    arguments = arguments_of(type_)
    required = [argument.name for argument in arguments if argument.is_required]
    own = vars(type_).get("__doc__")
    return {
        **({"description": own} if own else {}),
        "properties": {argument.name: _full(argument) for argument in arguments},
        **({"required": required} if required else {}),
        "type": "object",
    }


def _full(argument: Argument) -> dict[str, Any]:
    default = {} if argument.is_required else {"default": argument.default}
    return dict(sorted({**argument.kind.schema(), **default}.items()))
