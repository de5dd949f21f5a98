"""The tools of a conversation, by name, and what a model is told where a call fails."""

from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Final

from zkchat.model.parts import ToolCallPart
from zkchat.model.prompt import ToolSpec
from zkchat.model.text import shorten
from zkchat.ports.tools import Tool, ToolOutcome

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
