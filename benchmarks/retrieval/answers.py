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
from dataclasses import asdict, dataclass
from pathlib import Path

from msgspec.structs import replace

from benchmarks.retrieval.answer_set import (
    DEVELOPMENT,
    FRESH,
    HALVES,
    KINDS,
    VAULTS,
    Asked,
    Passage,
    all_questions,
    conversations,
    development_questions,
    fresh_questions,
    write_vault,
)
from benchmarks.retrieval.embedding_server import add_arguments, embedder_of
from benchmarks.retrieval.retrieval import embedded_library, plain_table, sections_of
from zkchat.chat import Question, resolve_links
from zkchat.chat.evidence_lookup import as_reference, look_up
from zkchat.core import ChatMessage, Embedder, Findings, TextPart, utc_now
from zkchat.index import Library, SqliteNoteIndex, TextRanking, VectorSearch
from zkchat.models import installed
from zkchat.storage import VaultFiles

SHOWN = 3
TALKS = tuple(f"conversations {half}" for half in HALVES)
EVIDENCE, SEARCH, BASELINE = "evidence", "search", "FTS5 bm25"


@dataclass(frozen=True)
class Shown:
    """What a system makes of a question: the passages that it shows, and the notes that it calls the nearest."""

    passages: tuple[Passage, ...]
    nearest: tuple[str, ...] = ()
    is_doubtful: bool = False
    """Whether the passages are shown with a word of doubt."""


@dataclass(frozen=True)
class Result:
    asked: Asked
    shown: Shown
    linked: frozenset[str]
    """The notes that the question links to."""

    @property
    def first(self) -> bool:
        return any(self.asked.is_answered_by(each) for each in self.shown.passages[:1])

    @property
    def any(self) -> bool:
        return self.asked.is_answered_in_full_by(self.shown.passages)

    @property
    def wrong(self) -> bool:
        """Something is shown, and nothing of the answer is in it."""
        return not self.silent and not any(self.asked.is_answered_by(each) for each in self.shown.passages)

    @property
    def silent(self) -> bool:
        return not self.shown.passages

    @property
    def doubted(self) -> bool:
        return not self.silent and self.shown.is_doubtful

    @property
    def near(self) -> bool:
        """Nothing is shown, and a note with the answer is among those that are called the nearest."""
        right = {place.path for part in self.asked.parts for place in part}
        return self.silent and not right.isdisjoint(self.shown.nearest)

    @property
    def verdict(self) -> str:
        if not self.asked.answerable:
            return "right" if self.silent else "answered"
        return "silent" if self.silent else "wrong" if self.wrong else "right" if self.first and self.any else "later"

    @property
    def from_linked(self) -> bool:
        return any(each.path in self.linked for each in self.shown.passages[:1])


System = Callable[[Question], Shown]


@dataclass(frozen=True)
class Figures:
    """Of a group of questions, how many … ; `answered` counts those that no note answers."""

    answerable: int
    first: int
    any: int
    wrong: int
    wrong_without_doubt: int
    silent: int
    near: int
    doubted: int
    linked: int
    from_linked: int
    unanswerable: int
    answered: int
    answered_with_doubt: int
    with_nearest: int

    @classmethod
    def of(cls, results: Iterable[Result]) -> "Figures":
        listed = [*results]
        answerable = [each for each in listed if each.asked.answerable]
        linked = [each for each in answerable if each.asked.kind == "linked"]
        unanswerable = [each for each in listed if not each.asked.answerable]
        return cls(
            answerable=len(answerable),
            first=sum(each.first for each in answerable),
            any=sum(each.any for each in answerable),
            wrong=sum(each.wrong for each in answerable),
            wrong_without_doubt=sum(each.wrong and not each.doubted for each in answerable),
            silent=sum(each.silent for each in answerable),
            near=sum(each.near for each in answerable),
            doubted=sum(each.doubted for each in answerable),
            linked=len(linked),
            from_linked=sum(each.from_linked for each in linked),
            unanswerable=len(unanswerable),
            answered=sum(not each.silent and not each.doubted for each in unanswerable),
            answered_with_doubt=sum(each.doubted for each in unanswerable),
            with_nearest=sum(each.silent and bool(each.shown.nearest) for each in unanswerable),
        )

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
        found = evidence_of(library, question)
        passages = tuple(Passage(each.relative_path, each.text) for each in found.evidence)
        return Shown(passages, tuple(each.relative_path for each in found.nearest), found.is_doubtful)

    def search(question: Question) -> Shown:
        found = library.search(question.text, limit=SHOWN)
        return Shown(tuple(Passage(each.path, each.text) for each in found))

    def baseline(question: Question) -> Shown:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question.text))
        rows = table.execute("SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain) LIMIT ?", (words, SHOWN))
        return Shown(tuple(Passage(sections[row].path, sections[row].text) for (row,) in rows))

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
    question = in_conversation(library, asked)
    references = resolve_links(library, question.links)
    return Result(asked, system(question), frozenset(each.relative_path for each in references if each.relative_path))


def evidence_of(library: Library, question: Question) -> Findings:
    return look_up(library, question, resolve_links(library, question.links), limit=SHOWN)


def in_conversation(library: Library, asked: Asked) -> Question:
    """The question with the topic of those before it, each answered by what is found for it."""
    said: list[ChatMessage] = []
    for number, text in enumerate(asked.before):
        found = evidence_of(library, Question.parse(text).after(reversed(said)))
        cited = tuple(replace(as_reference(each), cited=True) for each in found.evidence)
        asked_at = utc_now()
        said.append(ChatMessage(id=f"q{number}", role="user", parts=(TextPart(text=text),), created_at=asked_at))
        said.append(ChatMessage(id=f"a{number}", role="assistant", references=cited, created_at=asked_at))
    return Question.parse(asked.text).after(reversed(said))


def report(results: dict[str, list[Result]], halves: Sequence[str]) -> Iterator[str]:
    yield HEADER
    for half in halves:
        for name, of_all in results.items():
            yield f"{f'{half}: {name}':24}{Figures.of(each for each in of_all if each.asked.half == half).row()}"
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
            name: Figures.of(each for each in of_all if getattr(each.asked, title) == group)
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
            groups[half][name] = asdict(Figures.of(of_half))
            for kind in ("kind", "language", "vault"):
                for group in sorted({getattr(each.asked, kind) for each in of_half}):
                    chosen = [each for each in of_half if getattr(each.asked, kind) == group]
                    groups[f"{half} {kind} {group}"][name] = asdict(Figures.of(chosen))
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
