"""Vectors of questions: kept for the next time, and not waited for where the embedder's server is slow or away."""

from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from zkchat.errors import ProviderError, TextKeptHere
from zkchat.ports.embeddings import Embedder

if TYPE_CHECKING:
    from zkchat.vault.search.similarity import Vector

QUERY_SECONDS = 1.0
"""How long a question waits for its vector from a server; then it is answered without."""
_PAUSE_SECONDS = 15.0
"""After a server did not answer in time, questions do not wait for it at all for so long."""
_MAX_KEPT = 256


class QueryVectors:
    """Every thread may use it. What arrives too late is there when the same is asked again."""

    def __init__(self, seconds: float = QUERY_SECONDS, clock: Callable[[], float] | None = None) -> None:
        """Without a clock, every question waits for the server."""
        self._seconds = seconds
        self._clock = clock
        self._lock = Lock()
        self._kept: dict[tuple[str, str], Vector] = {}
        self._away_until: dict[str, float] = {}
        self._problem = ""

    def vector(self, embedder: Embedder, question: str) -> "Vector | None":
        """The vector of a question; None where its server does not give it in time, or may not be sent it."""
        if not embedder.needs_server:
            return embedder.embed_query(question)
        with self._lock:
            kept = self._kept.get((embedder.name, question))
            if kept is not None or self._is_away(embedder.name):
                return kept
        asked = _Asked(embedder, question, self._keep)
        Thread(target=asked.run, name="zkchat-question", daemon=True).start()
        asked.done.wait(self._seconds)
        if asked.vector is None and not asked.is_withheld:
            self._note_failure(embedder.name, asked.problem or "It takes too long to answer.")
        return asked.vector

    def take_problem(self) -> str:
        """Why a question got no vector, once."""
        with self._lock:
            problem, self._problem = self._problem, ""
            return problem

    def _is_away(self, method: str) -> bool:
        until = self._away_until.get(method)
        return until is not None and self._clock is not None and self._clock() < until

    def _note_failure(self, method: str, problem: str) -> None:
        with self._lock:
            if method not in self._away_until:
                self._problem = problem
            if self._clock:
                self._away_until[method] = self._clock() + _PAUSE_SECONDS

    def _keep(self, method: str, question: str, vector: "Vector") -> None:
        with self._lock:
            self._away_until.pop(method, None)
            self._kept[method, question] = vector
            while len(self._kept) > _MAX_KEPT:
                del self._kept[next(iter(self._kept))]


class _Asked:
    """A question that a server is asked for its vector, in a thread of its own."""

    def __init__(self, embedder: Embedder, question: str, keep: "Callable[[str, str, Vector], None]") -> None:
        self._embedder = embedder
        self._question = question
        self._keep = keep
        self.is_withheld = False
        self.vector: Vector | None = None
        self.problem = ""
        self.done = Event()

    def run(self) -> None:
        try:
            vector = self._embedder.embed_query(self._question)
            self._keep(self._embedder.name, self._question, vector)
            self.vector = vector
        except TextKeptHere:
            self.is_withheld = True
        except ProviderError as error:
            self.problem = error.message
        finally:
            self.done.set()
