"""Embedding: passages without a vector get one, batch by batch, so that a stop at any moment loses one batch."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from zkchat.errors import ProviderError, TextRefused
from zkchat.model.embeddings import OpenText, SectionRows, VectorPosition, embedded_text
from zkchat.model.index import StoredSection
from zkchat.ports.embeddings import Embedder, VectorIndex
from zkchat.vault.privacy.guard import PrivacyGuard

if TYPE_CHECKING:
    from zkchat.vault.search.similarity import Vectors

KeepOn = Callable[[int], bool]
"""Whether to go on, told how many passages have got a vector so far."""
Call = Callable[[Callable[[], "Vectors"]], "Vectors"]
"""How a server is asked."""

_MAX_PASSES = 4
"""How often is looked for passages that came meanwhile."""


class Embedded(Struct, frozen=True):
    """What came of one run."""

    done: int
    is_complete: bool
    """Whether every passage that may be sent has a vector now."""


def at_once(ask: Callable[[], "Vectors"]) -> "Vectors":
    return ask()


def embed_passages(
    index: VectorIndex, embedder: Embedder, keep_on: KeepOn, guard: PrivacyGuard | None = None, call: Call = at_once
) -> Embedded:
    """Give vectors to passages that have none. Raises `ProviderError` and `StorageError`; what was done is kept.

    The `guard` of a server knows which notes it may be sent.
    """
    done = 0
    left_out: set[bytes] = set()
    for _ in range(_MAX_PASSES):
        kept = fitting_rows(index, embedder.name)
        if kept and covers_all(index, kept):
            return Embedded(done, is_complete=True)
        missing, position = _missing(index, embedder.name, kept)
        missing = [each for each in missing if each[1] not in left_out]
        if not missing:
            return Embedded(done, is_complete=True)
        run = _Run(index, embedder, guard, call, position)
        for start in range(0, len(missing), embedder.batch_size):
            if not keep_on(done):
                return Embedded(done, is_complete=False)
            done += run.embed(missing[start : start + embedder.batch_size])
        left_out |= run.left_out
    return Embedded(done, is_complete=False)


def fitting_rows(index: VectorIndex, method: str) -> SectionRows | None:
    """What was kept of the vectors that are stored now."""
    kept = index.section_rows(method)
    since = index.read(method, kept.position) if kept else None
    return kept if since and not since.is_new else None


def covers_all(index: VectorIndex, kept: SectionRows) -> bool:
    """Whether there are no sections but those whose vectors are known. Most processes find that: it needs no NumPy."""
    added = index.passages(kept.last)
    return added.epoch == kept.epoch and not added.notes


def _missing(
    index: VectorIndex, method: str, kept: SectionRows | None
) -> tuple[list[tuple[int, bytes]], VectorPosition]:
    """Number and digest of each section that has no vector, in order. Where none is missing, that is kept."""
    import numpy as np

    from zkchat.vault.search.section_rows import SectionDigests, StoredDigests, find_digests, join_rows

    stored, sections = StoredDigests.of(index, method), SectionDigests(index)
    sections.catch_up(kept.last if kept else 0)
    if kept and (kept.epoch != sections.epoch or kept.vectors != stored.count_before(kept.position.end)):
        kept = None
        sections.catch_up()
    rows = find_digests(stored.digests, sections.digests)
    if joined := join_rows(kept, sections, rows, stored):
        index.keep_section_rows(method, joined)
    missing = np.flatnonzero(rows < 0)
    found = zip(sections.numbers[missing].tolist(), sections.digests[missing], strict=True)
    return [(number, row.tobytes()) for number, row in found], stored.position


class _Run:
    """One pass over what is missing."""

    def __init__(
        self, index: VectorIndex, embedder: Embedder, guard: PrivacyGuard | None, call: Call, known: VectorPosition
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._guard = guard
        self._call = call
        self._known = known
        self.added: set[bytes] = set()
        self.left_out: set[bytes] = set()
        """Of notes that may not be sent; the same text may stand in another one."""

    def embed(self, missing: Sequence[tuple[int, bytes]]) -> int:
        """How many of these sections have got vectors: not those that are gone meanwhile, or may not be sent."""
        first = {digest: number for number, digest in reversed(missing) if digest not in self.added}
        digest_of = {number: digest for digest, number in first.items()}
        sections = self._index.sections(sorted(digest_of))
        texts = self._sendable(sections)
        self.left_out |= {digest_of[section.id] for section in sections if section.id not in texts}
        return self._add({digest_of[number]: text for number, text in texts.items()})

    def _sendable(self, sections: Sequence[StoredSection]) -> dict[int, str]:
        """By the number of its section, each text that may be sent; those of open notes say so."""
        paths = [*dict.fromkeys(section.path for section in sections)]
        may_go = {*(self._guard.confirm(paths) if self._guard else paths)}
        is_open = {*(self._guard.open_among(paths) if self._guard else ())}
        texts = {each.id: embedded_text(each.title, each.text) for each in sections if each.path in may_go}
        return texts | {each.id: OpenText(texts[each.id]) for each in sections if each.path in may_go & is_open}

    def _add(self, texts: Mapping[bytes, str]) -> int:
        from zkchat.vault.search.similarity import packed, signs

        if not texts:
            return 0
        vectors, digests = self._embedded([*texts.values()]), [*texts]
        added = self._index.add(self._embedder.name, digests, signs(vectors).tobytes(), packed(vectors), self._known)
        self._known = added.position
        self.added |= added.by_others.union(digests)
        return len(digests)

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
            raise ProviderError(f"{embedder.name} did not give a vector for each of {len(texts)} passages.")
        return np.nan_to_num(vectors.astype(np.float32, copy=False), posinf=0, neginf=0)
