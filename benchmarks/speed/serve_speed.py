"""Measure `zkchat serve` with a model that plays a script: many clients at once, and what the server adds to a token.

    python -m benchmarks.speed.serve_speed [CLIENTS]

Memory is the highest resident size of the server's process. The delay of the first token is that from the moment at
which the model had it, in the same process, to the moment at which a client on this machine has it.
"""

import asyncio
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx

from tests.support.web_server import TOKEN as TESTS_TOKEN
from tests.support.web_server import Web, served
from tests.support.world import World
from zkchat.core import ModelChunk, ModelRequest, TextChunk
from zkchat.models.scripted import Scripted

GARDEN = Path(__file__).parents[2] / "vault-fixtures" / "garden"
TOKEN = "a-token-for-the-benchmark"
PAUSE = 1.0
PIECES = 40


def memory_of(pid: int, which: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"{which}:\s+(\d+) kB", status)
    assert found
    return int(found[1]) / 1024


async def ask(client: httpx.AsyncClient, number: int) -> dict[str, Any]:
    """One client: whether it got its whole answer, and when its first word came."""
    body = {"messages": [{"role": "user", "content": f"Number {number}: see [[Evergreen notes]]."}], "stream": True}
    text, begun = "", 0.0
    async with client.stream("POST", "/v1/chat/completions", json=body) as answer:
        async for line in answer.aiter_lines():
            if not line.startswith("data: {"):
                continue
            for choice in json.loads(line.removeprefix("data: "))["choices"]:
                piece = choice["delta"].get("content") or ""
                if piece and not begun:
                    begun = time.time()
                text += piece
    return {"whole": text.count("word") == PIECES, "begun": begun}


def first_tokens(turns: int) -> list[float]:
    """Seconds from the model's first word to that of a client, both in this process."""
    spoken: list[float] = []
    stream = Scripted.stream

    async def noted(self: Scripted, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        async for chunk in stream(self, request):
            if isinstance(chunk, TextChunk):
                spoken.append(time.time())
            yield chunk

    async def run(web: Web) -> list[float]:
        headers = {"Authorization": f"Bearer {TESTS_TOKEN}"}
        delays = []
        async with httpx.AsyncClient(base_url=web.base, headers=headers, timeout=600) as client:
            for number in range(turns):
                spoken.clear()
                heard = (await ask(client, number))["begun"]
                delays.append(heard - spoken[0])
        return delays

    Scripted.stream = noted  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        shutil.copytree(GARDEN, world.vault, dirs_exist_ok=True)
        with served(
            world, world.script([{"text": "A whole sentence first. And "}, {"delay": 0.2}, {"text": "more."}])
        ) as web:
            return asyncio.run(run(web))


async def others(client: httpx.AsyncClient, done: asyncio.Event) -> list[float]:
    """Seconds that other requests took meanwhile."""
    times = []
    while not done.is_set():
        started = time.perf_counter()
        answer = await client.get("/api/complete", params={"text": "see [[Ever"})
        assert answer.status_code == 200
        times.append(time.perf_counter() - started)
        await asyncio.sleep(0.1)
    return times


async def measure(address: str, pid: int, clients: int) -> list[tuple[str, str]]:
    limits = httpx.Limits(max_connections=clients + 10)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=600, limits=limits) as client:
        await ask(client, 0)
        alone = memory_of(pid, "VmRSS")
        done = asyncio.Event()
        beside = asyncio.create_task(others(client, done))
        started = time.perf_counter()
        answers = await asyncio.gather(*(ask(client, number) for number in range(clients)), return_exceptions=True)
        seconds = time.perf_counter() - started
        done.set()
        times = sorted(await beside)
    whole = sum(isinstance(each, dict) and each["whole"] for each in answers)
    return [
        ("clients", f"{clients}"),
        ("whole answers", f"{whole}"),
        ("seconds for all", f"{seconds:.1f}"),
        ("memory after one answer, MB", f"{alone:.0f}"),
        ("highest memory, MB", f"{memory_of(pid, 'VmHWM'):.0f}"),
        ("other requests meanwhile", f"{len(times)}"),
        ("their median, ms", f"{1000 * statistics.median(times):.0f}"),
        ("their 95th percentile, ms", f"{1000 * times[int(0.95 * (len(times) - 1))]:.0f}"),
    ]


def main() -> None:
    clients = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        pieces: list[dict[str, object]] = [{"text": "word "}, {"delay": PAUSE}]
        answer = [*pieces, *([{"text": "word "}] * (PIECES - 1))]
        (home / "play.json").write_text(json.dumps({"answers": [answer]}))
        command = ["serve", "--port", "0", "--vault", str(GARDEN), "--model", f"scripted:{home / 'play.json'}"]
        environment = {"HOME": folder, "ZKCHAT_SERVE_TOKEN": TOKEN, "PATH": os.environ["PATH"]}
        server = subprocess.Popen(
            [sys.executable, "-m", "zkchat", *command], stderr=subprocess.PIPE, text=True, env=environment
        )
        try:
            assert server.stderr
            found = re.search(r"(http://\S+)/\?token=", server.stderr.readline())
            assert found
            rows = asyncio.run(measure(found[1], server.pid, clients))
        finally:
            server.kill()
            server.wait()
    rows.append(("first token after the model's, median, ms", f"{1000 * statistics.median(first_tokens(20)):.1f}"))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value:>8}")


if __name__ == "__main__":
    main()
