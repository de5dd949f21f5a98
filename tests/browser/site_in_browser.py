"""The site of the documentation in a real browser, as wide as a phone and as a desk. Run by `make browser`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.site import BUILD
from tests.browser.chromium import Tab, tab

PAGES = sorted((BUILD / "site").rglob("*.html"))
BROKEN_WORDS = (
    "[...document.querySelectorAll('article table code')].filter((code) => !/[ .]/.test(code.textContent)"
    " && code.textContent.length < 12 && code.getClientRects().length > 1).map((code) => code.textContent)"
)
"""Short names such as `--help` that a narrow column has broken."""
SMALL_PICTURES = (
    "[...document.querySelectorAll('article img')].filter((each) => each.offsetParent"
    " && each.getBoundingClientRect().width < (each.src.includes('narrow') ? 320 : 600)).map((each) => each.src)"
)
"""Pictures of a terminal whose letters are too small to read."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with tab(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def test_the_site_was_built() -> None:
    assert len(PAGES) > 20


@pytest.mark.parametrize(("width", "shown"), [(390, "answer-narrow.svg"), (1300, "answer.svg")])
def test_the_picture_of_the_first_page_fits(browser: Tab, width: int, shown: str) -> None:
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=850, deviceScaleFactor=1, mobile=width < 600)
    browser.open(BUILD / "site" / "index.html")
    seen = "[...document.querySelectorAll('article img')].filter((each) => each.offsetParent)"
    assert browser.value(f"{seen}.map((each) => each.src.split('/').pop())") == [shown]
    assert browser.value(f"{seen}[0].getBoundingClientRect().right") <= width


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.parametrize("width", [390, 1300])
def test_a_page_fits_and_asks_nobody_else(browser: Tab, page: Path, width: int) -> None:
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=850, deviceScaleFactor=1, mobile=width < 600)
    browser.open(page)
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.value(BROKEN_WORDS) == []
    assert browser.value(SMALL_PICTURES) == []
    assert browser.value("document.querySelectorAll('h1').length") >= (page.stem != "search")
    assert [each for each in browser.asked_for if not each.startswith(("file:", "data:"))] == []
    assert browser.complaints == []
