"""How well each part of the search finds, and all of them together, beside a plain FTS5 table as the baseline.

    python -m benchmarks.retrieval.retrieval [--distractors N] [--misses] [--minilm FOLDER]

The questions of queries/garden.json are asked of vault-fixtures/garden among other notes. README.md says more.
"""

import argparse
import json
import re
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from math import log2
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval.distractors import distractors
from benchmarks.retrieval.embedding_server import add_arguments, embedder_of
from zkchat.core import Calendar, Embedder, Passage, StoredSection
from zkchat.index import (
    Library,
    LibraryOptions,
    Match,
    SqliteNoteIndex,
    TextRanking,
    VectorSearch,
    common_direction,
    cosines,
    packed,
    query_terms,
    unpacked,
    words,
)
from zkchat.models import installed
from zkchat.storage import VaultFiles

FIXTURES = Path(__file__).parents[2] / "vault-fixtures"
QUERIES = Path(__file__).parent / "queries" / "garden.json"
SEEN = 10
SECTIONS_SEEN = 3
WHOLE = "the search as it runs"
WITH_SERVER = "the search with MiniLM"
RESAMPLED = 2_000

Scores = NDArray[np.float32]
Measures = NDArray[np.float64]


@dataclass(frozen=True)
class Found:
    """What a system shows for a question, best first."""

    notes: list[str]
    sections: Sequence[StoredSection | Passage]


System = Callable[[str], Found]


@dataclass(frozen=True)
class Question:
    text: str
    language: str
    kind: str
    places: list[tuple[str, str]]
    """The notes that answer it, each with the heading under which the answer stands, or an empty one."""

    @property
    def paths(self) -> set[str]:
        return {path for path, _ in self.places}


@dataclass(frozen=True)
class Result:
    """Of one question: how good the list of notes is, and whether the right section is among the first three."""

    ndcg: float
    recall: float
    reciprocal_rank: float
    section: bool


class Systems:
    """Every way to rank the sections of one vault."""

    def __init__(self, index: SqliteNoteIndex, library: Library) -> None:
        self._index = index
        self._library = library
        lookup = index.look_up(set(), None)
        self._text = TextRanking(lookup.segments or (), lookup.dead)
        self.sections = sections_of(index, self._text)
        self._embedder = installed()
        vectors = unpacked(packed(self._embedder.embed([described(each) for each in self.sections])), 256)
        self._vectors, self._common = vectors, common_direction(vectors)
        self._plain = plain_table(self.sections)

    def all(self) -> dict[str, System]:
        parts: dict[str, Callable[[str], Scores]] = {
            "FTS5 bm25, the baseline": self.baseline,
            "names": self.names,
            "words": self.words,
            "text: words + names": self.text,
            "vectors": self.vectors,
        }
        return {**{name: self._best_of(part) for name, part in parts.items()}, WHOLE: self.whole}

    def _best_of(self, part: Callable[[str], Scores]) -> System:
        """By the scores of sections; a note counts by its best."""

        def find(question: str) -> Found:
            scores = part(question)
            found = [self.sections[place] for place in np.argsort(-scores, kind="stable") if scores[place] > 0]
            return Found([*dict.fromkeys(section.path for section in found)], found)

        return find

    def whole(self, question: str) -> Found:
        notes = self._library.documents(question, limit=SEEN)
        return Found([each.path for each in notes], self._library.search(question, limit=SECTIONS_SEEN))

    def baseline(self, question: str) -> Scores:
        scores = np.zeros(len(self.sections), dtype=np.float32)
        asked = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        for row, score in self._plain.execute("SELECT rowid, -bm25(plain) FROM plain WHERE plain MATCH ?", (asked,)):
            scores[row] = score
        return scores

    def text(self, question: str) -> Scores:
        return self._text.section_scores(self._text.signals(self._matches(question)))

    def words(self, question: str) -> Scores:
        return self._text.bm25f(self._matches(question))

    def names(self, question: str) -> Scores:
        return self._text.name_scores(self._matches(question))

    def vectors(self, question: str) -> Scores:
        return cosines(self._vectors, self._common, self._embedder.embed([question])[0])

    def _matches(self, question: str) -> list[Match]:
        asked = Counter(query_terms(question))
        return self._text.matches(asked, self._index.look_up(set(asked), None).postings)


def sections_of(index: SqliteNoteIndex, text: TextRanking) -> list[StoredSection]:
    """All sections of a vault, in the order in which their scores come."""
    numbers = text.sections.tolist()
    stored = {section.id: section for section in index.sections(numbers)}
    return [stored[number] for number in numbers]


def described(section: StoredSection) -> str:
    """What the vector of a section is made of; its heading stands in the text."""
    return f"{section.title}\n{section.text}"


