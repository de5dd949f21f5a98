import pytest

from tests.support.changes import ChangesInMemory
from zkchat.core.changes import ChangeOrigin, ChangeSet, FileMove, FileWrite
from zkchat.core.errors import FilesChanged
from zkchat.writing.undo import plan_undo, reversal, undo_all

CHANGES = ChangeSet(
    title="Rename A.md",
    moves=(FileMove(source="Ideas", target="Old"), FileMove(source="Old/A.md", target="Old/B.md")),
    writes=(
        FileWrite(path="Old/B.md", before=b"a", after=b"b"),
        FileWrite(path="New.md", before=None, after=b"new"),
    ),
)


def test_a_reversal_goes_the_other_way_in_the_other_order() -> None:
    back = reversal(CHANGES)
    assert [(move.source, move.target) for move in back.moves] == [("Old/B.md", "Old/A.md"), ("Old", "Ideas")]
    assert [(write.path, write.before, write.after, write.goes_away) for write in back.writes] == [
        ("Ideas/A.md", b"b", b"a", False),
        ("New.md", b"new", b"", True),
    ]


def store_with_changes() -> ChangesInMemory:
    store = ChangesInMemory(A="one", B="b")
    for before, after in ((b"one", b"two"), (b"two", b"three")):
        write = FileWrite(path="A.md", before=before, after=after)
        store.apply(ChangeSet(title="Edit A.md", writes=(write,)), ChangeOrigin())
    move = FileMove(source="A.md", target="Old/A.md")
    store.apply(ChangeSet(title="Move A.md", moves=(move,)), ChangeOrigin())
    return store


def test_changes_that_rest_on_each_other_are_checked_as_if_the_later_were_undone() -> None:
    store = store_with_changes()
    plan = plan_undo(store, 3)
    assert [record.id for record in plan.in_order] == [3, 2, 1]
    assert [*undo_all(store, plan)]
    assert store.files == {"A.md": b"one", "B.md": b"b"}


def test_what_was_undone_before_a_late_clash_is_counted() -> None:
    store = store_with_changes()
    done = undo_all(store, plan_undo(store, 3))
    next(done)
    store.files["A.md"] = b"mine"
    with pytest.raises(FilesChanged) as refused:
        next(done)
    assert refused.value.message.startswith("1 undone, 2 not: Change 2 (Edit A.md)")
    assert "Nothing was changed" not in refused.value.hint
