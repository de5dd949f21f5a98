"""The MCP servers of a chat, on a thread and event loop of their own, so that none of them can delay the chat."""

import asyncio
import hashlib
import logging
import re
import threading
import time
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec.structs import replace

from zkchat.core import ServerAnswer, ServerDefinition, ServerStatus, install_command
from zkchat.subprocesses import DaemonThreads

if TYPE_CHECKING:
    from zkchat.models.mcp_connection import Connection


CONNECT_SECONDS: Final = 10.0
"""For starting a server, the first words with it and its lists."""

_CLOSE_SECONDS: Final = 5.0
"""After which `close` kills what is left of the servers."""

_SECONDS_FOR_CALLS: Final = 1.0
"""For calls to learn that their connection ended."""

_SLACK_SECONDS: Final = 30.0
"""For connecting again and for a call that is given up, before the chat stops waiting for our own thread."""

_POLL_SECONDS: Final = 0.02

_LOGGERS: Final = ("mcp", "client", "httpx2", "httpcore2", "anyio")
"""Of the SDK: what they warn of is said by us, in a sentence; on the terminal it would be noise."""
_SILENT: Final = logging.NullHandler()

T = TypeVar("T")


class McpServers:
    """Implements `ToolServers`. Loads the SDK on its thread, and only once it is started."""

    def __init__(
        self,
        definitions: Iterable[ServerDefinition],
        log_folder: Path,
        *,
        variables: Mapping[str, str],
        expand: Callable[[ServerDefinition], ServerDefinition] = lambda definition: definition,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        """`variables`: those of our process; a server's gets few of them. `expand`: fills in the variables that a
        definition names, as late as possible; a `ZkchatError` that it raises is why the server cannot be used."""
        self._definitions = sorted(definitions, key=lambda definition: definition.name)
        self._log_folder = log_folder
        self._variables = variables
        self._expand = expand
        self._connect_seconds = connect_seconds
        self._connections: dict[str, Connection] = {}
        self._problem = ""
        """Why none of them can be used."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._is_running = threading.Event()
        self._ending = asyncio.Event()
        self._lock = threading.Lock()
        self._is_closed = False

    def start(self) -> None:
        if self._thread is None and not self._is_closed and any(one.is_enabled for one in self._definitions):
            self._thread = threading.Thread(target=self._run, name="mcp-servers", daemon=True)
            self._thread.start()

    def statuses(self) -> tuple[ServerStatus, ...]:
        return tuple(self._status(definition) for definition in self._definitions)

    def _status(self, definition: ServerDefinition) -> ServerStatus:
        if not definition.is_enabled:
            return ServerStatus(definition=definition, state="disabled")
        if self._problem:
            return ServerStatus(definition=definition, state="failed", problem=self._problem)
        connection = self._connections.get(definition.name)
        return connection.status if connection else ServerStatus(definition=definition)

    def wait(self, seconds: float) -> bool:
        """Wait until each has been connected or has failed; False where that took longer."""
        end = time.monotonic() + seconds
        self.start()
        if self._thread is None or not self._is_running.wait(seconds):
            return self._thread is None
        if self._loop is None:
            return True
        try:
            self._submit(self._connect_all()).result(max(0.0, end - time.monotonic()))
        except (FutureTimeout, RuntimeError):
            return False
        return True

    async def call(self, server: str, tool: str, arguments: Mapping[str, object]) -> ServerAnswer:
        return await self._ask(server, lambda connection: connection.call_tool(tool, arguments))

    async def read(self, server: str, uri: str) -> ServerAnswer:
        return await self._ask(server, lambda connection: connection.read_resource(uri))

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> ServerAnswer:
        return await self._ask(server, lambda connection: connection.get_prompt(name, arguments))

    async def _ask(self, server: str, ask: "Callable[[Connection], Coroutine[Any, Any, ServerAnswer]]") -> ServerAnswer:
        """What a server answers, or a sentence; waits on the loop of the caller for what is done on ours."""
        definition = next((one for one in self._definitions if one.name == server and one.is_enabled), None)
        if definition is None:
            return _failure(f"There is no MCP server {server}.")
        self.start()
        while not self._is_running.is_set() and not self._is_closed:
            await asyncio.sleep(_POLL_SECONDS)
        if self._problem or self._is_closed:
            return _failure(self._problem or f"The MCP server {server} is no longer connected.")

        try:
            future = asyncio.wrap_future(self._submit(ask(self._connections[server])))
            return await asyncio.wait_for(future, definition.call_seconds + _SLACK_SECONDS)
        except (TimeoutError, RuntimeError):
            return _failure(f"The MCP server {server} did not answer.")

    def withdraw(self, names: Collection[str]) -> None:
        """Have done with these: nothing of theirs is offered or called any more, and their connections end."""
        self._definitions = [replace(one, is_enabled=False) if one.name in names else one for one in self._definitions]
        for name in names:
            if connection := self._connections.get(name):
                with suppress(RuntimeError):  # all of them have ended
                    self._submit(connection.close())

    def close(self) -> None:
        """End all connections and processes; takes a few seconds at most."""
        with self._lock:
            self._is_closed, loop = True, self._loop
        if self._thread is None or loop is None:  # a thread that is still loading the SDK will start nothing
            return
        with suppress(RuntimeError):  # it has ended
            loop.call_soon_threadsafe(self._ending.set)
        self._thread.join(_CLOSE_SECONDS)
        if self._thread.is_alive():
            for connection in self._connections.values():
                connection.kill()

    def _run(self) -> None:
        """The thread."""
        try:
            from zkchat.models.mcp_connection import Connection
        except ImportError:
            self._problem = (
                f"MCP servers need the package `mcp`, which is not installed. Install it: {install_command('mcp')}"
            )
            self._is_running.set()
            return
        for name in _LOGGERS:  # handlers that somebody installs still get their records
            logging.getLogger(name).addHandler(_SILENT)
        loop = asyncio.new_event_loop()
        loop.set_default_executor(DaemonThreads())
        loop.set_exception_handler(lambda _loop, _context: None)
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(self._serve(Connection))
        finally:
            self._is_running.set()
            loop.close()

    async def _serve(self, connection: "type[Connection]") -> None:
        ending = asyncio.Event()
        with self._lock:
            if self._is_closed:
                return
            self._loop, self._ending = asyncio.get_running_loop(), ending
            self._connections = {
                one.name: connection(
                    one, self._log_folder / log_name(one.name), self._variables, self._expand, self._connect_seconds
                )
                for one in self._definitions
                if one.is_enabled
            }
        self._is_running.set()
        connecting = asyncio.create_task(self._connect_all())
        await ending.wait()
        await asyncio.gather(*(one.close() for one in self._connections.values()), return_exceptions=True)
        await asyncio.wait([connecting])
        if calls := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(calls, timeout=_SECONDS_FOR_CALLS)

    async def _connect_all(self) -> None:
        """Wait for the first attempt of each."""
        pending = [one.connect() for one in self._connections.values() if one.status.state in ("waiting", "connecting")]
        await asyncio.gather(*pending, return_exceptions=True)

    def _submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        assert self._loop is not None
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:  # the loop has ended
            work.close()
            raise


def log_name(server: str) -> str:
    """The name of a server's log: safe as that of a file, and different for different servers."""
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", server).lstrip(".")[:60]
    return f"{safe}.log" if safe == server else f"{safe}-{hashlib.sha256(server.encode()).hexdigest()[:8]}.log"


def _failure(sentence: str) -> ServerAnswer:
    return ServerAnswer(text=sentence, failed=True)
