"""A diff rebuilds the new text from the old one, and its hunks are where they say."""

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.core.changes import changed_blocks, hunks_of, split_lines

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "  x\r\n", "日本\n"]), max_size=40)


@given(old=LINES, new=LINES, endings=st.tuples(st.sampled_from(["", "end"]), st.sampled_from(["", "end"])))
@settings(max_examples=50)
def test_the_hunks_make_the_new_text_of_the_old_one(old: list[str], new: list[str], endings: tuple[str, str]) -> None:
    before, after = split_lines("".join(old) + endings[0]), split_lines("".join(new) + endings[1])
    rebuilt: list[str] = []
    place = 0
    for block in changed_blocks(before, after):
        assert block.old_start < block.old_end or block.new_start < block.new_end
        rebuilt += before[place : block.old_start]
        assert len(rebuilt) == block.new_start
        rebuilt += after[block.new_start : block.new_end]
        place = block.old_end
    assert rebuilt + before[place:] == after

    for hunk in hunks_of(before, after):
        kept = [line.text for line in hunk.lines if line.mark != "+"]
        made = [line.text for line in hunk.lines if line.mark != "-"]
        assert kept == before[hunk.old_start : hunk.old_start + hunk.old_count]
        assert made == after[hunk.new_start : hunk.new_start + hunk.new_count]


@given(lines=st.lists(st.integers(0, 300), min_size=1, max_size=60, unique=True), data=st.data())
@settings(max_examples=30)
def test_one_line_that_is_put_in_or_taken_out_is_all_that_differs(lines: list[int], data: st.DataObject) -> None:
    old = [f"{number}\n" for number in lines]
    place = data.draw(st.integers(0, len(old)))
    new = [*old[:place], "new\n", *old[place:]]
    assert changed_blocks(old, new) == [(place, place, place, place + 1)]
    assert changed_blocks(new, old) == [(place, place + 1, place, place)]
