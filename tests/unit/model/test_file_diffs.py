from collections.abc import Sequence
from difflib import SequenceMatcher

import pytest

from zkchat.core import changes as line_diff
from zkchat.core.changes import (
    ChangeSet,
    FileChange,
    FileMove,
    FileWrite,
    changed_blocks,
    file_changes,
    file_diffs,
    hunks_of,
    joined,
    split_lines,
    units_of,
)
from zkchat.core.changes import LineBlock as Block


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


@pytest.mark.parametrize(
    ("text", "lines"),
    [("", []), ("a", ["a"]), ("a\nb\r\n", ["a\n", "b\r\n"]), ("a\u2028b\x0cc\n\n", ["a\u2028b\x0cc\n", "\n"])],
)
def test_only_a_line_feed_ends_a_line(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


def test_a_line_that_moves_leaves_the_others_where_they_are() -> None:
    assert changed_blocks([*"abcdef"], [*"abdecf"]) in ([Block(2, 3, 2, 2), Block(5, 5, 4, 5)],)


def test_of_lines_that_all_repeat_only_so_many_are_compared_closely() -> None:
    old, new = [*("pqp" * 40)], [*("qqpp" * 40)]
    found = [changed_blocks(["x", *old[:98], "z"], ["y", *new[:count], "v"]) for count in (98, 99)]
    assert [len(blocks) for blocks in found] == [18, 1]


def test_changes_that_stand_close_to_each_other_are_one_hunk() -> None:
    old = [str(number) for number in range(40)]
    new = ["x" if number in {10, 17, 25} else str(number) for number in range(40)]
    assert [(hunk.old_start, hunk.old_count) for hunk in hunks_of(old, new)] == [(7, 14), (22, 7)]


class Counting(list[str]):
    """Lines that count how often one of them is looked at."""

    looks = 0

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        Counting.looks += len(range(*place.indices(len(self)))) if isinstance(place, slice) else 1
        return super().__getitem__(place)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["a\n", "b\n"] * 2_000, ["b\n", "a\n", "\n"] * 2_000),
        ([f"{number}\n" for number in range(4_000)], [f"{number}\n" for number in reversed(range(4_000))]),
        (["same\n"] * 4_000, ["other\n", *["same\n"] * 4_000]),
        ([f"{number % 7}\n" for number in range(4_000)], [f"{number % 11}\n" for number in range(4_000)]),
    ],
)
def test_long_texts_are_compared_in_linear_time(
    old: Sequence[str], new: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []

    def counted(_: None, one: Sequence[str], other: Sequence[str], *, autojunk: bool) -> SequenceMatcher[str]:
        compared.append(len(one) * len(other))
        return SequenceMatcher(None, one, other, autojunk=autojunk)

    monkeypatch.setattr(line_diff, "SequenceMatcher", counted)
    Counting.looks = 0
    assert changed_blocks(Counting(old), Counting(new))
    assert Counting.looks <= 100 * (len(old) + len(new))
    assert sum(compared) <= 2_000_000
