from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from zkchat.core.note import ExtractedText, FileStamp
from zkchat.storage.pdf_texts import SqliteExtractedTexts

TEXT = ExtractedText(
    pages=("Päge one", "", "three"), title="Tides", outline=((1, "Chapter"), (3, "End")), omission="Only three."
)
FAILURE = ExtractedText(trouble="It is encrypted.")
PAPER = FileStamp("a/Paper.PDF", 500, 17)


@pytest.fixture
def texts(tmp_path: Path) -> Iterator[SqliteExtractedTexts]:
    with closing(SqliteExtractedTexts(tmp_path / "pdf.db", 1_000)) as texts:
        yield texts


def keep(texts: SqliteExtractedTexts, stamp: FileStamp, digest: bytes, text: ExtractedText = TEXT) -> None:
    assert not texts.attach(stamp, digest)
    texts.keep(digest, text)


def test_a_text_is_found_by_path_size_and_time(texts: SqliteExtractedTexts) -> None:
    assert texts.find(PAPER) is None
    keep(texts, PAPER, b"x")
    assert texts.find(PAPER) == texts.latest("a/Paper.PDF") == TEXT
    assert texts.find(PAPER._replace(modified_ns=18)) is None
    assert texts.latest("a/Paper.PDF") == TEXT
    assert texts.latest("b.pdf") is None


def test_what_has_no_text_is_missing(texts: SqliteExtractedTexts) -> None:
    other = FileStamp("other.pdf", 5, 5)
    keep(texts, PAPER, b"x", FAILURE)
    assert texts.missing([PAPER, other, FileStamp("note.md", 5, 5)]) == [other]
    texts.attach(other, b"y")
    assert texts.missing([PAPER, other]) == [other]


def test_texts_made_in_another_way_are_used_until_they_are_made_again(texts: SqliteExtractedTexts) -> None:
    keep(texts, PAPER, b"x")
    texts.__dict__["_method"] = "a later version"
    assert texts.missing([PAPER]) == [PAPER]
    assert texts.find(PAPER) == TEXT
    assert not texts.attach(PAPER, b"x")


def test_a_file_that_is_too_large_is_known_by_its_name(texts: SqliteExtractedTexts) -> None:
    large, whole = FileStamp("large.pdf", 1_001, 1), FileStamp("whole.pdf", 1_000, 1)
    assert texts.missing([large, whole]) == [whole]
    found = texts.find(large)
    assert found
    assert "vault.max_pdf_bytes" in found.trouble


def test_failures_are_forgotten_when_asked_and_texts_of_files_that_are_gone_dropped(
    texts: SqliteExtractedTexts,
) -> None:
    other = FileStamp("other.pdf", 5, 5)
    keep(texts, PAPER, b"x", FAILURE)
    keep(texts, other, b"y")
    texts.forget_failures()
    assert texts.missing([PAPER, other]) == [PAPER]
    texts.keep(b"x", TEXT)
    assert texts.latest("a/Paper.PDF") == TEXT
    texts.prune({"other.pdf"})
    assert texts.latest("a/Paper.PDF") is None
    assert not texts.attach(PAPER, b"x")
    assert texts.latest("other.pdf") == TEXT


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pdf.db"
    with closing(SqliteExtractedTexts(path, 1_000)) as texts:
        keep(texts, PAPER, b"x")
    content = bytearray(path.read_bytes())
    content[200:] = b"\xff" * (len(content) - 200)
    path.write_bytes(content)
    with closing(SqliteExtractedTexts(path, 1_000)) as texts:
        assert texts.find(PAPER) is None
        assert texts.missing([PAPER]) == [PAPER]
        keep(texts, PAPER, b"x")
        assert texts.find(PAPER) == TEXT
