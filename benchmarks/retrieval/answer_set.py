"""Questions with the passages that answer them, the halves they belong to, and the vaults they are asked of."""

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from benchmarks.retrieval.generated_vaults import generated_notes

FIXTURES = Path(__file__).parents[2] / "vault-fixtures"
QUESTIONS = Path(__file__).parent / "queries" / "answers"
DEVELOPMENT_QUESTIONS = Path(__file__).parent / "queries" / "development"
FRESH_QUESTIONS = Path(__file__).parent / "queries" / "fresh"
CONVERSATIONS = Path(__file__).parent / "queries" / "conversations"
WORKSHOP = Path(__file__).parent / "vaults" / "workshop"
VAULTS: Final = ("garden", "handbook", "journal", "workshop")
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

_MARKUP = re.compile(r"[*`|\s]+")


@dataclass(frozen=True)
class Place:
    """A note, and a piece of the passage of it that answers; without a piece, every passage of the note does."""

    path: str
    contains: str

    def holds(self, path: str, text: str) -> bool:
        return path == self.path and plain(self.contains) in plain(text)


@dataclass(frozen=True)
class Passage:
    """What a system shows."""

    path: str
    text: str


@dataclass(frozen=True)
class Asked:
    """A question; the answer has a part for each of `parts`, which lists the places where that part stands."""

    id: str
    vault: str
    half: str
    language: str
    kind: str
    text: str
    parts: tuple[tuple[Place, ...], ...]
    before: tuple[str, ...] = ()
    """What was asked before it in the conversation."""

    @property
    def answerable(self) -> bool:
        return bool(self.parts)

    def is_answered_by(self, passage: Passage) -> bool:
        """Whether this passage is the answer, or a part of it."""
        return any(place.holds(passage.path, passage.text) for part in self.parts for place in part)

    def is_answered_in_full_by(self, passages: Sequence[Passage]) -> bool:
        """Whether each part of the answer stands in one of the passages."""
        return self.answerable and all(
            any(place.holds(passage.path, passage.text) for place in part for passage in passages)
            for part in self.parts
        )


def plain(text: str) -> str:
    """The text without emphasis, code marks, bars of tables and line breaks."""
    return _MARKUP.sub(" ", text).strip()


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
        _asked(file.stem, each)
        for file in sorted(folder.glob("*.json"))
        for each in json.loads(file.read_text(encoding="utf-8"))
    ]


def _asked(vault: str, each: dict[str, Any]) -> Asked:
    return Asked(
        id=each["id"],
        vault=vault,
        half=each["half"],
        language=each["language"],
        kind=each["kind"],
        text=each["question"],
        parts=tuple(tuple(Place(*place) for place in part) for part in each["answers"]),
        before=tuple(each.get("before", ())),
    )


def notes_of(vault: str) -> Iterator[tuple[str, str]]:
    """The path and the text of each note; the garden lends room to the library, in a folder of its own."""
    folders = [(FIXTURES / "garden", ""), (FIXTURES / "library", "Library/")]
    if vault not in {"garden", "workshop"}:
        yield from generated_notes(vault)
        return
    for folder, prefix in folders if vault == "garden" else [(WORKSHOP, "")]:
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
