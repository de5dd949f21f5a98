"""Texts of PDFs that are extracted for the index, at once, for a while, and in the background."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Event

import pytest

from tests.support.waiting import eventually
from zkchat.core.note import ExtractedText, FileStamp, Link, Resolved
from zkchat.index.indexing.background import TextExtraction
from zkchat.index.library import Library, LibraryOptions
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.storage.pdf_texts import SqliteExtractedTexts
from zkchat.storage.vault_files import VaultFiles


class Pages:
    """Implements `ports.extraction.TextExtractor`: what stands in the file, a page on each line.

    Waits where it is told to.
    """

    max_bytes = 1_000

    def __init__(self) -> None:
        self.extracted: list[bytes] = []
        self.answers = Event()
        self.answers.set()
        self.asked = Event()
        self.most: int | None = None
        """Files after which it is stopped."""
        self.is_stopped = False

    def new(self) -> "Pages":
        self.is_stopped = False
        return self

    def extract(self, data: bytes) -> ExtractedText | None:
        self.asked.set()
        self.answers.wait(20)
        if self.is_stopped or len(self.extracted) == self.most:
            return None
        self.extracted.append(data)
        if data.startswith(b"broken"):
            return ExtractedText(trouble="It is broken.")
        return ExtractedText(pages=tuple(data.decode().split("\n")))

    def stop(self) -> None:
        self.is_stopped = True
        self.answers.set()

    def close(self) -> None:
        pass


class Scene:
    """A vault on disk, and one process after the other that works on it."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.vault = folder / "vault"
        self.vault.mkdir()
        self.pages = Pages()
        self.caches = folder
        self._stack = stack
        self.note("Tides.md", "See [[moon.pdf#page=2]] and [[moon.pdf#page=7]].")

    def note(self, path: str, text: str) -> None:
        (self.vault / path).write_text(text)

    def open(self, *, max_bytes: int = 1_000) -> Library:
        index = self._stack.enter_context(closing(SqliteNoteIndex(self.caches / "index.db")))
        texts = self._stack.enter_context(closing(SqliteExtractedTexts(self.caches / "pdf.db", max_bytes)))
        options = LibraryOptions(
            extracted=texts, extraction=lambda files, index: TextExtraction(files, index, texts, self.pages.new)
        )
        files = VaultFiles(self.vault, exclude=(), max_note_bytes=10_000)
        library = self._stack.enter_context(closing(Library.over(files, index, options=options)))
        library.refresh()
        return library


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with ExitStack() as stack:
        yield Scene(tmp_path, stack)


def found(library: Library, query: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(passage.path, passage.heading_path) for passage in library.search(query) if "text" in passage.why]


def test_a_pdf_is_found_by_its_name_until_its_text_is_extracted(scene: Scene) -> None:
    scene.note("moon.pdf", "The moon pulls.\nThe sun pulls less.")
    library = scene.open()
    assert [passage.path for passage in library.search("moon")] == ["moon.pdf", "Tides.md"]
    assert found(library, "sun") == []
    assert library.unextracted() == 1
    assert library.extract().waiting == 0
    assert found(library, "sun") == [("moon.pdf", ("Page 2",))]
    assert library.unextracted() == 0


def test_links_lead_to_pages_once_they_are_known(scene: Scene) -> None:
    scene.note("moon.pdf", "The moon pulls.\nThe sun pulls less.")
    library = scene.open()
    assert [stored.link.anchor for stored in library.doubtful_links()] == []
    library.extract()
    assert [stored.link.anchor for stored in library.doubtful_links()] == ["page=7"]
    resolved = library.resolve(Link(text="", target="moon.pdf", anchor="page=2&selection=1,2,3,4"))
    assert isinstance(resolved, Resolved)
    assert resolved.anchor_found
    assert library.section("moon.pdf", "page=2").strip() == "# Page 2\n\nThe sun pulls less."


