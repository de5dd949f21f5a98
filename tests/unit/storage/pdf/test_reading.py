from pathlib import Path

import pytest

from tests.support.broken_pdfs import text_pdf
from zkchat.storage.pdf_layout import texts_of
from zkchat.storage.pdf_reading import read_pdf

PDFS = Path(__file__).parents[4] / "benchmarks" / "attachments" / "pdfs"
LOST = {"cid-fonts": [("出版した。", "出版した")]}
"""What PDFium does not give of a page: a full stop alone on its line, in a font that is not embedded."""


@pytest.mark.parametrize("name", sorted(path.stem for path in PDFS.glob("*.txt")))
def test_pages_are_read_as_they_are_shown_and_of_a_report_its_title_and_outline(name: str) -> None:
    expected = (PDFS / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")
    for shown, read in LOST.get(name, []):
        expected = expected.replace(shown, read)
    found = read_pdf((PDFS / f"{name}.pdf").read_bytes(), 1_000, 10_000_000)
    assert texts_of(found.pages) == expected.split("\f")
    if name == "report":
        assert found.title == "Annual Report of the Harbour Office"
        assert found.outline[:2] == [(1, "Chapter one"), (6, "Chapter two")]
        assert len(found.outline) == 12


def test_pages_and_characters_beyond_the_limit_are_not_read() -> None:
    found = read_pdf(text_pdf("one", "two", "three"), 2, 10_000)
    assert (texts_of(found.pages), found.page_count) == (["one", "two"], 3)
    assert len(read_pdf(text_pdf("one two", "three", "four"), 10, 9).pages) == 2
