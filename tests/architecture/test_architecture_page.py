"""The page of the architecture and the glossary name no module that is not there."""

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "zkchat"
DOCS = PACKAGE.parent / "docs"


def test_the_files_and_packages_that_the_page_names_are_there() -> None:
    written = re.findall(r"`([a-z_]+/[\w/]*(?:\.\w+)?)`", (DOCS / "architecture.md").read_text("utf-8"))
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
