"""Vector search: how near sections are to a question, and the vectors of questions."""

from collections.abc import Callable, Sequence
from math import inf
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

from zkchat.core import Embedder, ProviderError, TextKeptHere
from zkchat.index.note_index import SqliteVectors
from zkchat.notes import detect_language

if TYPE_CHECKING:
    from zkchat.index.search.method_vectors import (
        AlignedVectors,
        Mask,
        MethodVectors,
        Near,
        Scores,
        SectionDigests,
        Vector,
        Vectors,
    )
    from zkchat.index.search.ranking import Numbers


Answer = TypeVar("Answer")

QUERY_SECONDS = 1.0
"""How long a question waits for its vector from a server; then it is answered without."""
_PAUSE_SECONDS = 15.0
"""After a server did not answer in time, questions do not wait for it at all for so long."""
_LOADING_SECONDS = 5.0
"""How long it waits for a model in this process, which may have to be loaded: no server is away."""
_MAX_KEPT = 256


class Asked(Generic[Answer]):
    """What is asked in a thread that nobody has to wait for."""

    def __init__(self, name: str, ask: Callable[[], Answer]) -> None:
        self.answer: Answer | None = None
        self.error: Exception | None = None
        self.done = Event()
        Thread(target=self._run, args=(ask,), name=name, daemon=True).start()

    def _run(self, ask: Callable[[], Answer]) -> None:
        try:
            self.answer = ask()
        except Exception as error:  # noqa: BLE001 - told to whoever waits
            self.error = error
        finally:
            self.done.set()


class QueryVectors:
    """Every thread may use it. What arrives too late is there when the same is asked again."""

    def __init__(self, seconds: float = QUERY_SECONDS, clock: Callable[[], float] = monotonic) -> None:
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
            is_away = self._clock() < self._away_until.get(embedder.name, -inf)
            if kept is not None or is_away:
                return kept
        asked = Asked("zkchat-question", lambda: self._keep(embedder.name, question, embedder.embed_query(question)))
        asked.done.wait(self._patience(embedder))
        vector, error = asked.answer, asked.error
        if vector is None and not isinstance(error, TextKeptHere):
            with self._lock:
                if embedder.name not in self._away_until:
                    late = "It takes too long to answer."
                    self._problem = error.message if isinstance(error, ProviderError) else late
                self._away_until[embedder.name] = self._clock() + _PAUSE_SECONDS
        return vector

    def rows(self, embedder: Embedder, texts: Sequence[str]) -> "Vectors | None":
        """The vectors of texts; None where they are not there in time, or the texts may not be sent."""
        asked = Asked("zkchat-compare", lambda: embedder.embed(texts))
        asked.done.wait(self._patience(embedder))
        return asked.answer

    def _patience(self, embedder: Embedder) -> float:
        return max(_LOADING_SECONDS, self._seconds) if embedder.is_in_process else self._seconds

    def take_problem(self) -> str:
        with self._lock:
            problem, self._problem = self._problem, ""
            return problem

    def _keep(self, method: str, question: str, vector: "Vector") -> "Vector":
        with self._lock:
            self._away_until.pop(method, None)
            self._kept[method, question] = vector
            while len(self._kept) > _MAX_KEPT:
                del self._kept[next(iter(self._kept))]
        return vector


UNKNOWN_SIMILARITY = 0.3
"""What is assumed of a text and a question where nothing is known about the meaning of either."""


