from zkchat.model.change import ChangeSet, FileMove, FileWrite
from zkchat.model.change_summary import FileChange, file_changes, touches


def test_each_file_of_a_change_set_is_listed_once_with_what_is_done_to_it() -> None:
    changes = ChangeSet(
        title="",
        moves=(
            FileMove(source="A.md", target="B.md"),
            FileMove(source="C.md", target=".trash/C.md"),
            FileMove(source="x.md", target="x-1.md"),  # by way of another name
            FileMove(source="x-1.md", target="X.md"),
        ),
        writes=(
            FileWrite(path="B.md", before=b"1", after=b"2"),
            FileWrite(path="D.md", before=b"1", after=b"2"),
            FileWrite(path="E.md", before=None, after=b"2"),
        ),
    )
    assert file_changes(changes) == [
        FileChange(path="B.md", action="moved", moved_from="A.md", is_edited=True),
        FileChange(path=".trash/C.md", action="trashed", moved_from="C.md"),
        FileChange(path="X.md", action="moved", moved_from="x.md"),
        FileChange(path="D.md", action="edited", is_edited=True),
        FileChange(path="E.md", action="created", is_edited=True),
    ]


def test_a_change_touches_what_it_writes_and_what_moves_with_a_folder() -> None:
    changes = ChangeSet(
        title="",
        moves=(FileMove(source="Old", target="New"),),
        writes=(FileWrite(path="D.md", before=b"1", after=b"2"),),
    )
    assert [path for path in ("D.md", "Old/a.md", "New/a.md", "Newer/a.md", "E.md") if touches(changes, path)] == [
        "D.md", "Old/a.md", "New/a.md",
    ]  # fmt: skip
