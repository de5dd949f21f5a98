"""Neither docs/architecture.md nor the glossary names a file or package that is not there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_the_files_and_packages_that_the_page_names_are_there() -> None:
    written = re.findall(r"`([a-z_]+/[\w/]*(?:\.\w+)?)`", (DOCS / "architecture.md").read_text("utf-8"))
    assert written
    assert [name for name in written if not _exists(name)] == []


def test_a_word_of_the_glossary_stands_once_and_its_module_is_there() -> None:
    rows = re.findall(r"^\| ([\w ]+) \| .+ \| `([\w/]+)` \|$", (DOCS / "glossary.md").read_text("utf-8"), re.MULTILINE)
    words = [word for word, _ in rows]
    assert words == sorted(set(words))
    assert [module for _, module in rows if not _exists(module)] == []


def _exists(name: str) -> bool:
    if name.startswith(("tests/", "decisions/")):
        return (ROOT / name).exists()
    return any((ROOT / "zkchat" / f"{name}{suffix}").exists() for suffix in ("", ".py"))
