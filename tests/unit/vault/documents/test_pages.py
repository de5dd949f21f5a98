from zkchat.core.note import ExtractedText, anchor_of, page_named, page_of
from zkchat.notes.documents import document_of_pages
from zkchat.notes.link_catalog import section_lines
from zkchat.notes.note_blocks import blocks

PAPER = "papers/Tides.pdf"


def test_each_page_is_a_section_below_its_heading() -> None:
    document = document_of_pages(PAPER, ExtractedText(pages=("The tide rises.", "It falls.\n\nIt rises again.")))
    assert document.text == "# Page 1\n\nThe tide rises.\n\n# Page 2\n\nIt falls.\n\nIt rises again.\n\n"
    assert [(section.heading_path, section.text) for section in document.sections] == [
        (("Page 1",), "The tide rises."),
        (("Page 2",), "It falls.\n\nIt rises again."),
    ]


def test_sections_know_where_they_stand_in_the_text() -> None:
    document = document_of_pages(PAPER, ExtractedText(pages=("One line.", "", "# Page 9\n\nlooks like a heading.")))
    lines = document.text.splitlines()
    for section in document.sections:
        assert document.text[section.start : section.end] == section.text
        assert lines[section.first_line - 1 : section.last_line] == section.text.splitlines()


def test_nothing_on_a_page_is_taken_for_a_heading_a_listing_or_a_comment() -> None:
    lines = ["# Install", "```", "~~~", "<!-- x", "%% x", "$$", "#tag and text"]
    document = document_of_pages(PAPER, ExtractedText(pages=("\n\n".join(lines), "The second page.")))
    found = blocks(document.text)
    assert {block.heading_path for block in found} == {("Page 1",), ("Page 2",)}
    assert found[-1].text == "The second page."
    assert section_lines(document.note, "page=2") == (17, 20)


def test_a_page_without_text_keeps_its_place_and_is_no_passage() -> None:
    document = document_of_pages(PAPER, ExtractedText(pages=("", "Second.")))
    assert [section.heading_path for section in document.sections] == [("Page 2",)]
    assert section_lines(document.note, "page=1") == (1, 2)
    assert section_lines(document.note, "page=2") == (3, 6)
    assert section_lines(document.note, "page=2&selection=0,1,2,3") == (3, 6)
    assert section_lines(document.note, "page=3") is None


def test_a_page_stands_below_the_entry_of_the_outline_it_is_part_of() -> None:
    extracted = ExtractedText(pages=("a", "b", "c", "d"), outline=((2, "Begin"), (2, "Middle"), (4, "End")))
    paths = [section.heading_path for section in document_of_pages(PAPER, extracted).sections]
    assert paths == [("Page 1",), ("Begin", "Page 2"), ("Middle", "Page 3"), ("End", "Page 4")]


def test_a_title_that_somebody_gave_is_used_and_none_that_a_program_wrote() -> None:
    given = {"  Gezeiten \n und Pegel ": "Gezeiten und Pegel", "潮汐的预测": "潮汐的预测"}
    written = ["", "untitled", "(anonymous)", "Microsoft Word - draft 7.docx", "paper.tex", "Untitled", "Slide 1"]
    written += ["12345", "https://example.org/a b", "Document1", "x" * 200, "a"]
    for title, shown in {**given, **dict.fromkeys(written, "Tides")}.items():
        assert document_of_pages(PAPER, ExtractedText(title=title)).note.title == shown


def test_links_name_the_page_of_a_pdf_and_the_heading_of_a_note() -> None:
    assert anchor_of(PAPER, ("Begin", "Page 2")) == "page=2"
    assert anchor_of("Tides.md", ("Begin", "Page 2")) == "Page 2"
    assert anchor_of(PAPER, ()) == ""
    assert (page_of(PAPER, ("Page 12",)), page_of("a.md", ("Page 12",)), page_of(PAPER, ("End",))) == (12, None, None)
    assert [page_named(path, "page=3&x") for path in (PAPER, "a.md", None)] == [3, None, None]
