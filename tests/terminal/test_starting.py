"""Starting at a real terminal: the question about a new vault, `zkchat` alone, and keys that are typed early."""

import os
from pathlib import Path

import pytest

from tests.support.ptys import Terminal
from tests.support.world import World
from tests.terminal.test_signals import ON_AT_START

QUOTE = {"ZKCHAT_MODEL": "quote"}
QUESTION = "How many hours do adults need?"


@pytest.fixture
def stranger(tmp_path: Path) -> World:
    world = World(tmp_path, confirms_vault=False)
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    return world


def start(world: World, *command: str, cwd: Path | None = None) -> Terminal:
    return Terminal(world, command=command, cwd=cwd or world.vault, variables=QUOTE, width=160)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(("keys", "code", "said"), [("\x04", 4, "is not a vault yet"), ("\x03", 130, "[y/N]")])
def test_anything_but_yes_leaves_the_folder_alone(stranger: World, keys: str, code: int, said: str) -> None:
    terminal = start(stranger, "chat")
    terminal.wait_for(f"Use the notes in {stranger.vault} (1 note)? No note changes unless you say so. [y/N]")
    terminal.type(keys)
    assert terminal.finish() == code
    assert said in " ".join(terminal.text.split())
    assert "[y/N]" not in terminal.rows[terminal.cursor_row]
    assert terminal.modes_at_end & ON_AT_START == ON_AT_START
    assert names(stranger.vault) == {"Sleep.md"}


def test_after_a_yes_the_chat_starts_and_from_then_on_zkchat_alone_does(stranger: World) -> None:
    terminal = start(stranger)
    terminal.wait_for(f"Use the notes in {stranger.vault} (1 note)? No note changes unless you say so. [y/N]")
    terminal.type("n\r")
    assert terminal.finish() == 0
    assert "zkchat --vault" in terminal.text

    terminal = start(stranger, cwd=stranger.home)
    assert terminal.finish() == 0
    assert "zkchat --vault" in terminal.text
    assert "[y/N]" not in terminal.text

    terminal = start(stranger, "chat", "How many hours", "do adults need?")
    terminal.wait_for("unless you say so. [y/N]")
    assert names(stranger.vault) == {"Sleep.md"}
    terminal.type("y\r")
    terminal.wait_for("you › How many hours do adults need?", "seven hours")
    terminal.wait_for_prompt()
    terminal.type("\x04")
    assert terminal.finish() == 0
    assert names(stranger.vault) == {"Sleep.md", ".zkchat"}

    terminal = start(stranger)
    terminal.wait_for_prompt()
    assert "[y/N]" not in terminal.text
    terminal.type("\x04")
    assert terminal.finish() == 0


def test_keys_that_are_typed_while_the_chat_is_loaded_arrive_in_its_prompt(world: World) -> None:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    terminal = start(world, "chat")
    terminal.type("How many hours do adults need?\rand then ä")
    terminal.wait_for("seven hours", "you › and then ä")
    assert terminal.text.index("zkchat · vault") < terminal.text.index("you › How many hours do adults need?")
    assert terminal.text.count("you ›") == 2
    terminal.type(" more\x15\x04")
    assert terminal.finish() == 0
    assert terminal.modes_at_end & ON_AT_START == ON_AT_START


def test_a_question_before_there_is_an_index_shows_how_far_and_how_long_it_is_built(world: World) -> None:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    for folder in (".git/objects", ".git/refs", "programs"):
        (world.vault / folder).mkdir(parents=True)
    (world.vault / ".git/HEAD").write_text("1" * 40)
    may_end, git = world.root / "may end", world.vault / "programs/git"
    git.write_text(f"#!/bin/sh\nuntil [ -e '{may_end}' ]; do sleep 0.05; done\n")
    git.chmod(0o755)
    path = {"PATH": f"{git.parent}:{os.environ['PATH']}"}
    terminal = Terminal(world, command=["ask", QUESTION], cwd=world.vault, variables=QUOTE | path, width=160)
    terminal.wait_for(" 1 / 1, 1 s; Ctrl-C stops it")
    may_end.touch()
    terminal.wait_for("seven hours")
    assert "ndexing" not in terminal.text


def test_keys_that_are_typed_before_the_question_do_not_answer_it(stranger: World) -> None:
    terminal = start(stranger, "chat")
    terminal.type("y\r")
    terminal.wait_for("unless you say so. [y/N]")
    terminal.type("n\r")
    assert terminal.finish() == 4
