"""`zkchat mcp` over a large vault: the first reply, calls, memory; and a chat's first prompt with three MCP servers.

    python -m benchmarks.speed.mcp_speed [--notes N] [--runs N] [--calls N]

The first reply stands beside the import of the SDK, the prompt beside that of a chat without servers. Calls come one
after the other from a client over pipes. Before each the server makes sure that no note changed: the system tells it,
and once a minute it looks at every file, beside which `scandir` + `stat` stands. On a busy machine look at the CPU
time, which is that of all threads of the server.
"""

import argparse
import compileall
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.generate import Generator, write_vault
from benchmarks.speed.first_prompt import until_end, until_prompt
from benchmarks.speed.turn_speed import look_at_every_file

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "tests" / "support" / "small_mcp_server.py"
IMPORT = "import mcp_types, mcp.server.lowlevel"
VERSIONS = {"initialize": "2025-11-25", "server/discover": "2026-07-28"}
WARM_UP = 10
PAUSED, PAUSES, PAUSE_SECONDS = "search, after a pause", 20, 2.5
"""As a host calls whose user reads an answer before the next question."""


class Host:
    """A host that started `zkchat mcp`."""

    def __init__(self, vault: Path, environment: Mapping[str, str]) -> None:
        self._sent = 0
        command = [sys.executable, "-m", "zkchat", "mcp", "--vault", str(vault)]
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._sent += 1
        if method != "initialize":
            prefix = "io.modelcontextprotocol"
            meta = {f"{prefix}/protocolVersion": VERSIONS["server/discover"], f"{prefix}/clientCapabilities": {}}
            params["_meta"] = meta
        message = {"jsonrpc": "2.0", "id": self._sent, "method": method, "params": params}
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> None:
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert not result.get("isError"), result

    def megabytes(self, name: str) -> float:
        """`VmRSS` is what the process holds now, `VmHWM` the most that it held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(rf"{name}:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else 0.0

    def cpu_milliseconds(self) -> float:
        """What all of its threads have taken of the processor."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e6

    def end(self) -> None:
        self.process.communicate(timeout=60)


def first_reply(method: str, vault: Path, environment: Mapping[str, str]) -> float:
    begun = time.perf_counter()
    host = Host(vault, environment)
    if method == "initialize":
        host.ask(method, protocolVersion=VERSIONS[method], capabilities={}, clientInfo={"name": "b", "version": "1"})
    else:
        host.ask(method)
    taken = time.perf_counter() - begun
    host.end()
    return taken


def interleaved(measures: Mapping[str, Callable[[], float]], runs: int) -> dict[str, list[float]]:
    """So that a busy moment of the machine falls on all of them; the first run fills the caches."""
    times: dict[str, list[float]] = {name: [] for name in measures}
    for run in range(runs + 1):
        for name, measure in measures.items():
            taken = measure()
            if run:
                times[name].append(taken)
    return times


def print_replies(vault: Path, environment: dict[str, str], folder: str, runs: int) -> None:
    def new_vault() -> float:
        with tempfile.TemporaryDirectory(dir=folder) as caches:
            return first_reply("initialize", vault, {**environment, "XDG_CACHE_HOME": caches})

    name = "import of the SDK"
    times = interleaved(
        {
            name: lambda: until_end(["-c", IMPORT], environment).prompt,
            "initialize": lambda: first_reply("initialize", vault, environment),
            "server/discover": lambda: first_reply("server/discover", vault, environment),
            "initialize, not indexed yet": new_vault,
        },
        runs,
    )
    print_ratios("until the first reply", times, name)


def print_ratios(title: str, times: Mapping[str, list[float]], baseline: str) -> None:
    beside = statistics.median(times[baseline])
    print(f"{title:36}{'median ms':>12}{'ratio':>9}")
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"{name:36}{median * 1000:12.1f}{median / beside:8.2f}x")


def print_calls(vault: Path, environment: dict[str, str], generator: Generator, calls: int) -> None:
    queries = generator.queries(calls + WARM_UP)
    host = Host(vault, environment)
    tools: dict[str, Callable[[str], None]] = {
        "search": lambda query: host.call("search", query=query),
        PAUSED: lambda query: host.call("search", query=query),
        "ask_vault": lambda query: host.call("ask_vault", question=query),
        "find_excerpts": lambda query: host.call("find_excerpts", query=query),
        "scandir + stat of every file": lambda _: look_at_every_file(str(vault)),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in tools}
    for name, work in tools.items():
        for number, query in enumerate(queries[:PAUSES] if name == PAUSED else queries):
            time.sleep(PAUSE_SECONDS if name == PAUSED else 0)
            cpu, begun = host.cpu_milliseconds(), time.perf_counter()
            work(query)
            wall = (time.perf_counter() - begun) * 1000
            if number >= WARM_UP or name == PAUSED:
                times[name].append((wall, host.cpu_milliseconds() - cpu))
    print(f"\n{'warm call':36}{'p50 ms':>12}{'p95 ms':>9}{'CPU p50':>12}{'CPU p95':>9}")
    for name, taken in times.items():
        columns = (
            f"{statistics.median(each):12.1f}{statistics.quantiles(each, n=20)[-1]:9.1f}"
            for each in zip(*taken, strict=True)
        )
        print(f"{name:36}{''.join(columns)}")
    print(f"\nmemory of the server after {3 * len(queries) + PAUSES:,} calls: {host.megabytes('VmRSS'):.0f} MB, "
          f"at most {host.megabytes('VmHWM'):.0f} MB")  # fmt: skip
    host.end()


def print_prompts(vault: Path, environment: dict[str, str], folder: Path, runs: int) -> None:
    chat = ["-m", "zkchat", "chat", "--model", "quote", "--vault", str(vault)]
    config = folder / "config" / "zkchat" / "config.toml"
    config.parent.mkdir(parents=True)
    servers = [f'[mcpServers.s{number}]\ncommand = "{sys.executable}"\nargs = ["-S", "-E", "{SERVER}"]\n'
               for number in range(3)]  # fmt: skip
    config.write_text("\n".join(servers))
    without = "zkchat chat, no server"
    times = interleaved(
        {
            without: lambda: until_prompt(chat, environment).prompt,
            "zkchat chat, three servers": lambda: (
                until_prompt(chat, {**environment, "XDG_CONFIG_HOME": str(folder / "config")}).prompt
            ),
        },
        runs,
    )
    print()
    print_ratios("until the first prompt", times, without)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--calls", type=int, default=200)
    options = parser.parse_args()
    compileall.compile_dir(ROOT / "zkchat", quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HOME": folder, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
        for name in ("PYTHONDONTWRITEBYTECODE", "CI"):
            environment.pop(name, None)
        vault = Path(folder) / "vault"
        generator = write_vault(vault, options.notes)
        until_end(["-m", "zkchat", "index", "--vault", str(vault)], {**environment, "TERM": "dumb"})
        print_replies(vault, environment, folder, options.runs)
        print_calls(vault, environment, generator, options.calls)
        print_prompts(vault, environment, Path(folder), options.runs)


if __name__ == "__main__":
    main()
