import pytest

from zkchat.core.note import Section
from zkchat.notes.dates.day_texts import day_of_headings, section_days


@pytest.mark.parametrize(
    "heading",
    [
        "2026-03-19", "2026-03-19: Larch for the frame", "[[2026-03-19]] Meeting", "**2026-03-19** – Larch",
        "20260319 Larch", "March 19th, 2026", "19.03.2026 – Larch", "2026年3月19日 木材",
    ],
)  # fmt: skip
def test_a_heading_that_begins_with_a_day_or_is_one_tells_it(heading: str) -> None:
    assert str(day_of_headings(("Log", heading))) == "2026-03-19"


@pytest.mark.parametrize(
    "heading", ["Larch", "Open until 2026-03-19", "2026-02-31: no day", "2026", "Larch (2026-03-19)", "1234-56-78", ""]
)
def test_other_headings_tell_none(heading: str) -> None:
    assert day_of_headings((heading,)) is None


def test_the_innermost_day_counts_for_the_sections_below_it() -> None:
    paths = [(), ("Log",), ("2026-03", "2026-03-19: Larch", "Why"), ("2026-03", "Open")]
    sections = [Section(path, "x", 0, 1, 1, 1) for path in paths]
    assert section_days(sections) == {2: "2026-03-19", 3: "2026-03-01"}