class VectorSearch:
    """Knows how near sections are to a question. Every thread may use it."""

    def __init__(
        self,
        vectors: SqliteVectors,
        embedder: Embedder,
        *,
        base: Embedder | None = None,
        former: Callable[[str], Embedder | None] = lambda _: None,
        query_seconds: float = QUERY_SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`embedder` is the one that is wanted; one that needs a server has a `base` beside it that needs none.

        `former` finds the embedder of a method whose vectors are there, None if there is none any more. A question
        waits `query_seconds` for its vector. The `clock` counts seconds.
        """
        self.index = vectors
        self.wanted = embedder
        self.base = base or embedder
        self._former = former
        self._queries = QueryVectors(query_seconds, clock)
        self.take_problem = self._queries.take_problem
        self._lock = Lock()
        self._digests: SectionDigests | None = None
        self._methods: dict[str, MethodVectors] = {}
        self._found_former: dict[str, Embedder | None] = {}

    def active(self) -> Embedder:
        """The one whose vectors are compared: the wanted one once all passages have its vectors, until then the former
        one, if it is still there."""
        if self.wanted is self.base or not self.wanted.needs_server:
            return self.wanted
        name = self.index.active()
        if name == self.wanted.name:
            return self.wanted
        if name not in self._found_former:
            self._found_former[name] = self._former(name) if name not in {"", self.base.name} else None
        return self._found_former[name] or self.base

    def reset(self) -> None:
        """The index is begun anew, and so are the numbers of its sections."""
        with self._lock:
            self._digests = None
            self._methods.clear()

    def similarities(self, question: str, sections: "Numbers", text: "Scores", allowed: "Mask") -> "Near | None":
        """Places of these sections, and how near each is, 1 for the nearest. All others are not near.

        Only sections that are `allowed` count, and where no `text` has anything in common with the question, only
        those that are near beyond doubt. Looked at are those that are likely to be near, and those with the best texts.
        A question that is no `OpenText` is sent to no server elsewhere.
        """
        active = self.active()
        asked = self._vector(active, question)
        vectors = self._aligned(active, sections)
        if active is self.base:
            return None if asked is None else vectors.similar(asked, text, allowed)
        base = self._aligned(self.base, sections)
        if asked is not None and len(asked) == vectors.dimensions:
            return vectors.similar_by_both(base, (asked, self.base.embed_query(question)), text, allowed)
        has_all = bool((base.places[allowed] >= 0).all())  # vectors, be they ones that say nothing
        return base.similar(self.base.embed_query(question), text, allowed) if has_all else None

    def nearest(self, question: str, sections: "Numbers", allowed: "Mask", count: int) -> "Near | None":
        """Places of the sections that are nearest by the vectors of a model, and their cosines, the nearest first.

        None where searches go by vectors that need no model, or the model does not know the question's language.
        """
        active = self.active()
        asked = None if active is self.base else self._vector(active, question)
        return None if asked is None else self._aligned(active, sections).nearest(asked, allowed, count)

    def likenesses(self, question: str, texts: Sequence[str]) -> list[float]:
        """How near each text is to the question by the vectors of a model: 1 for the same, 0 for what is as far away as
        passages are on average. None where there is no model, it takes too long, or it does not know their language."""
        active = self.active()
        is_possible = active is not self.base and texts and not _is_foreign(active, "\n".join(texts))
        asked = self._vector(active, question) if is_possible else None
        rows = None if asked is None else self._queries.rows(active, texts)
        if asked is None or rows is None:
            return []
        with self._lock:
            return self._method(active).likenesses(asked, rows)

    def _vector(self, embedder: Embedder, question: str) -> "Vector | None":
        """None where there is no vector in time, and of a question in a language that the model does not know."""
        return None if _is_foreign(embedder, question) else self._queries.vector(embedder, question)

    def compare(self, question: str, texts: Sequence[str]) -> list[float]:
        """The cosine of each text with the question, without what all share, by vectors that need no server."""
        learned = None
        if texts and not self.base.needs_server:
            with self._lock:
                if self.base.name in self._methods or self.active() is not self.base:
                    learned = self._method(self.base).learned()
        if learned is None or not learned.common.any():
            return [UNKNOWN_SIMILARITY] * len(texts)  # what all share would make them pass for near
        asked, *said = self.base.embed([question, *texts])
        return learned.compared(asked, said, UNKNOWN_SIMILARITY)

    def _aligned(self, embedder: Embedder, sections: "Numbers") -> "AlignedVectors":
        with self._lock:
            return self._method(embedder).aligned(sections)

    def _method(self, embedder: Embedder) -> "MethodVectors":
        from zkchat.index.search.method_vectors import MethodVectors, SectionDigests

        if embedder.name not in self._methods:
            self._digests = self._digests or SectionDigests(self.index)
            self._methods[embedder.name] = MethodVectors(self.index, self._digests, embedder.name, embedder.traits)
        return self._methods[embedder.name]


def _is_foreign(embedder: Embedder, text: str) -> bool:
    """Whether a text is in a language that the model does not know."""
    language = detect_language(text) if embedder.traits.languages else None
    return language is not None and language not in embedder.traits.languages
