"""Over the garden: answers from nothing are asked for again."""

import shutil
from pathlib import Path

import pytest

from tests.support.world import GARDEN, World

QUESTION = "Why does a slip box never need to be sorted again?"
UNFOUNDED = [{"text": "Because boxes are deep."}]
FOUNDED = [{"text": "It makes room between any two slips, says [[Zettelkasten]]."}]
READS = [{"tool": "read_document", "arguments": {"relative_path": "Ideas/Zettelkasten.md"}}]


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    shutil.copytree(GARDEN, world.vault, dirs_exist_ok=True)
    return world


def test_a_careless_model_is_asked_again_with_what_the_notes_say(world: World) -> None:
    model = world.script(UNFOUNDED, FOUNDED)
    result = world.run("ask", QUESTION, "--model", model)
    assert result.code == 0
    assert result.out == f"{FOUNDED[0]['text']}\n"
    assert "answered without reading your notes" in result.err
    assert "references.look_again" in result.err


def test_for_scripts_the_second_answer_is_the_answer_and_the_record_says_why(world: World) -> None:
    whole = world.run("ask", QUESTION, "--model", world.script(UNFOUNDED, FOUNDED), "--json").json
    assert whole["answer"] == FOUNDED[0]["text"]
    assert "Ideas/Zettelkasten.md" in [row["relative_path"] for row in whole["references"] if row["cited"]]
    reasons = {item["reason"] for item in whole["context"]["items"] if item["type"] == "evidence"}
    assert reasons == {"the first answer was given without a look into the notes"}
    rebuilt = world.run("context", "show", "--request")
    assert "<evidence>" in rebuilt.out


def test_a_model_that_looks_or_is_only_thanked_is_asked_once(world: World) -> None:
    looked = world.run("ask", QUESTION, "--model", world.script(READS, UNFOUNDED, FOUNDED), "--json")
    assert looked.json["answer"] == UNFOUNDED[0]["text"]
    thanked = world.run("ask", "Thanks a lot!", "--model", world.script([{"text": "Any time."}], FOUNDED), "--json")
    assert thanked.json["answer"] == "Any time."
