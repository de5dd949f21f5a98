"""Embedding in a thread of its own, which waits where the server is away, and ends with the library."""

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Final

from zkchat.errors import ProviderError, ZkchatError
from zkchat.vault.indexing.embedding_work import EmbeddingWork

if TYPE_CHECKING:
    from zkchat.vault.search.similarity import Vectors

_FIRST_PAUSE: Final = 2.0
_LONGEST_PAUSE: Final = 300.0
"""Seconds until a server that failed is asked again; twice as long each time."""
_POLL_SECONDS: Final = 0.05
_BUSY_PAUSE: Final = 10.0
"""Seconds until is looked whether another process has done the work."""


class BackgroundEmbedding:
    """Every thread may use it."""

    def __init__(
        self,
        work: EmbeddingWork,
        generation: Callable[[], int],
        repaired: "Callable[[Callable[[], int]], int]",
        clock: Callable[[], float] | None = None,
    ) -> None:
        """`repaired` repairs a damaged index. Without a clock, a pause begins anew whenever a note changes."""
        self._work = work
        self._generation = generation
        self._repaired = repaired
        self._clock = clock
        self._thread: Thread | None = None
        self._embedded: int | None = None
        """The generation of the index at which every section had its vectors."""
        self._with_base: int | None = None
        """The generation at which every section had a vector that needs no server."""
        self._closing = Event()
        self._wake = Event()
        self._lock = Lock()
        self._has_verified = False
        self.problem = ""
        """Why the server does not go on, as a sentence."""

    def start(self) -> None:
        """Go on, or begin, unless all passages of this generation have their vectors."""
        with self._lock:
            if self._thread and self._thread.is_alive():
                self._wake.set()
            elif not self._closing.is_set() and self._embedded != self._repaired(self._generation):
                self._thread = Thread(target=self._run, name="zkchat-vectors", daemon=True)
                self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._wake.set()
        if self._thread:
            self._thread.join()

    def _keep_on(self, _done: int) -> bool:
        return not self._closing.is_set()

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while not self._closing.is_set():
            try:
                generation = self._base()
                is_done = self._server()
            except ProviderError as error:
                self.problem = error.message
                with suppress(ZkchatError):
                    self._wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            except ZkchatError:
                return  # nobody waits for vectors: without them the words decide, and the next run goes on
            else:
                self.problem, pause = "", _FIRST_PAUSE
                if is_done:
                    self._embedded = generation
                    return
                self._wait(_BUSY_PAUSE)

    def _base(self) -> int:
        generation = self._repaired(self._generation)
        if not self._has_verified:
            self._work.verify()
            self._has_verified = True
        self._repaired(lambda: self._work.embed_base(self._keep_on))
        self._with_base = generation
        return generation

    def _server(self) -> bool:
        """Whether there is nothing left to do."""
        made = self._work.embed_by_server(self._keep_on, self._ask)
        return made is not None and made.is_complete

    def _ask(self, ask: "Callable[[], Vectors]") -> "Vectors":
        """Ask a server in a thread that nobody waits for when the library is closed."""
        asked = _Asked(ask)
        Thread(target=asked.run, name="zkchat-server", daemon=True).start()
        while not asked.done.wait(_POLL_SECONDS):
            if self._closing.is_set():
                raise ProviderError("The library was closed.")
        return asked.result()

    def _wait(self, seconds: float) -> None:
        """Meanwhile passages that changed get the vectors that need no server."""
        until = self._clock() + seconds if self._clock else None
        while not self._closing.is_set():
            self._wake.clear()
            left = until - self._clock() if until is not None and self._clock else seconds
            if left <= 0 or not self._wake.wait(left):
                return
            if not self._closing.is_set() and self._generation() != self._with_base:
                self._base()


class _Asked:
    """A request that runs in another thread."""

    def __init__(self, ask: "Callable[[], Vectors]") -> None:
        self._ask = ask
        self._answer: Vectors | None = None
        self._error: Exception | None = None
        self.done = Event()

    def run(self) -> None:
        try:
            self._answer = self._ask()
        except Exception as error:  # noqa: BLE001 - raised again in the thread that waits
            self._error = error
        finally:
            self.done.set()

    def result(self) -> "Vectors":
        if self._answer is None:
            raise self._error or ProviderError("The server gave no answer.")
        return self._answer
