from pathlib import Path

import pytest

from tests.support.hostile_vaults import files_that_run
from zkchat.compose.document_links import Addresses
from zkchat.model.message import DocumentReference

RUNS = [
    "run.sh", "x.desktop", "page.html", "page.HTM", "drawing.svg", "x.exe", "x.bat", "x.cmd", "x.ps1", "x.app", "x.jar",
    "x.py", "x.command", "x.url", "x.webloc", "x.lnk", "x.js", "x.docm", "x.xlsm", "x.docx", "x.pdf", "x.xml",
    "x.mhtml", "x.terminal", "x.scpt", "x.AppImage", "x.md.sh", "x.md.", "noending", ".md", "x.canvas", "x.m3u",
]  # fmt: skip
SHOWN = [
    "list.txt", "Note.md", "a.MD", "photo.png", "photo.JPG", "b.jpeg", "c.gif", "d.webp", "talk.mp3", "film.mp4",
]  # fmt: skip


def reference(path: str | None) -> DocumentReference:
    return DocumentReference(wikilink=f"[[{path}]]", relative_path=path)


@pytest.fixture(params=["obsidian", "folder"])
def addresses(request: pytest.FixtureRequest, tmp_path: Path) -> Addresses:
    vault = tmp_path / "vault"
    (vault / ".obsidian" if request.param == "obsidian" else vault).mkdir(parents=True)
    return Addresses(vault)


@pytest.mark.parametrize("name", RUNS)
def test_what_a_system_runs_or_renders_cannot_be_clicked(addresses: Addresses, name: str) -> None:
    (addresses.vault / name).touch()
    assert addresses.clickable(reference(name)) is None
    assert "your system may run it" in addresses.risk(reference(name))
    assert addresses.of(reference(name))


@pytest.mark.parametrize("name", SHOWN)
def test_what_can_only_be_shown_can_be_clicked(addresses: Addresses, name: str) -> None:
    (addresses.vault / name).touch()
    assert addresses.clickable(reference(name)) == addresses.of(reference(name))


def test_a_link_is_what_it_leads_to(addresses: Addresses) -> None:
    vault = addresses.vault
    (vault / "run.sh").touch()
    (vault / "Note.md").symlink_to("run.sh")
    (vault / "Shown.md").touch()
    (vault / "shown.sh").symlink_to("Shown.md")
    assert addresses.clickable(reference("Note.md")) is None
    assert addresses.clickable(reference("shown.sh")) is None


def test_nothing_outside_the_vault_has_an_address(addresses: Addresses) -> None:
    (addresses.vault.parent / "outside.md").touch()
    (addresses.vault / "In.md").symlink_to(addresses.vault.parent / "outside.md")
    for path in ("../outside.md", "In.md", str(addresses.vault.parent / "outside.md"), None):
        assert addresses.of(reference(path)) is None
        assert addresses.clickable(reference(path)) is None


def test_what_is_gone_or_a_folder_cannot_be_clicked(addresses: Addresses) -> None:
    (addresses.vault / "x.md").mkdir()
    (addresses.vault / "loop.md").symlink_to("loop.md")
    for path in ("gone.md", "x.md", "loop.md", "a\0b.md"):
        assert addresses.clickable(reference(path)) is None


def test_a_note_that_is_marked_as_a_program_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "Note.md").touch(mode=0o755)
    assert Addresses(tmp_path).risk(reference("Note.md")) == "It is marked as a program."
    (tmp_path / ".obsidian").mkdir()  # which opens a note by its path and runs nothing
    assert Addresses(tmp_path).risk(reference("Note.md")) == ""


def test_no_program_of_a_hostile_vault_can_be_clicked(addresses: Addresses) -> None:
    files_that_run(addresses.vault, addresses.vault.parent / "witness")
    names = ["run.sh", "x.desktop", "page.html", "drawing.svg", "Disguised.md"]
    assert [name for name in names if addresses.clickable(reference(name))] == []
    assert addresses.clickable(reference("Links to programs.md"))