def test_what_is_unchanged_renamed_or_copied_is_not_extracted_again(scene: Scene) -> None:
    scene.note("moon.pdf", "The moon pulls.")
    scene.open().extract()
    (scene.vault / "moon.pdf").rename(scene.vault / "luna.pdf")
    scene.note("copy.pdf", "The moon pulls.")
    library = scene.open()
    library.extract()
    assert {path for path, _ in found(library, "pulls")} == {"luna.pdf", "copy.pdf"}
    assert len(scene.pages.extracted) == 1


def test_a_failure_is_one_warning_and_is_not_tried_again_but_by_a_rebuild(scene: Scene) -> None:
    scene.note("bad.pdf", "broken")
    scene.note("moon.pdf", "The moon pulls.")
    library = scene.open()
    assert [(each.path, each.kind) for each in library.extract().warnings] == [("bad.pdf", "extraction")]
    assert found(library, "pulls") == [("moon.pdf", ("Page 1",))]
    again = scene.open()
    assert again.extract().warnings == ()
    assert [each.path for each in again.warnings()] == ["bad.pdf"]
    assert scene.pages.extracted.count(b"broken") == 1
    again.rebuild()
    again.extract()
    assert scene.pages.extracted.count(b"broken") == 2


def test_what_is_stopped_in_the_middle_goes_on_the_next_time(scene: Scene) -> None:
    for number in range(4):
        scene.note(f"{number}.pdf", f"Paper number {number} on tides." + "!" * number)
    scene.pages.most = 2
    library = scene.open()
    extracted = library.extract(seconds=60)
    assert extracted.waiting == 2
    notice = extracted.notice()
    assert notice
    assert notice.text == "2 PDFs are not read yet: zkchat config index reads all of them."
    assert {path for path, _ in found(library, "paper")} == {"0.pdf", "1.pdf"}
    scene.pages.most = None
    other = scene.open()
    assert other.extract().waiting == 0
    assert {path for path, _ in found(other, "paper")} == {f"{number}.pdf" for number in range(4)}
    assert len(scene.pages.extracted) == 4


def test_a_text_that_was_kept_just_before_a_kill_is_read_by_the_next_refresh(scene: Scene) -> None:
    scene.note("moon.pdf", "The moon pulls.")
    size, modified_ns, _ = scene.open().stamps()["moon.pdf"]
    with closing(SqliteExtractedTexts(scene.caches / "pdf.db", 1_000)) as texts:
        texts.attach(FileStamp("moon.pdf", size, modified_ns), b"digest")
        texts.keep(b"digest", ExtractedText(pages=("The moon pulls.",)))
    assert found(scene.open(), "pulls") == [("moon.pdf", ("Page 1",))]
    assert scene.pages.extracted == []


def test_the_background_extracts_and_refreshes(scene: Scene) -> None:
    scene.note("moon.pdf", "The moon pulls.")
    library = scene.open()
    for _ in range(3):
        library.extract_in_background()
    eventually(lambda: found(library, "pulls"))
    assert len(scene.pages.extracted) == 1


def test_the_time_that_is_given_ends_an_extraction_and_closing_that_in_the_background(scene: Scene) -> None:
    scene.note("moon.pdf", "The moon pulls.")
    scene.pages.answers.clear()
    library = scene.open()
    assert library.extract(seconds=0.01).waiting == 1
    scene.pages.asked.clear()
    scene.pages.answers.clear()
    library.extract_in_background()
    assert scene.pages.asked.wait(20)
    library.close()
    assert scene.pages.extracted == []
    assert scene.open().unextracted() == 1


def test_a_pdf_that_somebody_asks_for_is_extracted_at_once(scene: Scene) -> None:
    scene.note("moon.pdf", "The moon pulls.")
    scene.note("sun.pdf", "The sun pulls less.")
    assert scene.open().read("moon.pdf") == "# Page 1\n\nThe moon pulls.\n\n"
    assert scene.pages.extracted == [b"The moon pulls."]
