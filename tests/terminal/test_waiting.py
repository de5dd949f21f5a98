"""Whatever lasts says so on a real terminal: what is done, for how long, and which key stops it; and that key does."""

import os
import re
import socket
import time
from collections.abc import Callable, Iterator
from threading import Thread

import pytest

from tests.faults.fault_server import FaultServer
from tests.providers.loopback import serving
from tests.support.ptys import Terminal
from tests.support.world import World

LONG = 20
"""Seconds that each stage would take."""
QUESTION = "How much sleep do I need?"


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server that accepts every connection, and says nothing."""
    listening = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []

    def accept() -> None:
        while True:
            try:
                held.append(listening.accept()[0])
            except OSError:
                return

    Thread(target=accept, daemon=True).start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    for each in (listening, *held):
        each.close()


@pytest.fixture
def slept(world: World) -> World:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours of sleep.\n")
    return world


def starts(world: World, *answers: list[dict[str, object]]) -> Terminal:
    terminal = Terminal(world, "--model", world.script(*answers), height=60)
    terminal.wait_for_prompt()
    terminal.type(f"{QUESTION}\r")
    return terminal


def wait_for_seconds(terminal: Terminal, doing: str, key: str) -> None:
    """Until two numbers of seconds were shown."""
    seen: set[str] = set()
    line = re.compile(rf"{re.escape(doing)}, (\d+) s; {key} stops it")

    def has_counted() -> bool:
        seen.update(line.findall(terminal.text))
        return len(seen) > 1

    terminal.wait_until(has_counted, f"{doing}, and the seconds")


def connecting(world: World, silent: str) -> tuple[Terminal, str]:
    terminal = Terminal(world, "--model", "ollama:any", variables={"ZKCHAT_OLLAMA__HOST": silent})
    terminal.wait_for_prompt()
    terminal.type(f"{QUESTION}\r")
    return terminal, "getting ready"


def in_the_middle(world: World, _silent: str) -> tuple[Terminal, str]:
    terminal = starts(world, [{"text": "Seven hours, says"}, {"delay": LONG}, {"text": " Sleep."}])
    terminal.wait_for("Seven hours, says")
    return terminal, "waiting for the model"


def compacting(world: World, _silent: str) -> tuple[Terminal, str]:
    world.variables.update(ZKCHAT_CONTEXT__KEEP_RECENT="2", ZKCHAT_REFERENCES__LOOK_AGAIN="false")
    said: list[list[dict[str, object]]] = [[{"text": "[[Sleep]] says: adults need seven hours of sleep. " * 6}]] * 3
    terminal = starts(world, *said, [{"delay": LONG}, {"text": "Short."}])
    for question in ("And why?", "And when?"):
        terminal.wait_for_prompt()
        terminal.type(f"{question}\r")
    terminal.wait_until(lambda: "you › And when?" in terminal.text and terminal.is_at_prompt, "all answers")
    terminal.type("/compact\r")
    terminal.wait_for("Summarising")
    return terminal, "waiting for the model"


def indexing(world: World, _silent: str) -> tuple[Terminal, str]:
    for folder in (".git/objects", ".git/refs", "programs"):
        (world.vault / folder).mkdir(parents=True)
    (world.vault / ".git/HEAD").write_text("1" * 40)
    git = world.vault / "programs/git"
    git.write_text(f"#!/bin/sh\nsleep {LONG}\n")
    git.chmod(0o755)
    path = f"{git.parent}:{os.environ['PATH']}"
    terminal = Terminal(world, variables={"ZKCHAT_MODEL": "quote", "PATH": path}, width=100)
    terminal.type(f"{QUESTION}\r")  # ahead of the prompt
    return terminal, "indexing notes 1 / 1"


@pytest.mark.parametrize("stage", [connecting, in_the_middle, compacting, indexing])
def test_a_stage_of_an_answer_counts_its_seconds_and_esc_stops_it_and_eats_no_key(
    slept: World, silent: str, stage: Callable[[World, str], tuple[Terminal, str]]
) -> None:
    terminal, doing = stage(slept, silent)
    try:
        wait_for_seconds(terminal, f"… {doing}", "Esc")
        terminal.type("typed ahead")
        time.sleep(0.3)
        terminal.type("\x1b")
        terminal.wait_for("(Stopped. What arrived is kept.)", "you › typed ahead")
        assert "Seven hours, says" in terminal.text or stage is not in_the_middle
    finally:
        terminal.close()


def test_vi_keys_quoted_keys_and_replies_of_the_terminal_do_not_stop_an_answer(slept: World) -> None:
    slept.configure('[ui]\nkeys = "vi"\n[references]\nlook_again = false\n')
    terminal = starts(slept, [{"text": "Seven hours."}, {"delay": 6}, {"text": " The end."}])
    terminal.wait_for("Seven hours.")
    for keys in ("two words", "\x1b", "0", "iin ", "\x16", "\x1b", "\x1b]11;rgb:0000/0000/0000\x07\x1b[?62;4c"):
        terminal.type(keys)
        time.sleep(0.3)  # as fingers do: a key by itself
    terminal.wait_for("The end.", "you › in ␛two words")
    assert "Stopped" not in terminal.text
    terminal.close()


def test_a_command_that_looks_for_a_model_counts_its_seconds_and_ctrl_c_stops_it(slept: World, silent: str) -> None:
    command = ["ask", QUESTION]
    terminal = Terminal(slept, command=command, cwd=slept.vault, variables={"ZKCHAT_OLLAMA__HOST": silent}, width=100)
    wait_for_seconds(terminal, "Looking for the model", "Ctrl-C")
    terminal.type("\x03")
    assert terminal.finish() == 130


server = serving(FaultServer)


@pytest.mark.parametrize("fault", ["endless", "large-list", "large-line", "large-code"])
def test_ctrl_c_stops_a_flood_and_the_prompt_is_back(world: World, server: FaultServer, fault: str) -> None:
    world.note("Sleep.md", "Adults need seven hours of sleep.\n")
    world.variables["ZKCHAT_OLLAMA__HOST"] = server.address
    with Terminal(world, "--model", f"ollama:{fault}") as terminal:
        terminal.wait_for_prompt()
        terminal.type("How long?\r")
        terminal.wait_until(lambda: terminal.text.count("word") > 20, "an answer")
        terminal.type("\x03")
        terminal.wait_for("(Stopped. What arrived is kept.)")
        terminal.type("And now")
        terminal.wait_for("you › And now")
