"""`/model`: a list to choose from, and a model that must answer before it is used."""

import asyncio

import pytest

from tests.support.command_harness import CommandHarness
from zkchat.core.errors import ProviderError
from zkchat.core.prompt import ModelListing, ModelRow
from zkchat.repl.command_context import Nothing, Outcome, Switch
from zkchat.repl.commands.table import completions, run


@pytest.fixture
def harness() -> CommandHarness:
    return CommandHarness()


def outcome(harness: CommandHarness, line: str) -> Outcome:
    return asyncio.run(run(harness.context, line))


def test_models_are_listed_with_their_windows_and_where_they_run(harness: CommandHarness) -> None:
    harness.models.listings = (
        ModelListing(source="OpenAI", problem="There is no key in the variable OPENAI_API_KEY."),
        ModelListing(source="An empty folder"),
    )
    assert outcome(harness, "/model") == Nothing()
    (rows,) = harness.surface.lists
    assert [(row.name, row.about, row.is_current) for row in rows] == [
        ("scripted:play", ("this machine", "tools"), True),
        ("ollama:qwen3:8b", ("40,960 tokens", "this machine", "tools"), False),
        ("quick", ("272,000 tokens", "api.openai.com"), False),
        ("quote", ("this machine", "no model: passages of your notes"), False),
    ]
    assert rows[2].search == "openai:gpt-5-mini"
    assert harness.surface.lines == [
        "OpenAI: There is no key in the variable OPENAI_API_KEY.",
        "To change it for this session: /model NAME or NUMBER.",
    ]
    assert harness.models.verified == []


def test_the_one_that_is_picked_answers_from_then_on_and_the_present_one_changes_nothing(
    harness: CommandHarness,
) -> None:
    harness.surface.picks = 1
    assert outcome(harness, "/model") == Switch(session=None, model="ollama:qwen3:8b")
    harness.surface.picks = 0
    assert outcome(harness, "/model") == Nothing()
    assert harness.surface.text == "scripted:play goes on answering."
    assert harness.models.verified == ["ollama:qwen3:8b"]


@pytest.mark.parametrize("line", ["/model quick", "/model 3"])
def test_a_model_is_named_or_numbered_and_goes_on_in_the_same_session(harness: CommandHarness, line: str) -> None:
    harness.exchange("What is sleep?", "Rest.")
    assert outcome(harness, line) == Switch(session="s1", model="quick")
    assert harness.models.verified == ["quick"]


def test_the_provider_may_be_left_out_where_one_model_has_that_id(harness: CommandHarness) -> None:
    assert outcome(harness, "/model qwen3:8b") == Switch(session=None, model="ollama:qwen3:8b")
    harness.models.rows.append(ModelRow(name="openai:qwen3:8b"))
    assert outcome(harness, "/model qwen3:8b") == Switch(session=None, model="qwen3:8b")
    assert harness.models.verified == ["ollama:qwen3:8b", "qwen3:8b"]


def test_a_number_that_no_model_has_is_refused(harness: CommandHarness) -> None:
    assert outcome(harness, "/model 9") == Nothing()
    assert harness.surface.text == "There is no model 9: there are 4. /model numbers them."


def test_a_model_that_does_not_answer_leaves_the_present_one(harness: CommandHarness) -> None:
    harness.models.problems["ollama:gone"] = ProviderError("Ollama has no model 'gone' (404).", hint="Fetch it.")
    assert outcome(harness, "/model ollama:gone") == Nothing()
    assert harness.surface.lines == ["Ollama has no model 'gone' (404). Fetch it.", "scripted:play goes on answering."]


def test_names_are_completed_wherever_they_hold_what_was_typed(harness: CommandHarness) -> None:
    assert completions(harness.context, "/model QW") == ["ollama:qwen3:8b"]
    assert completions(harness.context, "/model ") == ["scripted:play", "ollama:qwen3:8b", "quick", "quote"]
