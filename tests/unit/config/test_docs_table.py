"""docs/configuration.md lists every setting, as the code has it."""

import runpy
import sys
from pathlib import Path

import pytest

from zkchat.config import table as module
from zkchat.config.table import renewed, table

PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == renewed(page), "run: python -m zkchat.config.table docs/configuration.md"
    assert table() in page


def test_renewing_a_page_replaces_the_old_table_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    current = PAGE.read_text(encoding="utf-8")
    page.write_text(current.replace(table(), "an old table"), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["table", str(page)])
    runpy.run_path(module.__file__, run_name="__main__")
    assert page.read_text(encoding="utf-8") == current
