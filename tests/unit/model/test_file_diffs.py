from zkchat.core.changes import ChangeSet, FileChange, FileMove, FileWrite, file_changes, file_diffs, joined, units_of


def write(path: str, before: str | None, after: str) -> FileWrite:
    return FileWrite(path=path, before=None if before is None else before.encode(), after=after.encode())


RENAME = FileMove(source="Old.md", target="New.md")
TRASH = FileMove(source="Bad.md", target=".trash/Bad.md")
FOLLOWS = write("L.md", "see [[Old]], [[Old|x]] and [y](Old.md)\n", "see [[New]], [[New|x]] and [y](New.md)\n")
CANVAS = write("C.canvas", '{"file":"Old.md"}\n', '{"file":"New.md"}\n')
EDIT = write("E.md", "one\n", "two\n")
BOTH = write("F.md", "[[Old]]\none\n", "[[New]]\ntwo\n")
FRESH = write("G.md", None, "[[New]]\n")
ALL = ChangeSet(title="All", moves=(RENAME, TRASH), writes=(FOLLOWS, CANVAS, EDIT, BOTH, FRESH))


def test_lines_and_links_that_follow_a_move_are_counted() -> None:
    found = {each.change.path: each for each in file_diffs(ALL)}
    assert (found["L.md"].links, found["L.md"].only_follows) == (3, True)
    assert (found["C.canvas"].links, found["C.canvas"].only_follows) == (1, True)
    assert (found["E.md"].links, found["E.md"].added, found["E.md"].removed) == (0, 1, 1)
    assert not found["F.md"].only_follows
    assert (found["G.md"].added, found["G.md"].change.action) == (1, "created")
    assert found["New.md"].write is None


def test_a_move_and_all_that_follows_it_are_one_unit_and_other_files_stand_alone() -> None:
    first, *others = units_of(ALL)
    assert (first.moves, first.writes) == ((RENAME,), (FOLLOWS, CANVAS, BOTH))
    assert [(unit.moves, unit.writes) for unit in others] == [((TRASH,), ()), ((), (EDIT,)), ((), (FRESH,))]
    assert joined(ALL, units_of(ALL)) == ALL
    assert joined(ALL, [first]).writes == (FOLLOWS, CANVAS, BOTH)


def test_files_of_a_moved_folder_and_moves_that_go_on_from_each_other_belong_together() -> None:
    on = ChangeSet(
        title="Move",
        moves=(
            FileMove(source="A", target="B"),
            FileMove(source="B/x.md", target=".trash/x.md"),
            FileMove(source="Free.md", target=".trash/Free.md"),
        ),
        writes=(write("B/new.md", None, "x\n"), write("B/y.md", "a\n", "b\n"), write("z.md", "a\n", "b\n")),
    )
    first, second, third = units_of(on)
    assert len(first.moves) == 2
    assert [each.path for each in first.writes] == ["B/new.md", "B/y.md"]
    assert second.moves == (on.moves[2],)
    assert third.writes == (on.writes[2],)


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
