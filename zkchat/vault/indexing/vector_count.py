"""How many passages have a vector: by what was kept of an earlier count and what changed since, or one by one.

Needs NumPy: import this module where it is used.
"""

import numpy as np

from zkchat.model.embeddings import SectionRows
from zkchat.model.index import NoteFilter
from zkchat.ports.embeddings import VectorIndex
from zkchat.ports.note_index import NoteIndex
from zkchat.vault.search.postings import unpacked
from zkchat.vault.search.ranking import Numbers
from zkchat.vault.search.section_rows import KeptRows, SectionDigests, StoredDigests, find_digests


def count_by_rows(index: NoteIndex, vectors: VectorIndex, method: str, kept: SectionRows) -> tuple[int, int] | None:
    """How many distinct passages have a vector, and how many there are; None where what was kept does not tell.

    A few sections came and went since it was kept: to compare all of them takes seconds in a vault of a million notes.
    """
    added, stored = SectionDigests(vectors), StoredDigests.of(vectors, method)
    added.catch_up(kept.last)
    known = KeptRows(kept).of(_live_sections(index, kept.last))
    is_whole = len(known) + len(added.numbers) == index.counts().sections and bool((known >= 0).all())
    if added.epoch != kept.epoch or kept.vectors != stored.count_before(kept.position.end) or not is_whole:
        return None
    rows = find_digests(stored.digests, added.digests)
    done = _count_distinct(np.concatenate([known, rows[rows >= 0]]))
    return done, done + len(np.unique(added.digests[rows < 0], axis=0))


def count_by_digests(
    index: NoteIndex, vectors: VectorIndex, method: str, hidden: frozenset[str] = frozenset()
) -> tuple[int, int]:
    """The same of the notes that are not hidden, by comparing every section."""
    passages = SectionDigests(vectors)
    passages.catch_up()
    may_go = np.ones(len(passages.numbers), dtype=np.bool_)
    for first, count in index.section_ranges(NoteFilter(within=hidden)) if hidden else ():
        may_go[np.searchsorted(passages.numbers, first) : np.searchsorted(passages.numbers, first + count)] = 0
    digests = passages.digests[may_go]
    _, firsts = np.unique(digests[:, 0], return_index=True)  # half of a digest tells passages apart
    distinct = digests[firsts]
    places = find_digests(StoredDigests.of(vectors, method).digests, distinct)
    return int(np.count_nonzero(places >= 0)), len(distinct)


def _live_sections(index: NoteIndex, last: int) -> Numbers:
    """The numbers of the sections in the vault up to a last one, in order."""
    listed = np.concatenate([np.zeros(0, np.int64), *(unpacked(head).sections for head in index.segment_heads())])
    listed = listed[listed <= last]
    is_dead = np.isin(listed, np.array(index.dead_sections(), dtype=np.int64))
    return np.sort(listed[~is_dead])


def _count_distinct(rows: Numbers) -> int:
    return int(np.count_nonzero(np.bincount(rows))) if len(rows) else 0
