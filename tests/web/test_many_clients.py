"""Many clients at once, connections that nobody means well with, and a server that is killed."""

import json
import re
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

pytest.importorskip("starlette")

from tests.support.web_server import TOKEN, events_of, serving_process
from tests.support.world import World

pytestmark = [pytest.mark.outside, pytest.mark.skipif(sys.platform == "win32", reason="signals")]
KNOWN = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def world(world: World) -> World:
    world.note("Sleep.md", "# Sleep\n\nSeven hours are enough.\n")
    return world


def asked(address: str, number: int) -> str:
    """What a client hears, by one way or the other."""
    question = f"Number {number}: how long, [[Sleep]]?"
    with httpx.Client(base_url=address, headers=KNOWN, timeout=300) as client:
        if number % 2:
            with client.stream("POST", "/api/chat", json={"message": question}) as answer:
                return "".join(event["text"] for event in events_of(answer) if event["kind"] == "text")
        body = {"messages": [{"role": "user", "content": question}]}
        text: str = client.post("/v1/chat/completions", json=body).json()["choices"][0]["message"]["content"]
        return text.partition("\n\nSources")[0]


@pytest.mark.slow
def test_many_clients_at_once_are_all_answered(world: World) -> None:
    model = world.script([{"text": "Seven hours, "}, {"delay": 0.5}, {"text": "says [[Sleep]]."}])
    with serving_process(world, model) as (process, address):
        with ThreadPoolExecutor(40) as pool:
            answers = [*pool.map(lambda number: asked(address, number), range(40))]
        peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text())
        listed = httpx.get(f"{address}/api/sessions?all", headers=KNOWN, timeout=100).json()
    assert {*answers} == {"Seven hours, says [[Sleep]]."}
    assert len(listed) == 40
    assert peak
    assert int(peak[1]) < 300 * 1024


def test_half_open_connections_shut_nobody_out(world: World) -> None:
    with serving_process(world, "quote") as (_, address), ExitStack() as stack:
        port = int(address.rpartition(":")[2])
        head = f"POST /login HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 9\r\n".encode()
        for begin in (b"", head, head + b"\r\nt", b"GET /?token=") * 125:
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=100)).sendall(begin)
        with httpx.Client(base_url=address, headers=KNOWN, timeout=100) as client:
            assert client.get("/api/state").status_code == 200


def test_a_server_that_is_killed_in_a_turn_has_lost_nothing(world: World) -> None:
    model = world.script([{"text": "Seven hours, "}, {"text": "says my diary."}, {"delay": 60}])
    body = {"message": "How long, [[Sleep]]?"}
    with (
        serving_process(world, model) as (process, address),
        httpx.Client(base_url=address, headers=KNOWN, timeout=100) as client,
        client.stream("POST", "/api/chat", json=body) as answer,
    ):
        events = events_of(answer)
        session = next(events)["id"]
        heard = ""
        while "Seven hours" not in heard:
            event = next(events)
            heard += event["text"] if event["kind"] == "text" else ""
        process.kill()
        process.wait()
    messages = json.loads(world.run("sessions", "show", session, "--json").out)["messages"]
    assert messages[0]["parts"][0]["text"] == "How long, [[Sleep]]?"
    with serving_process(world, "quote") as (_, address), httpx.Client(base_url=address, headers=KNOWN) as client:
        stored = client.get(f"/api/sessions/{session}", timeout=100).json()["messages"]
        assert [each["role"] for each in stored][:1] == ["user"]
        more = client.post("/api/chat", json={"message": "And now?", "session": session}, timeout=100)
        assert '"kind":"end"' in more.text
