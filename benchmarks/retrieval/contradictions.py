"""How often an answer that contradicts its passage is noticed, and how often one is accused that does not.

    python -m benchmarks.retrieval.contradictions [--misses]

The pairs of contradictions.json are our own, in eight languages; many are translations of each other, so expect less
on other texts. The thresholds of zkchat/answers/verification/contradiction.py were chosen on the pairs with even
numbers,
and one of them, with some rules, after a look at the errors on public sets of sentence pairs (SICK, XNLI).
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from zkchat.answers import find_contradiction
from zkchat.core import Evidence, LineRange

PAIRS = Path(__file__).parent / "contradictions.json"
CONTRADICTING = frozenset({"number", "negation", "name"})


class Pair(NamedTuple):
    language: str
    kind: str
    question: str
    answer: str
    passage: str

    @property
    def contradicts(self) -> bool:
        return self.kind in CONTRADICTING

    @property
    def is_noticed(self) -> bool:
        place = LineRange(first=1, last=1)
        passage = Evidence(
            text=self.passage, relative_path="Note.md", title="Note", wikilink="[[Note]]", lines=place, score=1.0
        )
        return find_contradiction(self.answer, [passage], self.question) is not None


class Outcome(NamedTuple):
    pairs: int
    noticed: int
    """Contradictions that are found."""
    missed: int
    accused: int
    """Answers that are said to contradict and do not."""

    @property
    def precision(self) -> float:
        return self.noticed / max(1, self.noticed + self.accused)

    @property
    def recall(self) -> float:
        return self.noticed / max(1, self.noticed + self.missed)


def read_pairs() -> tuple[list[Pair], list[Pair]]:
    """The half on which thresholds were chosen, and the other."""
    pairs = [Pair(**row) for row in json.loads(PAIRS.read_text())]
    return pairs[::2], pairs[1::2]


def measure(pairs: Iterable[Pair]) -> Outcome:
    judged = [(pair.contradicts, pair.is_noticed) for pair in pairs]
    return Outcome(
        pairs=len(judged),
        noticed=judged.count((True, True)),
        missed=judged.count((True, False)),
        accused=judged.count((False, True)),
    )


def _print_row(name: str, pairs: Sequence[Pair]) -> None:
    outcome = measure(pairs)
    print(
        f"{name:24}{outcome.pairs:6}{outcome.noticed:9}{outcome.missed:8}{outcome.accused:9}"
        f"{outcome.precision:11.3f}{outcome.recall:8.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="list what went wrong in the first half")
    misses = parser.parse_args().misses
    first, second = read_pairs()
    print(f"{'':24}{'pairs':>6}{'noticed':>9}{'missed':>8}{'accused':>9}{'precision':>11}{'recall':>8}")
    _print_row("first half (chosen on)", first)
    _print_row("second half (unseen)", second)
    for kind in dict.fromkeys(pair.kind for pair in second):
        _print_row(f"  {kind}", [pair for pair in second if pair.kind == kind])
    for language in dict.fromkeys(pair.language for pair in second):
        _print_row(f"  {language}", [pair for pair in second if pair.language == language])
    for pair in first if misses else ():
        if pair.is_noticed != pair.contradicts:
            print(f"{pair.kind} ({pair.language}): {pair.answer} <> {pair.passage}")


if __name__ == "__main__":
    main()
