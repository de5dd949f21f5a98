"""The merge policy of the inverted index: few segments, and few dead sections in them."""

from collections.abc import Sequence

from zkchat.ports.note_index import SegmentStore

_MERGE_FACTOR = 8
"""So many segments of about the same size become one."""
_MAX_MERGED_SLOTS = 2_048
"""Slots of a segment that is still worth merging; larger ones are few, and costly to rewrite."""
_MIN_DEAD = 1_000
_MIN_DEAD_SHARE = 0.3


def merge_segments(index: SegmentStore) -> None:
    """Merge small segments, and rewrite those of which much is dead."""
    while small := _of_one_size(index.segment_sizes()):
        _rewrite(index, small)
    if index.dead_count() > max(_MIN_DEAD, _MIN_DEAD_SHARE * sum(index.segment_sizes().values())):
        for segment in _mostly_dead(index, index.dead_sections()):
            _rewrite(index, [segment])


def _of_one_size(sizes: dict[int, int]) -> list[int]:
    """Segments of the first magnitude, in powers of eight, that has enough of them."""
    magnitudes: dict[int, list[int]] = {}
    for segment, slots in sizes.items():
        if slots < _MAX_MERGED_SLOTS:
            magnitudes.setdefault(slots.bit_length() // 3, []).append(segment)
    return next((found for _, found in sorted(magnitudes.items()) if len(found) >= _MERGE_FACTOR), [])


def _mostly_dead(index: SegmentStore, dead: Sequence[int]) -> list[int]:
    from zkchat.vault.search.postings import count_dead

    return [head.id for head in index.segment_heads() if count_dead(head, dead) > _MIN_DEAD_SHARE * head.slots]


def _rewrite(index: SegmentStore, segments: Sequence[int]) -> None:
    from zkchat.vault.search.postings import merged

    parts, dead = index.load_segments(segments)
    if len(parts) == len(segments):  # else another process was quicker
        index.replace_segments(segments, *merged(parts, dead))
