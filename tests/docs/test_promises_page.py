"""Each promise names the tests that show it, and they are there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "promises.md").read_text("utf-8")
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| \*\*", line)]


def test_every_row_says_how_it_is_shown_and_where_it_ends() -> None:
    assert len(ROWS) > 15
    for row in ROWS:
        promise, shown, figure, limit = (cell.strip() for cell in row.strip("|").split("|"))
        assert promise
        assert re.search(r"`tests/|`make ", shown), promise
        assert figure, promise
        assert limit, promise


def test_the_tests_that_the_page_names_are_there() -> None:
    named = set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE))
    assert named
    assert [f"{file}::{name}" for file, name in sorted(named) if not _has(ROOT / file, name)] == []


def test_the_targets_that_the_page_names_are_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", PAGE)) <= targets


def _has(file: Path, name: str) -> bool:
    if not file.is_file():
        return False
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return not name or any(
        isinstance(node, functions) and node.name == name for node in ast.walk(ast.parse(file.read_text("utf-8")))
    )
