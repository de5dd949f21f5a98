"""SIGTERM and SIGHUP, wherever they meet a chat: the terminal is as before, and what came is kept."""

import os
import signal
import subprocess
import sys
import termios

import pytest

from tests.support.ptys import Terminal
from tests.support.waiting import DEADLINE, eventually, is_alive
from tests.support.world import World

ON_AT_START = termios.ECHO | termios.ICANON | termios.ISIG
PASTE_OFF, CURSOR_SHOWN, WRAP_ON = "\x1b[?2004l", "\x1b[?25h", "\x1b[?7h"


@pytest.fixture
def model(world: World) -> str:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    return world.script([{"text": "The part that came. "}, {"delay": 60}, {"text": "The rest."}], calls_tools=False)


def environment(world: World) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(world.home), "ZKCHAT_OLLAMA__HOST": "http://127.0.0.1:9"}


def stored(world: World) -> list[tuple[str, str, str]]:
    """Role, status and text of the messages of the last session."""
    result = world.run("context", "export")
    messages = [entry["body"]["message"] for entry in result.json["entries"] if entry["body"]["kind"] == "message"]
    latest = {message["id"]: message for message in messages}
    return [
        (each["role"], each["status"], "".join(part.get("text", "") for part in each["parts"]).strip())
        for each in latest.values()
    ]


def assert_restored(terminal: Terminal) -> None:
    assert terminal.modes_at_end & ON_AT_START == ON_AT_START
    for on, off in (("\x1b[?2004h", PASTE_OFF), ("\x1b[?25l", CURSOR_SHOWN), ("\x1b[?7l", WRAP_ON)):
        assert terminal.written.rfind(off) >= terminal.written.rfind(on)


def test_at_the_prompt(world: World, model: str) -> None:
    terminal = Terminal(world, "--model", model)
    terminal.wait_for_prompt()
    terminal.type("half a mess")
    terminal.wait_for("half a mess")
    terminal.send_signal(signal.SIGTERM)
    assert terminal.finish() == 143
    assert_restored(terminal)
    assert "Ended by SIGTERM" in terminal.text


def test_while_an_answer_comes(world: World, model: str) -> None:
    terminal = Terminal(world, "--model", model)
    terminal.wait_for_prompt()
    terminal.type("How long?\r")
    terminal.wait_for("The part that came.")
    terminal.send_signal(signal.SIGHUP)
    assert terminal.finish() == 129
    assert_restored(terminal)
    assert stored(world) == [("user", "complete", "How long?"), ("assistant", "unfinished", "The part that came.")]


def test_when_the_terminal_is_closed(world: World, model: str) -> None:
    terminal = Terminal(world, "--model", model)
    terminal.wait_for_prompt()
    terminal.type("How long?\r")
    terminal.wait_for("The part that came.")
    terminal.hang_up()
    assert stored(world) == [("user", "complete", "How long?"), ("assistant", "unfinished", "The part that came.")]


@pytest.mark.parametrize("command", [["ask", "How long?"], ["chat"]])
def test_in_a_pipe(world: World, model: str, command: list[str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "zkchat", *command, "--vault", str(world.vault), "--model", model],
        env=environment(world),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdin
        assert child.stdout
        if command == ["chat"]:
            child.stdin.write("How long?\n")
            child.stdin.flush()
        else:
            child.stdin.close()
        assert child.stdout.read(8) == "The part"
        child.terminate()
        assert child.wait(DEADLINE) == 143
        assert child.stderr
        assert "Ended by SIGTERM. Any unfinished answer is kept." in child.stderr.read()
    assert stored(world)[-1] == ("assistant", "unfinished", "The part that came.")


def test_a_chat_in_a_pipe_that_waits_for_a_line_ends(world: World, model: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "zkchat", "chat", "--vault", str(world.vault), "--model", model],
        env=environment(world),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.stderr
        while b"/help" not in child.stderr.readline():
            pass
        child.terminate()
        assert child.wait(DEADLINE) == 143


def test_while_notes_are_indexed_by_several_processes(world: World) -> None:
    for number in range(2_500):
        (world.vault / f"n{number}.md").write_text("# Garden\n\nBeans grow.\n")
    with subprocess.Popen(
        [sys.executable, "-m", "zkchat", "index", "--vault", str(world.vault)],
        env=environment(world),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as child:
        index = world.home / ".cache" / "zkchat"
        eventually(lambda: any(index.rglob("index.db")))
        child.terminate()
        assert child.wait(DEADLINE) == 143
    eventually(lambda: not is_alive(-child.pid))
    assert world.run("search", "beans").code == 0


def test_who_ignores_a_hang_up_goes_on(world: World, model: str) -> None:
    command = f"trap '' HUP; exec {sys.executable} -m zkchat chat --vault {world.vault} --model {model}"
    with subprocess.Popen(
        ["/bin/sh", "-c", command], env=environment(world), stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stderr
        assert child.stdin
        while b"/help" not in child.stderr.readline():
            pass
        child.send_signal(signal.SIGHUP)
        child.stdin.close()
        assert child.wait(DEADLINE) == 0
