"""Which statements of a text the notes support, and where."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.libraries import Located, library_of
from zkchat.model.message import LineRange
from zkchat.model.verification import CheckedStatement
from zkchat.vault.library import Library
from zkchat.vault.verification.verify import verify

NOTES = {
    "Compost.md": "---\ntags: [garden]\n---\n# Compost\n\n## Turning\n\nA cold heap is left alone and needs a year.\n"
    "A hot heap reaches **65 °C** in its first week.\n",
    "Caffeine.md": "# Caffeine\n\nDecaffeinated coffee is not quite free of caffeine.\n",
    "Diary.md": "# Diary\n\n- Mara is reading about [[Spaced repetition|spacing]] for her Portuguese exam in June.\n",
    "茶.md": "# 茶\n\n泡绿茶的水温以八十度左右为宜。\n",
    "Secret.md": "---\nzkchat: local\n---\nThe safe opens with the code 4711.\n",
}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with library_of(tmp_path, NOTES) as library:
        yield library


def check(library: Library, text: str) -> CheckedStatement:
    (checked,) = verify(library, text).statements
    return checked


def test_a_quote_is_found_with_its_place_whatever_its_marks(library: Library) -> None:
    checked = check(library, "“A *hot* heap\nreaches 65 °C in its FIRST week.”")
    (place,) = checked.places
    assert checked.verdict == "quoted"
    assert (place.path, place.heading, place.lines) == ("Compost.md", "Turning", LineRange(first=9, last=9))
    assert place.quote == "A hot heap reaches **65 °C** in its first week."


@pytest.mark.parametrize(
    ("statement", "verdict", "difference"),
    [
        ("In its first week, a hot heap reaches 65 °C.", "supported", None),
        ("A hot heap reaches 75 °C in its first week.", "contradicted", "number"),
        ("Decaffeinated coffee is quite free of caffeine.", "contradicted", "negation"),
        ("Mara is reading about spacing for her Spanish exam in June.", "contradicted", "name"),
        ("Elephants are afraid of mice.", "unsupported", None),
        ("泡绿茶的水温以八十度左右为宜。", "quoted", None),
        ("泡绿茶的水温以九十度左右为宜。", "contradicted", "number"),
    ],
)
def test_a_statement_is_supported_only_with_the_same_numbers_names_and_negation(
    library: Library, statement: str, verdict: str, difference: str | None
) -> None:
    checked = check(library, statement)
    assert (checked.verdict, checked.difference) == (verdict, difference)


def test_notes_that_are_kept_back_support_nothing(library: Library) -> None:
    statement = "The safe opens with the code 4711."
    assert check(library, statement).verdict == "quoted"
    assert check(library.guarded_for(Located(on_this_machine=False)), statement).verdict == "unsupported"
