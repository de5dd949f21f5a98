"""docs/privacy.md says which class a note has, and what is never remembered."""

import re

import pytest

from tests.support.doc_examples import DOCS
from tests.support.frontmatter_forms import FORMS, renewed
from zkchat.notes.privacy import privacy_of_text

ROWS = re.findall(
    r"^\| (?:`([^`]+)`)? ?\| `([^`]+\.md)` \| (?:`([^`]+)`)? ?\| `(\w+)` \|$",
    (DOCS / "privacy.md").read_text(),
    re.MULTILINE,
)


def test_the_page_has_a_table_of_classes() -> None:
    assert len(ROWS) == 11


@pytest.mark.parametrize(("frontmatter", "path", "folder", "expected"), ROWS)
def test_a_note_has_the_class_that_the_page_says(frontmatter: str, path: str, folder: str, expected: str) -> None:
    assert privacy_of_text(f"---\n{frontmatter}\n---\n", path, [folder] if folder else []) == expected


def test_the_page_of_forms_is_up_to_date() -> None:
    page = (DOCS / "privacy-forms.md").read_text("utf-8")
    assert page == renewed(page), "run: python -m tests.support.frontmatter_forms docs/privacy-forms.md"
    assert page.count("\n| ") - page.count("| form |") == len(FORMS)
