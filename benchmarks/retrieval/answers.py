"""How well the evidence answers: the questions of queries/answers over vault-fixtures and two generated vaults.

    python -m benchmarks.retrieval.answers [--half dev|test|both|development|fresh]
        [--misses] [--json] [--minilm FOLDER]

Each question goes the way of a question in a chat: its links are resolved, and the evidence is found with the vectors
of the search. Beside it stand the first passages of the search itself, and of a plain FTS5 table. README.md says more.
"""

import argparse
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from msgspec.structs import asdict

from benchmarks.retrieval.answer_set import (
    DEVELOPMENT,
    FRESH,
    HALVES,
    KINDS,
    VAULTS,
    Asked,
    all_questions,
    conversations,
    development_questions,
    fresh_questions,
    write_vault,
)
from benchmarks.retrieval.embedding_server import add_arguments, embedder_of
from benchmarks.retrieval.retrieval import embedded_library, plain_table, sections_of
from zkchat.chat import Figures, Judged, Question, Shown, ShownPassage, evidence_of, in_conversation, resolve_links
from zkchat.core import DEFAULT_LIMIT, Embedder
from zkchat.index import Library, SqliteNoteIndex, TextRanking, VectorSearch
from zkchat.models import installed
from zkchat.storage import VaultFiles

TALKS = tuple(f"conversations {more}{half}" for more in ("", "more ", "third ") for half in HALVES)
EVIDENCE, SEARCH, BASELINE = "evidence", "search", "FTS5 bm25"


class Result(Judged, frozen=True):
    asked: Asked
    linked: frozenset[str] = frozenset()
    """The notes that the question links to."""

    @property
    def from_linked(self) -> bool:
        return any(each.path in self.linked for each in self.shown.passages[:1])


System = Callable[[Question], Shown]


class GroupFigures(Figures, frozen=True, kw_only=True):
    """Those of `Figures`, and how many of the questions with a link are answered from it."""

    linked: int
    from_linked: int

    @classmethod
    def of_results(cls, results: Iterable[Result]) -> "GroupFigures":
        listed = [*results]
        linked = [each for each in listed if each.asked.kind == "linked"]
        figures = asdict(Figures.of(listed))
        return cls(**figures, linked=len(linked), from_linked=sum(each.from_linked for each in linked))

    def row(self) -> str:
        counts = (self.first, self.any, self.wrong, self.wrong_without_doubt, self.silent, self.near, self.doubted)
        shares = [*(share(each, self.answerable) for each in counts), share(self.from_linked, self.linked)]
        answered = [share(each, self.unanswerable) for each in (self.answered, self.answered_with_doubt)]
        return f"{self.answerable:>5}{''.join(shares)}{self.unanswerable:>7}{''.join(answered)}"


_COLUMNS = ("first", "any", "wrong", "surely", "silent", "nearest", "doubt", "linked")
HEADER = f"{'':24}{'asked':>5}{''.join(f'{each:>8}' for each in _COLUMNS)}{'none':>7}{'said':>8}{'doubt':>8}"


def share(count: int, of: int) -> str:
    return f"{f'{100 * count / of:.1f}':>8}" if of else f"{'–':>8}"


def systems(library: Library, index: SqliteNoteIndex) -> dict[str, System]:
    lookup = index.look_up(set(), None)
    sections = sections_of(index, TextRanking(lookup.segments or (), lookup.dead))
    table = plain_table(sections)

    def evidence(question: Question) -> Shown:
        return Shown.of(evidence_of(library, question))

    def search(question: Question) -> Shown:
        found = library.search(question.text, limit=DEFAULT_LIMIT)
        return Shown(tuple(ShownPassage(each.path, each.text) for each in found))

    def baseline(question: Question) -> Shown:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question.text))
        rows = table.execute(
            "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain) LIMIT ?", (words, DEFAULT_LIMIT)
        )
        return Shown(tuple(ShownPassage(sections[row].path, sections[row].text) for (row,) in rows))

    return {EVIDENCE: evidence, SEARCH: search, BASELINE: baseline}


def asked_of(vault: str, questions: Sequence[Asked], embedder: Embedder) -> dict[str, list[Result]]:
    """What each system shows on each of the questions, once the vault is read and has its vectors."""
    with tempfile.TemporaryDirectory() as folder, closing(SqliteNoteIndex(Path(folder) / "index.db")) as index:
        write_vault(vault, Path(folder) / "vault")
        files = VaultFiles(Path(folder) / "vault", exclude=(), max_note_bytes=5_000_000)
        search = VectorSearch(index.vectors, embedder, base=installed(), query_seconds=60)
        library = embedded_library(files, index, search)
        return {
            name: [result(library, system, asked) for asked in questions]
            for name, system in systems(library, index).items()
        }


