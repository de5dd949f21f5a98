"""Which passages are embedded by which method: static vectors first, then those of a server, and what is left of old
ones is tidied up."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from zkchat.errors import ProviderError
from zkchat.model.embeddings import EmbeddingProgress
from zkchat.model.prompt import ModelInfo
from zkchat.ports.embeddings import Embedder
from zkchat.ports.note_files import NoteFiles
from zkchat.ports.note_index import NoteIndex
from zkchat.vault.indexing.embedding import (
    Call,
    Embedded,
    KeepOn,
    at_once,
    covers_all,
    embed_passages,
    fitting_rows,
)
from zkchat.vault.privacy.guard import PrivacyGuard
from zkchat.vault.search.vectors import VectorSearch

_MIN_GARBAGE: Final = 2_048
"""Vectors of passages that are gone stay, in case these come back: so many, or half as many as there are passages."""
_MAX_SMALL_BLOCKS: Final = 1_000
_MAX_FORMER_METHODS: Final = 2
"""Of models that are not wanted any more; to switch back to one of them costs nothing."""


class EmbeddingWork:
    """Embeds the passages of one vault. One thread at a time embeds; `progress` may be asked by any."""

    def __init__(
        self, search: VectorSearch, index: NoteIndex, files: NoteFiles, local_only: Sequence[str] = ()
    ) -> None:
        self._search = search
        self._vectors = search.index
        self._index = index
        self._guard = PrivacyGuard(files, index, local_only, _Place(search.wanted))
        self._former_guard = (files, index, local_only)
        self._counted: tuple[object, int, int] | None = None

    @property
    def needs_server(self) -> bool:
        return self._search.wanted.needs_server

    def embed_base(self, keep_on: KeepOn) -> int:
        """Make the vectors that need no server."""
        base = self._search.base
        if base.needs_server:
            return 0
        made = embed_passages(self._vectors, base, keep_on)
        if made.is_complete:
            self._finish(base, made)
        return made.done

    def embed_by_server(self, keep_on: KeepOn, call: Call = at_once) -> Embedded | None:
        """Make the vectors of the wanted method, and those of the one that is in use until they are complete.

        None where another process does. Raises `ProviderError`.
        """
        wanted, active = self._search.wanted, self._search.active()
        if not wanted.needs_server:
            return Embedded(0, is_complete=True)
        with self._vectors.claim(wanted.name) as is_ours:
            if not is_ours:
                return None
            if active.needs_server and active is not wanted:
                guard = PrivacyGuard(*self._former_guard, _Place(active))
                with suppress(ProviderError):  # it may be gone for good
                    embed_passages(self._vectors, active, keep_on, guard, call)
            made = embed_passages(self._vectors, wanted, keep_on, self._guard, call)
            if made.is_complete:
                self._finish(wanted, made)
            return made

    def verify(self) -> None:
        """Forget vectors whose bytes have changed on disk."""
        from zkchat.vault.search.section_rows import StoredDigests, each_digest

        for method in {self._search.base.name, self._search.wanted.name, self._search.active().name}:
            if not self._vectors.is_intact(method):
                stored = StoredDigests.of(self._vectors, method)
                self._vectors.retain(method, each_digest(stored.digests))

    def progress(self) -> EmbeddingProgress:
        """How far it has come, whichever process does it."""
        wanted = self._search.wanted
        current = (self._index.generation(), self._vectors.stamp(wanted.name), wanted.is_on_this_machine)
        if self._counted is None or self._counted[0] != current:
            self._counted = current, *self._count()
        _, done, total = self._counted
        return EmbeddingProgress(done=done, total=total, method=wanted.name, active_method=self._search.active().name)

    def _count(self) -> tuple[int, int]:
        """How many distinct passages that may be sent have a vector, and how many there are."""
        wanted = self._search.wanted
        kept = fitting_rows(self._vectors, wanted.name) if wanted.is_on_this_machine else None
        if kept and kept.sections == self._index.counts().sections and covers_all(self._vectors, kept):
            return kept.distinct, kept.distinct  # none of them is gone

        from zkchat.vault.indexing.vector_count import count_by_digests, count_by_rows

        counted = count_by_rows(self._index, self._vectors, wanted.name, kept) if kept else None
        if counted:
            return counted
        hidden: frozenset[str] = frozenset() if wanted.is_on_this_machine else self._guard.hidden()
        return count_by_digests(self._index, self._vectors, wanted.name, hidden)

    def _finish(self, embedder: Embedder, made: Embedded) -> None:
        """All passages have vectors: searches go by them, and what nobody needs any more goes."""
        if embedder is self._search.wanted and self._vectors.active() not in self._names_of_default():
            self._vectors.activate(embedder.name)
        if made.done:
            self._tidy(embedder.name)
        if embedder is self._search.wanted:
            self._forget_former_methods()

    def _names_of_default(self) -> set[str]:
        """What a vault that was never embedded by a server is known by, beside the method itself."""
        wanted = self._search.wanted
        return {wanted.name} if wanted.needs_server else {wanted.name, ""}

    def _tidy(self, method: str) -> None:
        """Forget most passages that are gone, once there are many, and join blocks, once there are many small ones."""
        from zkchat.vault.search.section_rows import SectionDigests, StoredDigests, each_digest

        stored, sections = StoredDigests.of(self._vectors, method), self._index.counts().sections
        has_small_blocks = len(stored.blocks) > max(_MAX_SMALL_BLOCKS, len(stored.digests) // 16)
        if len(stored.digests) - sections <= max(_MIN_GARBAGE, sections // 2) and not has_small_blocks:
            return  # most often, and then the passages need not be compared one by one
        passages = SectionDigests(self._vectors)
        passages.catch_up()
        live, kept = passages.distinct, each_digest(stored.digests)
        gone = [digest for digest in kept if digest not in live]
        most = max(_MIN_GARBAGE, len(live) // 2)
        if len(gone) > most:
            self._vectors.retain(method, {*kept} - {*gone[: len(gone) - most // 2]})
        elif has_small_blocks:
            self._vectors.retain(method, kept)

    def _forget_former_methods(self) -> None:
        needed = {self._search.wanted.name, self._search.base.name, self._vectors.active()}
        for method in [each for each in self._vectors.methods() if each not in needed][_MAX_FORMER_METHODS:]:
            self._vectors.remove(method)


class _Place:
    """Where an embedder runs, as a guard asks for it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(provider="", id="", on_this_machine=self._embedder.is_on_this_machine)
