from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.storage.pdf_layout import Line, PageLines, clean, texts_of

HEIGHT = 12.0


def line(text: str, row: float, left: float = 50.0, width: float = 300.0, *, hyphenated: bool = False) -> Line:
    """A line so many rows below the top of a page of 500 points."""
    bottom = 480 - HEIGHT * row
    return Line(text, left, bottom, left + width, bottom + 10, hyphenated)


def page(*lines: Line, remarks: tuple[str, ...] = ()) -> PageLines:
    return PageLines(width=400, height=500, lines=lines, remarks=remarks)


def text(*lines: Line) -> str:
    return texts_of([page(*lines)])[0]


def test_a_short_line_that_ends_a_sentence_ends_its_paragraph() -> None:
    lines = [line("A first line that is full", 5), line("ends.", 6, width=40), line("Next one begins", 7)]
    assert text(*lines) == "A first line that is full ends.\n\nNext one begins"


def test_a_hyphen_stays_where_the_document_has_it_elsewhere() -> None:
    lines = [line("a well-known fact is a well", 5, hyphenated=True), line("known fact", 6)]
    assert text(*lines) == "a well-known fact is a well-known fact"


def test_columns_written_line_by_line_across_are_read_one_after_the_other() -> None:
    rows = []
    for row in range(6):
        rows += [line(f"left {row}", 5 + row, 40, 150), line(f"right {row}", 5 + row, 220, 150)]
    assert text(line("Across both of them", 2, 40, 330), *rows) == (
        "Across both of them\n\nleft 0 left 1 left 2 left 3 left 4 left 5 "
        "right 0 right 1 right 2 right 3 right 4 right 5"
    )


def test_a_row_of_a_table_keeps_its_line() -> None:
    cells = line("Tea", 6, width=50), line("4 minutes", 6, left=250, width=100)
    lines = [line("How long to steep", 5), *cells, line("and stir it all", 7)]
    assert text(*lines) == "How long to steep\nTea 4 minutes\nand stir it all"


def test_running_headers_and_page_numbers_are_dropped() -> None:
    pages = [
        page(
            Line("Annual Report", 50, 480, 150, 490),
            line(f"Text of page number {number}, which differs", 10),
            Line(f"{number + 4}", 200, 20, 210, 30),
        )
        for number in range(1, 6)
    ]
    assert texts_of(pages) == [f"Text of page number {number}, which differs" for number in range(1, 6)]


def test_text_is_cleaned_of_ligatures_controls_and_private_characters() -> None:
    assert clean("e\ufb03cient\x00 \ue001 soft\u00adhyphen\u00a0x\ufffe") == "efficient softhyphen x"


LINES = st.builds(
    line,
    st.text("abc Ab-.1の漢", min_size=1, max_size=12).map(clean).filter(bool),
    st.integers(0, 40),
    st.integers(0, 300),
    st.integers(1, 400),
    hyphenated=st.booleans(),
)


@settings(max_examples=40)
@given(st.lists(st.lists(LINES, max_size=12), max_size=2))
def test_nothing_but_spaces_and_hyphens_is_lost_or_added(pages: list[list[Line]]) -> None:
    before = Counter("".join(line.text for lines in pages for line in lines))
    after = Counter("".join(texts_of([page(*lines) for lines in pages])))
    for ignored in (" ", "\n", "-"):
        before.pop(ignored, None)
        after.pop(ignored, None)
    assert before == after
