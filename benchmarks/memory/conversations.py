"""How many of the messages that answer a question are among the best, over public conversations that are not shipped.

    python -m benchmarks.memory.conversations FOLDER [--half first|second] [--no-vectors]

FOLDER holds the JSON files of LoCoMo (`locomo10.json`) or of sets in its form, such as REALTALK: `session_N` lists of
messages with `dia_id`, `speaker` and `text` or `clean_text`, `session_N_date_time`, and `qa` with `evidence`. What a
photo shows (`blip_caption`) counts as said. *recalled* is the share that comes back into a window of 4,096 tokens.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.memory.needles import MEMORY, TOKENS, stored
from zkchat.chat import recall
from zkchat.core import ChatMessage, TextEmbedder, TextPart
from zkchat.models import installed

DEPTHS = (5, 10, 25)
_TIME_FORMS = ("%I:%M %p on %d %B, %Y", "%d.%m.%Y, %H:%M:%S", "%d.%m.%Y, %H:%M")
_EVIDENCE = re.compile(r"D\d+:\d+")
_SESSION = re.compile(r"session_(\d+)")


class Question(NamedTuple):
    text: str
    kind: str
    evidence: frozenset[str]


class Talk(NamedTuple):
    name: str
    messages: list[ChatMessage]
    questions: list[Question]


def talks(folder: Path) -> list[Talk]:
    """Every conversation in the files of a folder, by file name."""
    found = []
    for path in sorted(folder.glob("*.json")):
        held = json.loads(path.read_text("utf-8"))
        for number, each in enumerate(held if isinstance(held, list) else [held]):
            messages = [*_messages(each.get("conversation", each))]
            ids = {message.id for message in messages}
            found.append(Talk(f"{path.stem} {number}", messages, [*_questions(each["qa"], ids)]))
    return found


def _messages(conversation: dict[str, Any]) -> Iterator[ChatMessage]:
    sessions = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    for session in sessions:
        begin = _time(conversation[f"session_{session}_date_time"])
        for number, said in enumerate(conversation[f"session_{session}"]):
            photo = f"[{said['blip_caption']}] " if said.get("blip_caption") else ""
            text = photo + (said.get("text") or said.get("clean_text") or "")
            yield ChatMessage(
                id=said["dia_id"],
                role="user",
                name=said["speaker"],
                parts=(TextPart(text=text),),
                created_at=_time(said["date_time"]) if "date_time" in said else begin + timedelta(minutes=number),
            )


def _time(written: str) -> datetime:
    for form in _TIME_FORMS:
        try:
            return datetime.strptime(written, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise ValueError(f"{written!r} is no time of a known form")


def _questions(listed: Sequence[dict[str, Any]], ids: set[str]) -> Iterator[Question]:
    for asked in listed:
        evidence = frozenset(_EVIDENCE.findall(" ".join(asked["evidence"]))) & ids
        if evidence:
            yield Question(str(asked["question"]), str(asked["category"]), evidence)


def measure(talk: Talk, embedder: TextEmbedder | None) -> Iterator[tuple[str, list[float]]]:
    """For each question its kind, and the share of its evidence among the best so many and among what comes back."""
    archived = {message.id: message for message in talk.messages}
    with (
        tempfile.TemporaryDirectory() as folder,
        stored(Path(folder), talk.messages, embedder) as (_, search, session),
    ):
        for question in talk.questions:
            ranked = search.ranked(question.text, session=session, limit=max(DEPTHS))
            best = [each.message for each in ranked]
            back = recall(search, question.text, archived, session=session, budget=MEMORY, count=TOKENS)
            found = [*(best[:depth] for depth in DEPTHS), [each.message.id for each in back]]
            yield question.kind, [len(question.evidence.intersection(ids)) / len(question.evidence) for ids in found]


def row(name: str, shares: Sequence[Sequence[float]]) -> None:
    means = [sum(column) / len(column) for column in zip(*shares, strict=True)]
    print(f"{name:34}{len(shares):>10,}" + "".join(f"{mean:>10.3f}" for mean in means))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("first", "second"), help="only these conversations of the folder")
    parser.add_argument("--no-vectors", action="store_true", help="as where the vocabulary is not installed")
    wanted = parser.parse_args()
    found = talks(wanted.folder)
    middle = len(found) // 2
    chosen = {None: found, "first": found[:middle], "second": found[middle:]}[wanted.half]
    embedder = None if wanted.no_vectors else installed()
    print(
        f"{'share of the evidence in the best':34}{'questions':>10}"
        + "".join(f"{name:>10}" for name in (*DEPTHS, "recalled"))
    )
    of_kind: dict[str, list[list[float]]] = {}
    for talk in chosen:
        measured = [*measure(talk, embedder)]
        row(f"{talk.name}, {len(talk.messages):,} messages", [shares for _, shares in measured])
        for kind, shares in measured:
            of_kind.setdefault(kind, []).append(shares)
    for kind, several in sorted(of_kind.items()):
        row(f"kind {kind}", several)
    row("all", [shares for several in of_kind.values() for shares in several])


if __name__ == "__main__":
    main()
