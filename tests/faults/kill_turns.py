"""Run turns in child processes that are killed at random moments, and look at what is left on disk.

    python -m tests.faults.kill_turns FOLDER KILLS SEED

Everything is imported once and each child is forked, so that a hundred kills take seconds. Prints one JSON object.
"""

import asyncio
import json
import os
import random
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.support.world import World
from zkchat.app import conversation, stores
from zkchat.app.conversation_core import ConversationOptions
from zkchat.core.events import PromptReady, TextDelta, TurnFinished
from zkchat.core.session_history import messages_of

ANSWER: list[list[dict[str, Any]]] = [
    [{"thinking": "Let me look."}, {"tool": "find_excerpts", "arguments": {"query": "sleep"}}],
    [{"text": "Seven "}, {"delay": 0.01}, {"text": "hours, "}, {"delay": 0.5}, {"text": "says [[Sleep]]."}],
]


def talk(world: World, turns: int, acknowledge: int) -> None:
    """Take turns, and say on the pipe what was shown to the user, as soon as it was shown."""
    options = ConversationOptions(vault=world.vault, model=f"scripted:{world.root / 'play.json'}", continue_last=True)
    with conversation.open_conversation(world.environment(stdin=""), options) as opened:

        async def turn() -> None:
            async for event in opened.conversation.say("How long do people sleep? [[Sleep]]"):
                if isinstance(event, PromptReady):
                    os.write(acknowledge, f"sent {event.message_id}\n".encode())
                elif isinstance(event, TurnFinished):
                    os.write(acknowledge, f"done {event.message.id}\n".encode())
                elif isinstance(event, TextDelta):
                    os.write(acknowledge, b"text\n")

        for _ in range(turns):
            asyncio.run(turn())


def one_child(world: World, moment: float, *, in_answer: bool) -> list[str]:
    """The lines that a child acknowledged before it was killed: at a moment, or so long after an answer began."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        talk(world, 50, write)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as lines:
        begun = [*iter(lines.readline, "text\n")] if in_answer else []
        time.sleep(moment)  # the kill comes at any moment: that is the test
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return [line.strip() for line in (*begun, *lines)]


def prepared(folder: Path) -> World:
    folder.mkdir(parents=True)
    world = World(folder)
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours of sleep.\n")
    world.script(*ANSWER * 100, context_limit=2500)
    return world


def main() -> None:
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    warm, world = prepared(folder / "warm"), prepared(folder / "fire")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    talk(warm, 1, nowhere)  # so that every module is loaded before the first child is forked
    begun = time.monotonic()
    talk(warm, 1, nowhere)
    one_turn = time.monotonic() - begun
    report = {"kills": 0, "sent": 0, "answered": 0, "lost": 0, "unsound": 0, "not_resumed": 0, "unfinished": 0}
    shown: set[str] = set()
    for number in range(kills):
        in_answer = number % 4 == 0
        moment = 0.3 if in_answer else rng.uniform(0.0, 0.2 + 1.5 * one_turn)
        lines = one_child(world, moment, in_answer=in_answer)
        report["kills"] += 1
        sent = {line.split()[1] for line in lines if line.startswith("sent")}
        answered = {line.split()[1] for line in lines if line.startswith("done")}
        report["sent"] += len(sent)
        report["answered"] += len(answered)
        shown |= sent | answered
        (database,) = world.home.rglob("sessions.db") if shown else (None,)
        if database is None:
            continue
        with closing(sqlite3.connect(database)) as connection:
            report["unsound"] += connection.execute("PRAGMA integrity_check").fetchone() != ("ok",)
        with stores.open_sessions(world.environment(), world.vault) as store:
            stored = {id_ for session in store.sessions() for id_ in messages_of(store.entries(session.id))}
        report["lost"] += len(shown - stored)
        read, write = os.pipe()
        talk(world, 1, write)
        os.close(write)
        with os.fdopen(read) as resumed:
            report["not_resumed"] += "done" not in resumed.read()
    with stores.open_sessions(world.environment(), world.vault) as store:
        report["sessions"] = len(store.sessions())
        for session in store.sessions():
            messages = messages_of(store.entries(session.id)).values()
            report["unfinished"] += sum(message.status == "unfinished" for message in messages)
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
