"""Whether questions about a time find the note of that time, and whether other questions are left alone.

    python -m benchmarks.retrieval.time_questions [--half dev|unseen] [--misses] [--json]

Over a vault of three years of daily notes (time_vault.py). Each question goes the way of a question in a chat without a
model; beside it stands what the same evidence finds without dates, and the first note of the search. The rules were
written against the half `dev` only.
"""

import argparse
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, time
from pathlib import Path

from benchmarks.retrieval.time_vault import TODAY, TimeQuestion, rows, time_vault
from zkchat.answers import find_undated_evidence as find_evidence
from zkchat.answers import time_of
from zkchat.core import Calendar
from zkchat.index import Library, LibraryOptions, SqliteNoteIndex, VectorSearch
from zkchat.mcp import AskVault, ask_vault
from zkchat.models import installed
from zkchat.notes import period_text
from zkchat.storage import VaultFiles

NOW = datetime.combine(TODAY, time(12), tzinfo=UTC)
CLONED = datetime(2026, 6, 1, tzinfo=UTC).timestamp()
"""The time of all files, as after a clone: it tells nothing."""


@contextmanager
def library_of(notes: dict[str, str]) -> Iterator[Library]:
    """The library over notes that are written into a folder for it."""
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder, "vault")
        for path, text in notes.items():
            file = vault / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            os.utime(file, (CLONED, CLONED))
        files = VaultFiles(vault, exclude=(), max_note_bytes=100_000)
        with closing(SqliteNoteIndex(Path(folder, "index.db"))) as index:
            options = LibraryOptions(calendar=lambda: Calendar(NOW))
            library = Library.over(files, index, VectorSearch(index.vectors, installed()), options=options)
            with closing(library):
                library.refresh()
                library.embed()
                yield library


def with_dates(library: Library, question: str) -> str:
    found = ask_vault(library, AskVault(question=question), lists=True)
    named = [*(quote.path for quote in found.quotes), *(source.path for source in found.sources)]
    return (named or [quote.path for quote in found.nearest] or [""])[0]


def without_dates(library: Library, question: str) -> str:
    found = find_evidence(library, question, ())
    return next((each.relative_path for each in (*found.evidence, *found.nearest)), "")


def by_search(library: Library, question: str) -> str:
    return next((each.path for each in library.documents(question, limit=1)), "")


SYSTEMS: dict[str, Callable[[Library, str], str]] = {
    "with dates": with_dates,
    "without dates": without_dates,
    "search": by_search,
}


def shares(right: Iterable[tuple[TimeQuestion, bool]], key: Callable[[TimeQuestion], str]) -> dict[str, float]:
    """By key, the share of questions whose note came first."""
    found: dict[str, list[bool]] = defaultdict(list)
    for question, is_right in right:
        found[key(question)].append(is_right)
    return {name: round(sum(each) / len(each), 3) for name, each in sorted(found.items())}


def narrowed(library: Library, half: str) -> list[str]:
    """Questions that ask for no time, of which one was found."""
    wrong = []
    for of_half, _, question in rows("time_words.tsv"):
        time_found = time_of(library, question) if of_half == half else None
        if time_found:
            days = period_text(time_found.period) if time_found.period else time_found.order
            wrong.append(f"{question}  [{days}]")
    return wrong


def measured(library: Library, questions: Iterable[TimeQuestion], half: str, *, misses: bool) -> dict[str, object]:
    asked = [each for each in questions if each.half == half]
    others = sum(row[0] == half for row in rows("time_words.tsv"))
    report: dict[str, object] = {"questions": len(asked), "other questions": others}
    for name, system in SYSTEMS.items():
        answers = [(each, system(library, each.text)) for each in asked]
        right = [(each, path in each.answers) for each, path in answers]
        report[name] = round(sum(is_right for _, is_right in right) / len(right), 3)
        if name == "with dates":
            report["by language"] = shares(right, lambda each: each.language)
            report["by kind"] = shares(right, lambda each: each.kind)
            if misses:
                report["misses"] = [
                    f"{each.text}  → {path or 'nothing'}, not {', '.join(sorted(each.answers)[:3])}"
                    for each, path in answers
                    if path not in each.answers
                ]
    wrong = narrowed(library, half)
    report["narrowed wrongly"] = f"{len(wrong)} of {others}"
    if misses:
        report["narrowed"] = wrong
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--half", choices=["dev", "unseen"], help="one half only")
    parser.add_argument("--misses", action="store_true", help="list what went wrong")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    made = time_vault()
    with library_of(made.notes) as library:
        halves = [options.half] if options.half else ["dev", "unseen"]
        reports = {half: measured(library, made.questions, half, misses=options.misses) for half in halves}
    if options.json:
        print(json.dumps(reports, indent=2))
        return
    for half, report in reports.items():
        print(f"{half}, {len(made.notes):,} notes")
        for name, value in report.items():
            listed = "".join(f"\n    {line}" for line in value) if isinstance(value, list) else f"{value}"
            print(f"  {name}: {listed}")


if __name__ == "__main__":
    main()
