"""Vectors of a server on the command line: made with a progress bar, reported, and shown in the bar of a chat."""

from collections.abc import Callable
from threading import Event, Thread
from typing import Final

from zkchat.cli.common import CommandIO
from zkchat.cli.progress import progress
from zkchat.errors import ProviderError, ZkchatError
from zkchat.model.embeddings import EmbeddingProgress
from zkchat.render.vector_progress import method_label, vector_progress
from zkchat.vault.library import Library

_POLL_SECONDS: Final = 1.0
_IDLE_POLLS: Final = 3
"""So many times as long it takes until the next look when nothing is under way."""


def embed_by_server(io: CommandIO, library: Library) -> EmbeddingProgress | None:
    """Make the vectors of the wanted model, and return how far that came. A server that fails is reported.

    Whoever interrupts it loses nothing: the next run goes on from there.
    """
    before = library.embedding_progress()
    if before is None or ":" not in before.method:
        return before
    try:
        with progress(io.environment, f"Embedding with {method_label(before.method)}") as step:
            library.embed_by_server(lambda done: step(min(before.done + done, before.total), before.total) is None)
    except ProviderError as error:
        io.note_wrapped(f"{error.message} {error.hint or ''}".strip())
    except KeyboardInterrupt:
        if now := library.embedding_progress():
            io.note(f"{now.done:,} of {now.total:,} vectors are there; the next run goes on from there.")
        raise
    return library.embedding_progress()


def tell_of_vectors(io: CommandIO, library: Library) -> None:
    """Say once that a server gives no vectors, so that searches go without them."""
    if notice := library.embedding_notice():
        io.note_wrapped(notice)


def vectors_record(found: EmbeddingProgress | None) -> dict[str, object] | None:
    """For programs."""
    if found is None:
        return None
    return {
        "method": found.method,
        "done": found.done,
        "total": found.total,
        "in_use": found.active_method,
        "problem": found.problem,
    }


class VectorActivity:
    """What the bar of a chat says of the vectors; a thread looks once a second, and less often when all are there."""

    def __init__(self, library: Library, changed: Callable[[], None], *, poll_seconds: float = _POLL_SECONDS) -> None:
        self.text = ""
        self._library = library
        self._changed = changed
        self._poll_seconds = poll_seconds
        self._closing = Event()
        self._has_looked = False
        self._thread = Thread(target=self._watch, name="zkchat-vector-progress", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        while not self._closing.wait(self._poll_seconds * (1 if self.text or not self._has_looked else _IDLE_POLLS)):
            self._has_looked = True
            try:
                text = vector_progress(self._library.embedding_progress())
            except ZkchatError:
                return  # the index is being built anew, or gone
            if text != self.text:
                self.text = text
                self._changed()
