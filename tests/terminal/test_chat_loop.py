"""`zkchat chat` on a real terminal."""

import os
import sys
from collections.abc import Iterator

import pexpect
import pytest

from tests.support.ptys import Child
from tests.support.waiting import DEADLINE
from tests.support.world import World


@pytest.fixture
def chat(world: World) -> Iterator[Child]:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours of sleep.\n")
    slow = [{"text": "Counting "}, *[step for n in range(200) for step in ({"delay": 0.05}, {"text": f"sheep {n}, "})]]
    world.script(slow, [{"text": "Awake again."}])
    child = spawn(world, "--model", f"scripted:{world.root / 'play.json'}")
    yield child
    child.close()


def spawn(world: World, *arguments: str) -> Child:
    child = Child(
        sys.executable,
        ["-m", "zkchat", "chat", "--vault", str(world.vault), *arguments],
        env={**os.environ, "HOME": str(world.home), "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"},
        dimensions=(24, 80),
        encoding="utf-8",
        timeout=DEADLINE,
    )
    child.expect("you ›")
    return child


def messages(world: World) -> list[tuple[str, str]]:
    (session,) = world.run("sessions", "list", "--all", "--json").json
    shown = world.run("sessions", "show", session["id"], "--json").json
    return [(message["role"], message["status"]) for message in shown["messages"]]


def test_ctrl_c_stops_an_answer_keeps_it_and_the_chat_goes_on(chat: Child, world: World) -> None:
    chat.send("Tell me of [[Sleep]]\r")
    chat.expect("sheep 3")
    chat.sendintr()
    chat.expect("you ›")
    chat.send("Are you there?\r")
    chat.expect("Awake again")
    chat.expect("you ›")
    chat.sendeof()
    chat.expect(pexpect.EOF)
    chat.wait()
    assert chat.exitstatus == 0
    assert messages(world) == [
        ("user", "complete"),
        ("assistant", "unfinished"),
        ("user", "complete"),
        ("assistant", "complete"),
    ]
