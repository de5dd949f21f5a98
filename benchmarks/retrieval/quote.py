"""How well `quote` answers: vault-fixtures/garden-questions.json over vault-fixtures/garden.

    python -m benchmarks.retrieval.quote [--misses]

The questions are asked as a chat asks them, with the vectors of the search. Prints the share of questions whose
answering sentence is quoted first, or at all, beside a baseline that quotes the first sentences of the best passages;
and how often questions that the vault does not answer are left unanswered: ten that might stand there, and those of
queries/elsewhere.json, which ask about the rest of the world. Last, of how many notes a sentence comes first when
somebody asks what is said about them.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from benchmarks.retrieval.retrieval import embedded_library
from zkchat.answers import find_undated_evidence as find_evidence
from zkchat.core import DEFAULT_LIMIT
from zkchat.index import Library, SqliteNoteIndex, VectorSearch
from zkchat.models import installed
from zkchat.notes import sentences
from zkchat.storage import VaultFiles

FIXTURES = Path(__file__).parents[2] / "vault-fixtures"
ELSEWHERE = Path(__file__).parent / "queries" / "elsewhere.json"
Quoter = Callable[[Library, str], list[str]]


def quote(library: Library, question: str) -> list[str]:
    return [evidence.text for evidence in find_evidence(library, question, []).evidence]


def quote_without_doubt(library: Library, question: str) -> list[str]:
    found = find_evidence(library, question, [])
    return [] if found.is_doubtful else [evidence.text for evidence in found.evidence]


def first_sentences(library: Library, question: str) -> list[str]:
    return [said for passage in library.search(question, limit=DEFAULT_LIMIT) for said in sentences(passage.text)[:1]]


def speaks_first(quoter: Quoter, library: Library, path: str) -> bool:
    best = quoter(library, f"What do my notes say about {library.title(path)}?")[:1]
    return any(said in library.read(path) for said in best)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="list the questions that go wrong")
    show_misses = parser.parse_args().misses
    questions = json.loads((FIXTURES / "garden-questions.json").read_text())
    answered = [each for each in questions if each["path"]]
    silent = [each["question"] for each in questions if not each["path"]]
    elsewhere = json.loads(ELSEWHERE.read_text())
    with tempfile.TemporaryDirectory() as folder, closing(SqliteNoteIndex(Path(folder) / "index.db")) as index:
        files = VaultFiles(FIXTURES / "garden", exclude=(), max_note_bytes=5_000_000)
        library = embedded_library(files, index, VectorSearch(index.vectors, installed(), base=installed()))
        notes = sorted(library.stamps())
        print(
            f"{'':34}{'first':>8}{f'in {DEFAULT_LIMIT}':>8}{'silent when it should be':>28}"
            f"{'elsewhere':>12}{'about a note':>16}"
        )
        for name, quoter in {
            "quote": quote,
            "quote, without doubt": quote_without_doubt,
            "baseline: first sentences": first_sentences,
        }.items():
            first = shown = 0
            for each in answered:
                found = [
                    each["answer_contains"] in " ".join(said.split()) for said in quoter(library, each["question"])
                ]
                first += found[:1] == [True]
                shown += any(found)
                if show_misses and quoter is quote and not any(found):
                    print(f"  missed: {each['question']}  ({quoter(library, each['question'])[:1]})")
            quiet, quiet_elsewhere = (sum(not quoter(library, each) for each in asked) for asked in (silent, elsewhere))
            about = sum(speaks_first(quoter, library, path) for path in notes)
            print(
                f"{name:34}{first:>5}/{len(answered)}{shown:>5}/{len(answered)}{quiet:>25}/{len(silent)}"
                f"{quiet_elsewhere:>9}/{len(elsewhere)}{about:>13}/{len(notes)}"
            )


if __name__ == "__main__":
    main()
