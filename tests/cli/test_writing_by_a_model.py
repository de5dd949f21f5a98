"""`--write`: a model proposes changes to notes, and whoever sits at the terminal, or nobody, decides."""

import json
import subprocess
from typing import Any

import pytest

from tests.support.world import World

SLEEP = "# Sleep\n\nSeven hours.\n"
EDIT = {"relative_path": "Sleep.md", "old": "Seven hours.", "new": "Eight hours."}
SAYS = {"text": "I propose eight hours in [[Sleep]]."}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments}


@pytest.fixture
def world(world: World) -> World:
    world.note("Sleep.md", SLEEP)
    return world


@pytest.fixture
def model(world: World) -> str:
    return world.script([call("edit_document", **EDIT)], [SAYS])


def ask(world: World, model: str, *options: str, **more: Any) -> Any:
    return world.run("ask", "Make it eight", "--model", model, "--write", *options, **more)


def text(world: World, path: str = "Sleep.md") -> str:
    return (world.vault / path).read_text()


@pytest.mark.parametrize(("typed", "after", "said"), [("y\n", "Eight", "Applied: "), ("n\n", "Seven", "Not applied: ")])
def test_a_proposal_is_shown_as_a_diff_and_made_after_a_yes(
    world: World, model: str, typed: str, after: str, said: str
) -> None:
    result = ask(world, model, typed=typed, terminal=True)
    assert result.code == 0
    assert "Sleep.md: changed, +1 -1" in result.err
    assert "Eight" in result.err
    assert said in result.err
    assert f"{after} hours." in text(world)


def test_without_the_option_the_tools_are_not_there(world: World, model: str) -> None:
    result = world.run("ask", "Make it eight", "--model", model, "--json", typed="y\n")
    assert text(world) == SLEEP
    assert result.json["changes"] is None
    assert "edit_document" not in json.dumps(result.json["context"])


def test_in_a_pipe_nothing_is_changed_and_the_way_out_is_said(world: World, model: str) -> None:
    result = ask(world, model, stdin="")
    assert result.code == 2
    assert text(world) == SLEEP
    assert result.err.count("Nothing is changed: there is no terminal to ask you on. --yes") == 1
    assert result.out == "I propose eight hours in [[Sleep]].\n"


def test_in_a_pipe_a_yes_beforehand_or_an_accepted_folder_is_enough(world: World, model: str) -> None:
    assert ask(world, model, "--yes", stdin="").code == 0
    assert "Eight" in text(world)
    world.note("Inbox/Old.md", "old\n")
    play = world.script([call("edit_document", relative_path="Inbox/Old.md", old="old", new="new")], [SAYS])
    world.variables["ZKCHAT_WRITE__ACCEPT"] = '["Inbox"]'
    accepted = ask(world, play, stdin="")
    assert accepted.code == 0
    assert "no terminal to ask" not in accepted.err
    assert text(world, "Inbox/Old.md") == "new\n"


def test_json_tells_what_became_of_the_changes(world: World, model: str) -> None:
    changes = ask(world, model, "--json", "--yes", stdin="").json["changes"]
    assert (changes["decision"], changes["paths"], changes["record"]) == ("applied", ["Sleep.md"], 1)
    assert "+Eight hours." in changes["diff"]
    refused = ask(world, world.script([call("create_document", relative_path="New.md", text="x")], [SAYS]), "--json")
    assert refused.code == 2
    assert refused.json["changes"]["decision"] == "kept"
    assert not (world.vault / "New.md").exists()


def test_a_dry_run_prints_a_diff_that_can_be_applied_and_nothing_else(world: World, model: str) -> None:
    result = ask(world, model, "--dry-run", stdin="")
    assert result.code == 0
    assert text(world) == SLEEP
    assert "I propose eight hours" in result.err
    assert "It is only shown: this is a dry run." in result.err
    assert "write.mode" not in result.err
    subprocess.run(["git", "apply", "-"], input=result.out, text=True, cwd=world.vault, check=True)
    assert "Eight" in text(world)


def test_options_about_changes_need_the_permission_to_propose_them(world: World, model: str) -> None:
    for option in ("--yes", "--dry-run"):
        result = world.run("ask", "Make it eight", "--model", model, option)
        assert (result.code, "--write" in result.err) == (2, True)


def test_the_settings_may_let_a_model_write_or_only_propose(world: World, model: str) -> None:
    world.variables |= {"ZKCHAT_WRITE__ENABLED": "true", "ZKCHAT_WRITE__MODE": "propose"}
    result = world.run("ask", "Make it eight", "--model", model, "--yes", terminal=True)
    assert result.code == 0
    assert "+" in result.err
    assert 'write.mode is "propose"' in result.err
    assert text(world) == SLEEP


def test_a_model_that_calls_no_tools_cannot_propose_anything_and_that_is_said(world: World) -> None:
    result = world.run("ask", "Make it eight hours", "--model", "quote", "--write")
    assert "quote cannot change notes." in result.err
    assert text(world) == SLEEP


def test_a_proposal_that_is_only_shown_is_shown_in_a_pipe_too(world: World, model: str) -> None:
    world.variables["ZKCHAT_WRITE__MODE"] = "propose"
    result = ask(world, model, stdin="")
    assert "+Eight hours." in result.err
    assert result.out == "I propose eight hours in [[Sleep]].\n"


TEA = "# Tea\n\nGreen.\n\n## Brewing\n\nHot.\n"


def test_a_note_that_changed_between_turns_is_not_replaced_unseen(world: World) -> None:
    world.note("Tea.md", TEA)
    delete = [call("delete_document", relative_path="Tea")]
    see, refuse, propose = ([{"text": text}] for text in ("I see.", "I did not.", "Proposed."))
    model = world.script(see, delete, refuse, delete, delete, propose)
    assert world.run("ask", "What is [[Tea]]?", "--model", model).code == 0
    world.note("Tea.md", TEA.replace("Hot.", "Very hot."))
    refused = world.run("ask", "Delete it.", "--write", "--yes", "--continue", "--model", model)
    assert refused.code == 0, refused.err
    assert (world.vault / "Tea.md").exists()
    done = world.run("ask", "Delete it.", "--write", "--yes", "--continue", "--model", model)
    assert done.code == 0, done.err
    assert (world.vault / ".trash" / "Tea.md").read_text() == TEA.replace("Hot.", "Very hot.")
