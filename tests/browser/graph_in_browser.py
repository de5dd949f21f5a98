"""The page of `zkchat refs --graph` in a real browser. Run by `make browser`, not with the other tests."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chromium import Tab, tab
from tests.support.sessions import NOON
from zkchat.cli.memory import NoteUsage, graph_page
from zkchat.core.profile import DocumentUse

TALKS = {
    "Nights": ["Ideas/Sleep.md", "Coffee.md"],
    "Days": ["Ideas/Sleep.md", "Work.md"],
    "<img src=x onerror=alert(1)>": ["Hostile </script><b>note</b>.md"],
}


def page_of(talks: dict[str, list[str]], folder: Path) -> Path:
    tally = NoteUsage()
    for number, (title, paths) in enumerate(talks.items()):
        for path in paths:
            at = NOON + timedelta(days=number)
            tally.add(
                DocumentUse(path=path, session_id=f"s{number}", session_title=title, message_id="m", at=at, why="")
            )
    page = folder / "refs.html"
    page.write_text(graph_page(tally.graph(), vault="Garden"), encoding="utf-8")
    return page


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with tab(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def page(browser: Tab, tmp_path: Path) -> Tab:
    browser.open(page_of(TALKS, tmp_path))
    return browser


def place_of(page: Tab, node: str) -> list[float]:
    script = (
        f"(() => {{ const [x, y] = placeOf(byId.get({node!r})), box = picture.getBoundingClientRect();"
        "return [x + box.left, y + box.top]; })()"
    )
    place: list[float] = page.value(script)
    return place


def details(page: Tab) -> str:
    text: str = page.value("details.innerText")
    return text


def named(page: Tab, selector: str) -> Any:
    return page.value(f"[...document.querySelectorAll({selector!r})].map((each) => each.textContent)")


def test_every_note_and_conversation_is_shown_and_painted_and_the_network_asked_for_nothing(page: Tab) -> None:
    assert page.value("picture.dataset.ready") is not None
    assert (page.asked_for, page.complaints) == ([], [])
    assert named(page, "#notes button") == ["Ideas/Sleep", "Coffee", "Hostile </script><b>note</b>", "Work"]
    assert named(page, "#talks button") == ["<img src=x onerror=alert(1)>", "Days", "Nights"]
    assert page.value("document.getElementById('counts').textContent") == "4 notes, 3 conversations"
    assert page.value("document.querySelectorAll('b, img').length") == 0
    painted = "pen.getImageData(0, 0, picture.width, picture.height).data.some((part) => part > 0)"
    assert page.value(painted) is True


def test_a_click_shows_details_of_a_note_or_a_conversation_and_beside_everything_nothing(page: Tab) -> None:
    page.click(*place_of(page, "note:Ideas/Sleep.md"))
    assert "Used 2 times in 2 conversations, last on 2026-03-02." in details(page)
    assert named(page, "#details button") == ["Nights", "Days"]
    page.click(*place_of(page, "talk:s1"))
    assert "zkchat sessions show s1" in details(page)
    page.value("[...document.querySelectorAll('#details button')].find((each) => each.textContent === 'Work').click()")
    assert "Work.md" in details(page)
    assert page.value("document.querySelector('nav [aria-current=true]').textContent") == "Work"
    box = page.value("(() => { const box = picture.getBoundingClientRect(); return [box.left, box.top]; })()")
    page.click(box[0] + 2, box[1] + 2)
    assert details(page) == ""


def test_the_search_box_and_the_list_work_from_the_keyboard(page: Tab) -> None:
    page.value("search.focus()")
    page.type("coff")
    assert page.value("document.getElementById('matches').textContent") == "1 found"
    assert page.value("[...document.querySelectorAll('nav li')].filter((row) => !row.hidden).length") == 1
    page.press("Enter")
    assert "Coffee.md" in details(page)
    page.value("search.value = ''; search.dispatchEvent(new Event('input'))")
    page.value("document.querySelector('#talks button').focus()")
    page.press("Enter")
    assert "<img src=x onerror=alert(1)>" in details(page)


def test_two_thousand_nodes_stay_usable(browser: Tab, tmp_path: Path) -> None:
    talks = {f"Talk {number}": [f"Note {(number * 7 + step) % 1000}.md" for step in range(6)] for number in range(1000)}
    browser.open(page_of(talks, tmp_path))
    assert browser.value("nodes.length") == 2000
    assert browser.value("nodes.every((node) => Number.isFinite(node.x) && Number.isFinite(node.y))") is True
    assert browser.value("new Set(nodes.map((node) => `${Math.round(node.x)}:${Math.round(node.y)}`)).size") > 1900
    browser.click(*place_of(browser, "note:Note 7.md"))
    assert details(browser) != ""
