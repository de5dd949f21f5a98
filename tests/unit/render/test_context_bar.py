from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Group

from tests.support.screens import a_usage, an_answer, drawn
from zkchat.core.choices import ContextUsage
from zkchat.core.events import TurnFinished
from zkchat.core.message import DocumentReference, LineRange
from zkchat.render.context import AnswerFooter, ShownUsage, context_bar, context_gauge


@pytest.mark.parametrize("width", [40, 250])
def test_no_line_of_the_bar_is_wider_than_the_screen(width: int) -> None:
    assert max(map(len, drawn(context_bar(a_usage(memory=90), width=width), width).splitlines())) <= width


@pytest.mark.parametrize(("width", "is_beside"), [(59, True), (58, False)])
def test_the_numbers_stand_beside_the_bar_where_there_is_room(width: int, is_beside: bool) -> None:
    assert ("tokens" in drawn(context_bar(a_usage(), width=width), width).splitlines()[0]) is is_beside


def test_a_small_part_is_still_seen_and_an_overfull_window_fills_the_bar_and_not_more() -> None:
    small = drawn(context_bar(a_usage(system=1, window=1_000_000), width=80)).splitlines()[0]
    assert small.startswith("█▓░■")
    full = drawn(context_bar(a_usage(messages=90_000), width=60), 60).splitlines()[0]
    assert len(full) <= 60
    assert "·" not in full


def test_the_mark_is_where_compaction_really_begins() -> None:
    whole = drawn(context_bar(a_usage(threshold=1.0), width=80))
    assert "·│╱" in whole.splitlines()[0]  # no prompt may take what is kept for the answer
    assert "summarised at 94 %" in whole
    early = a_usage(budgets={"messages": {"used": 2704, "limit": 3366}})  # half of the window with system and tools
    assert "summarised at 50 %" in drawn(context_bar(early, width=80))


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (200, "█▓░░░░░■·········│·╱ 3,434 / 8,192 tokens (41 %)"),
        (40, "█▓░░■·····│╱ 3,434 / 8,192 tokens (41 %)"),
        (36, "█▓░■··│· 3,434 / 8,192 tokens (41 %)"),
        (35, "3,434 / 8,192 tokens (41 %)"),
    ],
)
def test_a_gauge_is_one_short_line(width: int, line: str) -> None:
    assert drawn(context_gauge(a_usage(), width=width), width) == f"{line}\n"


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


SLEEP = DocumentReference(
    wikilink="[[Sleep]]",
    relative_path="Sleep.md",
    reference_type="search",
    lines=LineRange(first=3, last=4),
    snippet="Seven hours.",
    cited=True,
    included=True,
)
NAPS = replace(SLEEP, wikilink="[[Naps]]", relative_path="Naps.md", cited=False)
BROKEN = DocumentReference(wikilink="[[Nap]]", status="missing")


def below(footer: AnswerFooter, *references: DocumentReference, quote: bool = False, **fields: Any) -> list[str]:
    message = an_answer("", *references, **fields)
    if quote:
        message = replace(message, provider="quote")
    finished = TurnFinished(message=message, usage=a_usage())
    drawn_rows = drawn(Group(*footer.draw(finished, width=100)), 100).splitlines()
    return [row.rstrip() for row in drawn_rows]


def plain(footer: AnswerFooter, *references: DocumentReference) -> list[str]:
    return [*footer.lines(TurnFinished(message=an_answer("", *references), usage=a_usage()))]


def test_the_context_is_shown_again_only_when_it_changed() -> None:
    footer = AnswerFooter()
    first, gauge = below(footer, SLEEP)
    assert (first, gauge.endswith("tokens (41 %)")) == ("1 [[Sleep]]  Sleep.md:3  cited  Seven hours.", True)
    assert below(footer, SLEEP) == [first]
    assert plain(AnswerFooter(), SLEEP)[2] == "Context: 3,434 / 8,192 tokens (41 %)"
    assert len(plain(footer, SLEEP)) == 2


def test_quotations_are_not_repeated_and_fill_no_context() -> None:
    assert below(AnswerFooter(), SLEEP, NAPS, BROKEN, quote=True) == [
        "1 Sleep.md:3",
        "3 [[Nap]]  no such note, linked by you",
        "+ 1 looked at (/sources)",
    ]
    assert not any("tokens" in row for row in below(AnswerFooter(panel="full"), SLEEP, quote=True))
    assert below(AnswerFooter(), NAPS, quote=True, abstained=True) == ["1 Naps.md:3"], "of the nearest, their places"


def test_the_panel_can_be_full_or_off() -> None:
    full = below(AnswerFooter(panel="full"), SLEEP, NAPS)
    assert full[0].startswith("╭─ Referenced Documents")
    assert any("Seven hours." in row for row in full)
    assert "summarised at" in full[-1]
    assert plain(AnswerFooter(panel="full"), SLEEP)[0] == "Referenced Documents"
    assert below(AnswerFooter(panel="off"), SLEEP, BROKEN) == []
    assert plain(AnswerFooter(panel="off"), SLEEP, BROKEN) == []