def result(library: Library, system: System, asked: Asked) -> Result:
    question = in_conversation(library, asked.text, asked.before)
    references = resolve_links(library, question.links)
    return Result(asked, system(question), frozenset(each.relative_path for each in references if each.relative_path))


def report(results: dict[str, list[Result]], halves: Sequence[str]) -> Iterator[str]:
    yield HEADER
    for half in halves:
        for name, of_all in results.items():
            of_half = GroupFigures.of_results(each for each in of_all if each.asked.half == half)
            yield f"{f'{half}: {name}':24}{of_half.row()}"
    languages = sorted({each.asked.language for each in results[EVIDENCE]})
    asked = [each.asked for each in results[EVIDENCE]]
    yield from grouped("kind", results, [kind for kind in KINDS if any(each.kind == kind for each in asked)])
    yield from grouped("language", results, languages)
    yield from grouped("vault", results, [vault for vault in VAULTS if any(each.vault == vault for each in asked)])


def grouped(title: str, results: dict[str, list[Result]], order: Iterable[str]) -> Iterator[str]:
    """The figures of the evidence for each group, with the search beside."""
    yield f"\n{'evidence by ' + title:24}{HEADER[24:]}   search: first     any"
    for group in order:
        of_group = {
            name: GroupFigures.of_results(each for each in of_all if getattr(each.asked, title) == group)
            for name, of_all in results.items()
        }
        search = of_group[SEARCH]
        beside = share(search.first, search.answerable) + share(search.any, search.answerable)
        yield f"{group:24}{of_group[EVIDENCE].row()}        {beside}"


def figures(results: dict[str, list[Result]], halves: Sequence[str]) -> dict[str, object]:
    """All figures, for a program to read."""
    groups: dict[str, dict[str, dict[str, int]]] = defaultdict(dict)
    for name, of_all in results.items():
        for half in halves:
            of_half = [each for each in of_all if each.asked.half == half]
            groups[half][name] = asdict(GroupFigures.of_results(of_half))
            for kind in ("kind", "language", "vault"):
                for group in sorted({getattr(each.asked, kind) for each in of_half}):
                    chosen = [each for each in of_half if getattr(each.asked, kind) == group]
                    groups[f"{half} {kind} {group}"][name] = asdict(GroupFigures.of_results(chosen))
    return {**groups}


def misses(results: Iterable[Result]) -> Iterator[str]:
    """Each question whose first passage is not right, what was shown instead, and what would have been right."""
    for each in results:
        asked, shown = each.asked, each.shown
        if each.verdict == "right":
            continue
        yield f"\n{each.verdict:9}{asked.id} {asked.language} {asked.kind}: {' → '.join([*asked.before, asked.text])}"
        yield from (f"    right: {place.path}: {place.contains or '(any)'}" for part in asked.parts for place in part)
        for passage in shown.passages:
            mark = "+" if asked.is_answered_by(passage) else "-"
            yield f"    {mark} {passage.path}: {' '.join(passage.text.split())[:160]}"
        if shown.nearest:
            yield f"    nearest: {', '.join(shown.nearest)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=(*HALVES, "both", DEVELOPMENT, FRESH, *TALKS), default="both")
    parser.add_argument("--misses", action="store_true", help="list what the evidence does not answer first")
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    add_arguments(parser)
    wanted = parser.parse_args()
    halves = HALVES if wanted.half == "both" else (wanted.half,)
    every = (*all_questions(), *development_questions(), *fresh_questions(), *conversations())
    questions = [each for each in every if each.half in halves]
    results: dict[str, list[Result]] = defaultdict(list)
    with embedder_of(wanted.minilm, wanted.cache) as embedder:
        for vault in VAULTS:
            of_vault = [each for each in questions if each.vault == vault]
            if not of_vault:
                continue
            for name, found in asked_of(vault, of_vault, embedder).items():
                results[name] += found
    if wanted.json:
        print(json.dumps(figures(results, halves), indent=1))
    else:
        print("\n".join(report(results, halves)))
    if wanted.misses:
        print("\n".join(misses(results[EVIDENCE])))


if __name__ == "__main__":
    main()
