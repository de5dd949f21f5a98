"""Tools by name: how they are registered, described to a model by their arguments, and called."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from functools import cached_property, lru_cache, partial
from inspect import getdoc, signature
from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, TypeVar

import msgspec
from msgspec import NODEFAULT, Meta, Struct, defstruct
from msgspec.structs import FieldInfo, asdict, fields, replace

from zkchat.core import Tool, ToolCallPart, ToolOutcome, ToolSpec, ZkchatError, shorten

if TYPE_CHECKING:
    from pydantic import BaseModel


def Text(
    *, description: str = "", min_length: int | None = None, max_length: int | None = None, also: tuple[str, ...] = ()
) -> Meta:
    """`also` are other names that models have for the argument."""
    return Meta(description=description or None, min_length=min_length, max_length=max_length, extra={"also": also})


def Number(
    *, description: str = "", at_least: int | None = None, at_most: int | None = None, also: tuple[str, ...] = ()
) -> Meta:
    """A whole number. Whoever wants more than `at_most` gets as many."""
    return Meta(description=description or None, ge=at_least, extra={"also": also, "at_most": at_most})


MAX_FOUND: Final = 20
PAGE_CHARS: Final = 8000
"""Characters of a document or a message that one call gives, and of all messages that it finds."""

Limit = Annotated[int, Number(at_least=1, at_most=MAX_FOUND)]
"""How many are wanted; whoever wants more than there may be gets as many as there may be."""


class Arguments(Struct, frozen=True, kw_only=True):
    """Base of every tool's arguments; unknown ones are ignored, and the model is told."""


A = TypeVar("A", bound=Arguments)


class InvalidArguments(ValueError):
    """Why arguments are not read, as sentences for the model."""


def _names(type_: type[Arguments]) -> dict[str, tuple[str, ...]]:
    """By the name of each argument, all names that models have for it."""
    return {each.name: (each.name, *(_kind(each).extra or {}).get("also", ())) for each in fields(type_)}


def _kind(argument: FieldInfo) -> Meta:
    """What stands beside its type."""
    kinds: tuple[Meta, ...] = getattr(argument.type, "__metadata__", (Meta(),))
    return kinds[-1]


def read_arguments(type_: type[A], given: object) -> A:
    """The arguments that a model gave. Raises `InvalidArguments` with a sentence for each that is wrong."""
    from pydantic import ValidationError

    try:
        return type_(**dict(_checker(type_).model_validate(given)))
    except ValidationError as error:
        # The first of each: what is none of several types is wrong for every one of them.
        wrong = {(each["loc"] or ("arguments",))[0]: each["msg"] for each in error.errors()[::-1]}
        raise InvalidArguments(" ".join(f"{name}: {wrong[name]}." for name in reversed(wrong))) from None


_ANNOTATED: Final[Any] = Annotated


@lru_cache(maxsize=64)
def _checker(type_: type[Arguments]) -> "type[BaseModel]":
    """Reads leniently: `"7"` for 7, `" yes"` for true. Made for the first call, as pydantic takes long to load."""
    from pydantic import AfterValidator, AliasChoices, Field, WrapValidator, create_model

    taken: dict[str, Any] = {}
    for each in fields(type_):
        kind, names = _kind(each), AliasChoices(*_names(type_)[each.name])
        bounds = Field(ge=kind.ge, min_length=kind.min_length, max_length=kind.max_length, validation_alias=names)
        most = (kind.extra or {}).get("at_most")
        checks = (bounds, *([AfterValidator(partial(min, most))] if most else ()), WrapValidator(_as_meant))
        taken[each.name] = (_ANNOTATED[(each.type, *checks)], ... if each.required else each.default)
    return create_model("Arguments", **taken)


def _as_meant(written: object, read: Callable[[object], object]) -> object:
    """The value as it is written, else without the white space around it."""
    try:
        return read(written)
    except ValueError:
        meant = written.strip() if isinstance(written, str) else written
        if meant == written:
            raise
        return read(meant)


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


CORE_TOOLS: Final = frozenset({"read_document", "find_excerpts"})
"""What a model needs to look into the vault by itself: the last to be left out where there is little room."""
MEMORY_TOOLS: Final = frozenset({"remember", "recall"})
READ_ATTACHMENT: Final = "read_attachment"
MAX_ARGUMENTS_CHARS: Final = 64_000
"""Characters. What is longer is no call but text that a model could not stop writing."""


MAX_QUOTED_CHARS: Final = 500
"""Characters of what a model wrote that are repeated to it."""