def plain_table(sections: Sequence[StoredSection]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE plain USING fts5(text)")
    rows = ((row, described(section)) for row, section in enumerate(sections))
    connection.executemany("INSERT INTO plain (rowid, text) VALUES (?, ?)", rows)
    return connection


def fill(vault: Path, count: int) -> None:
    """The garden, the library, and so many generated notes."""
    garden, library = FIXTURES / "garden", FIXTURES / "library"
    shutil.copytree(garden, vault)
    shutil.copytree(library, vault / "Library")
    (vault / "Distractors").mkdir()
    for path, text in distractors(garden, library, count):
        (vault / path).write_text(text, encoding="utf-8")


def questions() -> list[Question]:
    return [
        Question(
            text=each["query"],
            language=each["language"],
            kind=each["kind"],
            places=[(place["path"], place.get("heading", "")) for place in each["relevant"]],
        )
        for each in json.loads(QUERIES.read_text(encoding="utf-8"))
    ]


def asked_of(system: System, question: Question) -> Result:
    found = system(question.text)
    gains = [path in question.paths for path in found.notes[:SEEN]]
    return Result(
        ndcg=discounted(gains) / discounted([True] * min(len(question.paths), SEEN)),
        recall=sum(gains) / len(question.paths),
        reciprocal_rank=1 / (gains.index(True) + 1) if any(gains) else 0,
        section=any(answers(section, question) for section in found.sections[:SECTIONS_SEEN]),
    )


def discounted(gains: Iterable[bool]) -> float:
    return sum(gain / log2(place + 2) for place, gain in enumerate(gains))


def answers(section: StoredSection | Passage, question: Question) -> bool:
    return any(
        section.path == path and (not heading or words(heading) in map(words, section.heading_path))
        for path, heading in question.places
    )


def mean(values: Iterable[float]) -> float:
    listed = [*values]
    return sum(listed) / len(listed)


def tables(asked: Sequence[Question], results: dict[str, list[Result]]) -> Iterator[str]:
    yield f"{'':26}{'nDCG@10':>10}{'recall@10':>11}{'MRR@10':>9}{'section@3':>11}"
    for name, of_all in results.items():
        yield (
            f"{name:26}{mean(each.ndcg for each in of_all):10.3f}{mean(each.recall for each in of_all):11.3f}"
            f"{mean(each.reciprocal_rank for each in of_all):9.3f}{mean(each.section for each in of_all):11.3f}"
        )
    ndcg = {name: np.array([each.ndcg for each in of_all]) for name, of_all in results.items()}
    yield from by_group("language", [question.language for question in asked], ndcg)
    yield from by_group("kind", [question.kind for question in asked], ndcg)
    yield from by_group("half", ["first" if place % 2 == 0 else "second" for place in range(len(asked))], ndcg)


def print_results(asked: Sequence[Question], results: dict[str, list[Result]]) -> None:
    print("\n".join(tables(asked, results)))


def by_group(title: str, group_of: Sequence[str], ndcg: dict[str, Measures]) -> Iterator[str]:
    """The mean of each group of questions, and how much of what the search gains or loses may be chance."""
    members = Counter(group_of)
    groups = [np.array([each == group for each in group_of]) for group in members]
    yield f"\n{'nDCG@10 by ' + title:26}" + "".join(f"{f'{name} ({count})':>16}" for name, count in members.items())
    for name, values in ndcg.items():
        yield f"{name:26}" + "".join(f"{values[group].mean():16.3f}" for group in groups)
    yield "\nthe search as it runs less another, the 95 % interval"
    for name, values in ndcg.items():
        if name != WHOLE:
            yield f"{name:26}" + "".join(f"{interval((ndcg[WHOLE] - values)[group]):>16}" for group in groups)


def interval(differences: Measures) -> str:
    """Where the mean lies, by bootstrap over the questions."""
    drawn = np.random.default_rng(1).choice(differences, (RESAMPLED, len(differences))).mean(axis=1)
    return "{:+.3f} {:+.3f}".format(*np.quantile(drawn, (0.025, 0.975)))


def results_of(
    index: SqliteNoteIndex, vault: Path, asked: Sequence[Question], embedder: Embedder | None = None
) -> dict[str, list[Result]]:
    """What each way to rank makes of the questions, once the vault is read and has its vectors.

    With an embedder of a server, the whole search once more with its vectors.
    """
    files = VaultFiles(vault, exclude=(), max_note_bytes=5_000_000)
    library = Library.over(files, index, VectorSearch(index.vectors, installed()))
    library.refresh()
    library.embed()
    systems = Systems(index, library)
    print(f"{len(asked)} questions over {len(systems.sections)} sections\n")
    ranked = {name: [asked_of(system, question) for question in asked] for name, system in systems.all().items()}
    if embedder:
        search = VectorSearch(index.vectors, embedder, base=installed(), query_seconds=60)
        systems = Systems(index, embedded_library(files, index, search))
        ranked[WITH_SERVER] = [asked_of(systems.whole, question) for question in asked]
    return ranked


def embedded_library(files: VaultFiles, index: SqliteNoteIndex, search: VectorSearch) -> Library:
    """A library whose passages have all their vectors. It is some days after the last notes of the garden."""
    options = LibraryOptions(calendar=lambda: Calendar(datetime(2026, 4, 1, 12, tzinfo=UTC)))
    library = Library.over(files, index, search, options=options)
    library.refresh()
    library.embed()
    library.embed_by_server()
    return library


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--distractors", type=int, default=2000)
    parser.add_argument("--misses", action="store_true", help="list what the search does not rank first")
    add_arguments(parser)
    wanted = parser.parse_args()
    asked = questions()
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(SqliteNoteIndex(Path(folder) / "index.db")) as index,
        embedder_of(wanted.minilm, wanted.cache) as embedder,
    ):
        fill(Path(folder) / "vault", wanted.distractors)
        results = results_of(index, Path(folder) / "vault", asked, embedder if wanted.minilm else None)
    print_results(asked, results)
    if wanted.misses:
        for question, result in zip(asked, results[WHOLE], strict=True):
            if result.reciprocal_rank < 1:
                print(f"{result.ndcg:.2f} {question.kind:11}{question.text}")


if __name__ == "__main__":
    main()
