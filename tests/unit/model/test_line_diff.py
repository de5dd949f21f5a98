from collections.abc import Sequence

import pytest

from zkchat.core import changes as line_diff
from zkchat.core.changes import LineBlock as Block
from zkchat.core.changes import changed_blocks, hunks_of, split_lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\nb\r\n", ["a\n", "b\r\n"]),
        ("a\u2028b\x0cc\n\n", ["a\u2028b\x0cc\n", "\n"]),
    ],
)
def test_only_a_line_feed_ends_a_line(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


def test_a_line_that_moves_leaves_the_others_where_they_are() -> None:
    assert changed_blocks([*"abcdef"], [*"abdecf"]) in ([Block(2, 3, 2, 2), Block(5, 5, 4, 5)],)


def test_changes_that_stand_close_to_each_other_are_one_hunk() -> None:
    old = [str(number) for number in range(40)]
    new = ["x" if number in {10, 16, 30} else str(number) for number in range(40)]
    assert [(hunk.old_start, hunk.old_count) for hunk in hunks_of(old, new)] == [(7, 13), (27, 7)]


class Counting(list[str]):
    """Lines that count how often one of them is looked at."""

    looks = 0

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        Counting.looks += len(range(*place.indices(len(self)))) if isinstance(place, slice) else 1
        return super().__getitem__(place)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["a\n", "b\n"] * 10_000, ["b\n", "a\n", "\n"] * 10_000),
        ([f"{number}\n" for number in range(20_000)], [f"{number}\n" for number in reversed(range(20_000))]),
        (["same\n"] * 20_000, ["other\n", *["same\n"] * 20_000]),
        ([f"{number % 7}\n" for number in range(20_000)], [f"{number % 11}\n" for number in range(20_000)]),
    ],
)
def test_long_texts_are_compared_in_linear_time(
    old: Sequence[str], new: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []
    closely = line_diff._close_matches

    def counted(one: Sequence[str], other: Sequence[str]):  # type: ignore[no-untyped-def]
        compared.append(len(one) * len(other))
        return closely(one, other)

    monkeypatch.setattr(line_diff, "_close_matches", counted)
    Counting.looks = 0
    assert changed_blocks(Counting(old), Counting(new))
    assert Counting.looks <= 100 * (len(old) + len(new))
    assert sum(compared) <= 10_000_000
