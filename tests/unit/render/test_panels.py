"""The panel of references and the bar of the context."""

import pytest

from tests.support.screens import a_usage, drawn, terminal, what_acts_on_a_terminal, written
from zkchat.model.message import DocumentReference
from zkchat.render.panels import context_bar, references_panel


def found(number: int) -> DocumentReference:
    return DocumentReference(wikilink=f"[[Note {number}]]", relative_path=f"n/Note {number}.md")


def test_each_reference_shows_number_link_path_reason_and_summary() -> None:
    sleep = DocumentReference(
        wikilink="[[Sleep]]", relative_path="notes/Sleep.md", cited=True, summary="Why we sleep at all."
    )
    panel = drawn(references_panel([found(1), sleep]))
    assert "Referenced Documents" in panel
    for words in (" 2 [[Sleep]]", "notes/Sleep.md", "linked by you, cited", "Why we sleep at all."):
        assert words in panel


def test_more_references_than_asked_for_are_folded() -> None:
    panel = drawn(references_panel([found(number) for number in range(1, 15)], shown=10))
    assert "[[Note 10]]" in panel
    assert "[[Note 11]]" not in panel
    assert "… and 4 more" in panel


def test_a_broken_link_is_yellow_with_the_closest_names() -> None:
    broken = DocumentReference(wikilink="[[Nap]]", status="missing", candidates=("[[Naps]]",))
    console = terminal()
    console.print(references_panel([broken]))
    assert "\x1b[33m[[Nap]]\x1b[0m" in written(console)
    assert "Closest: [[Naps]]" in written(console)


def test_what_the_answer_names_without_having_been_given_it_is_yellow() -> None:
    cited = found(1).model_copy(update={"reference_type": "search", "via": "answer", "cited": True, "unverified": True})
    console = terminal()
    console.print(references_panel([cited]))
    assert "\x1b[33m[[Note 1]]\x1b[0m" in written(console)
    assert "\x1b[33mlinked by the answer, never given to the model\x1b[0m" in written(console)


def test_an_ambiguous_link_names_the_others() -> None:
    index = found(1).model_copy(update={"status": "ambiguous", "candidates": ("b/Note 1.md",)})
    assert "Could also be: b/Note 1.md" in drawn(references_panel([index]))


def test_a_link_is_clickable_only_with_an_address_of_ours_percent_encoded() -> None:
    console = terminal()
    console.print(references_panel([found(1)], link_for=lambda _: "file:///v/Note 1.md\x1b\\\x07é?a=b%20c"))
    text = written(console)
    assert ";file:///v/Note%201.md%1B%5C%07%C3%A9?a=b%20c\x1b\\" in text
    assert what_acts_on_a_terminal(text) == set()
    console = terminal()
    console.print(references_panel([found(1)]))
    assert "\x1b]8" not in written(console)


@pytest.mark.parametrize("title", ["[/red]", "[link=file:///etc/passwd]x[/link]", "[bold", ":smile:", "[[a|b]]"])
def test_titles_are_shown_as_they_are(title: str) -> None:
    reference = DocumentReference(wikilink=title, relative_path=f"{title}.md", summary=title)
    panel = drawn(references_panel([reference]))
    assert panel.count(title) == 3


@pytest.mark.parametrize("width", [40, 60, 80, 120, 250])
def test_no_line_of_panel_or_bar_is_wider_than_the_screen(width: int) -> None:
    long = DocumentReference(wikilink=f"[[{'日本' * 60}]]", relative_path="x" * 300 + ".md", summary="word " * 90)
    for renderable in (references_panel([long, found(2)]), context_bar(a_usage(memory=90), width=width)):
        assert max(map(len, drawn(renderable, width).splitlines())) <= width


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
def test_a_full_window_is_told_by_colour_as_well(messages: int, style: str) -> None:
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
