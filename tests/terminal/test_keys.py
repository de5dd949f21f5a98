"""The keys of docs/keys.md on a real terminal, and the list of sessions to choose from."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from tests.support.ptys import Terminal
from tests.support.world import World

Open = Callable[..., Terminal]
ESCAPE = "\x1b"
ALT_ENTER, CTRL_J, BACKSLASH_ENTER = f"{ESCAPE}\r", "\n", "\\\r"
KITTY_SHIFT_ENTER, XTERM_SHIFT_ENTER = f"{ESCAPE}[13;2u", f"{ESCAPE}[27;2;13~"
CTRL_G, CTRL_L, CTRL_R, CTRL_T, UP, DOWN = "\x07", "\x0c", "\x12", "\x14", f"{ESCAPE}[A", f"{ESCAPE}[B"


@pytest.fixture
def chat(world: World) -> Iterator[Open]:
    """Opens `zkchat chat` over two notes, with an editor that only knows capitals."""
    world.note("Ideas/Sleep.md", "# Sleep\n\nAbout #health/sleep.\n")
    world.note("Ideas/Old/Naps.md", "# Naps\n\n#health\n")
    editor = world.root / "editor"
    editor.write_text('#!/bin/sh\ntr a-z A-Z < "$1" > "$1.new" && mv "$1.new" "$1"\n')
    editor.chmod(0o700)
    opened: list[Terminal] = []

    def open_(*arguments: str, **more: object) -> Terminal:
        world.variables |= {"EDITOR": str(editor), "VISUAL": ""}
        terminal = Terminal(world, *arguments, **more)  # type: ignore[arg-type]
        opened.append(terminal)
        return terminal

    yield open_
    for terminal in opened:
        terminal.close()


def questions(world: World) -> list[str]:
    (session, *_) = world.run("sessions", "list", "--json").json
    shown = world.run("sessions", "show", session["id"], "--role", "user", "--json").json
    return [
        "".join(part["text"] for part in message["parts"] if part["kind"] == "text") for message in shown["messages"]
    ]


def prompt_is(terminal: Terminal, text: str) -> None:
    terminal.wait_until(lambda: terminal.is_at_prompt if not text else f"you › {text}" in terminal.rows, text)


def test_keys_for_new_lines_the_editor_the_screen_thinking_and_the_last_message(chat: Open, world: World) -> None:
    model = world.script([{"thinking": "Deep thought."}, {"text": "Rest."}], [{"text": "Well."}])
    terminal = chat("--model", model)
    terminal.wait_for("/help for help")
    terminal.wait_for_prompt()
    terminal.type(f"a{ALT_ENTER}b{CTRL_J}c{KITTY_SHIFT_ENTER}d{XTERM_SHIFT_ENTER}e{BACKSLASH_ENTER}f")
    terminal.wait_for("you › a", *(f"    · {letter}" for letter in "bcdef"))
    terminal.type(CTRL_L)
    terminal.wait_until(lambda: terminal.rows[0] == "you › a" and "for help" not in terminal.text, "a cleared screen")
    assert terminal.rows[5] == "    · f"
    terminal.type(CTRL_G)
    terminal.wait_for("you › A", "    · F")
    terminal.type("g\x18\x05")  # Ctrl-X Ctrl-E, the same editor
    terminal.wait_for("you › A", "    · FG")
    terminal.type("\x7f\r")
    terminal.wait_for("Rest.", "… thought for")
    terminal.wait_for_prompt()
    assert "Deep" not in terminal.text
    terminal.type(f"half{CTRL_T}")
    terminal.wait_for("Thinking of the last answer:", "Deep thought.", "Ctrl-T hides it.", "you › half")
    terminal.type(f"{ESCAPE}{ESCAPE}")
    prompt_is(terminal, "")
    terminal.type(UP)
    prompt_is(terminal, "half")
    terminal.type(f"{ESCAPE}{ESCAPE}")
    prompt_is(terminal, "")
    terminal.type(f"{ESCAPE}{ESCAPE}")
    terminal.wait_for("Your new text replaces message 1; the old messages are kept (/branch).")
    prompt_is(terminal, "A")
    terminal.type("\x03")
    prompt_is(terminal, "")
    terminal.type(f"{CTRL_R}hal")
    terminal.wait_for("I-search backward: hal")
    terminal.type("\r\x05!\r")
    terminal.wait_for("Well.")
    terminal.wait_for_prompt()
    terminal.type("/history\r")
    # the edit that was given up moved nothing
    terminal.wait_for("   1  you       A B C D E F", "   3  you       half!")
    terminal.wait_for_prompt()
    terminal.type("\x04")
    assert terminal.finish() == 0
    assert re.search(r"To continue later: zkchat --vault \S+ -c\s*$", terminal.text.replace("\n", ""))
    assert questions(world) == ["A\nB\nC\nD\nE\nF", "half!"]


def test_vi_shows_its_mode_and_escape_is_its_own(chat: Open, world: World) -> None:
    world.variables["ZKCHAT_UI__KEYS"] = "vi"
    terminal = chat("--model", world.script([{"text": "Rest."}]), width=40)
    terminal.wait_for("INSERT")
    terminal.type("wrong")
    prompt_is(terminal, "wrong")
    terminal.type(ESCAPE)
    terminal.wait_for("NORMAL")
    terminal.type(f"{ESCAPE}{ESCAPE}")
    terminal.type("R")
    terminal.wait_for("REPLACE")
    prompt_is(terminal, "wrong")
    terminal.type(f"{ESCAPE}")
    terminal.wait_for("NORMAL")
    terminal.type("ccright")
    terminal.wait_for("INSERT")
    terminal.type(f"{ALT_ENTER}so\r")
    terminal.wait_for("Rest.")
    terminal.wait_for("INSERT")
    assert questions(world) == ["right\nso"]


def test_one_of_five_hundred_sessions_is_chosen_on_a_narrow_screen(chat: Open, world: World) -> None:
    model = world.script([{"text": "Rest."}], [{"text": "Well."}])
    assert world.run("chat", "--model", model, stdin="What is 眠り?\n").code == 0
    (database,) = world.home.rglob("sessions.db")
    with closing(sqlite3.connect(database)) as connection:
        copies = [(f"copy{number}", f"Session {number}") for number in range(499)]
        columns = "created_at, updated_at, message_count, listed, '', model"
        connection.executemany(f"INSERT INTO sessions SELECT ?, ?, {columns} FROM sessions LIMIT 1", copies)
        connection.commit()
    searched = chat("--model", model, "-r", "rest", width=40, height=16)
    searched.wait_for("1 of 500", "› rest", "› What is 眠り?")
    searched.type("\x03")
    assert searched.finish() == 0
    terminal = chat("--resume", "--model", model, width=40, height=16)
    terminal.wait_for(
        "Continue which session?  500", "› What is 眠り?", "just now", "↑↓ move · Enter choose · Esc back"
    )
    assert all(len(row) <= 40 for row in terminal.rows)
    terminal.type("session 49")
    terminal.wait_for("14 of 500", "› Session 498")
    terminal.type(DOWN)
    terminal.wait_for("› Session 497")
    terminal.type("\x15rest")
    terminal.wait_for("1 of 500", "› What is 眠り?")
    terminal.type("\x15what 眠")
    terminal.wait_for("1 of 500", "› What is 眠り?")
    terminal.type("\r")
    terminal.wait_for("Continuing “What is 眠り?”", "Rest.")
    terminal.wait_for_prompt()
    assert "500" not in terminal.text, "the list is gone"
    terminal.type("/resume\r")
    terminal.wait_for("› * What is 眠り?")
    terminal.type("copy42\r")
    terminal.wait_until(lambda: "1 of 500" not in terminal.text and "Session 42" in terminal.rows[-1], "the other one")
    terminal.type("\x04")
    assert terminal.finish() == 0
