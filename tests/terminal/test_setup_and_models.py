from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.providers.contract import PLAYS
from tests.support.model_lists import Listing, tags
from tests.support.ptys import Terminal
from tests.support.world import World
from zkchat.core.errors import ExitCode


@pytest.fixture
def user(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path, confirms_vault=False)
    world.note("Sleep.md", "Seven hours.")
    with Listing(PLAYS) as server:
        server.lists["/api/tags"] = tags("tells", "thinks")
        world.variables["ZKCHAT_OLLAMA__HOST"] = server.address
        yield world


def wait_for_words(terminal: Terminal, *wanted: str) -> None:
    """Until all of it is on the screen, however it is wrapped."""
    terminal.wait_until(lambda: all(words in " ".join(terminal.text.split()) for words in wanted), str(wanted))


def test_setup_asks_and_ctrl_c_writes_nothing(user: World) -> None:
    config = user.settings_file
    stopped = Terminal(user, command=["setup"], cwd=user.vault)
    wait_for_words(stopped, "1. Which folder has your notes? Folder [", "1 note]:")
    stopped.type("\r")
    wait_for_words(stopped, "2. Which model should answer?", "Number, name, or the address of a server [ollama:tells]:")
    stopped.type("\x03")
    assert stopped.finish() == ExitCode.INTERRUPTED
    assert "Nothing was written." in stopped.text
    assert not config.exists()

    terminal = Terminal(user, command=["setup"], cwd=user.vault)
    for asked, answer in (("1 note]:", "\r"), ("[ollama:tells]:", "2\r"), ("- for none [none]:", "\r")):
        wait_for_words(terminal, asked)
        terminal.type(answer)
    assert terminal.finish() == ExitCode.OK
    assert config.read_text() == f'model = "ollama:thinks"\n\n[vault]\ndefault = "{user.vault}"\n'
    assert [path.name for path in user.vault.iterdir()] == ["Sleep.md"]


def test_a_model_is_picked_from_the_list_completed_by_tab_and_has_to_answer(user: World) -> None:
    terminal = Terminal(user, "--model", "quote", width=100)
    terminal.wait_for_prompt()
    terminal.type("/model\r")
    terminal.wait_for("Which model answers in this session?", "* quote", "ollama:thinks", "8,192 tokens · this machine")
    terminal.type("thinks\r")
    terminal.wait_for("ollama:thinks answers now.")
    terminal.wait_for_prompt()
    terminal.type("/model tel\t")
    terminal.wait_for("/model ollama:tells")
    terminal.type("\r\r")  # the first closes the menu
    terminal.wait_for("ollama:tells answers now.")
    terminal.wait_for_prompt()
    terminal.type("/model ollama:gone\r")
    terminal.wait_for("has no model 'gone'", "ollama:tells still answers.")
    terminal.type("\x04")
    assert terminal.finish() == ExitCode.OK
