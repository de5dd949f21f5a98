"""Requests with a JSON reply, from any thread: bounded in time and size, and cancellable."""

import asyncio
import threading
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from functools import cache
from typing import Any

from msgspec.structs import replace

from zkchat.errors import ProviderError
from zkchat.providers.errors import BadReply, Endpoint, Failure, map_error
from zkchat.providers.transport import json_of, open_client
from zkchat.subprocesses import DaemonThreads


class RequestFailed(Exception):
    """A request had no usable reply."""

    def __init__(self, failure: Failure, status: int = 0, said: str = "") -> None:
        super().__init__(failure.text)
        self.failure = failure
        self.status = status
        """Of the reply; 0 if there was none."""
        self.said = said
        """What the server said, for decisions; `failure` has it for the user."""


class JsonRequests:
    """Asks one server. Every thread may use it, and `cancel` ends what the others wait for."""

    def __init__(self, endpoint: Endpoint, *, connect_timeout: float, max_bytes: int) -> None:
        self._endpoint = endpoint
        self._connect_timeout = connect_timeout
        self._max_bytes = max_bytes
        self._under_way: set[Future[Any]] = set()
        self._is_cancelled = False

    def ask(self, url: str, body: Mapping[str, object] | None, seconds: float) -> Any:
        """The reply as JSON, after at most so many seconds; a body is posted. Raises `RequestFailed`."""
        name = self._endpoint.name
        future = asyncio.run_coroutine_threadsafe(self._reply(url, body, seconds), _loop())
        self._under_way.add(future)
        try:
            if self._is_cancelled:
                future.cancel()
            return future.result()
        except CancelledError:
            failed = RequestFailed(Failure(text=f"{name} is not asked any more.", hint=""))
        except TimeoutError:
            hint = "It may be busy, or still loading the model."
            text = f"{name} did not answer within {seconds:g} seconds."
            failed = RequestFailed(Failure(text=text, hint=hint, transient=True))
        except BadReply as reply:
            failed = RequestFailed(map_error(reply, self._endpoint), reply.status, reply.text)
        except ProviderError as error:
            failed = RequestFailed(Failure(text=error.message, hint=error.hint))
        except Exception as error:  # noqa: BLE001  # the library raises anything on what a server sends
            failure = map_error(error, self._endpoint)
            is_away = type(error).__name__ == "ConnectError"  # then it is of no use to ask again
            failed = RequestFailed(replace(failure, transient=failure.transient and not is_away))
        finally:
            self._under_way.discard(future)
        raise failed

    async def _reply(self, url: str, body: Mapping[str, object] | None, seconds: float) -> Any:
        client = open_client(url, self._endpoint, self._connect_timeout)
        async with asyncio.timeout(seconds), client:
            return await json_of(client, "GET" if body is None else "POST", url, body, max_bytes=self._max_bytes)

    def cancel(self) -> None:
        """End the requests under way, and refuse any other."""
        self._is_cancelled = True
        for future in [*self._under_way]:
            future.cancel()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The event loop of all these requests, on a thread of its own that ends with the process."""
    loop = asyncio.new_event_loop()
    loop.set_default_executor(DaemonThreads())
    threading.Thread(target=loop.run_forever, name="json-requests", daemon=True).start()
    return loop
