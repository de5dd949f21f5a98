"""Edits of sections and blocks: a table of cases with the bytes that are expected."""

import pytest

from zkchat.errors import EditRefused
from zkchat.model.choices import SectionPosition
from zkchat.writing.section_edits import edit_section


@pytest.mark.parametrize(
    ("text", "place", "position", "new", "expected"),
    [
        ("# A\n\ntext\n\n# B\n", "A", "append", "new", "# A\n\ntext\n\nnew\n\n# B\n"),
        ("# A\n- a\n# B\n", "A", "append", "- b", "# A\n- a\n- b\n# B\n"),
        ("# A\ntext", "A", "append", "new", "# A\ntext\n\nnew"),
        ("# A\r\n# B\r\n", "A", "append", "x\ny", "# A\r\nx\r\ny\r\n# B\r\n"),
    ],
)
def test_edits(text: str, place: str, position: SectionPosition, new: str, expected: str) -> None:
    assert edit_section(text, place, new, position=position) == expected


def test_a_heading_that_is_missing_is_refused_with_the_outline() -> None:
    with pytest.raises(EditRefused) as refused:
        edit_section("# One\n\n## Two\n", "Three", "x", position="append")
    assert "## Two (line 3)" in refused.value.hint
