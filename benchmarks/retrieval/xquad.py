"""The same on real text and real questions: the paragraphs of XQuAD in twelve languages, in one vault.

    python -m benchmarks.retrieval.xquad FOLDER [--every N]

FOLDER holds the files `xquad.en.json`, `xquad.de.json` … of https://github.com/google-deepmind/xquad (CC BY-SA 4.0).
Every third question is asked as it was written, and in five languages once more as many people type: without accents.
"""

import argparse
import json
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from benchmarks.retrieval.retrieval import Question, print_results, results_of
from zkchat.index import SqliteNoteIndex

ACCENTED = ("de", "es", "tr", "ro", "vi")
WRITTEN, TYPED = "as written", "without accents"


def notes_and_questions(file: Path) -> Iterator[tuple[str, str, list[str]]]:
    """The path and text of a note for each paragraph, and what is asked about it."""
    language = file.name.split(".")[1]
    articles = json.loads(file.read_text(encoding="utf-8"))["data"]
    for number, article in enumerate(articles):
        for place, paragraph in enumerate(article["paragraphs"]):
            # Letters only: a number would be a word that questions may hold.
            path = f"{language}/{chr(97 + number // 26)}{chr(97 + number % 26)}{chr(97 + place)}.md"
            yield path, paragraph["context"], [each["question"] for each in paragraph["qas"]]


def fill(vault: Path, source: Path, every: int) -> list[Question]:
    asked: list[Question] = []
    for file in sorted(source.glob("xquad.*.json")):
        language = file.name.split(".")[1]
        (vault / language).mkdir(parents=True)
        questions: list[Question] = []
        for path, text, texts in notes_and_questions(file):
            (vault / path).write_text(text + "\n", encoding="utf-8")
            questions += [Question(each, language, WRITTEN, [(path, "")]) for each in texts]
        asked += questions[every - 1 :: every]
    typed = (replace(each, text=unaccented(each.text), kind=TYPED) for each in asked if each.language in ACCENTED)
    return [*asked, *(replace(each, language=f"{each.language}*") for each in typed)]


def unaccented(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=3, metavar="N", help="ask only every so many questions")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, closing(SqliteNoteIndex(Path(folder) / "index.db")) as index:
        asked = fill(Path(folder) / "vault", wanted.folder, wanted.every)
        print_results(asked, results_of(index, Path(folder) / "vault", asked))


if __name__ == "__main__":
    main()
