from zkchat.model.change import ChangeSet, FileMove, FileWrite
from zkchat.writing.undo import reversal

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
    assert [(write.path, write.before, write.after) for write in back.writes] == [
        ("Ideas/A.md", b"b", b"a"),
        ("New.md", b"new", b""),
    ]
