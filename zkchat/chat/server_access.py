"""The MCP servers of a conversation: their tools, waited for where a turn needs them, and named resources."""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct, field

from zkchat.chat.privacy import ConversationLocalTexts, ConversationPrivacy
from zkchat.model.events import Warned
from zkchat.model.patterns import lazy_pattern
from zkchat.model.profile import Agent
from zkchat.model.text import counted
from zkchat.model.tool_server import ServerStatus
from zkchat.ports.tool_servers import ToolServers
from zkchat.ports.tools import Tool
from zkchat.tools.server_approval import CallApprovals, CallPolicy, CallReviewer
from zkchat.vault.library import GuardedLibrary
from zkchat.vault.notes import wikilink

MAX_RESOURCES: Final = 10
"""That one message may name."""
MAX_RESOURCE: Final = 200_000
"""Characters of a resource; what the request has room for is less most of the time."""
WAIT_SECONDS: Final = 12.0
"""For connecting, where an answer waits for it: the client's own limit, and the loading of its SDK."""
_POLL_SECONDS: Final = 0.05
_OPEN: Final = frozenset({"waiting", "connecting"})
_PUNCTUATION: Final = ".,;:!?)]}'”’»…"
_NAME: Final = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}"
_MENTION: Final = lazy_pattern(rf"""(?<![^\s("'“„‘«])@(?:"({_NAME}):([^"\n]+)"|({_NAME}):([^\s"]+))""")


class Resource(Struct, frozen=True, kw_only=True):
    """What a message names as `@server:uri`, read."""

    server: str
    uri: str
    text: str


class ServerAccess(Struct, frozen=True, kw_only=True):
    """What a turn asks of the servers."""

    servers: ToolServers
    waits: bool = False
    """Whether an answer waits until the servers that it needs are connected, or have failed."""
    wait_seconds: float = WAIT_SECONDS
    approvals: CallApprovals | None = None
    """The user's approvals of tools; None where no tool is called."""
    reviewer: CallReviewer | None = None
    """Who is asked about a call; None where nobody can be asked."""
    allowed: Sequence[str] = ()
    """Servers and tools that the settings allow unasked, as they are now."""
    _reported: set[str] = field(default_factory=set)
    """Servers that the user was told of."""

    def tools(self, privacy: ConversationPrivacy, library: GuardedLibrary) -> Callable[[], Sequence[Tool]]:
        """Makes the tools of the servers, for a model that may see this."""
        from zkchat.tools.server_tools import ServerTools

        assert self.approvals is not None
        local = ConversationLocalTexts(privacy=privacy, library=library)
        policy = CallPolicy(approvals=self.approvals, local=local, reviewer=self.reviewer, allowed=self.allowed)
        return ServerTools(servers=self.servers, policy=policy, library=library)

    def is_resource(self, mention: str) -> bool:
        """Whether a word with an `@` names a resource of a server that there is."""
        found = _MENTION.match(mention)
        return found is not None and (found[1] or found[3]) in self._names()

    def has(self, server: str) -> bool:
        return server in self._names()

    async def connected(self, server: str) -> ServerStatus:
        """A server that there is, once it is connected, has failed, or has taken too long."""
        self.servers.start()
        await self._wait_while(lambda: self._status(server).state in _OPEN)
        return self._status(server)

    def _status(self, server: str) -> ServerStatus:
        return next(status for status in self.servers.statuses() if status.name == server)

    async def _wait_while(self, is_open: Callable[[], bool]) -> None:
        left = self.wait_seconds
        while left > 0 and is_open():
            await asyncio.sleep(_POLL_SECONDS)
            left -= _POLL_SECONDS

    def mentions(self) -> Iterator[tuple[str, str]]:
        """How a message names each resource that servers list, and what that is called."""
        for status in self.servers.statuses():
            for each in status.resources:
                mention = f"{status.name}:{each.uri}"
                yield f'@"{mention}"' if re.search(r"\s", mention) else f"@{mention}", each.name or each.description

    async def settle(self, agent: Agent) -> list[Warned]:
        """Wait where that is wanted, and tell of each server once that the agent needs and that cannot be used."""
        self.servers.start()
        if self.waits:
            await self._wait_while(lambda: any(map(self._is_awaited, self._needed(agent))))
        return [*self._problems(agent)]

    def _is_awaited(self, status: ServerStatus) -> bool:
        """Whether it may still be connected; nobody waits a second time for one that took too long."""
        return status.state in _OPEN and status.name not in self._reported

    async def resources(self, text: str) -> tuple[list[Resource], list[Warned]]:
        """The resources that a message names, and what is wrong with the others."""
        read: list[Resource] = []
        warnings: list[Warned] = []
        for server, uri in self._named(text):
            answer = await self.servers.read(server, uri)
            if answer.failed:
                warnings.append(Warned(text=f"@{server}:{uri} is left out. {answer.text}", hint=answer.hint))
            else:
                read.append(Resource(server=server, uri=uri, text=_bounded(answer.text)))
        return read, warnings

    def _named(self, text: str) -> list[tuple[str, str]]:
        """Server and URI of each mention outside code, each once."""
        names = self._names()
        known = {(status.name, each.uri) for status in self.servers.statuses() for each in status.resources}
        found: dict[tuple[str, str], None] = {}
        for mention in _MENTION.finditer(wikilink.prose_of(text).rest) if names else ():
            server, uri = (mention[1], mention[2]) if mention[1] else (mention[3], mention[4])
            if server in names and (uri := _uri(server, uri, known, is_quoted=bool(mention[1]))):
                found[server, uri] = None
        return [*found][:MAX_RESOURCES]

    def _names(self) -> set[str]:
        return {status.name for status in self.servers.statuses() if status.state != "disabled"}

    def _needed(self, agent: Agent) -> list[ServerStatus]:
        return [status for status in self.servers.statuses() if is_needed(agent, status)]

    def _problems(self, agent: Agent) -> Iterator[Warned]:
        for status in self._needed(agent):
            if status.name in self._reported or status.state == "ready":
                continue
            if status.state in {"failed", "lost"}:
                text = status.problem or f"The MCP server {status.name} is not connected any more."
                self._reported.add(status.name)
                yield Warned(text=text, hint=f"More about it: zkchat mcp check {status.name}")
            elif self.waits:
                self._reported.add(status.name)
                yield Warned(text=f"The MCP server {status.name} is not connected yet: its tools are left out.")


def is_needed(agent: Agent, status: ServerStatus) -> bool:
    """Whether the agent's requests may hold a tool of the server without the user's word."""
    own = (mode for name, mode in agent.tools.items() if name.startswith(f"{status.name}/"))
    return status.state != "disabled" and any(mode != "manual" for mode in (agent.tool_mode("", status.name), *own))


def _uri(server: str, written: str, known: set[tuple[str, str]], *, is_quoted: bool) -> str:
    """The URI, without the punctuation after it unless the server has one that ends so."""
    if is_quoted or (server, written) in known:
        return written
    return written.rstrip(_PUNCTUATION)


def _bounded(text: str) -> str:
    if len(text) <= MAX_RESOURCE:
        return text
    return f"{text[:MAX_RESOURCE]}\n(Cut here: {counted(len(text) - MAX_RESOURCE, 'more character')}.)"
