"""Embedding: which passages are embedded by which method, batch by batch, so that a stop loses one batch."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zkchat.core import (
    NOTHING_KNOWN,
    Embedder,
    EmbeddingProgress,
    ModelInfo,
    NoteFiles,
    NoteFilter,
    OpenText,
    ProviderError,
    TextRefused,
    VectorPosition,
    embedded_text,
)
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.search.vectors import VectorSearch
from zkchat.notes import PrivacyGuard

if TYPE_CHECKING:
    from zkchat.index.search.method_vectors import Vectors


KeepOn = Callable[[int], bool]
"""Whether to go on, told how many passages have got a vector so far."""
Call = Callable[[Callable[[], "Vectors"]], "Vectors"]
"""How a server is asked."""

_MAX_PASSES = 4
"""How often is looked for passages that came meanwhile."""


class Embedded(Struct, frozen=True):
    done: int
    is_complete: bool
    """Whether every passage that may be sent has a vector now."""


def at_once(ask: Callable[[], "Vectors"]) -> "Vectors":
    return ask()


class _Embedding:
    """Gives vectors to passages that have none. What was done is kept, whatever comes."""

    def __init__(
        self, index: SqliteNoteIndex, embedder: Embedder, guard: PrivacyGuard | None = None, call: Call = at_once
    ) -> None:
        """The `guard` of a server knows which notes it may be sent."""
        self._index = index
        self._embedder = embedder
        self._guard = guard
        self._call = call
        self._known: VectorPosition = NOTHING_KNOWN
        self._added: set[bytes] = set()
        self._left_out: set[bytes] = set()
        """Of notes that may not be sent; the same text may stand in another one."""

    def run(self, keep_on: KeepOn) -> Embedded:
        """Raises `ProviderError` and `StorageError`."""
        done = 0
        for _ in range(_MAX_PASSES):
            missing = [each for each in self._missing() if each[1] not in self._left_out]
            if not missing:
                return Embedded(done, is_complete=True)
            for start in range(0, len(missing), self._embedder.batch_size):
                if not keep_on(done):
                    return Embedded(done, is_complete=False)
                done += self._embed(missing[start : start + self._embedder.batch_size])
        return Embedded(done, is_complete=False)

    def _missing(self) -> list[tuple[int, bytes]]:
        """Number and digest of each section that has no vector, in order."""
        from zkchat.index.search.method_vectors import SectionDigests, each_digest, find_digests, stored_digests

        stored, self._known = stored_digests(self._index.vectors, self._embedder.name)
        self._added = set()
        sections = SectionDigests(self._index.vectors)
        sections.catch_up()
        is_missing = find_digests(stored, sections.digests) < 0
        return [*zip(sections.numbers[is_missing].tolist(), each_digest(sections.digests[is_missing]), strict=True)]

    def _embed(self, missing: Sequence[tuple[int, bytes]]) -> int:
        """How many of these sections have got vectors: not those that are gone meanwhile, or may not be sent."""
        from zkchat.index.search.method_vectors import packed, signs

        first = {digest: number for number, digest in reversed(missing) if digest not in self._added}
        digest_of = {number: digest for digest, number in first.items()}
        sections = self._index.sections(sorted(digest_of))
        paths = [*dict.fromkeys(section.path for section in sections)]
        may_go = {*(self._guard.confirm(paths) if self._guard else paths)}
        is_open = {*(self._guard.open_among(paths) if self._guard else ())}
        texts: dict[bytes, str] = {}
        for each in sections:
            text, digest = embedded_text(each.title, each.text), digest_of[each.id]
            if each.path in may_go:
                texts[digest] = OpenText(text) if each.path in is_open else text
            else:
                self._left_out.add(digest)
        if texts:
            vectors, digests = self._embedded([*texts.values()]), [*texts]
            name = self._embedder.name
            added = self._index.vectors.add(name, digests, signs(vectors).tobytes(), packed(vectors), self._known)
            self._known = added.position
            self._added |= added.by_others.union(digests)
        return len(texts)

    def _embedded(self, texts: Sequence[str]) -> "Vectors":
        """A row for each; of a text that the model refuses, 0."""
        import numpy as np

        embedder = self._embedder
        try:
            vectors = self._call(lambda: embedder.embed(texts))
        except TextRefused:
            if len(texts) == 1:
                return np.zeros((1, embedder.dimensions), dtype=np.float32)
            half = len(texts) // 2
            return np.concatenate([self._embedded(texts[:half]), self._embedded(texts[half:])])
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
            raise ProviderError(f"{embedder.name} did not process all of {len(texts)} passages.")
        return np.nan_to_num(vectors.astype(np.float32, copy=False), posinf=0, neginf=0)


_MIN_GARBAGE: Final = 2_048
"""Vectors of passages that are gone stay, in case these come back: so many, or half as many as there are passages."""
_MAX_FORMER_METHODS: Final = 2
"""Of models that are not wanted any more; to switch back to one of them costs nothing."""


class EmbeddingWork:
    """Embeds the passages of one vault. One thread at a time embeds; `progress` may be asked by any."""

    def __init__(
        self, search: VectorSearch, index: SqliteNoteIndex, files: NoteFiles, local_only: Sequence[str] = ()
    ) -> None:
        self._search = search
        self._vectors = search.index
        self._index = index
        self._guard = PrivacyGuard(files, index, local_only, _Place(search.wanted))
        self._former_guard = (files, index, local_only)
        self._counted: tuple[object, int, int] | None = None

    @property
    def is_in_process(self) -> bool:
        return self._search.wanted.is_in_process

    def embed_base(self, keep_on: KeepOn) -> int:
        base = self._search.base
        if base.needs_server:
            return 0
        made = _Embedding(self._index, base).run(keep_on)
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
                    _Embedding(self._index, active, guard, call).run(keep_on)
            made = _Embedding(self._index, wanted, self._guard, call).run(keep_on)
            if made.is_complete:
                self._finish(wanted, made)
            return made

    def progress(self) -> EmbeddingProgress:
        wanted = self._search.wanted
        current = (self._index.generation(), self._vectors.stamp(wanted.name), wanted.is_on_this_machine)
        if self._counted is None or self._counted[0] != current:
            self._counted = current, *self._count()
        _, done, total = self._counted
        return EmbeddingProgress(done=done, total=total, method=wanted.name, active_method=self._search.active().name)

    def _count(self) -> tuple[int, int]:
        """How many distinct passages that may be sent have a vector, and how many there are."""
        import numpy as np

        from zkchat.index.search.method_vectors import SectionDigests, find_digests, stored_digests

        wanted = self._search.wanted
        passages = SectionDigests(self._vectors)
        passages.catch_up()
        may_go = np.ones(len(passages.numbers), dtype=np.bool_)
        hidden: frozenset[str] = frozenset() if wanted.is_on_this_machine else self._guard.hidden()
        for first, count in self._index.section_ranges(NoteFilter(within=hidden)) if hidden else ():
            may_go[np.searchsorted(passages.numbers, first) : np.searchsorted(passages.numbers, first + count)] = 0
        digests = passages.digests[may_go]
        distinct = digests[np.unique(digests[:, 0], return_index=True)[1]]  # half of a digest tells passages apart
        places = find_digests(stored_digests(self._vectors, wanted.name)[0], distinct)
        return int(np.count_nonzero(places >= 0)), len(distinct)

    def _finish(self, embedder: Embedder, made: Embedded) -> None:
        """All passages have vectors: searches go by them, and what nobody needs any more goes."""
        active = self._vectors.active()
        if embedder is self._search.wanted and (active or embedder.needs_server):
            self._vectors.activate(embedder.name)
        if made.done:
            self._tidy(embedder.name)
        if embedder is self._search.wanted:
            needed = {embedder.name, self._search.base.name, self._vectors.active()}
            for method in [each for each in self._vectors.methods() if each not in needed][_MAX_FORMER_METHODS:]:
                self._vectors.remove(method)

    def _tidy(self, method: str) -> None:
        """Forget most passages that are gone, once there are many."""
        from zkchat.index.search.method_vectors import SectionDigests, each_digest, stored_digests

        stored, sections = stored_digests(self._vectors, method)[0], self._index.counts().sections
        if len(stored) - sections <= max(_MIN_GARBAGE, sections // 2):
            return  # most often, and then the passages need not be compared one by one
        passages = SectionDigests(self._vectors)
        passages.catch_up()
        live, kept = {*each_digest(passages.digests)}, each_digest(stored)
        gone = [digest for digest in kept if digest not in live]
        most = max(_MIN_GARBAGE, len(live) // 2)
        if len(gone) > most:
            self._vectors.retain(method, {*kept} - {*gone[: len(gone) - most // 2]})


class _Place:
    """Where an embedder runs, as a guard asks for it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(provider="", id="", on_this_machine=self._embedder.is_on_this_machine)
