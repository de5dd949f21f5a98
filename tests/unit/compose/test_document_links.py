from pathlib import Path

import pytest

from tests.support.hostile_vaults import files_that_run
from zkchat.compose.document_links import VaultDocumentLinks
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
def links(request: pytest.FixtureRequest, tmp_path: Path) -> VaultDocumentLinks:
    vault = tmp_path / "vault"
    (vault / ".obsidian" if request.param == "obsidian" else vault).mkdir(parents=True)
    return VaultDocumentLinks(vault)


@pytest.mark.parametrize("name", RUNS)
def test_what_a_system_runs_or_renders_cannot_be_clicked(links: VaultDocumentLinks, name: str) -> None:
    (links.vault / name).touch()
    assert links.clickable(reference(name)) is None
    assert "your system may run it" in links.risk(reference(name))
    assert links.of(reference(name))


@pytest.mark.parametrize("name", SHOWN)
def test_what_can_only_be_shown_can_be_clicked(links: VaultDocumentLinks, name: str) -> None:
    (links.vault / name).touch()
    assert links.clickable(reference(name)) == links.of(reference(name))


def test_a_link_is_what_it_leads_to(links: VaultDocumentLinks) -> None:
    vault = links.vault
    (vault / "run.sh").touch()
    (vault / "Note.md").symlink_to("run.sh")
    (vault / "Shown.md").touch()
    (vault / "shown.sh").symlink_to("Shown.md")
    assert links.clickable(reference("Note.md")) is None
    assert links.clickable(reference("shown.sh")) is None


def test_nothing_outside_the_vault_has_an_address(links: VaultDocumentLinks) -> None:
    (links.vault.parent / "outside.md").touch()
    (links.vault / "In.md").symlink_to(links.vault.parent / "outside.md")
    for path in ("../outside.md", "In.md", str(links.vault.parent / "outside.md"), None):
        assert links.of(reference(path)) is None
        assert links.clickable(reference(path)) is None


def test_what_is_gone_or_a_folder_cannot_be_clicked(links: VaultDocumentLinks) -> None:
    (links.vault / "x.md").mkdir()
    (links.vault / "loop.md").symlink_to("loop.md")
    for path in ("gone.md", "x.md", "loop.md", "a\0b.md"):
        assert links.clickable(reference(path)) is None


def test_a_note_that_is_marked_as_a_program_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "Note.md").touch(mode=0o755)
    assert VaultDocumentLinks(tmp_path).risk(reference("Note.md")) == "It is marked as a program."
    (tmp_path / ".obsidian").mkdir()  # which opens a note by its path and runs nothing
    assert VaultDocumentLinks(tmp_path).risk(reference("Note.md")) == ""


def test_no_program_of_a_hostile_vault_can_be_clicked(links: VaultDocumentLinks) -> None:
    files_that_run(links.vault, links.vault.parent / "witness")
    names = ["run.sh", "x.desktop", "page.html", "drawing.svg", "Disguised.md"]
    assert [name for name in names if links.clickable(reference(name))] == []
    assert links.clickable(reference("Links to programs.md"))
