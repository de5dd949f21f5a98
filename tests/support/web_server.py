"""`zkchat serve` in this process, on a port of this machine."""

import asyncio
import gc
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from typing import Any
from warnings import catch_warnings

import httpx

from tests.support.world import World, serving
from zkchat.app.workspace import load_workspace
from zkchat.hosting.http import AccessToken, listen, server_of
from zkchat.web.chats import WebOptions
from zkchat.web.server import Site

TOKEN = "a-token-for-the-tests"


def events_of(response: httpx.Response) -> Iterator[dict[str, Any]]:
    """The events of a stream, as they come."""
    for line in response.iter_lines():
        if line.startswith("data: ") and line != "data: [DONE]":
            yield json.loads(line.removeprefix("data: "))


@dataclass
class Web:
    world: World
    site: Site
    port: int

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @contextmanager
    def stranger(self, **headers: str) -> Iterator[httpx.Client]:
        with httpx.Client(base_url=self.base, headers=headers, timeout=100) as client:
            yield client

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        with self.stranger(Authorization=f"Bearer {TOKEN}") as client:
            yield client

    def get(self, address: str, **parameters: str) -> Any:
        with self.client() as client:
            return client.get(address, params=parameters).json()

    def post(self, path: str, body: dict[str, Any]) -> Any:
        with self.client() as client:
            return client.post(path, json=body).json()

    def ask(self, message: str, **more: str) -> list[dict[str, Any]]:
        """All events of a turn."""
        with self.client() as client, client.stream("POST", "/api/chat", json={"message": message, **more}) as answer:
            assert answer.status_code == 200, answer.read()
            return [*events_of(answer)]


@contextmanager
def served(world: World, model: str, *, write: bool = False) -> Iterator[Web]:
    workspace = load_workspace(world.environment(stdin=""), world.vault, model=model)
    with listen(0) as listening:
        options = WebOptions(vault=world.vault, model=model, write=write)
        site = Site(workspace, options, listening, AccessToken(text=TOKEN))
        server = server_of(site.app)
        thread = Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
        thread.start()
        try:
            yield Web(world, site, int(listening.getsockname()[1]))
        finally:
            server.should_exit = True
            thread.join()
            with catch_warnings(action="ignore", category=ResourceWarning):
                gc.collect()  # connections that a browser held open to the end


@contextmanager
def serving_process(world: World, model: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process of its own, and its address."""
    with serving(world, "serve", "--model", model, ZKCHAT_SERVE_TOKEN=TOKEN) as (process, line):
        address = re.search(r"(http://127\.0\.0\.1:\d+)/\?token=", line)
        assert address
        yield process, address[1]
