"""Who is let in, and what of: a browser that was given the address, programs with the token, and nobody else."""

import socket
import sys
from collections.abc import Iterator
from functools import partial
from importlib import util

import httpx
import pytest

pytest.importorskip("starlette")

from tests.support.web_server import TOKEN, Web, served
from tests.support.world import World
from zkchat.cli import serve

pytestmark = [pytest.mark.outside, pytest.mark.skipif(sys.platform == "win32", reason="signals")]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    world = World(tmp_path_factory.mktemp("web"))
    world.note("Sleep.md", "# Sleep\n\nSeven hours.\n")
    with served(world, "quote") as web:
        yield web


def cookie_of(answer: httpx.Response) -> dict[str, str]:
    pair, *traits = answer.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {*traits}
    return {"Cookie": pair}


def test_the_address_opens_the_page_once_and_the_token_does_later(web: Web) -> None:
    address = web.site.address
    with web.stranger() as client:
        first = client.get(address)
        client.cookies.clear()
        second = client.get(address)
        assert (first.status_code, first.headers["location"]) == (303, "/")
        assert (second.status_code, "was opened before" in second.text) == (401, True)
        assert "set-cookie" not in second.headers
        assert ("style.css" in second.text, client.get("/style.css").status_code) == (True, 200)
        assert client.post("/login", data={"token": "x" * 20}, headers={"Origin": web.base}).status_code == 401
        assert client.post("/login", content=b"x" * 10_000, headers={"Origin": web.base}).status_code == 401
        logged_in = client.post("/login", data={"token": TOKEN}, headers={"Origin": web.base})
        client.cookies.clear()
        for answer in (first, logged_in):
            cookie = cookie_of(answer)
            page = client.get("/", headers=cookie)
            assert (page.status_code, "<title>zkchat" in page.text) == (200, True)
            assert client.get("/app.js", headers=cookie).headers["content-type"].startswith("text/javascript")
            assert client.get("/api/state", headers=cookie).json()["write"] is False
            stop = {"session": "none"}
            asked = client.post("/api/chat/stop", json=stop, headers={**cookie, "Origin": web.base})
            assert asked.json() == {"stopped": False}
            assert client.post("/api/chat/stop", json=stop, headers=cookie).status_code == 401
            near = {**cookie, "Sec-Fetch-Site": "same-site"}
            assert client.get("/api/sessions", headers=near).status_code == 401


def test_strangers_and_pages_of_others_are_refused(web: Web) -> None:
    right = {"Authorization": f"Bearer {TOKEN}"}
    headers: dict[str, dict[str, str]] = {
        "no token": {},
        "wrong token": {"Authorization": f"Bearer {TOKEN}x"},
        "part of the token": {"Authorization": f"Bearer {TOKEN[:-1]}"},
        "no bearer": {"Authorization": TOKEN},
        "wrong cookie": {"Cookie": f"zkchat-{web.port}={TOKEN}"},
        "another host": {**right, "Host": f"rebound.example:{web.port}"},
        "another port": {**right, "Host": "127.0.0.1:1"},
        "no name": {**right, "Host": ""},
        "an address elsewhere": {**right, "Host": f"10.0.0.1:{web.port}"},
        "a page elsewhere": {**right, "Origin": "https://evil.example"},
        "a page that looks near": {**right, "Origin": f"{web.base}.evil.example"},
        "a page of another port": {**right, "Origin": "http://127.0.0.1:1"},
        "a file": {**right, "Origin": "null"},
    }
    paths = ("/", "/api/sessions", "/v1/models", "/app.js", "/nothing")
    with web.stranger(Connection="close") as client:  # one that was never admitted is closed after a while
        found = {what: {client.get(path, headers=each).status_code for path in paths} for what, each in headers.items()}
        assert client.get("/api/state", headers=right).status_code == 200
    unknown = ("no token", "wrong token", "part of the token", "no bearer", "wrong cookie")
    assert found == {what: {401 if what in unknown else 403} for what in headers}


def test_a_browser_is_told_to_do_no_more_than_the_page_needs(web: Web) -> None:
    with web.client() as known, web.stranger() as stranger:
        for answer in (known.get("/"), known.get("/api/state"), known.get("/nothing"), stranger.get("/")):
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"


def test_there_are_no_files_but_those_of_the_page(web: Web) -> None:
    for path in ("/../server.py", "/..%2fserver.py", "/%2e%2e/%2e%2e/api.py", "//etc/passwd", "/page", "/."):
        request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        with socket.create_connection(("127.0.0.1", web.port), timeout=100) as connection:
            connection.sendall(f"{request}Connection: close\r\n\r\n".encode())
            answer = b"".join(iter(partial(connection.recv, 10_000), b""))
        assert b"HTTP/1.1 404 " in answer[:20], path
        assert b"import" not in answer


def test_notes_outside_of_the_vault_are_not_read(web: Web) -> None:
    (web.world.root / "Outside.md").write_text("Not for anybody.")
    for path in ("../Outside.md", "/../Outside", str(web.world.root / "Outside.md"), "[[../Outside]]"):
        assert web.get("/api/note", path=path)["error"]["type"] == "NoteNotFound"


def test_more_than_this_machine_needs_a_token_that_was_chosen(tmp_path_factory: pytest.TempPathFactory) -> None:
    world = World(tmp_path_factory.mktemp("open"))
    for options in (("--host", "0.0.0.0"), ("--origin", "https://notes.example.org")):
        refused = world.run("serve", *options, "--port", "0")
        assert (refused.code, "needs a password that you choose" in refused.err) == (2, True)
        assert "--token-file" in refused.err


def test_without_the_extra_it_says_what_to_install(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "find_spec", lambda name: None if name == "uvicorn" else util.find_spec(name))
    refused = World(tmp_path_factory.mktemp("bare")).run("serve")
    assert (refused.code, "zkchat[serve]" in refused.err) == (3, True)


def test_a_port_that_is_in_use_is_told_of(tmp_path_factory: pytest.TempPathFactory) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = World(tmp_path_factory.mktemp("port")).run("serve", "--port", str(taken.getsockname()[1]))
    assert (result.code, "is in use" in result.err) == (2, True)
