"""The client of one session, as the thread of its conversation speaks to it."""

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from inspect import CORO_CREATED, getcoroutinestate
from typing import TYPE_CHECKING, Any, TypeVar

from acp import RequestError
from acp.schema import AllowedOutcome, RequestPermissionResponse

if TYPE_CHECKING:
    from acp.interfaces import Client
    from acp.schema import PermissionOption, ToolCallUpdate

    from zkchat.acp_agent.updates import Update

T = TypeVar("T")


class SessionClient:
    """Sends updates of a session and asks for permissions, over the connection on another event loop."""

    def __init__(self, connection: "Client", loop: asyncio.AbstractEventLoop, session_id: str) -> None:
        self._connection = connection
        self._loop = loop
        self.session_id = session_id
        self._asked: Future[RequestPermissionResponse] | None = None
        """The question that the thread of the conversation waits for."""

    async def update(self, *updates: "Update") -> None:
        """Send updates in order. A client that is gone needs none."""
        for update in updates:
            sending = self._connection.session_update(self.session_id, update)
            try:
                with suppress(ConnectionError, RuntimeError):
                    await asyncio.wrap_future(self._submit(sending))
            finally:
                if getcoroutinestate(sending) == CORO_CREATED:  # the connection's loop ended first
                    sending.close()

    def update_now(self, update: "Update") -> None:
        """Send an update from code that cannot wait for it."""
        with suppress(ConnectionError, RuntimeError):
            self._submit(self._connection.session_update(self.session_id, update))

    def ask(self, call: "ToolCallUpdate", options: "Sequence[PermissionOption]") -> str:
        """Ask the user, and block this thread until there is an answer: the id of an option, empty for none."""
        try:
            self._asked = self._submit(self._connection.request_permission(self.session_id, call, list(options)))
            outcome = self._asked.result().outcome
        except (CancelledError, ConnectionError, RuntimeError, RequestError):
            return ""
        finally:
            self._asked = None
        return outcome.option_id if isinstance(outcome, AllowedOutcome) else ""

    def stop_asking(self) -> None:
        """Have a question that is open answered by nothing. May be called from any thread."""
        if asked := self._asked:
            asked.cancel()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise
