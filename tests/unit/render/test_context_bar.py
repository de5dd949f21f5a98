"""How full the context is, in words and as a bar."""

import pytest

from tests.support.screens import a_usage, drawn, terminal, written
from zkchat.core.choices import ContextUsage
from zkchat.render.context import ShownUsage, context_bar, context_gauge, context_line, tokens_used


def test_tokens_are_shown_with_window_and_share() -> None:
    assert tokens_used(a_usage(references=0, window=8192)) == "1,234 / 8,192 tokens (15 %)"
    assert tokens_used(a_usage(references=0, estimated=True)) == "≈ 1,234 / 8,192 tokens (15 %)"
    assert tokens_used(a_usage(references=0, window=0)) == "1,234 tokens"


def test_the_context_line_names_only_the_parts_that_are_there() -> None:
    line = context_line(a_usage(references=0))
    assert line == "Context: 1,234 / 8,192 tokens (15 %): system 320, tools 410, messages 504"
    assert context_line(a_usage(system=0, tools=0, references=0, messages=0)).endswith("(0 %)")


@pytest.mark.parametrize("width", [40, 60, 80, 120, 250])
def test_no_line_of_the_bar_is_wider_than_the_screen(width: int) -> None:
    bar = drawn(context_bar(a_usage(memory=90), width=width), width)
    assert max(map(len, bar.splitlines())) <= width


def test_the_bar_shows_parts_reserve_threshold_and_numbers_without_colour() -> None:
    bar, *legend = drawn(context_bar(a_usage(), width=80)).splitlines()
    cells, numbers = bar[:51], bar[51:]
    assert numbers.strip() == "3,434 / 8,192 tokens (41 %)"
    assert [cells.count(mark) for mark in "█▓░■"] == [2, 3, 13, 3]
    assert cells.index("│") == int(51 * 0.85)
    assert "╱╱╱" in bar
    assert "█ system 320  ▓ tools 410  ░ references 2,200  ■ messages 504  ╱ reserve 512" in legend
    assert "│ compaction at 85 %" in legend


def test_a_narrow_bar_has_its_numbers_below() -> None:
    bar, numbers, *_ = drawn(context_bar(a_usage(estimated=True), width=40), 40).splitlines()
    assert len(bar) == 40
    assert numbers == "≈ 3,434 / 8,192 tokens (41 %)"


def test_a_small_part_is_still_seen() -> None:
    bar = drawn(context_bar(a_usage(system=1, window=1_000_000), width=80)).splitlines()[0]
    assert bar.startswith("█▓░■")


@pytest.mark.parametrize(("messages", "style"), [(100, "\x1b[0m  3"), (4_500, "\x1b[1;33m7"), (9_000, "\x1b[1;31m11")])
def test_a_full_window_is_shown_by_colour_as_well(messages: int, style: str) -> None:
    console = terminal(120)
    console.print(context_bar(a_usage(messages=messages), width=120))
    assert style in written(console)


def test_an_overfull_window_fills_the_bar_and_not_more() -> None:
    bar = drawn(context_bar(a_usage(messages=90_000), width=60), 60).splitlines()[0]
    assert len(bar) <= 60
    assert "·" not in bar


def test_without_a_window_there_are_numbers_and_no_bar() -> None:
    assert drawn(context_bar(a_usage(window=0), width=80)).splitlines() == [
        "3,434 tokens",
        "█ system 320  ▓ tools 410  ░ references 2,200  ■ messages 504",
    ]


def test_a_threshold_that_is_never_reached_has_no_mark() -> None:
    assert "│" not in drawn(context_bar(a_usage(threshold=1.0), width=80)).splitlines()[0]


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (200, "█▓░░░░░■·········│·╱ 3,434 / 8,192 tokens (41 %)"),
        (40, "█▓░░■·····│╱ 3,434 / 8,192 tokens (41 %)"),
        (30, "3,434 / 8,192 tokens (41 %)"),
    ],
)
def test_a_gauge_is_one_short_line(width: int, line: str) -> None:
    assert drawn(context_gauge(a_usage(), width=width), width) == f"{line}\n"


def test_a_gauge_of_an_unknown_window_is_a_number() -> None:
    assert drawn(context_gauge(a_usage(window=0), width=80)) == "3,434 tokens\n"


def test_the_use_of_the_window_is_news_when_it_changed_much_or_little_is_left() -> None:
    shown = ShownUsage()

    def is_news(percent: int) -> bool:
        return shown.is_news(ContextUsage(messages=percent, window=100))

    assert [is_news(percent) for percent in (15, 16, 20, 31, 32, 14, 61, 62, 60, 40)] == [
        False,  # little, and nothing was shown before
        True,
        False,
        False,
        True,  # 16 points more than what was shown last
        True,  # and 18 less, as after a compaction
        True,
        True,
        False,
        True,
    ]
    assert not shown.is_news(ContextUsage(messages=90))
