"""Questions with the passages that answer them, the halves they belong to, and the vaults they are asked of."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import json
from msgspec.structs import replace

from benchmarks.retrieval.generated_vaults import generated_notes
from zkchat.chat import KnownQuestion

FIXTURES = Path(__file__).parents[2] / "vault-fixtures"
QUESTIONS = Path(__file__).parent / "queries" / "answers"
DEVELOPMENT_QUESTIONS = Path(__file__).parent / "queries" / "development"
FRESH_QUESTIONS = Path(__file__).parent / "queries" / "fresh"
CONVERSATIONS = Path(__file__).parent / "queries" / "conversations"
WRITTEN = Path(__file__).parent / "vaults"
"""Of these vaults each note is a file, other than of those that are made from words."""
VAULTS: Final = ("garden", "handbook", "journal", "workshop", "household")
HALVES: Final = ("dev", "test")
DEVELOPMENT: Final = "development"
"""The questions whose misses are read: they are in neither half."""
FRESH: Final = "fresh"
"""The questions on which nothing is chosen and whose misses are not read: they are in neither half."""
UNANSWERABLE: Final = ("near", "off-topic", "greeting", "none")
KINDS: Final = (
    *("linked", "named", "plain", "time", "list", "table", "faq", "follow-up", "paraphrase", "typo", "two"),
    *UNANSWERABLE,
)


class Asked(KnownQuestion, frozen=True, kw_only=True):
    id: str
    half: str
    language: str
    kind: str
    vault: str = ""


def all_questions() -> list[Asked]:
    """Those of both halves."""
    return _questions_in(QUESTIONS)


def development_questions() -> list[Asked]:
    return _questions_in(DEVELOPMENT_QUESTIONS)


def fresh_questions() -> list[Asked]:
    return _questions_in(FRESH_QUESTIONS)


def conversations() -> list[Asked]:
    """Questions of conversations, in other words, with slips and two at once; those of `test` are never read."""
    return [replace(each, half=f"conversations {each.half}") for each in _questions_in(CONVERSATIONS)]


def _questions_in(folder: Path) -> list[Asked]:
    return [
        replace(each, vault=file.stem)
        for file in sorted(folder.glob("*.json"))
        for each in json.decode(file.read_bytes(), type=list[Asked])
    ]


def notes_of(vault: str) -> Iterator[tuple[str, str]]:
    """The path and the text of each note; the garden lends room to the library, in a folder of its own."""
    folders = [(FIXTURES / "garden", ""), (FIXTURES / "library", "Library/")]
    if vault not in {"garden", "workshop", "household"}:
        yield from generated_notes(vault)
        return
    for folder, prefix in folders if vault == "garden" else [(WRITTEN / vault, "")]:
        for file in sorted(folder.rglob("*.md")):
            if file.name != "README.md":
                yield prefix + file.relative_to(folder).as_posix(), file.read_text(encoding="utf-8")


def write_vault(vault: str, root: Path) -> None:
    if vault == "garden":
        shutil.copytree(FIXTURES / "garden" / "Attachments", root / "Attachments")
    for path, text in notes_of(vault):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
