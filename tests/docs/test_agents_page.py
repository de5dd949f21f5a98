"""docs/agents.md shows files, commands and what they print. Here the files are written and the commands are run."""

import json

from tests.support.doc_examples import DOCS, comparable, examples_of, run
from tests.support.world import World
from zkchat.model.profile import Agent, ProfileProblem, Rule


def test_the_examples_of_the_page_print_what_the_page_says(world: World) -> None:
    examples = examples_of("agents.md")
    assert len(examples) == 12
    for example in examples:
        printed = run(world, example)
        if "--json" in example.command:
            expected = json.loads(example.printed)
            assert expected.items() <= json.loads(printed).items()
        elif "config" in example.command:
            assert printed.splitlines()[0] == comparable(example.printed)
        else:
            assert printed == comparable(example.printed)


def test_every_field_of_an_agent_and_of_a_rule_stands_on_the_page() -> None:
    page = (DOCS / "agents.md").read_text()
    for value in (Agent, Rule, ProfileProblem):
        assert [name for name in value.model_fields if f"`{name}`" not in page] == []
