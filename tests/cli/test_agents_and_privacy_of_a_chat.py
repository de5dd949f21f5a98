"""`--agent`, `--private`, and what is remembered: `zkchat ask` and `zkchat chat` as a user calls them."""

import signal
from typing import Any, NoReturn

import pytest
from msgspec.structs import replace

from tests.support.world import Result, Terminal, World
from zkchat.cli.change_review import TerminalInterface
from zkchat.cli.common import CommandIO

REMEMBERS = [{"tool": "remember", "arguments": {"information": "The user likes tea."}}]
TITLED = [{"tool": "remember", "arguments": {"information": "\x1b]0;x\x07 tea"}}]


@pytest.fixture
def world(world: World) -> World:
    world.note("Cats.md", "# Cats\n\nCats purr.\n")
    return world


@pytest.fixture
def model(world: World) -> str:
    return world.script(*[[{"text": f"Answer {number}."}] for number in range(30)], context_limit=8192)


def agent(world: World, name: str, head: str) -> None:
    world.note(f".zkchat/agents/{name}.md", f"---\n{head}\n---\nYou are {name}.\n")
    world.run("trust", "--yes")


def record(world: World) -> dict[str, Any]:
    """Of the last answer."""
    message = world.run("context", "export").json["messages"][-1]
    return {**message["request_context"], "provider": message["provider"]}


def tools(world: World) -> list[str]:
    """Those of the last request."""
    return [tool["name"] for tool in world.run("context", "show", "--request", "--json").json["tools"]]


def facts(world: World) -> list[dict[str, Any]]:
    listed = world.run("memory", "list", "--json").json
    assert isinstance(listed, list)
    return listed


def chat(world: World, model: str, *lines: str, options: tuple[str, ...] = ()) -> Result:
    typed = "".join(f"{line}\n" for line in lines)
    return world.run("chat", "--plain", "--model", model, *options, typed=typed, terminal=True)


def test_the_agent_that_was_named_answers_also_when_the_session_goes_on(world: World, model: str) -> None:
    assert world.run("ask", "Hello!", "--agent", "Research", "--model", model).code == 0
    assert record(world)["agent"] == "research"
    world.run("ask", "And then?", "--continue", "--model", model)
    assert record(world)["agent"] == "research"
    world.run("ask", "And then?", "--continue", "--agent", "writer", "--model", model)
    world.run("ask", "And then?", "--continue", "--model", model)
    assert record(world)["agent"] == "writer"
    assert [session["title"] for session in world.run("sessions", "list", "--all", "--json").json] == ["Hello!"]


def test_agents_share_a_context_by_its_name(world: World, model: str) -> None:
    world.note("Glossary.md", "# Glossary\n\nA zettel is a slip of paper.\n")
    agent(world, "desk", 'enabled: false\ncontext:\n  max_tokens: 4096\nreferences:\n  "[[Glossary]]": always')
    agent(world, "editor", "context: desk")
    agent(world, "poet", "context:\n  shared: Desk\n  max_tokens: 2048")
    for name, window in (("editor", 4096), ("poet", 2048)):
        world.run("ask", "Hello!", "--agent", name, "--model", model)
        sent = record(world)
        assert sent["usage"]["window"] == window
        assert [item["name"] for item in sent["items"] if item["type"] == "reference"] == ["Glossary"]
    world.run("config", "agents", "config", "editor", "context.reserve_tokens", "100")
    world.run("ask", "Hello!", "--agent", "editor", "--model", model)
    assert (record(world)["usage"]["window"], record(world)["usage"]["reserve"]) == (4096, 100)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("context: dsek", "'context' names 'dsek', but there is no such agent."),
        ("context:\n  max_tokens: 3", "The settings of the agent odd are ignored."),
    ],
)
def test_settings_that_cannot_be_used_are_named_and_the_agent_answers_all_the_same(
    world: World, model: str, head: str, said: str
) -> None:
    agent(world, "odd", head)
    result = world.run("ask", "Hello!", "--agent", "odd", "--model", model)
    assert (result.code, said in result.err) == (0, True)
    assert record(world)["agent"] == "odd"


def test_nothing_of_a_private_session_is_remembered_also_when_it_goes_on(world: World, model: str) -> None:
    first = chat(world, model, "I decided to drink 3 cups of tea.", "/remember I like tea.", options=("--private",))
    assert "This conversation is private: nothing from it is remembered in other conversations." in first.err
    assert "This conversation is private, so nothing from it is remembered." in first.out
    assert "Remember “" not in first.err
    assert "remember" not in tools(world)
    again = chat(world, model, "I prefer coffee.", "/remember I like coffee.", options=("--continue",))
    assert "This conversation is private: nothing" in again.err
    assert "remember" not in tools(world)
    assert facts(world) == []
    chat(world, model, "Hello!", "/new", "Hello again!", options=("--private",))
    assert "remember" not in tools(world)


def test_a_fact_is_counted_when_it_went_into_a_request_but_not_in_private(world: World, model: str) -> None:
    world.run("memory", "add", "My thesis on cats is due on 30 June.")
    world.run("ask", "When is my thesis on cats due?", "--model", model)
    assert [fact["uses"] for fact in facts(world)] == [1]
    world.run("ask", "When is my thesis on cats due?", "--model", model, "--private")
    assert [fact["uses"] for fact in facts(world)] == [1]


