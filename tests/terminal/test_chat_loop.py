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


def test_commands_of_the_plain_loop(chat: Child) -> None:
    chat.send("/help\r")
    chat.expect("/quit")
    chat.expect("leave, as Ctrl-D does")
    chat.send("/nonsense\r")
    chat.expect("There is no command /nonsense")
    chat.expect("you ›")
    chat.sendintr()
    chat.expect("Ctrl-D leaves")
    chat.send("/quit\r")
    chat.expect(pexpect.EOF)


def test_a_chat_is_continued(world: World) -> None:
    world.note("Sleep.md", "Adults need seven hours of sleep.\n")
    world.script([{"text": "one"}], [{"text": "two"}])
    name = f"scripted:{world.root / 'play.json'}"
    for answer in ("one", "two"):
        child = spawn(world, "--model", name, "--continue")
        child.send("Hello?\r")
        child.expect(answer)
        child.expect("you ›")
        child.send("/quit\r")
        child.expect(pexpect.EOF)
        child.close()
    assert len(messages(world)) == 4


def test_without_a_terminal_lines_are_read_as_they_are(world: World) -> None:
    model = world.script([{"text": "one"}], [{"text": "two"}])
    result = world.run("chat", "--model", model, stdin="First?\n\nSecond?\n")
    assert (result.code, result.out) == (0, "one\ntwo\n")
