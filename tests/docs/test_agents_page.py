from tests.support.doc_examples import DOCS
from zkchat.core.profile import Agent, ProfileProblem, Rule


def test_every_field_of_an_agent_and_of_a_rule_stands_on_the_page() -> None:
    page = (DOCS / "agents.md").read_text()
    for value in (Agent, Rule, ProfileProblem):
        printed = [name for name in value.__struct_fields__ if name not in value.unwritten]
        assert [name for name in printed if f"`{name}`" not in page] == []
