"""What a model may write for an argument, and what it is told where it wrote something else."""

from typing import Annotated, Any, Literal

import pytest

from benchmarks.context.tool_definitions import all_write_tools
from zkchat.chat.tools.registry import Arguments, FunctionTool, InvalidArguments, Number, Text, read_arguments

(SetProperty,) = (
    tool.arguments for tool in all_write_tools() if isinstance(tool, FunctionTool) and tool.name == "set_property"
)

NO_INTEGER = "Input should be a valid integer, unable to parse string as an integer."


class Wanted(Arguments, frozen=True, kw_only=True):
    text: Annotated[str, Text(min_length=2, max_length=5, also=("q", "words"))] = "none"
    count: Annotated[int, Number(at_least=1, at_most=20)] = 5
    deep: bool = False
    where: Literal["before", "after", "end"] = "end"


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ({}, "count", 5),
        ({"count": "7"}, "count", 7),
        ({"deep": "yes"}, "deep", True),
        ({"where": "before "}, "where", "before"),
        ({"count": 7.0}, "count", 7),
        ({"count": 20}, "count", 20),
        ({"count": 21}, "count", 20),
        ({"deep": 0}, "deep", False),
        ({"words": "last", "q": "first"}, "text", "first"),
        ({"text": "own", "q": "first"}, "text", "own"),
        ({"where": "before", "odd": 1}, "where", "before"),
    ],
)
def test_what_is_meant_is_understood(given: dict[str, Any], name: str, value: object) -> None:
    assert getattr(read_arguments(Wanted, given), name) == value


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"text": 5}, "text: Input should be a valid string."),
        ({"q": "x"}, "q: String should have at least 2 characters."),
        ({"text": "longer"}, "text: String should have at most 5 characters."),
        ({"count": "0"}, "count: Input should be greater than or equal to 1."),
        ({"count": 5.5}, "count: Input should be a valid integer, got a number with a fractional part."),
        ({"count": None}, "count: Input should be a valid integer."),
        ({"deep": "maybe"}, "deep: Input should be a valid boolean, unable to interpret input."),
        ({"where": "Before"}, "where: Input should be 'before', 'after' or 'end'."),
        ([], "arguments: Input should be a valid dictionary or instance of Arguments."),
        ({"q": "x", "count": "many"}, "q: String should have at least 2 characters. count: " + NO_INTEGER),
    ],
)
def test_what_is_wrong_is_told(given: object, said: str) -> None:
    with pytest.raises(InvalidArguments) as error:
        read_arguments(Wanted, given)
    assert str(error.value) == said


@pytest.mark.parametrize("value", ["5", True, 0.5, None, ["a", 1, False]])
def test_a_property_takes_any_value_of_frontmatter(value: object) -> None:
    assert read_arguments(SetProperty, {"path": "n.md", "key": "k", "value": value}).value == value


@pytest.mark.parametrize("value", [{}, ["a", None]])
def test_a_property_is_no_mapping_and_no_list_of_such(value: object) -> None:
    with pytest.raises(InvalidArguments, match=r"^value: Input should be a valid string\.$"):
        read_arguments(SetProperty, {"path": "n.md", "key": "k", "value": value})
