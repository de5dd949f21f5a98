import pytest

from zkchat.chat.agents import parse_agent, parse_rule
from zkchat.core.profile import Agent, Origin, ProfileFile, ProfileKind, ProfileProblem, Rule

WHOLE = """---
description: Answers in verse.
model: ollama:qwen3:8b
context:
  max_tokens: 4096
rules:
  Tone: manual
references:
  "[[Glossary]]": agent
  Ideas/Naming.md: always
tools:
  find_excerpts: always
  web/search: agent
servers:
  web: manual
---

You are a poet.
"""


def file(text: str, *, kind: ProfileKind = "agent", name: str = "poet", origin: Origin = "user") -> ProfileFile:
    return ProfileFile(kind=kind, name=name, origin=origin, path=f"{name}.md", text=text)


def agent(text: str, origin: Origin = "user") -> Agent:
    read = parse_agent(file(text, origin=origin))
    assert isinstance(read, Agent), read
    return read


def problem(text: str, *, kind: ProfileKind = "agent", name: str = "poet") -> ProfileProblem:
    written = file(text, kind=kind, name=name)
    read = parse_agent(written) if kind == "agent" else parse_rule(written)
    assert isinstance(read, ProfileProblem), read
    return read


def test_an_agent_is_what_its_file_says() -> None:
    read = agent(WHOLE)
    assert read.description == "Answers in verse."
    assert read.model == "ollama:qwen3:8b"
    assert read.context == {"max_tokens": 4096}
    assert read.rules == {"Tone": "manual"}
    assert read.references == {"Glossary": "agent", "Ideas/Naming.md": "always"}
    assert read.tools == {"find_excerpts": "always", "web/search": "agent"}
    assert read.text == "You are a poet."
    assert [read.tool_mode(*tool) for tool in (("search", "web"), ("fetch", "web"), ("fetch", "other"))] == [
        *["agent", "manual", "always"]
    ]
    assert read.tool_mode("find_excerpts") == "always"


@pytest.mark.parametrize("text", ["\ufeff" + WHOLE, WHOLE.replace("\n", "\r\n")])
def test_line_ends_and_byte_order_marks_do_not_matter(text: str) -> None:
    assert agent(text) == agent(WHOLE)


def test_names_in_a_list_are_there_always() -> None:
    read = agent('---\nreferences:\n- [[Glossary]]\n- "[[Naming]]"\n- Ideas/Sleep.md\n---\n')
    assert read.references == {"Glossary": "always", "Naming": "always", "Ideas/Sleep.md": "always"}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("---\ndescription: x\nrules: [a\n---\n", 4, "not valid YAML"),
        ("---\ndescription: x\n", 1, "frontmatter that begins here"),
        ("---\nmodel: [a]\n---\n", 2, "'model' must be text."),
    ],
)
def test_a_mistake_that_makes_a_file_unusable_is_named_with_its_line(text: str, line: int, words: str) -> None:
    found = problem(text)
    assert found.line == line
    assert words in found.text
    assert str(found).startswith(f"poet.md, line {line}: ")
    assert "'@my poet' cannot be typed" in problem("x", name="my poet").text


def test_a_rule_is_what_its_file_says() -> None:
    text = "---\ninclude: agent\ndescription: Dates\n---\nWrite 2026-03-01.\n"
    assert parse_rule(file(text, kind="rule", name="Dates")) == Rule(
        name="Dates", description="Dates", include="agent", text="Write 2026-03-01.", origin="user", path="Dates.md"
    )


def test_a_rule_that_is_empty_or_could_not_be_read_is_not_used_unless_it_is_off() -> None:
    unread = ProfileFile(kind="rule", name="a", origin="user", path="a.md", read_error="The file is not UTF-8 text.")
    assert parse_rule(unread) == ProfileProblem(kind="rule", path="a.md", line=1, text="The file is not UTF-8 text.")
    found = problem("---\ninclude: agent\n---\n", kind="rule")
    assert (found.line, found.is_used) == (4, False)
    assert "The rule is empty" in found.text
    off = parse_rule(file("---\nenabled: false\n---\n", kind="rule"))
    assert isinstance(off, Rule)
    assert not off.enabled


def warned(text: str, kind: ProfileKind = "agent") -> tuple[Agent | Rule, ProfileProblem]:
    written = file(text, kind=kind)
    read = parse_agent(written) if kind == "agent" else parse_rule(written)
    assert not isinstance(read, ProfileProblem), read
    assert read.warning is not None
    assert read.warning.is_used
    return read, read.warning


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("description: x\ncolour: red\nincluded: x\n", 3, "setting 'colour'. Choose from: description, model,"),
        ("descripton: x\n", 2, "Unknown setting 'descripton'. Did you mean 'description'?"),
        ("description: [x]\n", 2, "'description' must be text; it is ignored."),
        ("rules: Tone\n", 2, "'rules' must be `name: value` lines; it is ignored."),
        ("rules:\n  - {a: b}\n  - Tone\n", 2, "'rules' must be a list of names; '{'a': 'b'}' is ignored."),
        ("context:\n  max_tokens: [1]\n", 3, "'context.max_tokens' must be a single value; it is ignored."),
    ],
)
def test_a_mistake_that_can_be_passed_over_is_warned_of_with_its_line(text: str, line: int, words: str) -> None:
    read, warning = warned(f"---\n{text}---\nYou are a poet.\n")
    assert read.text == "You are a poet."
    assert words in warning.text
    assert str(warning).startswith(f"poet.md, line {line}: ")


@pytest.mark.parametrize("written", ["sometimes", "no", "[always]"])
@pytest.mark.parametrize("section", ["rules", "references", "tools", "servers"])
def test_what_has_a_wrong_mode_is_not_sent_by_itself(section: str, written: str) -> None:
    read, warning = warned(f'---\n{section}:\n  a: always\n  "[[A b]]": {written}\n---\nx\n')
    assert getattr(read, section) == {"a": "always", "A b": "manual"}
    assert warning.line == 4
    assert f"'{section}.[[A b]]' must be always, manual or agent;" in warning.text


@pytest.mark.parametrize(("written", "mode"), [("often", "always"), ("never", "manual"), ("no", "manual")])
def test_a_rule_with_a_wrong_mode_is_there_always_unless_that_says_never(written: str, mode: str) -> None:
    read, warning = warned(f"---\ninclude: {written}\n---\nx", "rule")
    assert isinstance(read, Rule)
    assert read.include == mode
    assert f"is read as {mode}." in warning.text


@pytest.mark.parametrize(("written", "is_on"), [("true", True), ("", True), ("off", False), ('"no"', False)])
def test_enabled_is_a_switch(written: str, is_on: bool) -> None:
    for read in (agent(f"---\nenabled: {written}\n---\nx"), parse_rule(file(f"---\nenabled: {written}\n---\nx"))):
        assert not isinstance(read, ProfileProblem)
        assert (read.enabled, read.warning) == (is_on, None)


def test_an_agent_uses_memory_unless_its_file_says_otherwise() -> None:
    assert agent(WHOLE).memory
    assert not agent("---\nmemory: false\n---\nAnswer.").memory
    read, warning = warned("---\nmemory: sometimes\n---\nAnswer.")
    assert isinstance(read, Agent)
    assert not read.memory
    assert warning.text == "'memory' must be true or false; 'sometimes' is read as false."
