"""What questions about the garden find: whoever changes how passages are ranked sees what becomes of each.

To write the answers anew, and then to look at what differs: TZ=UTC python -m tests.unit.vault.test_garden_answers
"""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.libraries import library_of
from tests.support.world import GARDEN
from zkchat.answers import CatalogQuery, answer_query, find_evidence
from zkchat.index import Library

ANSWERS = Path(__file__).parent / "garden_answers.json"
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)


def answer(library: Library, question: str) -> str:
    """Where its passages stand, how well they fit, how long they are, what is in doubt, and how many more there are."""
    if question.startswith("search: "):
        passages = library.search(question.removeprefix("search: "), limit=6)
        return "; ".join(
            f"{each.title}:{each.first_line} {each.score:.2f} {each.why} {len(each.snippet)}" for each in passages
        )
    name, _, asked = question.rpartition("| ")
    found = find_evidence(library, asked, [(name, "")] if name else (), limit=4)
    told = [
        f"{each.title}:{each.lines.first}-{each.lines.last} {each.score:.2f} {len(each.text)}{' named' * each.linked}"
        for each in found.evidence
    ]
    near = [f"near {each.title}:{each.lines.first}-{each.lines.last}" for each in found.nearest]
    rest = ["in doubt"] * found.is_doubtful + [f"{found.more} more"] * bool(found.more)
    return "; ".join(filter(None, [*told, *near, *rest, found.remark]))


def listed(library: Library, kind: str, **asked: str | int) -> str:
    """What is listed of the vault, in full."""
    path = str(asked.pop("path", ""))
    found = answer_query(library, CatalogQuery(kind=kind, **asked), path, library.calendar())  # type: ignore[arg-type]
    rows = [f"{each.path or ''} {each.details}".strip() for each in found.rows]
    return "; ".join(filter(None, [found.heading, *rows, f"{found.more} more" * bool(found.more)]))


def answers(questions: list[str]) -> dict[str, str]:
    notes = {path.relative_to(GARDEN).as_posix(): path.read_text("utf-8") for path in GARDEN.rglob("*.md")}
    with TemporaryDirectory() as folder, library_of(Path(folder), notes, now=lambda: NOON) as library:
        return {
            each: listed(library, **json.loads(each)) if each.startswith("{") else answer(library, each)
            for each in questions
        }


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as context:
        context.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("utc")
def test_questions_find_what_they_found_before() -> None:
    expected = json.loads(ANSWERS.read_text("utf-8"))
    assert answers([*expected]) == expected


if __name__ == "__main__":
    known = json.loads(ANSWERS.read_text("utf-8"))
    ANSWERS.write_text(json.dumps(answers([*known]), ensure_ascii=False, indent=0) + "\n", "utf-8")
