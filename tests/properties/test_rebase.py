"""What is rebased keeps every line of both sides, or is refused."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.model.line_diff import split_lines
from zkchat.writing.rebase import rebase_content

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "- x\n", "end"]), max_size=12)


@st.composite
def edited(draw: st.DrawFn, lines: list[str]) -> list[str]:
    changed = [*lines]
    for _ in range(draw(st.integers(1, 2))):
        start = draw(st.integers(0, len(changed)))
        end = draw(st.integers(start, min(len(changed), start + 2)))
        changed[start:end] = draw(st.lists(st.sampled_from(["new\n", "other\n", "a\n"]), max_size=2))
    return changed


@given(data=st.data(), base=LINES)
@settings(max_examples=50)
def test_both_changes_are_kept_or_none(data: st.DataObject, base: list[str]) -> None:
    before, after, found = (
        "".join(lines) for lines in (base, data.draw(edited(base), "after"), data.draw(edited(base), "found"))
    )
    rebased = rebase_content(before.encode(), after.encode(), found.encode())
    if rebased is None or rebased == after.encode() == found.encode():
        return
    old, new, present, result = (Counter(split_lines(text)) for text in (before, after, found, rebased.decode()))
    assert Counter({key: new[key] - old[key] for key in new | old}) == Counter(
        {key: result[key] - present[key] for key in new | old}
    )
