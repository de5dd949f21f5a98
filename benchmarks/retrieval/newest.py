"""Whether the newest note counts: pairs of an older and a newer note that say different things, and pairs that do not.

    python -m benchmarks.retrieval.newest [--misses]

The notes of newest.json are in one vault for each language, with their dates in the frontmatter and as times of their
files. Each question goes the way of a question in a chat. Beside it stand the same vaults with all notes of one day.
The pairs are our own, in seven languages, and many are translations of each other, so expect less on other texts. The
rules were chosen on the pairs with even numbers.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from zkchat.answers import find_undated_evidence as find_evidence
from zkchat.core import Evidence
from zkchat.index import Library, SqliteNoteIndex, VectorSearch
from zkchat.models import installed
from zkchat.storage import VaultFiles

PAIRS = Path(__file__).parent / "newest.json"
OLDER, NEWER = datetime(2024, 3, 1, 12, tzinfo=UTC), datetime(2026, 2, 3, 12, tzinfo=UTC)


class Pair(NamedTuple):
    number: int
    language: str
    question: str
    older: tuple[str, str]
    """Title and text."""
    newer: tuple[str, str]
    differs: str
    """In what they differ on the question; empty if they do not."""
    answer: str
    """Which of them answers: older, newer or both."""

    @property
    def half(self) -> str:
        return "test" if self.number % 2 else "dev"

    @property
    def right(self) -> set[str]:
        titles = {"older": {self.older[0]}, "newer": {self.newer[0]}}
        return titles.get(self.answer, {self.older[0], self.newer[0]})


class Shown(NamedTuple):
    pair: Pair
    evidence: Sequence[Evidence]

    @property
    def is_right(self) -> bool:
        """Whether the note that answers comes first; of a pair that differs, the newer one."""
        return bool(self.evidence) and self.evidence[0].title in self.pair.right

    @property
    def is_flagged(self) -> bool:
        """Whether the older note of the pair is said to be outdated by the newer one."""
        newer = f"[[{self.pair.newer[0]}]]"
        return any(each.title == self.pair.older[0] and each.outdated_by == newer for each in self.evidence)

    @property
    def is_flagged_wrongly(self) -> bool:
        """Whether any other note is."""
        flagged = [each for each in self.evidence if each.outdated_by]
        return len(flagged) > (self.is_flagged and bool(self.pair.differs))


def read_pairs() -> list[Pair]:
    rows = json.loads(PAIRS.read_text())
    return [
        Pair(
            number=number,
            language=row["language"],
            question=row["question"],
            older=(row["older"][0], row["older"][1]),
            newer=(row["newer"][0], row["newer"][1]),
            differs=row["differs"],
            answer=row["answer"],
        )
        for number, row in enumerate(rows)
    ]


def write_vault(vault: Path, pairs: Iterable[Pair], *, dated: bool) -> None:
    for pair in pairs:
        for (title, text), at in ((pair.older, OLDER), (pair.newer, NEWER)):
            file = vault / f"{title}.md"
            when = at if dated else NEWER
            file.write_text(f"---\ndate: {when:%Y-%m-%d}\n---\n# {title}\n\n{text}\n")
            os.utime(file, (when.timestamp(), when.timestamp()))


def shown(pairs: Sequence[Pair], *, dated: bool) -> list[Shown]:
    languages = dict.fromkeys(pair.language for pair in pairs)
    found = [each for name in languages for each in shown_of([p for p in pairs if p.language == name], dated=dated)]
    return sorted(found, key=lambda each: each.pair.number)


def shown_of(pairs: Sequence[Pair], *, dated: bool) -> list[Shown]:
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        vault.mkdir()
        write_vault(vault, pairs, dated=dated)
        with closing(SqliteNoteIndex(Path(folder) / "index.db")) as index:
            files = VaultFiles(vault, exclude=(), max_note_bytes=1_000_000)
            library = Library.over(files, index, VectorSearch(index.vectors, installed()))
            library.refresh()
            library.embed()
            found = [Shown(pair, find_evidence(library, pair.question, ()).evidence) for pair in pairs]
            library.close()
            return found


def report(with_dates: Sequence[Shown], without: Sequence[Shown]) -> Iterator[str]:
    yield f"{'':26}{'pairs':>6}{'right first':>13}{'of one day':>12}{'flagged':>9}{'wrongly':>9}"
    groups = {
        f"{half}, {what}": [each.pair.half == half and bool(each.pair.differs) == differs for each in with_dates]
        for half in ("dev", "test")
        for what, differs in (("differ", True), ("do not", False))
    }
    for language in dict.fromkeys(each.pair.language for each in with_dates):
        groups[f"test, differ, {language}"] = [
            each.pair.half == "test" and each.pair.language == language and bool(each.pair.differs)
            for each in with_dates
        ]
    for name, chosen in groups.items():
        some = [each for each, is_chosen in zip(with_dates, chosen, strict=True) if is_chosen]
        plain = [each for each, is_chosen in zip(without, chosen, strict=True) if is_chosen]
        count = max(1, len(some))
        rates = [
            sum(each.is_right for each in some),
            sum(each.is_right for each in plain),
            sum(each.is_flagged for each in some),
            sum(each.is_flagged_wrongly for each in some),
        ]
        first, before, flagged, wrongly = (100 * rate / count for rate in rates)
        yield f"{name:26}{len(some):>6}{first:>12.1f}%{before:>11.1f}%{flagged:>8.1f}%{wrongly:>8.1f}%"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="show the pairs of the first half that go wrong")
    options = parser.parse_args()
    pairs = read_pairs()
    with_dates = shown(pairs, dated=True)
    print("\n".join(report(with_dates, shown(pairs, dated=False))))
    for each in with_dates if options.misses else ():
        is_wrong = not each.is_right or each.is_flagged_wrongly or (each.pair.differs and not each.is_flagged)
        if each.pair.half == "dev" and is_wrong:
            print(f"\n{each.pair.question} ({each.pair.differs or 'nothing differs'})")
            for found in each.evidence:
                print(f"  {found.title}: {found.text} {found.score} {found.date} {found.outdated_by}")


if __name__ == "__main__":
    main()
