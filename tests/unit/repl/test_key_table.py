"""`/help keys` and docs/keys.md show the same keys, from one table."""

import asyncio
import re
import runpy
import sys
from pathlib import Path

import pytest

from tests.support.command_harness import CommandHarness
from zkchat.repl import key_table as module
from zkchat.repl.commands.table import run
from zkchat.repl.key_table import SECTIONS, help_lines, renewed, table

PAGE = Path(__file__).parents[3] / "docs" / "keys.md"


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == renewed(page), "run: python -m zkchat.repl.key_table docs/keys.md"
    assert table() in page


def test_renewing_a_page_replaces_the_old_table_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    current = PAGE.read_text(encoding="utf-8")
    page.write_text(current.replace(table(), "an old table"), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["table", str(page)])
    runpy.run_path(module.__file__, run_name="__main__")
    assert page.read_text(encoding="utf-8") == current


@pytest.mark.parametrize("width", [30, 40, 60, 80, 200])
def test_help_keys_shows_every_row_of_the_table_at_any_width(width: int) -> None:
    harness = CommandHarness()
    harness.surface.width = width
    asyncio.run(run(harness.context, "/help keys"))
    assert harness.surface.text.splitlines() == help_lines(width)
    words = re.sub(r"\s+", " ", harness.surface.text)
    assert all(keys in words and does in words for rows in SECTIONS.values() for keys, does in rows)
    assert max(map(len, help_lines(width))) <= max(width, 41)
