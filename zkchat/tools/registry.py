"""Tools as models see them: a name, a schema, and a call that never raises on what a model writes."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Generic, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, ValidationError

from zkchat.errors import ZkchatError
from zkchat.model.message import ToolCallPart
from zkchat.model.prompt import ToolSpec
from zkchat.ports import Tool, ToolOutcome


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
            given = json.loads(arguments or "{}")
            outcome = self.run(self.arguments.model_validate(given))
        except (json.JSONDecodeError, RecursionError) as error:
            return failure(f"The arguments are not valid JSON ({error}). Call {self.name} again with valid JSON.")
        except ValidationError as error:
            return failure(f"{_complaint(error)} Call {self.name} again with arguments that fit its schema.")
        except ZkchatError as error:
            return failure(f"{error.message} {error.hint}".strip())
        ignored = sorted(given.keys() - _names(self.arguments))
        return replace(outcome, text=f"{outcome.text}\n(Ignored: {', '.join(ignored)}.)") if ignored else outcome


def failure(text: str) -> ToolOutcome:
    return ToolOutcome(text=text, summary="failed", failed=True)


def _complaint(error: ValidationError) -> str:
    return " ".join(
        f"{'.'.join(str(step) for step in item['loc']) or 'arguments'}: {item['msg']}." for item in error.errors()
    )


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
            close = get_close_matches(call.name, self._tools, n=1) or sorted(self._tools)
            return failure(f"There is no tool '{call.name}'. There is: {', '.join(close) or 'none'}.")
        return await tool.call(call.arguments)
