"""What is rebased keeps every line of both sides, or is refused."""

import re
from collections import Counter
from typing import get_args

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from zkchat.core.changes import ChangeSet, FileWrite, split_lines
from zkchat.core.choices import SectionPosition
from zkchat.core.errors import EditRefused, FileConflict, FilesChanged
from zkchat.writing.passages import replace_passage
from zkchat.writing.properties import add_tag, set_property
from zkchat.writing.sections import append_text, edit_section
from zkchat.writing.staging import Edit, rebase_changes, rebase_content

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


def test_a_line_that_was_put_in_above_moves_no_other_change() -> None:
    rebased = rebase_content(b"a\nb\nc\nd\n", b"new\na\nb\nc\nother\n", b"a\nb\ntheirs\nc\nd\n")
    assert rebased == b"new\na\nb\ntheirs\nc\nother\n"


FRONTMATTERS = ["", "---\nstate: old\n---\n", "---\ntags: [one, two]\n---\n", "---\ntags:\n  - one\nstate: old\n---\n"]
LINES_OF_NOTES = st.lists(st.sampled_from(["\n", "text\n", "- item\n", "passage\n"]), max_size=3).map("".join)
NOTES = st.builds(
    lambda first, *parts: f"{first}# A\n{parts[0]}passage\n{parts[1]}## B\n{parts[2]}",
    st.sampled_from(FRONTMATTERS),
    *[LINES_OF_NOTES] * 3,
)


def _section_edit(place: str, word: str, position: SectionPosition) -> Edit:
    return Edit(lambda text: edit_section(text, place, word, position=position), replaces=position == "replace")


def operations(word: str) -> st.SearchStrategy[Edit]:
    """Edits of each kind that write a word."""
    return st.sampled_from(
        [
            Edit(lambda text: append_text(text, f"- {word}")),
            Edit(lambda text: append_text(text, word)),
            *(_section_edit(place, word, position) for place in ("A", "B") for position in get_args(SectionPosition)),
            Edit(lambda text: add_tag(text, word)),
            Edit(lambda text: set_property(text, "state", word), replaces=True),
            Edit(lambda text: set_property(text, word, "1"), replaces=True),
            Edit(lambda text: replace_passage(text, "passage", word), replaces=True),
        ]
    )


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


@given(data=st.data(), before=NOTES, edits=st.lists(operations("ours"), min_size=1, max_size=2))
@settings(max_examples=200)
def test_an_edit_made_again_keeps_what_both_wrote_or_is_refused(
    data: st.DataObject, before: str, edits: list[Edit]
) -> None:
    after, found = before, before
    try:
        for edit in edits:
            after = edit.change(after)
        for edit in data.draw(st.lists(operations("theirs"), min_size=1, max_size=2), "theirs"):
            found = edit.change(found)
    except EditRefused:
        assume(False)
    assume(before not in (after, found))
    write = FileWrite(path="N.md", before=before.encode(), after=after.encode())
    conflict = FileConflict(path="N.md", expected=write.before, wanted=write.after, found=found.encode())
    try:
        changes, _ = rebase_changes(ChangeSet(title="", writes=(write,)), [conflict], {"N.md": edits})
    except FilesChanged:
        event("refused")
        return
    event("brought to the present text")
    result = words(changes.writes[0].after.decode()) if changes else words(found)
    assert words(found) - result <= words(before) - words(after)
    assert result["ours"]
    assert result["theirs"]
