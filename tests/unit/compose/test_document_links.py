from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from tests.support.libraries import Located
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


@pytest.fixture(params=["obsidian", "desktop"])
def links(request: pytest.FixtureRequest, tmp_path: Path, library: Library) -> VaultDocumentLinks:
    (tmp_path / "vault").mkdir()
    return VaultDocumentLinks(tmp_path / "vault", library, request.param)


def test_what_a_system_runs_or_renders_cannot_be_clicked_and_what_can_only_be_shown_can(
    links: VaultDocumentLinks,
) -> None:
    for name in (*RUNS, *SHOWN):
        (links.vault / name).touch()
        address = links.of(reference(name))
        assert address
        assert links.clickable(reference(name)) == (None if name in RUNS else address), name
        assert ("may run a program" in links.risk(reference(name))) == (name in RUNS), name


@pytest.mark.parametrize(
    ("open_with", "has_folder", "scheme"),
    [("auto", True, "obsidian"), ("auto", False, "file"), ("editor", True, "obsidian"), ("desktop", True, "file")],
)
def test_the_user_chooses_what_opens_a_note(
    library: Library, tmp_path: Path, open_with: OpenWith, has_folder: bool, scheme: str
) -> None:
    if has_folder:
        (tmp_path / ".obsidian").mkdir()
    address = VaultDocumentLinks(tmp_path, library, open_with).of(reference("Note.md"))
    assert (address or "").partition(":")[0] == scheme


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


def test_a_link_is_what_it_leads_to_and_nothing_outside_the_vault_has_an_address(links: VaultDocumentLinks) -> None:
    vault = links.vault
    for name in ("run.sh", "Shown.md", "../outside.md"):
        (vault / name).touch()
    (vault / "x.md").mkdir()
    leading = {"Note.md": "run.sh", "shown.sh": "Shown.md", "In.md": "../outside.md", "loop.md": "loop.md"}
    for name, target in leading.items():
        (vault / name).symlink_to(target)
    for path in ("../outside.md", "In.md", str(vault.parent / "outside.md"), None):
        assert links.of(reference(path)) is None
        assert links.clickable(reference(path)) is None
    for path in ("Note.md", "shown.sh", "gone.md", "x.md", "loop.md", "a\0b.md"):
        assert links.clickable(reference(path)) is None


def test_a_document_that_is_gone_is_missing_but_not_one_that_is_only_proposed(links: VaultDocumentLinks) -> None:
    named = [replace(reference("Gone.md"), via="proposed"), reference("Gone.md")]
    assert [each.status for each in links.current(named)] == ["resolved", "missing"]


def test_a_note_that_is_marked_as_a_program_is_asked_about(tmp_path: Path, library: Library) -> None:
    (tmp_path / "Note.md").touch(mode=0o755)
    assert "It is executable, so" in VaultDocumentLinks(tmp_path, library).risk(reference("Note.md"))
    (tmp_path / ".obsidian").mkdir()  # which opens a note by its path and runs nothing
    assert VaultDocumentLinks(tmp_path, library).risk(reference("Note.md")) == ""


def test_a_wikilink_leads_to_the_note_that_the_vault_has(links: VaultDocumentLinks) -> None:
    (links.vault / "Note.md").touch()
    address = links.clickable(reference("Note.md"))
    assert address
    for written in ("[[Note]]", "[[note#Heading|label]]", "![[Note.md]]"):
        assert links.target_of(written) == LinkTarget(address=address)
    assert links.target_of("[[a/Only]]") == LinkTarget(), "no such file in this folder"
    for written in ("[[Nowhere#x|y]]", "![[gone.png]]", "[[c/Compost]]"):
        assert links.target_of(written) == LinkTarget(is_missing=True)
    for written in ("[[#Heading]]", "[[https://example.org]]", "[[../Nowhere]]", "[[ ]]", "no link"):
        assert links.target_of(written) == UNKNOWN
    assert [links.target_of(f"[[{name}]]").shares_name for name in ("a/Compost", "a/Only", "Compost")] == [
        True, False, False
    ]  # fmt: skip
    assert not links.target_of("[[./Only]]", "a/Compost.md").is_missing, "from its note"
    assert links.target_of("[[./Only]]", "b/Compost.md").is_missing


def test_the_user_may_know_of_notes_that_the_model_may_not(tmp_path: Path, library: Library) -> None:
    links = VaultDocumentLinks(tmp_path, library.guarded_for(Located(on_this_machine=False)))
    assert not links.target_of("[[Secret]]").is_missing


def test_an_index_that_does_not_answer_leaves_links_unknown(tmp_path: Path) -> None:
    class BrokenLibrary:
        @property
        def whole(self) -> "BrokenLibrary":
            return self

        def resolve(self, *_: object, **__: object) -> None:
            raise StorageError("broken")

    assert VaultDocumentLinks(tmp_path, cast(Library, BrokenLibrary())).target_of("[[Note]]") == UNKNOWN
