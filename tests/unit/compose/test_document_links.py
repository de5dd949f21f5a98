from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from tests.support.hostile_vaults import files_that_run
from tests.support.libraries import Located, library_of
from zkchat.app.document_links import VaultDocumentLinks
from zkchat.core.choices import OpenWith
from zkchat.core.errors import StorageError
from zkchat.core.message import DocumentReference
from zkchat.index.library import Library
from zkchat.render.links import UNKNOWN, LinkTarget

NOTES = {
    "Note.md": "# Note\n",
    "a/Compost.md": "# Compost\n",
    "b/Compost.md": "# Compost\n",
    "a/Only.md": "# Only\n",
    "Secret.md": "---\nzkchat: local\n---\nx\n",
}

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


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with library_of(tmp_path_factory.mktemp("world"), NOTES) as library:
        yield library


@pytest.fixture(params=["obsidian", "folder"])
def links(request: pytest.FixtureRequest, tmp_path: Path, library: Library) -> VaultDocumentLinks:
    vault = tmp_path / "vault"
    (vault / ".obsidian" if request.param == "obsidian" else vault).mkdir(parents=True)
    return VaultDocumentLinks(vault, library)


@pytest.mark.parametrize("name", RUNS)
def test_what_a_system_runs_or_renders_cannot_be_clicked(links: VaultDocumentLinks, name: str) -> None:
    (links.vault / name).touch()
    assert links.clickable(reference(name)) is None
    assert "may run a program" in links.risk(reference(name))
    assert links.of(reference(name))


def test_a_pdf_opens_at_its_page(tmp_path: Path, library: Library) -> None:
    (tmp_path / "a b.pdf").touch()
    page = DocumentReference(wikilink="[[a b.pdf#page=7]]", relative_path="a b.pdf", anchor="page=7")
    by_file = VaultDocumentLinks(tmp_path, library, "desktop").of(page)
    assert by_file == f"{(tmp_path / 'a b.pdf').as_uri()}#page=7"
    by_obsidian = VaultDocumentLinks(tmp_path, library, "obsidian").of(page)
    assert by_obsidian
    assert by_obsidian.endswith("a%20b.pdf%23page%3D7")
    note = DocumentReference(wikilink="[[Note#page=7]]", relative_path="Note.md", anchor="page=7")
    assert VaultDocumentLinks(tmp_path, library, "desktop").of(note) == (tmp_path / "Note.md").as_uri()


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


def test_a_note_that_is_marked_as_a_program_is_asked_about(tmp_path: Path, library: Library) -> None:
    (tmp_path / "Note.md").touch(mode=0o755)
    assert VaultDocumentLinks(tmp_path, library).risk(reference("Note.md")) == "It is marked as a program."
    (tmp_path / ".obsidian").mkdir()  # which opens a note by its path and runs nothing
    assert VaultDocumentLinks(tmp_path, library).risk(reference("Note.md")) == ""


def test_no_program_of_a_hostile_vault_can_be_clicked(links: VaultDocumentLinks) -> None:
    files_that_run(links.vault, links.vault.parent / "witness")
    names = ["run.sh", "x.desktop", "page.html", "drawing.svg", "Disguised.md"]
    assert [name for name in names if links.clickable(reference(name))] == []
    assert links.clickable(reference("Links to programs.md"))


def test_a_wikilink_leads_to_the_note_that_the_vault_has(links: VaultDocumentLinks) -> None:
    (links.vault / "Note.md").touch()
    address = links.clickable(reference("Note.md"))
    assert address
    for written in ("[[Note]]", "[[note#Heading|label]]", "![[Note.md]]"):
        assert links.target_of(written) == LinkTarget(address=address)


def test_a_file_that_may_run_is_found_and_cannot_be_clicked(links: VaultDocumentLinks) -> None:
    assert links.target_of("[[a/Only]]") == LinkTarget()  # no such file in this folder


def test_the_user_may_know_of_notes_that_the_model_may_not(tmp_path: Path, library: Library) -> None:
    links = VaultDocumentLinks(tmp_path, library.guarded_for(Located(on_this_machine=False)))
    assert not links.target_of("[[Secret]]").is_missing


@pytest.mark.parametrize("written", ["[[Nowhere]]", "[[Nowhere#x|y]]", "![[gone.png]]", "[[c/Compost]]"])
def test_a_link_to_no_note_is_missing(links: VaultDocumentLinks, written: str) -> None:
    assert links.target_of(written) == LinkTarget(is_missing=True)


@pytest.mark.parametrize("written", ["[[#Heading]]", "[[https://example.org]]", "[[../Nowhere]]", "[[ ]]", "no link"])
def test_what_cannot_be_known_is_not_missing(links: VaultDocumentLinks, written: str) -> None:
    assert links.target_of(written) == UNKNOWN


def test_a_name_that_two_notes_share_is_told_from_one_of_a_single_note(links: VaultDocumentLinks) -> None:
    assert links.target_of("[[a/Compost]]").shares_name
    assert not links.target_of("[[a/Only]]").shares_name
    assert not links.target_of("[[Compost]]").shares_name


def test_relative_links_are_looked_up_from_their_note(links: VaultDocumentLinks) -> None:
    assert not links.target_of("[[./Only]]", "a/Compost.md").is_missing
    assert links.target_of("[[./Only]]", "b/Compost.md").is_missing


def test_an_index_that_does_not_answer_leaves_links_unknown(tmp_path: Path) -> None:
    class BrokenLibrary:
        @property
        def whole(self) -> "BrokenLibrary":
            return self

        def resolve(self, *_: object, **__: object) -> None:
            raise StorageError("broken")

    assert VaultDocumentLinks(tmp_path, cast(Library, BrokenLibrary())).target_of("[[Note]]") == UNKNOWN


@pytest.mark.parametrize(
    ("open_with", "has_folder", "scheme"),
    [
        ("auto", True, "obsidian"),
        ("auto", False, "file"),
        ("editor", True, "obsidian"),
        ("desktop", True, "file"),
        ("obsidian", False, "obsidian"),
    ],
)
def test_the_user_chooses_what_opens_a_note(
    library: Library, tmp_path: Path, open_with: OpenWith, has_folder: bool, scheme: str
) -> None:
    if has_folder:
        (tmp_path / ".obsidian").mkdir()
    address = VaultDocumentLinks(tmp_path, library, open_with).of(reference("Note.md"))
    assert address
    assert address.partition(":")[0] == scheme
