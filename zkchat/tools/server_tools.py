"""The tools of the connected MCP servers as tools of a conversation. What arrives later joins at the next request."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from msgspec import Struct

from zkchat.errors import StorageError
from zkchat.model.prompt import ToolSpec
from zkchat.model.text import shorten
from zkchat.model.tool_server import ServerDefinition, ServerTool
from zkchat.ports.tool_servers import ToolServers
from zkchat.ports.tools import Tool, ToolOutcome
from zkchat.tools.registry import InvalidArguments, parse_arguments
from zkchat.tools.server_approval import CallPolicy, ServerCall, tool_name
from zkchat.tools.server_results import outcome_of
from zkchat.tools.toolbox import failure
from zkchat.vault.library import Library

MAX_DESCRIPTION: Final = 1_000
MAX_SCHEMA: Final = 8_000
"""Characters of a schema that is passed on; of a longer one only the names of its properties are."""
_MAX_PROPERTIES: Final = 50
WITHHELD: Final = "The result is withheld: it holds text of a note that stays on the user's machine."
_OFFERING: Final = frozenset({"ready", "lost"})
"""States in which it is known what a server offers; a call connects again to one that is lost."""


class RemoteTool(Struct, frozen=True, kw_only=True, dict=True):
    """One tool of a server. Implements `ports.tools.Tool`."""

    definition: ServerDefinition
    tool: ServerTool
    servers: ToolServers
    policy: CallPolicy
    library: Library

    @cached_property
    def spec(self) -> ToolSpec:
        server, tool = self.definition.name, self.tool
        return ToolSpec(
            name=tool_name(server, tool.name),
            description=shorten(tool.description or tool.name, MAX_DESCRIPTION),
            parameters=_bounded_schema(tool.parameters),
            server=server,
            own_name=tool.name,
        )

    async def call(self, arguments: str) -> ToolOutcome:
        name = self.spec.name
        try:
            given = parse_arguments(arguments)
        except InvalidArguments as error:
            return failure(f"{error} Call {name} again with short and valid JSON.")
        if not isinstance(given, dict):
            return failure(f"The arguments are no JSON object. Call {name} again with one.")
        try:
            refusal = self.policy.refusal(ServerCall(definition=self.definition, tool=self.tool, arguments=given))
        except StorageError:  # the index does not say which notes stay here
            return ToolOutcome(
                text="Not called: it is not known which notes stay here.", summary="refused", failed=True
            )
        if refusal:
            return ToolOutcome(text=refusal.text, summary="not called", failed=True, warning=refusal.warning)
        answer = await self.servers.call(self.definition.name, self.tool.name, given)
        if self._holds_what_is_withheld(answer.text):
            return ToolOutcome(text=WITHHELD, summary="withheld: it holds text of a local note", failed=True)
        return outcome_of(answer, self.definition.name, self.tool.name, self.library, name)

    def _holds_what_is_withheld(self, text: str) -> bool:
        """A server may read the files of the vault by itself; what a model may not see stays back all the same."""
        local = self.policy.local
        try:
            return local.are_withheld() and local.are_received_in(text)
        except StorageError:
            return True


class ServerTools(Struct, kw_only=True):
    """Makes the tools of the servers as they are connected now; called for each request."""

    servers: ToolServers
    policy: CallPolicy
    library: Library

    def __call__(self) -> Sequence[Tool]:
        return [
            RemoteTool(
                definition=status.definition, tool=tool, servers=self.servers, policy=self.policy, library=self.library
            )
            for status in self.servers.statuses()
            if status.state in _OFFERING
            for tool in status.tools
        ]


def _bounded_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as the server has it, `$ref`s left as they are; of a long one what is needed to write a call."""
    known = {"type": "object", "properties": {}} | dict(schema)
    known["type"] = "object"  # some models' servers refuse anything else
    if not isinstance(known.get("properties"), dict):
        known["properties"] = {}
    if len(json.dumps(known)) <= MAX_SCHEMA:
        return known
    names = [name for name in known["properties"] if isinstance(name, str)][:_MAX_PROPERTIES]
    required = [name for name in known.get("required", ()) if name in names]
    properties: dict[str, Any] = {shorten(name, 100): {} for name in names}
    return {"type": "object", **({"required": required} if required else {}), "properties": properties}
