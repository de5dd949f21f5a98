"""Tools as models see them: a name, a schema, and a call that never raises, whatever a model writes."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property, partial
from typing import Annotated, Any, Final, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from zkchat.errors import ZkchatError
from zkchat.model.message import ToolCallPart
from zkchat.model.prompt import ToolSpec
from zkchat.model.text import shorten
from zkchat.ports import Tool, ToolOutcome

MAX_ARGUMENTS_CHARS: Final = 64_000
"""Characters. What is longer is no call but text that a model could not stop writing."""
MAX_DIGITS: Final = 20
MAX_FOUND: Final = 20
"""Passages, notes or messages that one call finds."""
MAX_QUOTED_CHARS = 500
"""Characters of what a model wrote that are repeated to it."""
MAX_QUOTED_NAMES = 5
"""Names, or complaints, of one call."""


class Arguments(BaseModel):
    """Base of every tool's arguments; unknown ones are ignored, and the model is told."""

    model_config = ConfigDict(frozen=True, extra="ignore")


Limit = Annotated[int, Field(ge=1), AfterValidator(partial(min, MAX_FOUND))]
"""How many are wanted; whoever wants more than there may be gets as many as there may be."""

A = TypeVar("A", bound=Arguments)


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
            outcome = self.run(self.arguments.model_validate(given))
        except InvalidArguments as error:
            return failure(f"{error} Call {self.name} again with short and valid JSON.")
        except ValidationError as error:
            return failure(f"{_complaint(error)} Call {self.name} again with arguments that fit its schema.")
        except ZkchatError as error:
            return failure(f"{_cut(error.message)} {error.hint}".strip())
        except Exception as error:  # noqa: BLE001 - whatever a model writes, the conversation goes on
            return failure(f"{self.name} cannot be run with these arguments ({type(error).__name__}). Try others.")
        found = tuple(each if each.via else each.model_copy(update={"via": self.name}) for each in outcome.references)
        outcome = replace(outcome, references=found)
        ignored = sorted(given.keys() - _names(self.arguments))
        return replace(outcome, text=f"{outcome.text}\n(Ignored: {_listed(ignored)}.)") if ignored else outcome


def schema_of(arguments: type[Arguments]) -> dict[str, Any]:
    """The JSON schema of the arguments, with nothing but what a model needs: it is sent with every request.

    In the order of Ollama's client, so that a definition is the same text for every server.
    """
    schema = arguments.model_json_schema()
    required = {"required": schema["required"]} if "required" in schema else {}
    properties = {name: _property_schema(property_) for name, property_ in schema["properties"].items()}
    return {"type": "object", **required, "properties": properties}


def _property_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    alternatives = [schema, *schema.get("anyOf", ())]
    type_ = next(each["type"] for each in alternatives if each.get("type", "null") != "null")
    return {"type": type_, **({"description": schema["description"]} if "description" in schema else {})}


class InvalidArguments(ValueError):
    """Why arguments are not read, as a sentence for the model."""


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


def failure(text: str) -> ToolOutcome:
    return ToolOutcome(text=text, summary="failed", failed=True)


def _complaint(error: ValidationError) -> str:
    return " ".join(
        f"{'.'.join(str(step) for step in item['loc']) or 'arguments'}: {_cut(item['msg'])}."
        for item in error.errors(include_input=False)[:MAX_QUOTED_NAMES]
    )


def _listed(names: Sequence[str]) -> str:
    """Some of the names that a model gave."""
    more = [f"and {len(names) - MAX_QUOTED_NAMES} more"] if len(names) > MAX_QUOTED_NAMES else []
    return ", ".join([*map(_cut, names[:MAX_QUOTED_NAMES]), *more])


def _cut(text: str) -> str:
    return shorten(text, MAX_QUOTED_CHARS)


def _names(arguments: type[Arguments]) -> set[str]:
    names = set(arguments.model_fields)
    for field in arguments.model_fields.values():
        if isinstance(field.validation_alias, AliasChoices):
            names.update(choice for choice in field.validation_alias.choices if isinstance(choice, str))
    return names


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
            return failure(f"There is no tool '{_cut(call.name)}'. There is: {', '.join(close) or 'none'}.")
        return await tool.call(call.arguments)
