"""What a small model says is checked against the passages it was handed, whoever reads the answer."""

import json

import pytest

from tests.support.world import Result, World

QUESTION = "Is Obsidian Sync end-to-end encrypted?"
WRONG = "Obsidian Sync is not end-to-end encrypted."
INSTEAD = "> Obsidian Sync is end-to-end encrypted.\n\n— [[Sync]]\n"


@pytest.fixture
def world(world: World) -> World:
    world.note("Sync.md", "# Sync\n\nObsidian Sync is end-to-end encrypted.\n")
    return world


def small_model(world: World, text: str) -> str:
    file = world.root / "small.json"
    file.write_text(json.dumps({"answers": [[{"text": text}]], "calls_tools": False}))
    return f"scripted:{file}"


def test_a_pipe_gets_the_passage_alone_and_the_warning_beside_it(world: World) -> None:
    result = world.run("ask", QUESTION, "--model", small_model(world, WRONG))
    assert (result.code, result.out) == (0, INSTEAD)
    assert f"said “{WRONG}”, which contradicts [[Sync]]." in result.err
    assert "/branch" not in result.err


def test_the_setting_leaves_it_at_what_the_model_says(world: World) -> None:
    world.variables["ZKCHAT_REFERENCES__CHECK_ANSWERS"] = "false"
    result = world.run("ask", QUESTION, "--model", small_model(world, WRONG))
    assert (result.out, result.err) == (f"{WRONG}\n", "")


def test_with_strict_any_model_is_checked_and_what_does_not_stand_in_the_notes_is_named(world: World) -> None:
    def asked(text: str, *options: str) -> Result:
        return world.run("ask", QUESTION, "--model", world.script([{"text": text}]), *options)

    assert asked(WRONG, "--strict").out == INSTEAD
    right, unknown = "Obsidian Sync is end-to-end encrypted.", "Dolphins sleep with one eye open."
    result = asked(f"{right} {unknown}", "--strict")
    assert result.out == f"{right} {unknown}\n"
    assert (
        "warning: 1 of 2 statements in the answer is not in your notes, even in similar words: "
        f"“{unknown}”." in result.err
    )
    assert "statement" not in asked(right, "--strict").err
    assert "statement" not in asked(f"{right} {unknown}").err
