"""What a model may write for an argument, and what it is told where it wrote something else."""

from typing import Annotated, Any

import pytest

from zkchat.tools.argument_kinds import Number, OneOf, Text, WrongValue
from zkchat.tools.arguments import Arguments, read_arguments
from zkchat.writing.tools import SetProperty


class Wanted(Arguments, frozen=True, kw_only=True):
    text: Annotated[str, Text(min_length=2, max_length=5, also=("q", "words"))] = "none"
    count: Annotated[int, Number(at_least=1, at_most=20)] = 5
    deep: bool = False
    where: Annotated[str, OneOf(choices=("before", "after", "end"))] = "end"


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ({}, "count", 5),
        ({"count": "7"}, "count", 7),
        ({"count": " +7.0 "}, "count", 7),
        ({"count": 7.0}, "count", 7),
        ({"count": True}, "count", 1),
        ({"count": "1_000"}, "count", 20),
        ({"deep": "Yes"}, "deep", True),
        ({"deep": 0}, "deep", False),
        ({"deep": 1.0}, "deep", True),
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
        ({"text": 5}, ("text", "Input should be a valid string")),
        ({"q": "x"}, ("q", "String should have at least 2 characters")),
        ({"text": "longer"}, ("text", "String should have at most 5 characters")),
        ({"count": "0"}, ("count", "Input should be greater than or equal to 1")),
        ({"count": ""}, ("count", "Input should be a valid integer, unable to parse string as an integer")),
        ({"count": 5.5}, ("count", "Input should be a valid integer, got a number with a fractional part")),
        ({"count": 1e300}, ("count", "Unable to parse input string as an integer, exceeded maximum size")),
        ({"count": "9" * 5_000}, ("count", "Unable to parse input string as an integer, exceeded maximum size")),
        ({"count": float("inf")}, ("count", "Input should be a finite number")),
        ({"count": None}, ("count", "Input should be a valid integer")),
        ({"deep": "maybe"}, ("deep", "Input should be a valid boolean, unable to interpret input")),
        ({"deep": 5}, ("deep", "Input should be a valid boolean, unable to interpret input")),
        ({"deep": None}, ("deep", "Input should be a valid boolean")),
        ({"where": "Before"}, ("where", "Input should be 'before', 'after' or 'end'")),
        ([], ("", "Input should be a valid dictionary or instance of Wanted")),
    ],
)
def test_what_is_wrong_is_told(given: object, said: tuple[str, str]) -> None:
    with pytest.raises(WrongValue) as error:
        read_arguments(Wanted, given)
    assert error.value.complaints == (said,)


@pytest.mark.parametrize("value", ["done", True, 3, 0.5, None, ["a", 1, False], []])
def test_a_property_takes_any_value_of_frontmatter(value: object) -> None:
    assert read_arguments(SetProperty, {"path": "n.md", "key": "k", "value": value}).value == value


@pytest.mark.parametrize(
    ("value", "place", "said"),
    [
        ({}, "list[union[str,int,float,bool,date]]", "Input should be a valid list"),
        (["a", None], "list[union[str,int,float,bool,date]].1.str", "Input should be a valid string"),
    ],
)
def test_a_property_is_no_mapping_and_no_list_of_such(value: object, place: str, said: str) -> None:
    with pytest.raises(WrongValue) as error:
        read_arguments(SetProperty, {"path": "n.md", "key": "k", "value": value})
    assert error.value.complaints[0] == ("value.str", "Input should be a valid string")
    assert error.value.complaints[-1] == (f"value.{place}", said)


def test_everything_that_is_missing_is_named_at_once() -> None:
    with pytest.raises(WrongValue) as error:
        read_arguments(SetProperty, {"value": 1})
    assert error.value.complaints == (("relative_path", "Field required"), ("key", "Field required"))
