import pytest

from zkchat.core.changes import ChangeSet, FileWrite
from zkchat.core.errors import FileConflict, FilesChanged
from zkchat.writing.staging import rebase_changes, rebase_content

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


def conflict(write: FileWrite, found: str) -> FileConflict:
    return FileConflict(path=write.path, expected=write.before, wanted=write.after, found=found.encode())


def test_a_change_set_is_brought_to_the_files_as_they_are_or_refused_as_a_whole() -> None:
    first = FileWrite(path="A.md", before=BASE.encode(), after=BASE.replace("two", "2").encode())
    second = FileWrite(path="B.md", before=b"b\n", after=b"c\n")
    changes = ChangeSet(title="Edit", writes=(first, second))
    rebased = rebase_changes(changes, [conflict(first, BASE + "more\n")])
    assert rebased.paths == ("A.md",)
    assert rebased.changes.writes == (
        FileWrite(path="A.md", before=f"{BASE}more\n".encode(), after=f"{BASE}more\n".replace("two", "2").encode()),
        second,
    )
    with pytest.raises(FilesChanged) as refusal:
        rebase_changes(changes, [conflict(first, BASE + "more\n"), conflict(second, "d\n")])
    assert [each.path for each in refusal.value.conflicts] == ["B.md"]
