from pathlib import Path

import pytest

from tests.support.changeable_files import FilesInMemory
from tests.support.libraries import library_of
from zkchat.core.errors import EditRefused
from zkchat.index.link_guesses import Repair, broken_links
from zkchat.writing.links.moved import LinkRepairer
from zkchat.writing.staging import StagedChanges
from zkchat.writing.targets import LinkStyle

NOTES = {
    "Garden/Compost heap.md": "# Compost heap\n\n## How to turn it\n",
    "a/Twin.md": "",
    "b/Twin.md": "",
    "pictures/heap.png": "",
}


def repaired(folder: Path, sources: dict[str, str], style: LinkStyle | None = None) -> dict[str, str]:
    """The texts with the first repair of each of their broken links."""
    notes = {**NOTES, **sources}
    with library_of(folder, notes) as library:
        files = FilesInMemory(notes)
        staged = StagedChanges(files)
        repairer = LinkRepairer(library, staged, style or LinkStyle())
        for broken in broken_links(library):
            repairer.stage(broken, broken.repairs[0])
        files.apply(staged.change_set())
    return {path: files.files[path].decode() for path in sources}


REPAIRED = {
    "[[Old/Compost heap#How to turn it|turn]]": "[[Compost heap#How to turn it|turn]]",
    "![[img/heap.png|300]]": "![[heap.png|300]]",
    "[x](<old/Compost heap.md#how-to> 'title')": "[x](<Compost heap.md#how-to> 'title')",
    "[x][r]\n\n[r]: old/Compost%20heap.md 'title'": "[x][r]\n\n[r]: Compost%20heap.md 'title'",
    "[[Compost%20heap|a \\| b]]": "[[Compost heap|a \\| b]]",
    "| [[Compost heaps\\|x]] |\n|---|\n": "| [[Compost heap\\|x]] |\n|---|\n",
    "[[c/Twin]]": "[[a/Twin]]",
    "[[Compost heap#How to turn it over|x]]": "[[Compost heap#How to turn it|x]]",
    "[x](Compost%20heap.md#how-to-turn-it)": "[x](Compost%20heap.md#How%20to%20turn%20it)",
    "---\nup: '[[Old/Compost heap]]'\n---\n": "---\nup: '[[Compost heap]]'\n---\n",
    "\ufeff[[Old/Twins]]\r\n[[x/Compost heap]]\r\n": "\ufeff[[a/Twin]]\r\n[[Compost heap]]\r\n",
    "[[Old/Compost heap]] [[Old/Compost heap]] `[[Old/Twin]]`": "[[Compost heap]] [[Compost heap]] `[[Old/Twin]]`",
}


def test_only_the_target_of_a_link_changes(tmp_path: Path) -> None:
    sources = {f"Source {number}.md": text for number, text in enumerate(REPAIRED)}
    assert [*repaired(tmp_path, sources).values()] == [*REPAIRED.values()]


def test_targets_are_written_as_the_vault_writes_them(tmp_path: Path) -> None:
    sources = {"Source.md": "[[Old/Compost heap]]", "deep/er/S.md": "[[../x/Compost heap]]"}
    assert repaired(tmp_path, sources, LinkStyle(format="absolute")) == {
        "Source.md": "[[Garden/Compost heap]]",
        "deep/er/S.md": "[[../../Garden/Compost heap]]",
    }


def test_what_cannot_be_written_is_refused_and_nothing_is_staged(tmp_path: Path) -> None:
    notes = {**NOTES, "Source.md": "# A\n\n[[#^gone]]"}
    with library_of(tmp_path, notes) as library:
        staged = StagedChanges(FilesInMemory(notes))
        (broken,) = broken_links(library)
        repair = Repair(path="a/Twin.md", anchor="^x", reason="", confidence=1)
        with pytest.raises(EditRefused, match="cannot rewrite the link"):
            LinkRepairer(library, staged, LinkStyle()).stage(broken, repair)
        assert not staged
