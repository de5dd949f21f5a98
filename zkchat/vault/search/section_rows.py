"""Which stored vector each section has: matched by their digests, and kept for other processes, because to match those
of all sections takes longer than a search.

Needs NumPy: import this module where it is used.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from zkchat.model.embeddings import DIGEST_BYTES, NOTHING_KNOWN, SectionRows, VectorBlock, VectorPosition
from zkchat.ports.embeddings import VectorIndex
from zkchat.vault.search.ranking import Numbers
from zkchat.vault.search.vocabulary import distinct

Digests = NDArray[np.uint64]
"""A row of two numbers for each."""
Rows = NDArray[np.intp]
"""Places among the stored vectors; -1 for none."""

NONE = -1
_MIN_KEPT = 1_024
"""Of fewer sections nothing is kept: they are matched in less time than a file is read. Nor is it kept anew for fewer
that came since."""
_MIN_NEW_SHARE = 1 / 16
"""Nor for a smaller share of all."""
_PACKED = np.dtype("<u4")


def digests_of(packed: bytes) -> Digests:
    return np.frombuffer(packed, dtype=np.uint64).reshape(-1, 2)


def each_digest(digests: Digests) -> list[bytes]:
    packed = digests.tobytes()
    return [packed[start : start + DIGEST_BYTES] for start in range(0, len(packed), DIGEST_BYTES)]


def find_digests(known: Digests, wanted: Digests) -> Rows:
    """For each that is wanted its place among those that are known, the first of several; -1 where it is not there.

    The fewer of both are sorted. Half of a digest decides: of two that have it in common one counts as missing.
    """
    keys, asked = known[:, 0], wanted[:, 0]
    places = np.full(len(wanted), NONE, dtype=np.intp)
    if not (len(keys) and len(asked)):
        return places
    if len(asked) < len(keys):
        sought, inverse = np.unique(asked, return_inverse=True)
        at = np.minimum(np.searchsorted(sought, keys), len(sought) - 1)
        hits = np.flatnonzero(sought[at] == keys)[::-1]
        first = np.full(len(sought), NONE, dtype=np.intp)
        first[at[hits]] = hits
        places = first[inverse]
    else:
        order = np.argsort(keys, kind="stable")
        places = order[np.minimum(np.searchsorted(keys[order], asked), len(keys) - 1)]
    return np.where((known[places] == wanted).all(axis=1), places, NONE)


class SectionDigests:
    """The digests of all sections, by number; only what was added since is read, for sections never change."""

    def __init__(self, index: VectorIndex) -> None:
        self._index = index
        self._begin(0)

    def _begin(self, after: int) -> None:
        self._after = after
        self.epoch: int | None = None
        self.numbers: Numbers = np.zeros(0, dtype=np.int64)
        self.digests: Digests = digests_of(b"")

    def catch_up(self, after: int = 0) -> None:
        """Those of sections that are gone meanwhile stay; nobody asks for them.

        Where nothing was read yet, only sections `after` this one are.
        """
        if self.epoch is None or after < self._after:
            self._begin(after)
        added = self._index.passages(int(self.numbers[-1]) if len(self.numbers) else self._after)
        if self.epoch not in {None, added.epoch}:
            self._begin(0)
            added = self._index.passages()
        self.epoch = added.epoch
        if added.notes:
            digests = digests_of(b"".join([packed for _, packed in added.notes]))
            counts = np.array([len(packed) // DIGEST_BYTES for _, packed in added.notes])
            firsts = np.array([first for first, _ in added.notes], dtype=np.int64)
            ends = np.cumsum(counts)
            numbers = np.arange(len(digests)) + np.repeat(firsts - (ends - counts), counts)
            self.numbers = np.concatenate([self.numbers, numbers])
            self.digests = np.concatenate([self.digests, digests])

    @property
    def distinct(self) -> set[bytes]:
        """The digests, each once."""
        return {*each_digest(self.digests)}

    def of(self, sections: Numbers) -> Digests:
        """The digests of these sections; of one that is not known, one that nothing has."""
        at = np.minimum(np.searchsorted(self.numbers, sections), max(len(self.numbers) - 1, 0))
        found = np.zeros((len(sections), 2), dtype=np.uint64)
        is_known = self.numbers[at] == sections if len(self.numbers) else np.zeros(len(sections), dtype=np.bool_)
        found[is_known] = self.digests[at[is_known]]
        return found


class StoredDigests(Struct, frozen=True, eq=False):
    """Which passages have a vector of a method, in the order in which they got it."""

    digests: Digests
    position: VectorPosition
    blocks: Sequence[VectorBlock] = ()

    @classmethod
    def of(cls, index: VectorIndex, method: str) -> "StoredDigests":
        stored = index.read(method)
        if stored is None:
            return cls(digests_of(b""), NOTHING_KNOWN)
        return cls(digests_of(b"".join([each.digests for each in stored.blocks])), stored.position, stored.blocks)

    def count_before(self, end: int) -> int:
        """How many are stored before this place of the file."""
        return sum(len(block.digests) // DIGEST_BYTES for block in self.blocks if block.start < end)


class KeptRows:
    """What a process found, for another one."""

    def __init__(self, packed: SectionRows) -> None:
        self.epoch = packed.epoch
        self.last = packed.last
        self._numbers = np.frombuffer(packed.numbers, _PACKED)
        self.rows: Rows = np.frombuffer(packed.rows, _PACKED).astype(np.intp)

    @classmethod
    def fitting(
        cls, index: VectorIndex, method: str, position: VectorPosition, places: NDArray[np.int64]
    ) -> "KeptRows | None":
        """None where they do not fit the vectors that are stored at these places. Where some of those are damaged,
        they are forgotten, so that these vectors are made again."""
        packed = index.section_rows(method)
        if packed is None or packed.position.generation != position.generation:
            return None
        if np.count_nonzero(places < packed.position.end) != packed.vectors:
            index.keep_section_rows(method, None)
            return None
        return cls(packed)

    def of(self, sections: Numbers) -> Rows:
        numbers = self._numbers
        if int(numbers[-1]) - int(numbers[0]) == len(numbers) - 1:  # none is missing between them
            at = np.clip(sections - int(numbers[0]), 0, len(numbers) - 1)
        else:
            at = np.minimum(np.searchsorted(numbers, sections), len(numbers) - 1)
        return np.where(self._numbers[at] == sections, self.rows[at], NONE)


def join_rows(kept: SectionRows | None, added: SectionDigests, rows: Rows, stored: StoredDigests) -> SectionRows | None:
    """What was kept with what was `added` since; None where a section has no vector, or it is not worth the while."""
    least = max(_MIN_KEPT, _MIN_NEW_SHARE * kept.sections) if kept else _MIN_KEPT
    if added.epoch is None or len(rows) < least or (rows < 0).any():
        return None
    packed = (kept.rows if kept else b"") + rows.astype(_PACKED).tobytes()
    return SectionRows(
        epoch=added.epoch,
        position=stored.position,
        vectors=len(stored.digests),
        last=int(added.numbers[-1]),
        numbers=(kept.numbers if kept else b"") + added.numbers.astype(_PACKED).tobytes(),
        rows=packed,
        distinct=len(distinct(np.frombuffer(packed, _PACKED).astype(np.int64))),
    )
