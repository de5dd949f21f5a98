from datetime import date

import pytest

from zkchat.answers.open_tasks import TaskFields, read_fields

DAY = date(2026, 3, 8)


@pytest.mark.parametrize(
    "written",
    [
        "📅 2026-03-08", "📅2026-03-08", "📅\ufe0f 2026-03-08", "📆 2026-03-08", "🗓 2026-03-08", "📅 [[2026-03-08]]",
        "[due:: 2026-03-08]", "(due:: 2026-03-08)", "[Due::2026-03-08T10:00]", "[deadline:: 2026-03-08]",
        "@due(2026-03-08)", "@due( 2026-03-08 17:30 )", "due: 2026-03-08", "due:2026-3-8", "Due: 2026/03/08",
        "@{2026-03-08}", "@[[2026-03-08]]", "@2026-03-08",
    ],
)  # fmt: skip
def test_a_due_date_is_read_in_every_form_and_leaves_the_text(written: str) -> None:
    assert read_fields(f"pay {written} the rent") == TaskFields("pay the rent", due=DAY)
    assert read_fields(f"pay the rent {written}") == TaskFields("pay the rent", due=DAY)


@pytest.mark.parametrize("written", ["by 2026-03-08", "due on 2026-03-08.", "until [[2026-03-08]]", "bis 2026-03-08"])
def test_a_day_at_the_end_is_a_due_date_where_the_text_has_no_other(written: str) -> None:
    assert read_fields(f"pay the rent {written}") == TaskFields("pay the rent", due=DAY)
    for text in (f"rent from 2026-01-01 {written}", f"the plan {written} and later", f"stand{written}"):
        assert read_fields(text).due is None


@pytest.mark.parametrize(
    ("written", "fields"),
    [
        ("⏳ 2026-03-08", {"scheduled": DAY}),
        ("[scheduled:: 2026-03-08]", {"scheduled": DAY}),
        ("🛫 2026-03-08", {"start": DAY}),
        ("(start:: 2026-03-08)", {"start": DAY}),
        ("➕ 2026-03-08", {}),
        ("🔺", {"priority": "highest"}),
        ("⏫\ufe0f", {"priority": "high"}),
        ("[priority:: High]", {"priority": "high"}),
        ("🔁 every week on Monday 📅 2026-03-08", {"due": DAY}),
        ("🆔 ab12 ⛔ cd34,ef56", {}),
        ("^a-block", {}),
    ],
)
def test_the_other_fields_are_read_too(written: str, fields: dict[str, object]) -> None:
    assert read_fields(f"pay the rent {written}") == TaskFields("pay the rent", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "pay 📅 2026-02-31", "read https://example.org/2026-03-08", "write to ann@example.org", "call at 12:30",
        "overdue: 2026-03-08", "the minutes of 2026-03-08", "(the plan of 2026-03-08)", "12026-03-081", "2026-03",
    ],
)  # fmt: skip
def test_what_is_no_field_stays_in_the_text(text: str) -> None:
    assert read_fields(text) == TaskFields(text)
