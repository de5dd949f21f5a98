"""The purposes of modules in docs/architecture.md are those of their docstrings."""

from scripts.module_table import renewed
from tests.support.doc_examples import DOCS


def test_the_tables_of_modules_are_up_to_date() -> None:
    page = (DOCS / "architecture.md").read_text("utf-8")
    assert page == renewed(page), "run: python -m scripts.module_table docs/architecture.md"
