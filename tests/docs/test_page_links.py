"""The links between pages lead to files and headings that are there."""

import re

import pytest

from tests.support.doc_examples import FENCE, PAGES_FOR_DEVELOPERS, ROOT, pages

LINK = re.compile(r"(?<!`)\[[^\]]*\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")


def anchors_of(text: str) -> set[str]:
    """The names that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*pages(), *PAGES_FOR_DEVELOPERS])
def test_the_links_of_a_page_lead_somewhere(page: str) -> None:
    file = ROOT / page
    for target, anchor in LINK.findall(FENCE.sub("", file.read_text("utf-8"))):
        found = file.parent / target if target else file
        assert found.exists(), target
        assert not anchor or anchor in anchors_of(found.read_text("utf-8")), f"{target}#{anchor}"


def test_the_pages_have_links() -> None:
    assert len(LINK.findall((ROOT / "README.md").read_text("utf-8"))) > 10
