"""What commands print on real terminals of several widths: no word is broken, and no line is longer than the screen."""

import json
import os
import re
import shlex
import sys

import pytest
from rich.cells import cell_len

from tests.support.ptys import Child, Terminal
from tests.support.waiting import DEADLINE
from tests.support.world import World

WIDTHS = (60, 200)
WIDE = 400
"""Where nothing is wrapped: the words of each command, whole."""
COMMANDS = (
    "models",
    "agent list",
    "agent show default",
    "sessions list",
    "sessions show 'Sleep, light'",
    "sessions search light",
    "context show",
    "context show --message 2",
    "context stats",
    "context compact --dry-run",
    "mcp install cursor --dry-run",
    "mcp list",
    "help",
    "--help",
    "ask --help",
    "mcp add --help",
    "rules new --help",
    "config show",
    "doctor",
    "search sleep",
    "show Sleep",
    "vault status",
    "links Sleep",
    "rules list",
    "memory list",
    "show Slepp",
    "search --nope",
    "ask --goal",
)
SLASH_COMMANDS = (
    "/context",
    "/agent",
    "/help context",
    "/help keys",
    "/refs",
    "/history",
    "/why [[Sleep]]",
    "/stats",
    "/nope",
)
RUN = """
import json, sys
from zkchat.cli.main import run
from zkchat.core import Environment
environment = Environment.of_this_process()
for words in json.loads(sys.argv[1]):
    run(words, environment)
    environment.stdout.write(chr(30) + "\\n")
    environment.stdout.flush()
"""
_ESCAPES = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?]*[A-Za-z]")
_GONE = re.compile(r"\x1b\[\?7l.*?\x1b\[\?7h|[^\n]*\r\x1b\[K", re.DOTALL)
"""Rows of an answer that were drawn while it came, and then drawn anew; and a line of progress, which was erased."""
LONG = "The best temperature for a bedroom is around 18 °C, which is cooler than most people keep it in winter. "


@pytest.fixture
def talked(world: World) -> World:
    world.note(
        "Sleep.md", f"# Sleep\n\nAdults need seven hours.\n\n{LONG * 3}\n\n| stage | share |\n|---|---|\n| N1 | 5 |\n"
    )
    world.note("Light.md", f"# Light\n\n- {LONG}\n- See [[Sleep]] and [[Nowhere]].\n")
    world.configure('[models.near]\nprovider = "ollama"\nid = "a-model-with-a-rather-long-name:70b-instruct-q4_K_M"\n')
    world.variables["ZKCHAT_MODEL"] = world.script([{"text": f"**Seven** hours, says [[Sleep]]. {LONG * 2}"}])
    world.run("ask", f"How much [[Sleep]] do I need? {LONG}")
    world.run("sessions", "rename", world.run("sessions", "list", "--all", "--json").json[0]["id"], "Sleep, light")
    world.run("rules", "new", "Tone", "Be warm.", "--description", LONG)
    return world


def variables(world: World, width: int) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "HOME": str(world.home),
        "ZKCHAT_OLLAMA__HOST": "http://127.0.0.1:9",
        "ZKCHAT_UI__WIDTH": str(WIDE if width == WIDE else 100),
        **world.variables,
    }


def printed(world: World, width: int) -> dict[str, list[str]]:
    """The lines that each command prints on a terminal of this width."""
    child = Child(
        sys.executable,
        ["-c", RUN, json.dumps([shlex.split(command) for command in COMMANDS])],
        env=variables(world, width),
        cwd=str(world.vault),
        dimensions=(24, width),
        encoding="utf-8",
        timeout=DEADLINE,
    )
    texts = []
    for _ in COMMANDS:
        child.expect("\x1e\r\n")
        texts.append(_ESCAPES.sub("", _GONE.sub("", child.before or "")).replace("\r", "").split("\n"))
    child.close()
    return dict(zip(COMMANDS, texts, strict=True))


def broken(lines: list[str], whole: list[str]) -> set[str]:
    """Words that are not there where nothing is wrapped, but for texts that say that they are cut, and lines."""
    words, known = ({word.strip(",.") for line in each for word in line.split()} for each in (lines, whole))
    return {word for word in words - known if not word.endswith(("…", "\\")) and not set(word) <= set("─│╭╮╰╯·╱█▓▒░▤■")}


def test_no_command_breaks_a_word_or_writes_beyond_the_screen(talked: World) -> None:
    whole = printed(talked, WIDE)
    for width in WIDTHS:
        for command, lines in printed(talked, width).items():
            known = whole[command] + [f"{width} 100"]  # doctor and config show tell the width
            assert not broken(lines, known), (command, width, lines)
            for line in lines:
                longest = max(map(cell_len, line.split()), default=0)
                assert cell_len(line) <= width or longest > width - 16, (command, width, line)


def test_no_slash_command_breaks_a_word(talked: World) -> None:
    def shown(width: int) -> dict[str, list[str]]:
        chat = Terminal(talked, "--session", "Sleep, light", width=width, height=90, variables=variables(talked, width))
        chat.wait_for_prompt()
        rows = {}
        for command in SLASH_COMMANDS:
            chat.type("\x0c")
            chat.wait_until(lambda: chat.rows[0] == "you ›", "a clear screen")
            chat.type(f"{command}\r")
            chat.wait_until(lambda: chat.text.count("you ›") > 1 and chat.is_at_prompt, command)
            rows[command] = [row for row in chat.rows if row][:-2]  # without the prompt and its bar
        chat.close()
        return rows

    whole = shown(WIDE)
    for width in WIDTHS:
        for command, rows in shown(width).items():
            assert not broken(rows, whole[command]), (command, width, rows)


def test_prose_ends_after_a_hundred_columns_or_where_the_setting_says(talked: World) -> None:
    def longest(width: int, **settings: str) -> int:
        command = ["rules", "show", "Long", "--vault", str(talked.vault)]
        terminal = Terminal(talked, command=command, width=width, variables=variables(talked, width) | settings)
        assert terminal.finish() == 0
        return max(len(row) for row in terminal.rows if "/" not in row)

    talked.run("rules", "new", "Long", LONG * 3)
    assert 90 < longest(200) <= 100
    assert 120 < longest(200, ZKCHAT_UI__WIDTH="150") <= 150


def test_an_answer_is_drawn_where_a_session_is_shown_and_is_as_it_was_in_a_pipe(talked: World) -> None:
    assert "**Seven** hours, says [[Sleep]]." in talked.run("sessions", "show", "Sleep, light").out
    command = ["sessions", "show", "Sleep, light", "--vault", str(talked.vault)]
    terminal = Terminal(talked, command=command, variables=variables(talked, 80))
    assert terminal.finish() == 0
    assert "Seven hours, says Sleep." in terminal.text
    assert "How much [[Sleep]] do I need?" in terminal.text
