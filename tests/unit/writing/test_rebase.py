import pytest

from zkchat.writing.staging import rebase_content

BASE = "# Note\n\none\ntwo\nthree\n\nlast\n"


@pytest.mark.parametrize(
    ("before", "after", "found", "rebased"),
    [
        (BASE, BASE.replace("two", "2"), BASE.replace("last", "end"), BASE.replace("two", "2").replace("last", "end")),
        (BASE, BASE.replace("two", "2"), "New first line\n" + BASE, "New first line\n" + BASE.replace("two", "2")),
        (BASE, BASE + "ours\n", BASE + "theirs\n", BASE + "theirs\nours\n"),
        (BASE, BASE + "ours\n", BASE.replace("one", "1"), BASE.replace("one", "1") + "ours\n"),
        ("a\r\nb\r\nc\r\nd\r\n", "a\r\nX\r\nc\r\nd\r\n", "a\r\nb\r\nc\r\nd\r\ne\r\n", "a\r\nX\r\nc\r\nd\r\ne\r\n"),
        (BASE, BASE.replace("two", "2"), BASE.replace("two", "2"), BASE.replace("two", "2")),
        (BASE, BASE.replace("two\n", ""), BASE + "more\n", BASE.replace("two\n", "") + "more\n"),
    ],
)
def test_a_passage_that_is_untouched_is_changed_in_the_present_text(
    before: str, after: str, found: str, rebased: str
) -> None:
    assert rebase_content(before.encode(), after.encode(), found.encode()) == rebased.encode()


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (BASE, BASE.replace("two", "2"), BASE.replace("two", "II")),
        (BASE, BASE.replace("two", "2"), BASE.replace("one", "1")),
        (BASE, BASE.replace("two", "2"), BASE + BASE),
        (BASE, BASE.replace("two", "2"), ""),
        (BASE, BASE + "ours\n", BASE.replace("last\n", "last")),
        ("x\nx\n", "x\ny\nx\n", "x\nx\nx\n"),
    ],
)
def test_a_passage_that_is_touched_or_not_unique_clashes(before: str, after: str, found: str) -> None:
    assert rebase_content(before.encode(), after.encode(), found.encode()) is None


def test_files_that_are_gone_new_or_no_text_clash() -> None:
    assert rebase_content(b"a\n", b"b\n", None) is None
    assert rebase_content(None, b"b\n", b"a\n") is None
    assert rebase_content(b"a\n", b"b\n", b"\xff\n") is None
