"""The files of the page: small, from here alone, and without anything that the rules for the browser forbid."""

import re
import sys
from collections.abc import Iterator
from importlib.resources import files

import pytest

pytest.importorskip("starlette")

from tests.support.web_server import Web, served
from tests.support.world import World

pytestmark = [pytest.mark.outside, pytest.mark.skipif(sys.platform == "win32", reason="signals")]
PAGE = {each.name: each.read_text() for each in (files("zkchat.web") / "page").iterdir()}
TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
MAX_BYTES = 100_000
MAX_LINES = 1_500


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with served(World(tmp_path_factory.mktemp("web")), "quote") as web:
        yield web


def test_every_file_is_served_as_what_it_is(web: Web) -> None:
    with web.client() as client:
        answers = {name: client.get(f"/{name}") for name in PAGE} | {"index.html": client.get("/")}
        assert client.get("/../server.py").status_code == client.get("/server.py").status_code == 404
    assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(PAGE, 200)
    for name, answer in answers.items():
        assert answer.headers["content-type"].partition(";")[0] == TYPES[name.rpartition(".")[2]]
        assert answer.text == PAGE[name]


def test_the_page_is_small() -> None:
    assert sum(len(text.encode()) for text in PAGE.values()) <= MAX_BYTES
    assert sum(text.count("\n") for text in PAGE.values()) <= MAX_LINES


def test_nothing_stands_inline_and_nothing_comes_from_elsewhere() -> None:
    html = PAGE["index.html"]
    assert re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", html) == []
    assert {*re.findall(r'(?:src|href)="([^"#]+)"', html)} <= {*PAGE}
    for name, text in PAGE.items():
        assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", text) == []
        assert re.findall(r"https?://[a-z0-9]", text) == (["http://w"] if name == "icon.svg" else [])
        assert {*re.findall(r'from "\./([^"]+)"', text)} <= {*PAGE}
        assert re.findall(r"@import|url\(", text) == []
