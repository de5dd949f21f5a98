"""The same on the classic test collections in the format of the SMART system: Cranfield, CISI, CACM.

    python -m benchmarks.retrieval.smart FOLDER

FOLDER holds a folder for each collection, with its documents, queries and judgements under these names:
`documents`, `queries`, `judgements`. Each document becomes a note of one or more sections.
"""

import argparse
import re
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from benchmarks.retrieval.retrieval import Question, print_results, results_of
from zkchat.index import SqliteNoteIndex

RECORD = re.compile(r"^\.I[ \t]*(\d+)[ \t]*$", re.MULTILINE)
FIELD = re.compile(r"^\.([A-Z])[ \t]*$", re.MULTILINE)
UNWANTED = re.compile(r'["\\[\]#`]')


def records(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The number and the fields of each record; a field that stands there twice is joined."""
    _, *pieces = RECORD.split(text)
    for number, body in zip(pieces[::2], pieces[1::2], strict=True):
        fields: dict[str, str] = {}
        _, *named = FIELD.split(body)
        for name, value in zip(named[::2], named[1::2], strict=True):
            fields[name] = f"{fields.get(name, '')} {' '.join(value.split())}".strip()
        yield int(number), fields


def fill(vault: Path, source: Path) -> list[Question]:
    """A note for each document, in a vault that was empty, and the questions that have a judgement."""
    vault.mkdir(parents=True)
    for number, fields in records((source / "documents").read_text(encoding="latin-1")):
        title = UNWANTED.sub(" ", fields.get("T", ""))
        text = fields.get("W", "").removeprefix(fields.get("T", "")).strip()
        (vault / f"{letters(number)}.md").write_text(f'---\ntitle: "{title}"\n---\n{text}\n', encoding="utf-8")
    answers = judgements(source / "judgements")
    queries = [fields.get("W", "") for _, fields in records((source / "queries").read_text(encoding="latin-1"))]
    # The judgements of Cranfield count the queries; in the other collections their numbers are the same.
    return [
        Question(text, source.name, "query", [(f"{letters(each)}.md", "") for each in sorted(answers[number])])
        for number, text in enumerate(queries, start=1)
        if number in answers
    ]


def judgements(file: Path) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for line in file.read_text(encoding="latin-1").splitlines():
        query, document, *grade = line.split()
        if not grade or grade[0] != "-1":
            found.setdefault(int(query), set()).add(int(document))
    return found


def letters(number: int) -> str:
    """The name of a note, without a digit that a query may hold."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:04}") + "x"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for source in sorted(each for each in parser.parse_args().folder.iterdir() if each.is_dir()):
        with tempfile.TemporaryDirectory() as folder, closing(SqliteNoteIndex(Path(folder) / "index.db")) as index:
            asked = fill(Path(folder) / "vault", source)
            print_results(asked, results_of(index, Path(folder) / "vault", asked))


if __name__ == "__main__":
    main()