@pytest.mark.parametrize(("answer", "kept"), [("y\n", ["The user likes tea."]), ("n\n", []), ("", [])])
def test_a_model_may_remember_what_the_user_agrees_to(world: World, answer: str, kept: list[str]) -> None:
    model = world.script(REMEMBERS, TITLED, [{"text": "Good."}])
    asked = world.run("ask", "I like tea.", "--model", model, typed=answer)
    assert "Remember “The user likes tea.”? [y/N]" in asked.err
    assert asked.err.count("Remember “") == 2
    assert "\x1b]0" not in asked.err
    assert [fact["text"] for fact in facts(world)] == kept


def test_without_a_terminal_a_model_may_remember_nothing(world: World) -> None:
    model = world.script(REMEMBERS, [{"text": "Good."}])
    assert world.run("ask", "I like tea.", "--model", model, stdin="").code == 0
    assert facts(world) == []


def test_when_a_chat_ends_what_you_said_of_yourself_is_proposed(world: World, model: str) -> None:
    said = ("I decided to write in English.", "What do cats do?", "My thesis is due on 30 June.")
    left = chat(world, model, *said, "/quit", "y", "n")
    assert left.err.count("Remember “") == 2
    assert "Remembered." in left.err
    assert [(fact["text"], fact["source"]) for fact in facts(world)] == [("I decided to write in English.", "session")]
    assert "Remember “" not in chat(world, model, "Hello!", "/quit", "y", options=("--continue",)).err


def test_nothing_is_proposed_where_it_is_switched_off_or_nobody_is_there(world: World, model: str) -> None:
    world.variables["ZKCHAT_MEMORY__LEARN"] = "off"
    assert "Remember “" not in chat(world, model, "I decided to write in English.", "/quit", "y").err
    del world.variables["ZKCHAT_MEMORY__LEARN"]
    piped = world.run("chat", "--model", model, stdin="I decided to write in English.\n")
    assert "Remember “" not in piped.err
    assert facts(world) == []


LONG = "There is much to say of cats, dogs and birds. " * 20


def test_a_compaction_proposes_at_once(world: World, model: str) -> None:
    world.variables["ZKCHAT_CONTEXT__KEEP_RECENT"] = "2"
    compacted = chat(world, model, "I decided to write in English.", LONG, "And then?", "/compact", "y", "/stats")
    assert compacted.err.count("Remember “") == 1
    assert [fact["text"] for fact in facts(world)] == ["I decided to write in English."]
    assert "0 archived" not in compacted.out


def test_a_key_is_never_remembered_whoever_agrees(world: World, model: str) -> None:
    left = chat(world, model, "My key must be sk-abcdefghijklmnop1234.", "/quit", "y")
    assert "That looks like a secret key" in left.err
    assert facts(world) == []


def test_things_that_changed_since_an_answer_are_told_beside_it(world: World, model: str) -> None:
    world.note(".zkchat/rules/Tone.md", "Be warm.\n")
    world.run("trust", "--yes")
    world.run("ask", "What is in [[Cats]]?", "--model", model)
    assert "has changed" not in world.run("context", "show", "--message", "2").err
    world.note("Cats.md", "# Cats\n\nCats sleep.\n")
    world.note(".zkchat/rules/Tone.md", "Be cool.\n")
    world.run("trust", "--yes")
    for arguments in (("--message", "2"), ("--request", "--json")):
        shown = world.run("context", "show", *arguments)
        assert "The rule Tone has changed since that request." in shown.err
        assert "The note Cats.md has changed since that request." in shown.err
        assert ("Cats purr." in shown.out) == ("--request" in arguments)


def test_selection_is_steered_by_settings_and_its_use_is_told(world: World) -> None:
    names = ("Tea", "Coffee", "Cocoa")
    for name in names:
        world.note(f"{name}.md", f"# {name}\n\nHot drinks such as {name} keep you warm in winter.\n")
    agent(world, "drinks", "references:\n" + "\n".join(f'  "[[{name}]]": agent' for name in names))
    model = world.script([{"text": "Drink [[Tea]]."}])

    def chosen(settings: str) -> list[str]:
        world.configure(f"[context]\n{settings}\n")
        asked = world.run("ask", "Which hot drinks: tea?", "--agent", "drinks", "--json", "--model", model).json
        return [each["name"] for each in asked["context"]["items"] if each["include"] == "agent"]

    assert len(chosen("items_minimum = 0.01")) == 3
    assert chosen("items_minimum = 1.0") == []
    assert chosen("items_minimum = 0.01\nitems_limit = 2")[0] == "Tea"
    stats = world.run("context", "stats", "--json", "--model", model).json
    assert stats["selection"] == {"chosen": 2, "used": 1}
    told = world.run("context", "stats", "--model", model).out
    assert "Of the notes, passages and tools chosen for your messages, answers used 1 of 2 (50 %)." in told


def test_ctrl_c_at_the_question_is_a_no(world: World) -> None:
    before = signal.getsignal(signal.SIGINT)

    class Interrupted(Terminal):
        def readline(self, _size: int | None = -1) -> NoReturn:
            raise KeyboardInterrupt

    ask = TerminalInterface(CommandIO(replace(world.environment(), stdin=Interrupted()))).may_remember
    assert not ask("The user likes tea.")
    assert signal.getsignal(signal.SIGINT) is before
