"""Tools by name: how they are registered, called and offered to a model."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from functools import cached_property
from inspect import getdoc, signature
from typing import Any, Final, Generic

from msgspec import NODEFAULT, Struct, defstruct
from msgspec.structs import asdict, replace

from zkchat.chat.tools.arguments import A, Arguments, WrongValue, known_names, read_arguments, schema_of
from zkchat.core import Tool, ToolCallPart, ToolOutcome, ToolSpec, ZkchatError, shorten

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
"""Names of one call."""


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
            return failure(f"{error} Call {self.name} again with short and valid JSON.")
        except WrongValue as error:
            return failure(f"{cut(str(error))} Call {self.name} again with arguments that fit its schema.")
        except ZkchatError as error:
            return failure(f"{cut(error.message)} {error.hint}".strip())
        except Exception as error:  # noqa: BLE001 - whatever a model writes, the conversation goes on
            return failure(f"{self.name} cannot be run with these arguments ({type(error).__name__}). Try others.")
        found = tuple(each if each.via else replace(each, via=self.name) for each in outcome.references)
        outcome = replace(outcome, references=found)
        ignored = sorted(given.keys() - known_names(self.arguments))
        return replace(outcome, text=f"{outcome.text}\n(Ignored: {_listed(ignored)}.)") if ignored else outcome


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


def _listed(names: Sequence[str]) -> str:
    """Some of the names that a model gave."""
    more = [f"and {len(names) - MAX_QUOTED_NAMES} more"] if len(names) > MAX_QUOTED_NAMES else []
    return ", ".join([*map(cut, names[:MAX_QUOTED_NAMES]), *more])
