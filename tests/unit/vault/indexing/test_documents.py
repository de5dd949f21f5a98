"""Files besides notes in the index: canvases, and PDFs whose text comes later."""

import json
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.changeable_files import FilesInMemory
from tests.support.extracted import PagesByPath
from tests.support.libraries import Located
from zkchat.core.errors import NoteNotFound
from zkchat.core.note import ExtractedText, Link, Missing
from zkchat.index import graph
from zkchat.index.library import Library, LibraryOptions
from zkchat.index.link_guesses import broken_links
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.storage.vault_files import VaultFiles
from zkchat.writing.staging import StagedChanges

CARD = '{{"nodes":[{{"id":"a","type":"text","text":"{}","x":0,"y":0,"width":9,"height":9}}]{}}}'
FILE = '{"nodes":[{"id":"a","type":"file","file":"%s","x":0,"y":0,"width":9,"height":9}]}'


class Vault:
    def __init__(self, folder: Path, index: SqliteNoteIndex) -> None:
        self.folder, self.index = folder, index
        self.time = 1_000
        self.extracted = PagesByPath()
        self.write("Note.md", "# Note\n\n[[Board.canvas#Card]] [[paper.pdf#page=2]] [[paper.pdf#page=9]]\n")
        self.write("Board.canvas", CARD.format("# Card\\n\\nThe wombat digs. #dig", ""))
        self.write("paper.pdf", "%PDF")

    def write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        self.time += 1
        os.utime(file, (self.time, self.time))  # long ago, so that it counts as settled

    def library(self, *, reads_pdfs: bool = True, local_only: tuple[str, ...] = ()) -> Library:
        files = VaultFiles(self.folder, exclude=(), max_note_bytes=10_000)
        options = LibraryOptions(extracted=self.extracted if reads_pdfs else None, local_only=local_only)
        library = Library.over(files, self.index, options=options)
        library.refresh()
        return library


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index:
        yield Vault(tmp_path / "vault", index)


def test_lists_and_counts_of_notes_are_those_of_notes_alone(vault: Vault) -> None:
    library = vault.library()
    assert [row.path for row in library.notes()] == ["Note.md"]
    assert [row.path for row in library.indexed()] == ["Board.canvas", "Note.md", "paper.pdf"]
    assert (library.counts().notes, library.counts().attachments, library.note_count()) == (1, 2, 1)
    assert library.tags() == {"dig": ["Board.canvas"]}
    assert graph.orphans(library) == []
    assert library.names("Board.canvas") == ("Board", "Board.canvas")
    assert library.link_to("Board.canvas") == "[[Board.canvas]]"
    assert isinstance(library.resolve(Link(text="[[Board]]", target="Board")), Missing)


def test_a_canvas_is_read_again_when_it_changes_and_forgotten_when_it_is_gone(vault: Vault) -> None:
    other = {"id": "b", "type": "text", "text": "The numbat sleeps.", "x": 0, "y": 99, "width": 9, "height": 9}
    card = CARD.format("# Card\\n\\nThe wombat digs. #dig", "")
    vault.write("Board.canvas", card.replace("]}", f",{json.dumps(other)}]}}"))
    library = vault.library()
    assert "numbat" in library.section("Board.canvas")
    assert library.section("Board.canvas", "Card") == "# Card\n\nThe wombat digs. #dig\n"
    assert library.read_raw("Board.canvas").startswith('{"nodes"')
    vault.write("Board.canvas", CARD.format("The echidna digs too.", ""))
    assert library.refresh().changed == 1
    guarded = library.guarded_for(Located(False))
    assert [hit.path for hit in library.search("echidna")] == ["Board.canvas"]
    assert [hit.path for hit in guarded.search("echidna")] == ["Board.canvas"]
    (vault.folder / "Board.canvas").unlink()
    assert guarded.search("echidna") == [], "a model is shown nothing that is gone"
    assert library.refresh().removed == 1
    assert library.search("echidna") == []
    with pytest.raises(NoteNotFound):
        library.read("Board.canvas")


def test_the_file_of_a_node_is_its_very_path(vault: Vault) -> None:
    vault.write("a/Board.canvas", FILE % "Sub/Note.md")
    library = vault.library()
    (link,) = library.links_from("a/Board.canvas")
    assert isinstance(link.resolution, Missing)
    assert ("a/Board.canvas", "Sub/Note.md") not in library.edges()
    (broken,) = [each for each in broken_links(library) if each.source == "a/Board.canvas"]
    assert (broken.link.text, broken.repairs) == ("[[Sub/Note.md]]", ())
    vault.write("Sub/Note.md", "")
    library.refresh()
    assert [link.source for link in library.links_to("Sub/Note.md")] == ["a/Board.canvas"]
    assert ("a/Board.canvas", "Sub/Note.md") in library.edges()


def test_a_pdf_that_is_to_be_moved_has_the_text_it_has(vault: Vault) -> None:
    vault.extracted.texts["paper.pdf"] = ExtractedText(pages=("The wombat reads.",))
    staged = StagedChanges(FilesInMemory({"paper.pdf": "%PDF"}))
    library = vault.library().overlaid(staged)
    staged.move("paper.pdf", "Sub/Moved.pdf", title="Move")
    assert "wombat" in library.read("Sub/Moved.pdf")
    with pytest.raises(NoteNotFound):
        library.read("paper.pdf")


def test_a_canvas_is_as_private_as_its_folder_or_its_own_word(vault: Vault) -> None:
    vault.write("Diary/Board.canvas", CARD.format("The wombat is shy.", ""))
    vault.write("Marked.canvas", '{\n"zkchat": "local",\n' + CARD.format("The wombat is sly.", "")[1:])
    vault.write("Secret.md", "---\nzkchat: local\n---\nThe wombat snores.\n")
    vault.write("Shows.canvas", FILE % "Secret.md")
    elsewhere = vault.library(local_only=("Diary",)).guarded_for(Located(False))
    assert vault.index.private() == {"Marked.canvas": "local", "Secret.md": "local"}
    assert {hit.path for hit in elsewhere.search("wombat")} == {"Board.canvas"}
    for path in ("Diary/Board.canvas", "Marked.canvas"):
        with pytest.raises(NoteNotFound):
            elsewhere.read(path)
    assert "snores" not in elsewhere.section("Shows.canvas")
    (link,) = elsewhere.links_from("Shows.canvas")
    assert link.resolution is None
