from zkchat.chat.context.selection import build_candidates
from zkchat.core.profile import Agent, Rule
from zkchat.core.prompt import ToolSpec

AGENT = Agent(
    name="poet",
    rules={"Tone": "manual"},
    references={"Glossary": "agent"},
    tools={"mail": "agent"},
    servers={"w": "agent"},
)


def spec(name: str, server: str = "") -> ToolSpec:
    return ToolSpec(name=name, description=f"It is {name}.", parameters={}, server=server)


def test_every_candidate_has_the_mode_that_the_agent_gives_it() -> None:
    found = build_candidates(
        AGENT,
        rules=[Rule(name="Tone", text="Be warm."), Rule(name="Dates", include="agent", text="Write 2026-03-01.")],
        notes={"Glossary": "A slip box is a box.", "Added.md": "x"},
        tools=[spec("read_document"), spec("mail"), spec("search", "w"), spec("mail", "w"), spec("other")],
        core={"read_document", "mail"},
    )
    assert [(each.type, each.server, each.name, each.include, each.core) for each in found] == [
        ("rule", "", "Tone", "manual", False),
        ("rule", "", "Dates", "agent", False),
        ("reference", "", "Glossary", "agent", False),
        ("reference", "", "Added.md", "manual", False),
        ("tool", "", "read_document", "always", True),
        ("tool", "", "mail", "agent", True),
        ("tool", "w", "search", "agent", False),
        ("tool", "w", "mail", "agent", False),
        ("tool", "", "other", "always", False),
    ]


def test_a_rule_is_sent_with_its_name() -> None:
    (rule,) = build_candidates(AGENT, rules=[Rule(name='Tone "b"', text="Be warm.")])
    assert rule.text == '<rule name="Tone &quot;b&quot;">\nBe warm.\n</rule>'
