import pytest

from zkchat.core.errors import EditRefused
from zkchat.writing.sections import append_text


@pytest.mark.parametrize(
    ("text", "new", "after"),
    [
        ("", "new", "new\n"),
        ("---\na: 1\n---\n", "new", "---\na: 1\n---\nnew\n"),
        ("---\na: 1\n---", "new", "---\na: 1\n---\nnew\n"),
        ("A line.\n", "new", "A line.\n\nnew\n"),
        ("A line.", "new", "A line.\n\nnew"),
        ("A line.\r\n", "new\nlines", "A line.\r\n\r\nnew\r\nlines\r\n"),
        ("- one\n- two\n", "- three\n", "- one\n- two\n- three\n"),
        ("| a |\n|---|\n| 1 |\n", "| 2 |", "| a |\n|---|\n| 1 |\n| 2 |\n"),
        ("# One\ntext\n# Two\n", "- new", "# One\ntext\n# Two\n- new\n"),
        ("# One\n\ntext\n\n# Two\n", "- new", "# One\n\ntext\n\n# Two\n\n- new\n"),
        ("Text\n", "---", "Text\n\n---\n"),
    ],
)
def test_lines_are_appended_after_what_is_there(text: str, new: str, after: str) -> None:
    assert append_text(text, new) == after


@pytest.mark.parametrize("text", ["```\ncode\n", "<!-- open\n", "~~~~\n~~~\n"])
def test_nothing_is_appended_to_what_is_not_closed(text: str) -> None:
    with pytest.raises(EditRefused):
        append_text(text, "new")


def test_there_has_to_be_something() -> None:
    with pytest.raises(EditRefused):
        append_text("A line.\n", " \n\n")


@pytest.mark.parametrize("new", ["```\ncode", "~~~ python\nx = 1", "<!-- open"])
def test_text_that_leaves_code_or_a_comment_open_is_refused(new: str) -> None:
    with pytest.raises(EditRefused, match="does not close"):
        append_text("# A\n\ntext\n", new)
    assert append_text("# A\n\ntext\n", "```\ncode\n```").endswith("```\n")