class Toolbox:
    """The tools of one conversation, by name."""

    def __init__(self, tools: Iterable[Tool], of_servers: Callable[[], Sequence[Tool]] = tuple) -> None:
        """`of_servers`: those of MCP servers, as they are connected whenever it is called."""
        self._tools: dict[str, Tool] = {}
        self._own_specs: tuple[ToolSpec, ...] = ()
        self._of_servers = of_servers
        self.add(tools)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """In an order that does not change while the tools do not."""
        return (*self._own_specs, *(tool.spec for tool in self._served().values()))

    def _served(self) -> dict[str, Tool]:
        return {tool.spec.name: tool for tool in self._of_servers() if tool.spec.name not in self._tools}

    def add(self, tools: Iterable[Tool]) -> None:
        """Take further tools in; those that are there stay as they are."""
        described = [(tool.spec, tool) for tool in tools]
        new = [(spec, tool) for spec, tool in described if spec.name not in self._tools]
        self._tools |= {spec.name: tool for spec, tool in new}
        self._own_specs = (*self._own_specs, *(spec for spec, _ in new))

    async def call(self, call: ToolCallPart, offered: Collection[str] | None = None) -> ToolOutcome:
        """Run a call. One of a tool that is not `offered` fails as if there were none of that name."""
        every = self._tools | self._served()
        tools = every if offered is None else {name: tool for name, tool in every.items() if name in offered}
        tool = tools.get(call.name)
        if tool is None:
            close = get_close_matches(call.name[:MAX_QUOTED_CHARS], tools, n=1) or sorted(tools)
            return failure(f"There is no tool '{cut(call.name)}'. There is: {', '.join(close) or 'none'}.")
        return await tool.call(call.arguments)


def failure(text: str) -> ToolOutcome:
    return ToolOutcome(text=text, summary="failed", failed=True)


def cut(text: str) -> str:
    return shorten(text, MAX_QUOTED_CHARS)


MAX_DIGITS: Final = 20
MAX_QUOTED_NAMES = 5


class FunctionTool(Struct, Generic[A], frozen=True, dict=True):
    """A plain function over validated arguments, as a tool. Its references say that this tool found them."""

    name: str
    description: str
    arguments: type[A]
    run: Callable[[A], ToolOutcome]

    @cached_property
    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description=self.description, parameters=schema_of(self.arguments))

    async def call(self, arguments: str) -> ToolOutcome:
        try:
            given = parse_arguments(arguments)
            outcome = self.run(read_arguments(self.arguments, given))
        except InvalidArguments as error:
            return failure(f"{cut(str(error))} Call {self.name} again with short and valid JSON that fits its schema.")
        except ZkchatError as error:
            return failure(f"{cut(error.message)} {error.hint}".strip())
        except Exception as error:  # noqa: BLE001 - whatever a model writes, the conversation goes on
            return failure(f"{self.name} cannot be run with these arguments ({type(error).__name__}). Try others.")
        found = tuple(each if each.via else replace(each, via=self.name) for each in outcome.references)
        outcome = replace(outcome, references=found)
        ignored = sorted(given.keys() - {name for names in _names(self.arguments).values() for name in names})
        if not ignored:
            return outcome
        more = [f"and {len(ignored) - MAX_QUOTED_NAMES} more"] if len(ignored) > MAX_QUOTED_NAMES else []
        listed = ", ".join([*map(cut, ignored[:MAX_QUOTED_NAMES]), *more])
        return replace(outcome, text=f"{outcome.text}\n(Ignored: {listed}.)")


def function_tool(run: Callable[..., ToolOutcome]) -> FunctionTool[Arguments]:
    """A function as a tool: its name, its docstring and its keyword arguments are what the model is told.

    A docstring says what the tool is for, and is short: it is sent with every request.
    """
    taken = [
        (each.name, each.annotation, NODEFAULT if each.default is each.empty else each.default)
        for each in signature(run).parameters.values()
    ]
    arguments: Any = defstruct(run.__name__, taken, bases=(Arguments,), frozen=True, kw_only=True)
    return FunctionTool(run.__name__, getdoc(run) or "", arguments, lambda wanted: run(**asdict(wanted)))


def parse_arguments(written: str) -> Any:
    """The JSON value that was written. Raises `InvalidArguments` for anything else."""
    if len(written) > MAX_ARGUMENTS_CHARS:
        raise InvalidArguments(f"The arguments are longer than {MAX_ARGUMENTS_CHARS:,} characters and were not read.")
    try:
        return json.loads(
            written or "{}",
            parse_int=_bounded_integer,
            parse_constant=_reject_constant,
            object_pairs_hook=_reject_duplicates,
        )
    except json.JSONDecodeError as error:
        raise InvalidArguments(f"The arguments are not valid JSON ({error}).") from None
    except RecursionError:
        raise InvalidArguments("The arguments are nested too deep.") from None


def _bounded_integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise InvalidArguments(f"The arguments hold a number of more than {MAX_DIGITS} digits.")
    return int(digits)


def _reject_constant(written: str) -> float:
    raise InvalidArguments(f"The arguments are not valid JSON ({written} is no number).")


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    given = dict(pairs)
    if len(given) < len(pairs):
        raise InvalidArguments("The arguments are not valid JSON (a name is given twice).")
    return given
