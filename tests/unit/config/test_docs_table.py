"""docs/configuration.md lists every setting, as the code has it."""

from pathlib import Path

from scripts.settings_table import renewed, table

PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == renewed(page), "run: python -m scripts.settings_table docs/configuration.md"
    assert table() in page
