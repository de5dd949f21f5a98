"""Whatever the user adds and drops, and whatever the message says: promises of the selection."""

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.chat.context.selection import Candidate, Relevance, SelectionLimits, Selector
from zkchat.chat.context.tokens import Estimate
from zkchat.core.choices import IncludeMode, ItemType
from zkchat.core.message import RequestItem
from zkchat.core.session import ItemsEntry

NAMES = ("A", "B", "C", "D")
TYPES: tuple[ItemType, ...] = ("rule", "reference", "tool")
MODES: tuple[IncludeMode, ...] = ("always", "manual", "agent")
WORDS = ("garden", "sleep", "money", "travel")


@st.composite
def candidates(draw: st.DrawFn) -> Candidate:
    type_ = draw(st.sampled_from((*TYPES, "tool", "tool")))
    core = type_ == "tool" and draw(st.booleans())
    return Candidate(
        type=type_,
        name=draw(st.sampled_from(NAMES)),
        include=draw(st.sampled_from((*MODES, "always"))),
        about=draw(st.sampled_from(WORDS)),
        text="x" * draw(st.integers(0, 50)),
        core=core,
    )


items = st.builds(RequestItem, type=st.sampled_from(TYPES), name=st.sampled_from(NAMES))
changes = st.lists(
    st.one_of(
        st.builds(lambda item: ItemsEntry(added=(item,)), items),
        st.builds(lambda item: ItemsEntry(dropped=(item,)), items),
    ),
    max_size=8,
)


@given(
    st.lists(candidates(), max_size=10, unique_by=lambda each: each.key),
    changes,
    st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join),
    st.one_of(st.none(), st.integers(0, 30)),
)
@settings(max_examples=150, deadline=None)
def test_what_is_sent_is_what_the_modes_and_the_user_say(
    available: list[Candidate], changes: list[ItemsEntry], question: str, tool_tokens: int | None
) -> None:
    limits = SelectionLimits(threshold=0.3, most=2)
    selected = Selector(Relevance(), Estimate(), limits).select(question, available, changes, tool_tokens=tool_tokens)
    wishes: dict[tuple[ItemType, str], bool] = {}
    for change in changes:
        wishes |= {(item.type, item.name): True for item in change.added}
        wishes |= {(item.type, item.name): False for item in change.dropped}
    sent = {(item.type, item.name): item for item in selected.records}
    assert len(sent) == len(selected.records)
    short = {(left.item.type, left.item.name) for left in selected.left_out if left.why == "budget"}
    for each in available:
        key = (each.type, each.name)
        wish = wishes.get(key)
        if wish is False:
            assert key not in sent
        elif wish or each.include == "always":
            assert (key in sent) != (key in short)
        elif each.include == "manual":
            assert key not in sent
        elif key in sent:
            assert (sent[key].score or 0) >= limits.threshold
    core = {(each.type, each.name) for each in available if each.core}
    tools = {key for key, item in sent.items() if item.type == "tool"}
    assert tool_tokens is None or sum(sent[key].tokens for key in tools) <= tool_tokens
    assert tools <= core or not short & core
    for type_ in TYPES:
        assert sum(item.score is not None and item.type == type_ for item in sent.values()) <= limits.most
