import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat.notes.note_blocks import without_cross_references


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("The brewing is described in [[Coffee]]; it is slow.", "; it is slow."),
        ("For ideas see [[Ideas/Compost]]. This is the real one.", ". This is the real one."),
        ("It is hot (see [[Sleep|bed]]) at night.", "It is hot ( ) at night."),
        ("Allgemeines steht in [[Schlaf]].", "."),
        ("О хлебе см. [[Хлеб]].", "."),
        ("参见 [[睡眠]]。", "。"),
    ],
)
def test_what_only_refers_is_left_out(text: str, rest: str) -> None:
    assert without_cross_references(text).replace("  ", " ").strip() == rest


@pytest.mark.parametrize(
    "text",
    [
        "The kettle stands by the [[Stove]].",
        "What is left goes into the bin, or onto the heap described in [[Compost]].",
        "The colours that are listed here without any order are all of the ones which are in [[Colours]].",
        "It is described in the book.",
    ],
)
def test_what_tells_something_stays(text: str) -> None:
    assert without_cross_references(text) == text


@given(st.text(alphabet="ab. ;,(\n[]|see is in", max_size=200))
def test_only_text_with_a_link_loses_anything_and_nothing_is_added(text: str) -> None:
    left = without_cross_references(text)
    assert left == text or ("[[" in text and len(left) < len(text))
