"""That no process of a server outlives the chat, that closing never hangs, and that waiting has limits."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.waiting import eventually
from tests.unit.mcp_client.bench import VARIABLES, Bench, is_alive, plain
from zkchat.core.tool_server import ServerDefinition
from zkchat.models.mcp_servers import McpServers

pytestmark = pytest.mark.outside

TERMINATED = """
import sys, time
from pathlib import Path
from tests.unit.mcp_client.bench import Bench, plain
from tests.unit.mcp_client.http_server import serving
from zkchat.cli.terminal import graceful_termination
from zkchat.core.tool_server import ServerDefinition

with graceful_termination(), serving() as http:
    elsewhere = ServerDefinition(name="elsewhere", url=http.url("elsewhere"))
    with Bench(Path(sys.argv[1]), plain("stubborn", sys.argv[2]), plain("exit"), elsewhere):
        Path(sys.argv[1], "connected").touch()
        time.sleep(1000)
"""
"""A program that is ended while it is connected to a server that will not end, and to some of which the SDK warns."""


def stubborn(folder: Path) -> tuple[ServerDefinition, Callable[[], list[int]]]:
    file = folder / "numbers"
    return plain("stubborn", str(file)), lambda: [int(number) for number in file.read_text().split()]


def test_a_server_that_will_not_end_is_killed_with_its_children(tmp_path: Path) -> None:
    definition, numbers = stubborn(tmp_path)
    with Bench(tmp_path, definition):
        processes = numbers()
        assert [is_alive(process) for process in processes] == [True, True]
    eventually(lambda: not any(map(is_alive, processes)))  # a child that is killed takes a moment to end


def test_closing_ends_servers_that_are_still_connecting(tmp_path: Path) -> None:
    servers = McpServers([plain("mute"), plain("chatters")], tmp_path, variables=VARIABLES)
    servers.start()
    eventually(lambda: {status.state for status in servers.statuses()} == {"connecting"})
    eventually(lambda: len(started(tmp_path)) == 2)
    servers.close()
    servers.close()
    servers.start()
    assert "mcp-servers" not in {thread.name for thread in threading.enumerate()}
    assert not servers.wait(0)
    assert asyncio.run(servers.call("mute", "echo", {})).failed


def started(folder: Path) -> list[Path]:
    return [file for file in folder.glob("*.log") if "started" in file.read_text()]


def test_a_server_without_an_answer_has_failed_at_the_limit(tmp_path: Path) -> None:
    definitions = plain("mute"), plain("chatters"), plain("noisy", name="wordy", args=noise())
    with Bench(tmp_path, *definitions, connect_seconds=2) as bench:
        said = {status.name: status.problem.partition(" Its")[0] for status in bench.servers.statuses()}
    assert said["mute"] == "The MCP server mute did not answer within 2 s."
    assert said["chatters"] == "The MCP server chatters did not answer within 2 s."
    assert said["wordy"] == (
        "The MCP server wordy did not answer within 2 s (its standard output has a line that is no MCP message)."
    )


def noise() -> tuple[str, ...]:
    return ("-S", "-c", "import time; print('Hello', flush=True); time.sleep(1000)")


def test_a_server_that_leaves_discovery_without_an_answer_gets_the_older_handshake(tmp_path: Path) -> None:
    with Bench(tmp_path, plain("silent on discovery"), connect_seconds=3) as bench:
        assert bench.status("silent on discovery").protocol == "2025-11-25"


def test_a_lost_server_is_tried_at_each_call_until_it_is_back(tmp_path: Path) -> None:
    program = tmp_path / "server"
    program.symlink_to(sys.executable)
    with Bench(tmp_path, plain(command=str(program))) as bench:
        program.unlink()
        bench.call("die")
        for _ in range(2):
            assert "there is no program" in bench.call("echo").text
            assert (bench.status("plain").state, bool(bench.status("plain").tools)) == ("lost", True)
        program.symlink_to(sys.executable)
        assert bench.call("echo").text == "{}"
        assert bench.status("plain").state == "ready"


def test_nothing_is_left_after_many_starts_and_stops(tmp_path: Path, scaled: Callable[[int], int]) -> None:
    processes: list[int] = []
    for _ in range(scaled(20)):
        with Bench(tmp_path, plain(), plain(name="other")) as bench:
            for server in ("plain", "other"):
                processes += map(int, bench.call("child", server=server).text.split())
    assert len(set(processes)) == len(processes) > 0
    assert not [process for process in processes if is_alive(process)]


def test_a_signal_to_us_ends_the_servers_and_nothing_of_them_is_shown(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TERMINATED, str(tmp_path), str(tmp_path / "numbers")]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=Path(__file__).parents[3])
    try:
        eventually((tmp_path / "connected").exists, seconds=60)
        processes = [int(number) for number in (tmp_path / "numbers").read_text().split()]
        os.kill(program.pid, signal.SIGTERM)
        output, _ = program.communicate(timeout=60)
    finally:
        program.kill()
    assert (program.returncode, output) == (128 + signal.SIGTERM, b"")
    assert [is_alive(process) for process in processes] == [False, False]
