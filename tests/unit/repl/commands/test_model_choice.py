"""`/model`: a list to choose from, and a model that must answer before it is used."""

import pytest
from msgspec.structs import replace

from tests.support.command_harness import CommandHarness
from zkchat.core.errors import ProviderError
from zkchat.core.events import Goal, Warned
from zkchat.core.prompt import ModelListing, ModelRow
from zkchat.repl.command_context import Switch
from zkchat.repl.commands.table import completions


@pytest.fixture
def harness() -> CommandHarness:
    return CommandHarness()


def test_models_are_listed_with_their_windows_and_where_they_run(harness: CommandHarness) -> None:
    harness.models.listings = (
        ModelListing(source="OpenAI", problem="There is no key in the variable OPENAI_API_KEY."),
        ModelListing(source="An empty folder"),
    )
    assert harness.outcome("/model") is None
    (rows,) = harness.surface.lists
    assert [(row.name, row.about, row.is_current) for row in rows] == [
        ("scripted:play", ("this machine", "tools"), True),
        ("ollama:qwen3:8b", ("40,960 tokens", "this machine", "tools"), False),
        ("quick", ("272,000 tokens", "api.openai.com"), False),
        ("quote", ("this machine", "no model: quotes your notes"), False),
    ]
    assert rows[2].search == "openai:gpt-5-mini"
    assert harness.surface.lines == [
        "OpenAI: There is no key in the variable OPENAI_API_KEY.",
        "To change it for this session: /model NAME or NUMBER.",
    ]
    assert harness.models.verified == []
    assert harness.typed("/model") == "To change it for this session: /model NAME or NUMBER.", "said once"


def test_the_one_that_is_picked_answers_from_then_on_and_the_present_one_changes_nothing(
    harness: CommandHarness,
) -> None:
    harness.surface.picks = 1
    assert harness.outcome("/model") == Switch(session=None, model="ollama:qwen3:8b")
    harness.surface.picks = 0
    assert harness.outcome("/model") is None
    assert harness.surface.text == "scripted:play still answers."
    assert harness.models.verified == ["ollama:qwen3:8b"]


@pytest.mark.parametrize("line", ["/model quick", "/model 3"])
def test_a_model_is_named_or_numbered_and_goes_on_in_the_same_session(harness: CommandHarness, line: str) -> None:
    harness.exchange("What is sleep?", "Rest.")
    assert harness.outcome(line) == Switch(session="s1", model="quick")
    assert harness.models.verified == ["quick"]


@pytest.mark.parametrize("is_here", [True, False])
def test_an_address_is_set_after_a_yes_that_knows_where_notes_go(harness: CommandHarness, is_here: bool) -> None:
    address = f"http://{'127.0.0.1' if is_here else 'example.org'}:8099/v1"
    harness.surface.says_yes = False
    assert harness.outcome(f"/model {address}") is None
    assert harness.models.servers == []
    harness.surface.says_yes = True
    assert harness.outcome(f"/model {address}") == Switch(session=None, model="openai:/srv/qwen.gguf")
    assert harness.models.servers == [address]
    asked = harness.surface.questions[0]
    assert f"Use openai:qwen.gguf, and set openai.base_url to {address} in your settings?" in asked
    assert ("notes, except private ones" in asked) is not is_here


def test_a_part_of_the_name_is_enough_where_one_model_has_it_and_a_path_is_shown_as_its_file(
    harness: CommandHarness,
) -> None:
    assert harness.outcome("/model qwen3:8b") == Switch(session=None, model="ollama:qwen3:8b")
    assert completions(harness.context, "/model QW") == ["ollama:qwen3:8b"]
    path = "openai:/srv/models/Qwen2.5-3B.gguf"
    harness.models.rows[1] = ModelRow(name=path)
    harness.surface.picks = 1
    for line in ("/model QWEN", "/model openai:Qwen2.5-3B.gguf", "/model"):
        assert harness.outcome(line) == Switch(session=None, model=path)
    assert harness.surface.lists[0][1].name == "openai:Qwen2.5-3B.gguf"
    harness.models.rows.append(ModelRow(name="ollama:qwen3"))
    assert harness.outcome("/model qwen") == Switch(session=None, model="qwen")


def test_a_model_that_does_not_answer_leaves_the_present_one(harness: CommandHarness) -> None:
    harness.models.problems["ollama:gone"] = ProviderError("Ollama has no model 'gone' (404).", hint="Fetch it.")
    assert harness.outcome("/model ollama:gone") is None
    assert harness.surface.lines == ["Ollama has no model 'gone' (404). Fetch it.", "scripted:play still answers."]


def test_a_goal_is_begun_and_gone_on_with() -> None:
    harness = CommandHarness()
    assert harness.played("/goal Compare [[A]] and [[B]]") == [Warned(text="began Compare [[A]] and [[B]]")]
    assert harness.played("/goal Resume") == [Warned(text="went on")]
    assert completions(harness.context, "/goal re") == ["resume"]


def test_the_checklist_is_shown_with_how_to_go_on() -> None:
    harness = CommandHarness()
    goal = Goal(id="g", text="Compare").with_plan(("One.", "Two."), "m1").with_step(1, "blocked", reason="no note")
    harness.goals.goal = replace(goal, state="stopped", reason="The time is up: 5 minutes.")
    assert harness.typed("/goal").splitlines() == [
        "Compare",
        "☒ 1. One. — no note",
        "☐ 2. Two.",
        "Stopped: The time is up: 5 minutes. (1 of 2 steps, 0 tokens, 0 s)",
        "/goal resume continues it.",
    ]
