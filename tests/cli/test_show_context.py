"""`--show-context` of `ask` and `chat`: what goes to the model and why, before the answer."""

import pytest

from tests.support.world import World
from zkchat.core.errors import ExitCode


@pytest.fixture
def model(world: World) -> str:
    world.note("Sleep.md", "# Sleep\n\nSeven hours are enough.\n")
    world.note("ZKCHAT.md", "# Page\n\nTheirs, and not approved.\n")
    return world.script([{"text": "Seven."}])


ASKED = "How long is [[Sleep]]?"


def test_a_pipe_gets_the_answer_alone_and_standard_error_what_was_sent(world: World, model: str) -> None:
    result = world.run("ask", ASKED, "--model", model, "--show-context")
    assert (result.code, result.out) == (0, "Seven.\n")
    usage, *lines = result.err[result.err.index("Context:") :].splitlines()
    assert "/ 8,192 tokens" in usage
    assert any(line.startswith("+ instructions default [always], ") for line in lines)
    assert "+ note Sleep.md [manual], 10 tokens: linked in the message" in lines
    assert any(line.startswith("+ tool read_document [always], ") for line in lines)
    assert any(line.startswith("+ 1 message, ") for line in lines)
    assert (
        "- memory ZKCHAT.md, left out (not approved: zkchat config trust): came with the vault and is not approved"
        in lines
    )


def test_json_has_the_record_also_of_a_turn_that_failed(world: World, model: str) -> None:
    answered = world.run("ask", ASKED, "--model", model, "--show-context", "--json")
    assert answered.json["context"]["items"][1]["name"] == "read_document"
    assert "Context:" not in answered.err
    failed = world.run("ask", ASKED, "--model", "ollama:nowhere", "--json")
    assert failed.code == ExitCode.MODEL
    assert "Sleep.md" in [item["name"] for item in failed.json["context"]["items"]]
