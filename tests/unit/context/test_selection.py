from collections.abc import Sequence
from functools import lru_cache

import pytest

from zkchat.chat.context.selection import Candidate, Relevance, Selection, SelectionLimits, Selector, build_candidates
from zkchat.chat.context.tokens import Estimate
from zkchat.core.choices import IncludeMode, ItemType
from zkchat.core.message import RequestItem
from zkchat.core.profile import Agent, Rule
from zkchat.core.prompt import ToolSpec
from zkchat.core.session import ItemsEntry
from zkchat.models.static_vectors import installed

A = Candidate(type="rule", name="A", include="always", about="Citation style", text="Cite with footnotes.")
B = Candidate(type="rule", name="B", include="manual", about="Tone of letters", text="Be warm.")
C = Candidate(
    type="rule", name="C", include="agent", about="Dates, times and calendars", text="Write dates as 2026-03-01."
)
X = Candidate(type="reference", name="X.md", include="always", about="Glossary of terms", text="A slip box is a box.")
Y = Candidate(
    type="reference", name="Y.md", include="agent", about="Compost: turning the heap in the garden", text="Turn it."
)
ALL = [A, B, C, X, Y]


@lru_cache
def relevance() -> Relevance:
    return Relevance(installed())


@pytest.fixture
def selector() -> Selector:
    return Selector(relevance(), Estimate())


def item(name: str, type_: ItemType = "rule", server: str = "") -> RequestItem:
    return RequestItem(type=type_, name=name, server=server)


def adding(name: str, type_: ItemType = "rule") -> ItemsEntry:
    return ItemsEntry(added=(item(name, type_),))


def dropping(name: str, type_: ItemType = "rule") -> ItemsEntry:
    return ItemsEntry(dropped=(item(name, type_),))


def names(selected: Selection) -> list[str]:
    return [item.name for item in selected.records]


def left_out(selected: Selection) -> dict[str, str]:
    return {left.item.name: left.why for left in selected.left_out}


def test_what_the_user_dropped_stays_out_whatever_the_message_says(selector: Selector) -> None:
    changes = [dropping("A"), dropping("C")]
    selected = selector.select("Which dates and times are in my calendar?", ALL, changes)
    assert names(selected) == ["X.md"]
    assert left_out(selected) | {"A": "removed", "C": "removed"} == left_out(selected)
    assert names(selector.select("Hello!", ALL, [*changes, adding("A")])) == ["A", "X.md"], "added again, in its place"


def test_an_added_item_that_is_not_there_any_more_is_said(selector: Selector) -> None:
    selected = selector.select("Hello!", ALL, [adding("Gone"), adding("C", "tool")])
    assert names(selected) == ["A", "X.md"]
    assert [(left.item.name, left.item.type, left.why) for left in selected.left_out if left.why == "missing"] == [
        ("Gone", "rule", "missing"),
        ("C", "tool", "missing"),
    ]


def tool(
    name: str,
    about: str = "",
    *,
    include: IncludeMode = "always",
    server: str = "web",
    size: int = 100,
    core: bool = False,
) -> Candidate:
    return Candidate(
        type="tool", name=name, server=server, include=include, about=about or name, text="x" * size, core=core
    )


TOOLS = [
    tool("read_document", server="", core=True),
    tool("weather", "Weather forecast: rain, wind, temperature"),
    tool("mail", "Send an e-mail to somebody"),
    tool("chart", "Draw a chart from numbers", include="agent"),
]


def test_where_room_is_short_the_least_relevant_tools_go_first_one_that_was_added_late_and_core_tools_last(
    selector: Selector,
) -> None:
    changes = [ItemsEntry(added=(item("chart", "tool", "web"),))]
    per_tool = Estimate().count("x" * 100)
    rain = selector.select("Will it rain tomorrow? I need the weather.", TOOLS, tool_tokens=2 * per_tool)
    assert names(rain) == ["read_document", "weather"]
    assert next(left.item.score for left in rain.left_out if left.item.name == "mail") is not None
    for room, kept in ((2 * per_tool, ["read_document", "chart"]), (per_tool, ["read_document"]), (per_tool - 1, [])):
        selected = selector.select("Draw a chart of the weather.", TOOLS, changes, tool_tokens=room)
        assert names(selected) == kept
        assert {name for name, why in left_out(selected).items() if why == "budget"} == {
            each.name for each in TOOLS if each.name not in kept
        }


def test_tools_of_servers_take_the_room_of_ours_in_half_of_it_only(selector: Selector) -> None:
    weather = [tool("rain", "Rain tomorrow"), tool("wind", "Wind tomorrow")]
    tools = [TOOLS[0], tool("list_notes", "List notes", server=""), *weather]
    room = 3 * Estimate().count("x" * 100)
    found = names(selector.select("Will there be rain and wind tomorrow?", tools, tool_tokens=room))
    assert {*found} > {"read_document", "list_notes"}


def test_every_candidate_has_the_mode_that_the_agent_gives_it() -> None:
    found = build_candidates(
        Agent(name="poet", rules={"Tone": "manual"}, tools={"mail": "agent"}, servers={"w": "agent"}),
        rules=[Rule(name="Tone", text="Be warm."), Rule(name='"b"', include="agent", text="Write 2026-03-01.")],
        notes={"Added.md": "x"},
        tools=[
            ToolSpec(name=name, description="", parameters={}, server=server)
            for name, server in (("read_document", ""), ("mail", ""), ("mail", "w"), ("other", ""))
        ],
        core={"read_document", "mail"},
    )
    assert [(each.type, each.server, each.name, each.include, each.core) for each in found] == [
        ("rule", "", "Tone", "manual", False),
        ("rule", "", '"b"', "agent", False),
        ("reference", "", "Added.md", "manual", False),
        ("tool", "", "read_document", "always", True),
        ("tool", "", "mail", "agent", True),
        ("tool", "w", "mail", "agent", False),
        ("tool", "", "other", "always", False),
    ]
    assert found[1].text == '<rule name="&quot;b&quot;">\nWrite 2026-03-01.\n</rule>'


def test_no_more_items_of_a_type_are_called_than_allowed() -> None:
    many = [
        Candidate(type="rule", name=f"{number}", include="agent", about=f"Dates and calendars {number}", text="x")
        for number in range(20)
    ]
    limits = SelectionLimits(threshold=0.1, most=3, recorded=2)
    selected = Selector(relevance(), Estimate(), limits).select("dates and calendars", many)
    assert len(selected.records) == 3
    assert [left.why for left in selected.left_out] == ["score", "score"]


def test_tools_that_all_fit_are_not_compared_with_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_relevance: Relevance, _question: str, texts: Sequence[str]) -> list[float]:
        assert not texts, "texts were compared"
        return []

    monkeypatch.setattr(Relevance, "scores", refuse)
    tools = [Candidate(type="tool", name=f"t{number}", text="A tool.", about="A tool") for number in range(5)]
    selector = Selector(Relevance(), Estimate())
    assert len(selector.select("Hello!", [A, *tools], tool_tokens=1000).items) == 6
    with pytest.raises(AssertionError, match="texts were compared"):
        selector.select("Hello!", [A, *tools], tool_tokens=1)
