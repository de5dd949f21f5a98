import asyncio
import json
from typing import Annotated

import pytest

from zkchat.chat.tools.registry import Arguments, FunctionTool, Text, Toolbox
from zkchat.core.errors import NoteNotFound
from zkchat.core.message import ToolCallPart
from zkchat.core.ports import ToolOutcome


class RequestPlan(Arguments, frozen=True, kw_only=True):
    name: Annotated[str, Text(also=("who",))]
    times: int = 1


def greet(wanted: RequestPlan) -> ToolOutcome:
    if wanted.name == "nobody":
        raise NoteNotFound("No note 'nobody'.", hint="Closest: [[somebody]].")
    return ToolOutcome(text=f"hello {wanted.name} " * wanted.times)


BOX = Toolbox([FunctionTool("greet", "Greets.", RequestPlan, greet)])


def call(arguments: str, name: str = "greet") -> ToolOutcome:
    return asyncio.run(BOX.call(ToolCallPart(call_id="1", name=name, arguments=arguments)))


def test_valid_arguments_reach_the_function_and_of_unknown_ones_the_model_is_told() -> None:
    assert call('{"name": "Ada", "times": 2}') == ToolOutcome(text="hello Ada hello Ada ")
    assert call('{"name": "Ada", "mood": "fine"}').text == "hello Ada \n(Ignored: mood.)"
    many = "".join(f', "x{number}": 1' for number in range(7))
    assert call(f'{{"name": "Ada"{many}}}').text.endswith("(Ignored: x0, x1, x2, x3, x4, and 2 more.)")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{bro", "not valid JSON"),
        ("", "name: Field required"),
        ("[]", "arguments: Input should be a valid dictionary"),
        ('{"name": "Ada", "times": "many"}', "times: Input should be a valid integer"),
        ('{"name": "nobody"}', "No note 'nobody'. Closest: [[somebody]]."),
        ('{"name": "Ada", "times": -' + "9" * 25 + "}", "a number of more than 20 digits"),
        ('{"name": "Ada", "times": 1' + "0" * 15 + "}", "cannot be run with these arguments"),
        ('{"name": "Ada", "times": 1e999}', "times: Input should be a finite number"),
        ('{"name": "Ada", "times": NaN}', "NaN is no number"),
        ('{"name": "Ada", "name": "Eve"}', "a name is given twice"),
        ('{"name": ' + "[" * 20_000 + "]" * 20_000 + "}", "nested too deep"),
        ('{"name": "' + "a" * 64_000 + '"}', "longer than 64,000 characters"),
    ],
)
def test_what_goes_wrong_goes_back_to_the_model(arguments: str, said: str) -> None:
    outcome = call(arguments)
    assert outcome.failed
    assert said in outcome.text


@pytest.mark.parametrize(
    "arguments",
    [
        json.dumps({"name": "Ada"} | {f"odd{number}": 1 for number in range(5_000)}),
        json.dumps({"name": "Ada", "odd" * 10_000: 1}),
        json.dumps({"who": "a" * 50_000, "times": ["x"] * 2_000}),
    ],
)
def test_a_model_is_not_told_at_length_what_it_wrote_at_length(arguments: str) -> None:
    assert len(call(arguments).text) < 1_000
    assert len(call("{}", name="greet" * 10_000).text) < 1_000


def test_an_unknown_tool_is_answered_with_the_nearest_one() -> None:
    assert call("{}", name="great").text == "There is no tool 'great'. There is: greet."
    assert asyncio.run(Toolbox([]).call(ToolCallPart(call_id="1", name="x", arguments=""))).failed
