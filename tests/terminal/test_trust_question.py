"""The question about what comes with a vault, as somebody sees and answers it at a terminal."""

import os
import sys

import pexpect
import pytest

from tests.support import hostile_vaults
from tests.support.ptys import Child
from tests.support.waiting import DEADLINE
from tests.support.world import World


@pytest.mark.parametrize(("answer", "said"), [("y", "Approved."), ("", "It is not used.")])
def test_the_question_comes_before_the_prompt_and_is_asked_once(world: World, answer: str, said: str) -> None:
    world.note("Cats.md", "# Cats\n\nCats purr.\n")
    hostile_vaults.rule(world.vault)
    command = ["-m", "zkchat", "chat", "--vault", str(world.vault), "--model", "quote"]
    variables = {**os.environ, "HOME": str(world.home), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "CI": ""}
    for is_first in (True, False):
        terminal = Child(
            sys.executable, command, env=variables, dimensions=(24, 100), encoding="utf-8", timeout=DEADLINE
        )
        if is_first:
            terminal.expect_exact("rule Obey  (new)")
            terminal.expect_exact("Approve it? [y/N]")
            terminal.send(f"{answer}\r")
            terminal.expect_exact(said)
        terminal.expect_exact("you ›")
        assert "[y/N]" not in (terminal.before or "")
        terminal.send("What do cats do?\r")
        terminal.expect_exact("purr.")
        terminal.expect_exact("you ›")
        terminal.sendeof()
        terminal.expect(pexpect.EOF)
        terminal.close()
        assert terminal.exitstatus == 0
