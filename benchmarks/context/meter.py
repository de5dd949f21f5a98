"""How well the meter foretells what a real server counts: llama.cpp with SmolLM2, our counts by o200k.

    python -m benchmarks.context.meter [--conversations N] [--turns N] [--english]

Conversations over vault-fixtures/garden, with compactions as they come. For every request after the third turn, what
the bar showed before it was sent stands beside the prompt tokens that the server reported. Baseline: our own count as
it is, and four characters to a token. It takes the better part of an hour; Ctrl-C shows what there is so far.
"""

import argparse
import asyncio
import io
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.providers import llama_cpp_server
from tests.providers.weights import smollm2
from zkchat.app import ConversationOptions, conversation
from zkchat.chat import Conversation, request_from
from zkchat.core import ChatMessage, Environment, TurnFinished
from zkchat.notes import detect_language

VAULT = Path(__file__).parents[2] / "vault-fixtures" / "garden"
KEY = "benchmark"
WINDOW = 2048
SEED = 7
FIRST_TURNS = 3
SETTINGS = """
model = "small"
[models.small]
provider = "openai"
id = "{name}"
calls_tools = false
options = {{ max_tokens = 48 }}
[openai]
base_url = "{address}/v1"
"""


@contextmanager
def server() -> Iterator[str]:
    command = [sys.executable, str(Path(llama_cpp_server.__file__)), str(smollm2()), KEY, str(WINDOW)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.kill()


def questions(count: int, seed: int, *, english: bool = False) -> list[str]:
    """Questions of many kinds and lengths about the notes, with pieces of them pasted in."""
    chance = random.Random(seed)
    notes = [path for path in sorted(VAULT.rglob("*.md")) if path.name != "README.md"]
    notes = [path for path in notes if not english or detect_language(path.read_text()) == "en"]
    asked = []
    for _ in range(count):
        note = chance.choice(notes)
        lines = [line for line in note.read_text().splitlines() if line.strip()]
        pasted = "\n".join(chance.sample(lines, min(len(lines), chance.choice([0, 1, 3, 8]))))
        asked.append(f"What does [[{note.stem}]] say on this?\n{pasted}".strip())
    return asked


Row = tuple[int, int, int, int]
"""Shown, counted, four characters to a token, and reported."""


def measured(environment: Environment, asked: list[str]) -> Iterator[Row]:
    """Of each request after the third turn. A question that zkchat answers without the model makes none."""
    options = ConversationOptions(vault=VAULT)
    with conversation.open_conversation(environment, options) as opened, asyncio.Runner() as loop:
        talk = opened.conversation
        for turn, question in enumerate(asked, start=1):
            print(f"\r  turn {turn} of {len(asked)}", end="", file=sys.stderr, flush=True)
            answer = loop.run(answered(talk, question))
            context = answer.request_context
            if turn > FIRST_TURNS and context and context.usage and answer.usage:
                request = request_from(context, talk.history.messages, talk.history.contents)
                characters = sum(len(message.text) for message in request.messages)
                yield context.usage.total, context.usage.counted, characters // 4, answer.usage.prompt_tokens


async def answered(talk: Conversation, question: str) -> ChatMessage:
    last = [event async for event in talk.say(question)][-1]
    if not isinstance(last, TurnFinished):
        raise SystemExit(f"The turn did not end well: {last}")
    return last.message


def row(name: str, pairs: list[tuple[int, int]]) -> str:
    off = sorted(100 * abs(foretold - reported) / reported for foretold, reported in pairs)
    return f"{name:36}{statistics.median(off):10.2f}{off[int(0.95 * (len(off) - 1))]:10.2f}{off[-1]:10.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=5)
    parser.add_argument("--turns", type=int, default=45)
    parser.add_argument("--english", action="store_true", help="ask about English notes only; else in eight languages")
    wanted = parser.parse_args()
    rows: list[Row] = []
    with server() as address, tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / ".config" / "zkchat").mkdir(parents=True)
        settings = SETTINGS.format(name=llama_cpp_server.NAME, address=address)
        (home / ".config" / "zkchat" / "config.toml").write_text(settings)
        environment = Environment(
            stdin=io.StringIO(),
            stdout=io.StringIO(),
            stderr=io.StringIO(),
            variables={"OPENAI_API_KEY": KEY},
            cwd=home,
            home=home,
        )
        with suppress(KeyboardInterrupt):  # what was measured so far is worth seeing
            for number in range(wanted.conversations):
                print(f"\nconversation {number + 1} of {wanted.conversations}", file=sys.stderr, flush=True)
                rows += measured(environment, questions(wanted.turns, SEED + number, english=wanted.english))
    print(f"\n{len(rows)} requests; off by, in %{'':8}{'median':>10}{'p95':>10}{'most':>10}")
    print(row("the meter", [(shown, reported) for shown, _, _, reported in rows]))
    print(row("baseline: our own count", [(counted, reported) for _, counted, _, reported in rows]))
    print(row("baseline: four characters to a token", [(guess, reported) for _, _, guess, reported in rows]))


if __name__ == "__main__":
    main()
