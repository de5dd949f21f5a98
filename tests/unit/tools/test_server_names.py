"""Names of servers' tools: accepted by every model's server, stable, and different for different tools."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.chat.tools.registry import CORE_TOOLS
from zkchat.chat.tools.server_tools import tool_name

_WORDS = st.text("ab_-.é 0", max_size=40) | st.text("ab_", max_size=3) | st.text(max_size=90)


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("web", "fetch", "web__fetch"),
        ("my.web", "fetch page", "my_web__fetch_page--88e4c1a3d0"),
        ("web", "f" * 100, f"web__{'f' * 20}--97ffb2a7b5--{'f' * 25}"),
    ],
)
def test_a_name_holds_server_and_tool_and_a_hash_where_that_is_not_all(server: str, tool: str, name: str) -> None:
    assert tool_name(server, tool) == name


@settings(max_examples=50)
@given(st.lists(st.tuples(_WORDS, _WORDS), unique=True, max_size=8))
def test_names_are_accepted_by_every_server_and_are_never_the_same(tools: list[tuple[str, str]]) -> None:
    names = [tool_name(*each) for each in tools]
    assert len({*names}) == len(tools)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)
    assert {*names}.isdisjoint(CORE_TOOLS)
    for name, tool in zip(names, tools, strict=True):
        head, _, tail = name.partition("__")
        assert (head, tail) == tool or tool_name(head, tail) != name, "a tool that is called like another's name"
