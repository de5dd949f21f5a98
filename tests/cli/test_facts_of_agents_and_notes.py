"""Facts for one agent, and facts that link notes: `zkchat memory`, and what goes into a request."""

from typing import Any

import pytest

from tests.support.world import World
from zkchat.core.errors import ExitCode

ALL, WRITERS, RESEARCHERS = (
    "My letters to the council are short.",
    "My letters to the council open with a joke.",
    "My letters to the council cite a source.",
)
QUESTION = "What do you know of my letters to the council?"
RECALLS = [{"tool": "recall", "arguments": {"query": QUESTION}}]


@pytest.fixture
def world(world: World) -> World:
    world.note("Moka.md", "A pot for coffee.\n")
    world.note("Kettle.md", "# Kettle\n\nIt boils water.\n")
    return world


@pytest.fixture
def model(world: World) -> str:
    return world.script(*[[{"text": f"Answer {number}."}] for number in range(9)], context_limit=16_000)


def keep(world: World, text: str, *options: str) -> dict[str, Any]:
    fact: dict[str, Any] = world.run("memory", "add", text, *options, "--json").json["fact"]
    return fact


def listed(world: World, *options: str) -> list[str]:
    return [fact["text"] for fact in world.run("memory", "list", *options, "--json").json]


def brought(world: World) -> list[str]:
    """The facts in the request of the last answer, in their order."""
    context = world.run("context", "export").json["messages"][-1]["request_context"]
    return [item["title"] for item in context["items"] if item["type"] == "memory" and item["title"]]


def keep_for_agents(world: World) -> None:
    keep(world, ALL)
    assert keep(world, WRITERS, "--agent", "Writer")["agent"] == "writer"
    keep(world, RESEARCHERS, "--agent", "research")


def test_a_fact_for_one_agent_is_listed_with_its_name_and_by_it(world: World) -> None:
    keep_for_agents(world)
    facts = world.run("memory", "list", "--json").json
    assert {fact["text"]: fact["agent"] for fact in facts} == {ALL: "", WRITERS: "writer", RESEARCHERS: "research"}
    assert listed(world, "--agent", "WRITER") == [WRITERS]
    assert f"  @writer {WRITERS}\n" in world.run("memory", "list").out
    (fact,) = world.run("memory", "list", "--agent", "writer", "--json").json
    assert "only for the agent writer\n" in world.run("memory", "show", fact["id"]).out
    assert world.run("memory", "export").out == f"- {ALL}\n- @writer {WRITERS}\n- @research {RESEARCHERS}\n"
    none = world.run("memory", "list", "--agent", "nobody")
    assert (none.out, none.err) == ("", "Nothing remembered matches.\n")


def test_a_fact_for_an_agent_that_is_not_there_is_not_kept(world: World) -> None:
    refused = world.run("memory", "add", WRITERS, "--agent", "wirter")
    assert (refused.code, "There is no agent 'wirter'." in refused.err) == (ExitCode.CONFIG, True)
    assert listed(world) == []


@pytest.mark.parametrize(
    ("question", "options", "given"),
    [
        (QUESTION, (), {ALL}),
        (QUESTION, ("--agent", "writer"), {ALL, WRITERS}),
        (f"@research {QUESTION}", ("--agent", "writer"), {ALL, RESEARCHERS}),
    ],
)
def test_the_facts_of_other_agents_are_not_brought(
    world: World, question: str, options: tuple[str, ...], given: set[str]
) -> None:
    keep_for_agents(world)
    model = world.script(RECALLS, [{"text": "This."}], context_limit=16_000)
    assert world.run("ask", question, "--model", model, *options).code == 0
    assert {*brought(world)} == given
    parts = [part for message in world.run("context", "export").json["messages"] for part in message["parts"]]
    recalled = "".join(part["text"] for part in parts if part.get("name") == "recall" and "text" in part)
    assert {text for text in (ALL, WRITERS, RESEARCHERS) if text in recalled} == given


def test_in_a_chat_a_fact_is_for_the_agent_that_it_begins_with(world: World, model: str) -> None:
    typed = f"/memory @Writer {WRITERS}\n/remember @anna is my sister\n"
    chat = world.run("chat", "--plain", "--model", model, typed=typed, terminal=True)
    assert "Remembered for writer." in chat.out
    facts = world.run("memory", "list", "--json").json
    assert {fact["text"]: fact["agent"] for fact in facts} == {WRITERS: "writer", "@anna is my sister": ""}


MOKA, POT = "[[Moka]] was a present from Ada.", "I clean the kettle and each other pot on Fridays."
LEAKS = "[[Ada's present]] leaks."


def test_a_question_that_links_a_note_brings_its_facts_before_those_that_fit_by_words(world: World, model: str) -> None:
    keep(world, POT)
    keep(world, MOKA)
    world.run("ask", "When do I clean a kettle or another pot on Fridays?", "--model", model)
    assert brought(world) == [POT]
    world.run("ask", "When do I clean a kettle or another pot on Fridays? As in [[moka|this]].", "--model", model)
    assert brought(world) == [MOKA, POT]
    why = world.run("context", "export").json["messages"][-1]["request_context"]["items"]
    assert any(item["title"] == MOKA and "about a note linked in your message" in item["reason"] for item in why)


def test_a_fact_follows_its_note_through_renames_and_undo(world: World) -> None:
    keep(world, MOKA)
    assert world.run("note", "rename", "Moka", "Pots/Bialetti", "--yes").code == 0
    assert listed(world, "--note", "Bialetti") == [MOKA]
    assert world.run("undo", "--yes").code == 0
    assert listed(world, "--note", "Moka") == [MOKA]
    assert listed(world, "--note", "Kettle") == []
    assert world.run("memory", "list", "--note", "Nowhere").code == ExitCode.VAULT
