import pytest

from zkchat.core.prompt import ModelListing, ModelRow
from zkchat.render.tables import fold, model_lines, problem_lines

HERE = "this machine"
ROWS = (
    ModelRow(name="ollama:qwen3:8b", window=40_960, calls_tools=True, place=HERE, is_in_use=True),
    ModelRow(name="quick", model="openai:gpt-5-mini", window=272_000, calls_tools=False, place="api.openai.com"),
    ModelRow(name="gone", model="ollama:gone", problem="not reachable"),
    ModelRow(name="local:tiny", window=2048, is_small=True, place=HERE),
    ModelRow(name="quote", place=HERE),
)


@pytest.mark.parametrize("width", [None, 100])
def test_models_stand_in_columns_with_the_one_in_use_marked(width: int | None) -> None:
    assert model_lines(ROWS, width) == [
        "  model                       window  runs on",
        "* ollama:qwen3:8b             40,960  this machine    tools",
        "  quick = openai:gpt-5-mini  272,000  api.openai.com  no tools",
        "  gone = ollama:gone               ?  ?               not reachable",
        "  local:tiny                   2,048  this machine    small, no tools",
        "  quote                               this machine    no model: quotes your notes",
    ]


def test_on_a_narrow_screen_each_has_two_lines() -> None:
    assert model_lines(ROWS, 60)[:6] == [
        "* ollama:qwen3:8b",
        "    40,960 tokens, this machine, tools",
        "  quick = openai:gpt-5-mini",
        "    272,000 tokens, api.openai.com, no tools",
        "  gone = ollama:gone",
        "    not reachable",
    ]


def test_many_models_of_one_provider_are_folded_but_not_the_one_in_use() -> None:
    rows = [ModelRow(name=f"openai:{number}") for number in range(23)]
    last = ModelRow(name="openai:last", is_in_use=True)
    shown, left_out = fold([*rows, last, ModelRow(name="quote")])
    assert len(shown) == 22
    assert shown[-2:] == [last, ModelRow(name="quote")]
    assert left_out == 3


def test_what_has_nothing_to_offer_is_told_once_with_the_way_out() -> None:
    unreachable = ModelListing(
        source="Ollama at http://10.0.0.1",
        host="10.0.0.1",
        problem="Ollama (http://10.0.0.1) is gone.",
        hint="Start it.",
    )
    assert problem_lines([unreachable, ModelListing(source="Files in /models", hint="Fetch one.")]) == [
        "Ollama (http://10.0.0.1) is gone. Start it.",
        "Files in /models: none yet. Fetch one.",
    ]
