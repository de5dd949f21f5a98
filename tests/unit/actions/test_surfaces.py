"""What surfaces make of an action: the same data in Python as on the command line, and arguments for hosts."""

import json
import os
from typing import Annotated

import pytest

from tests.support.world import World
from zkchat.actions.base import Action, Argument, Limit, Result, Vault
from zkchat.api import UsageError, open_vault
from zkchat.chat.tools.registry import full_schema_of
from zkchat.hosting.vault import arguments_of


@pytest.fixture
def garden(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    for name, value in {"HOME": str(world.home), "ZKCHAT_OLLAMA__HOST": "http://127.0.0.1:9"}.items():
        monkeypatch.setenv(name, value)
    for name in [each for each in os.environ if each.startswith("XDG_")]:
        monkeypatch.delenv(name)
    world.note("Sleep.md", "# Sleep\n\nA nap is short.\n")
    return world


@pytest.mark.parametrize(
    ("name", "words", "arguments"),
    [
        ("search", ("a", "nap"), {"query": "a nap"}),
        ("timeline", ("Sleep",), {"note": "Sleep"}),
        ("resolve", ("[[Sleep]]", "--from", "Sleep"), {"link": "[[Sleep]]", "source": "Sleep"}),
    ],
)
def test_python_gets_the_data_that_the_command_prints(
    garden: World, name: str, words: tuple[str, ...], arguments: dict[str, object]
) -> None:
    garden.run("note", "append", "Sleep", "More.", "--yes")
    printed = garden.run(name, *words, "--json").json
    with open_vault(garden.vault) as vault:
        assert json.loads(json.dumps(vault.run(name, **arguments).plain)) == printed
    if name == "timeline":
        assert [event["kind"] for event in printed["events"]].count("edit") == 1


def test_an_action_that_there_is_not_is_refused_with_those_that_there_are(garden: World) -> None:
    with open_vault(garden.vault) as vault, pytest.raises(UsageError, match="no action 'fly'") as refused:
        vault.run("fly")
    assert "timeline" in refused.value.hint


def test_hosts_are_told_of_numbers_words_and_switches() -> None:
    def look(
        vault: Vault,
        words: Annotated[list[str], Argument(help="What to look for.")],
        is_whole: Annotated[bool, Argument(help="All of it.")] = False,
        limit: Limit = 10_000,
    ) -> Result:
        del vault, words, is_whole, limit
        return Result()

    look_up = Action(
        run=look, in_chat="", for_hosts=True, details="", chat_limit=None, is_minor=False, by_meaning=False
    )
    schema = full_schema_of(arguments_of(look_up))
    assert schema["required"] == ["words"]
    assert {name: each["type"] for name, each in schema["properties"].items()} == {
        "words": "string", "is_whole": "boolean", "limit": "integer"
    }  # fmt: skip
    assert schema["properties"]["limit"]["default"] == 200
