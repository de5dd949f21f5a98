"""docs/architecture.md names every module once; neither it nor the glossary names one that is not there."""

import re
from pathlib import Path

from scripts.module_table import BEGIN, END, PACKAGE, modules

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "architecture.md").read_text("utf-8")
TEXT, _, REST = PAGE.partition(BEGIN)
RENEW = "run: python -m scripts.module_table docs/architecture.md"


def test_every_module_is_named_once() -> None:
    named = re.findall(r"^\| `([\w/]+)` \|", REST.partition(END)[0], re.MULTILINE)
    assert sorted(named) == modules(), RENEW


def test_the_files_and_packages_that_the_page_names_are_there() -> None:
    written = re.findall(r"`([a-z_]+/[\w/]*(?:\.\w+)?)`", TEXT)
    assert written
    assert [name for name in written if not _exists(name)] == []


def test_a_word_of_the_glossary_stands_once_and_its_module_is_there() -> None:
    rows = re.findall(r"^\| ([\w ]+) \| .+ \| `([\w/]+)` \|$", (DOCS / "glossary.md").read_text("utf-8"), re.MULTILINE)
    words = [word for word, _ in rows]
    assert words == sorted(set(words))
    assert [module for _, module in rows if not _exists(module)] == []


def _exists(name: str) -> bool:
    if name.startswith(("tests/", "decisions/")):
        return (PACKAGE.parent / name).exists()
    return any((PACKAGE / f"{name}{suffix}").exists() for suffix in ("", ".py"))
