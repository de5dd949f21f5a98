"""Tools as models see them: a name, a schema, and a call that never raises on what a model writes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Generic, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, ValidationError

from zkchat.errors import ZkchatError
from zkchat.model.message import ToolCallPart
from zkchat.model.prompt import ToolSpec
from zkchat.ports import Tool, ToolOutcome
from zkchat.tools.arguments import Unreadable, read

LONGEST_QUOTE = 500
"""Characters of what a model wrote that are repeated to it."""
MOST_QUOTED = 5
"""Names, or complaints, of one call."""


class Arguments(BaseModel):
    """Base of every tool's arguments; unknown ones are ignored, and the model is told."""

    model_config = ConfigDict(frozen=True, extra="ignore")


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True)
class FunctionTool(Generic[A]):
    """A plain function over validated arguments, as a tool."""

    name: str
    description: str
    arguments: type[A]
    run: Callable[[A], ToolOutcome]

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description=self.description, parameters=self.arguments.model_json_schema())

    async def call(self, arguments: str) -> ToolOutcome:
        try:
            given = read(arguments)
            outcome = self.run(self.arguments.model_validate(given))
        except Unreadable as error:
            return failure(f"{error} Call {self.name} again with short and valid JSON.")
        except ValidationError as error:
            return failure(f"{_complaint(error)} Call {self.name} again with arguments that fit its schema.")
        except ZkchatError as error:
            return failure(f"{_cut(error.message)} {error.hint}".strip())
        except Exception as error:  # noqa: BLE001 - whatever a model writes, the conversation goes on
            return failure(f"{self.name} cannot be run with these arguments ({type(error).__name__}). Try others.")
        ignored = sorted(given.keys() - _names(self.arguments))
        return replace(outcome, text=f"{outcome.text}\n(Ignored: {_listed(ignored)}.)") if ignored else outcome


def failure(text: str) -> ToolOutcome:
    return ToolOutcome(text=text, summary="failed", failed=True)


def _complaint(error: ValidationError) -> str:
    return " ".join(
        f"{'.'.join(str(step) for step in item['loc']) or 'arguments'}: {_cut(item['msg'])}."
        for item in error.errors(include_input=False)[:MOST_QUOTED]
    )


def _listed(names: Sequence[str]) -> str:
    """Some of the names that a model gave."""
    more = [f"and {len(names) - MOST_QUOTED} more"] if len(names) > MOST_QUOTED else []
    return ", ".join([*map(_cut, names[:MOST_QUOTED]), *more])


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def _names(arguments: type[Arguments]) -> set[str]:
    names = set(arguments.model_fields)
    for field in arguments.model_fields.values():
        if isinstance(field.validation_alias, AliasChoices):
            names.update(choice for choice in field.validation_alias.choices if isinstance(choice, str))
    return names


class Toolbox:
    """The tools of one conversation, by name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        described = [(tool.spec, tool) for tool in tools]
        self._tools = {spec.name: tool for spec, tool in described}
        self.specs: tuple[ToolSpec, ...] = tuple(spec for spec, _ in described)

    async def call(self, call: ToolCallPart) -> ToolOutcome:
        tool = self._tools.get(call.name)
        if tool is None:
            close = get_close_matches(call.name[:LONGEST_QUOTE], self._tools, n=1) or sorted(self._tools)
            return failure(f"There is no tool '{_cut(call.name)}'. There is: {', '.join(close) or 'none'}.")
        return await tool.call(call.arguments)
