"""Similar names, to suggest for a link that resolves to nothing."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from heapq import nlargest, nsmallest

from zkchat.vault.notes.wikilink import name_key

_MAX_SHARING = 4_000
"""Names that share a piece with the one asked for. Those of rare pieces come first, so that the best are among them."""
_MAX_LIKELY = 60
_MAX_COMPARED = 12
"""Names that are compared letter by letter, which takes a tenth of a millisecond for each."""
_MAX_NAME_CHARACTERS = 200
"""Characters of a name that are compared; no file name is longer."""
_MIN_SIMILARITY = 0.6


class SimilarNames:
    """An index of names by trigram, to find names similar to a given one.

    Only every second trigram of a name is stored; a query looks up all of its own.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._uses: Counter[str] = Counter()
        self._by_piece: defaultdict[str, list[str]] = defaultdict(list)
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        self._uses[name] += 1
        if self._uses[name] == 1:
            for piece in _pieces(_beginning(name), step=2):
                self._by_piece[piece].append(name)

    def discard(self, name: str) -> None:
        self._uses[name] -= 1
        if self._uses[name] == 0:
            del self._uses[name]
            for piece in _pieces(_beginning(name), step=2):
                self._by_piece[piece].remove(name)

    def closest(self, name: str, limit: int) -> tuple[str, ...]:
        """The most similar names, best first; empty if none is similar enough."""
        import difflib

        key = _beginning(name)
        matcher = difflib.SequenceMatcher(autojunk=False, b=key)
        likeness: dict[str, float] = {}
        for candidate in self._shortlist(key):
            matcher.set_seq1(_beginning(candidate))
            likeness[candidate] = matcher.ratio() + (0.3 if key in _beginning(candidate) else 0.0)
        alike: dict[str, str] = {}
        for candidate in sorted(likeness, key=lambda candidate: (-likeness[candidate], candidate)):
            if likeness[candidate] >= _MIN_SIMILARITY:
                alike.setdefault(name_key(candidate), candidate)
        return tuple(alike.values())[:limit]

    def _shortlist(self, key: str) -> list[str]:
        """The candidates that share most trigrams with the name, relative to their own number of trigrams."""
        asked = _pieces(key)

        def unlikeness(name: str) -> float:
            pieces = _pieces(_beginning(name))
            return -len(asked & pieces) / len(asked | pieces)

        shared = self._sharing(asked)
        least = min(nlargest(_MAX_LIKELY, shared.values()), default=0)
        likely = [name for name, pieces in shared.items() if pieces >= least]
        likely = nsmallest(_MAX_LIKELY, likely, key=lambda name: (-shared[name], abs(len(name) - len(key)), name))
        return nsmallest(_MAX_COMPARED, likely, key=lambda name: (unlikeness(name), name))

    def _sharing(self, asked: set[str]) -> Counter[str]:
        """The number of shared trigrams by name, counted over the rarest trigrams."""
        shared: Counter[str] = Counter()
        looked_at = 0
        for count, piece in sorted((len(self._by_piece.get(piece, ())), piece) for piece in asked):
            if looked_at and looked_at + count > _MAX_SHARING:
                break
            shared.update(self._by_piece.get(piece, ()))
            looked_at += count
        return shared


def _beginning(name: str) -> str:
    return name_key(name[:_MAX_NAME_CHARACTERS])


def _pieces(key: str, step: int = 1) -> set[str]:
    padded = f" {key} "
    return {padded[start : start + 3] for start in range(0, len(padded) - 2, step)}
