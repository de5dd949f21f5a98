"""`/help keys` and docs/keys.md show the same keys."""

import re
from pathlib import Path

import pytest

from tests.support.command_harness import CommandHarness
from zkchat.repl.commands.table import KEYS_BY_SECTION, VI_KEYS, key_lines

PAGE = Path(__file__).parents[3] / "docs" / "keys.md"


def test_the_page_has_each_section_and_row() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = [
        f"| {', '.join(f'`{key}`' for key in keys.split(', '))} | {does} |"
        for section in KEYS_BY_SECTION.values()
        for keys, does in section
    ]
    missing = [line for line in [*(f"## {title}" for title in KEYS_BY_SECTION), *rows, VI_KEYS] if line not in page]
    assert not missing, "Write in docs/keys.md:\n" + "\n".join(missing)
    assert page.count("\n| `") == len(rows)


@pytest.mark.parametrize("width", [30, 60, 200])
def test_help_keys_shows_every_row_of_the_table_at_any_width(width: int) -> None:
    harness = CommandHarness()
    harness.surface.width = width
    assert harness.typed("/help keys").splitlines() == key_lines(width)
    words = re.sub(r"\s+", " ", harness.surface.text)
    assert all(keys in words and does in words for rows in KEYS_BY_SECTION.values() for keys, does in rows)
    assert max(map(len, key_lines(width))) <= max(width, 41)
