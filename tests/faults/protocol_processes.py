"""Start and stop `zkchat serve mcp` and clients of MCP servers, and look for lost answers and processes that are left.

    python -m tests.faults.protocol_processes FOLDER ROUNDS STARTS

In each of ROUNDS, 20 requests are written at once and then the input ends; every one must be answered. In each of
STARTS, a server is ended in one of three ways after a call, and a client of two servers with a child each is closed;
nothing of them may run afterwards. Prints one JSON object; the exit code is 1 where anything was lost or left.
"""

import json
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.support.mcp_lines import call, handshake, modern, request
from tests.support.world import World
from tests.unit.mcp_client.bench import Bench, is_alive, plain

REQUESTS = 20
SECONDS = 120
SECONDS_TO_END = 10.0
WAYS = ("end of input", "SIGTERM", "SIGKILL")


@dataclass
class Report:
    rounds: int = 0
    answers: int = 0
    starts: int = 0
    """Of servers and of clients, each."""
    left: int = 0
    """Processes that ran on."""


def server(world: World) -> "subprocess.Popen[bytes]":
    """In a session of its own, by which all that it started is found."""
    return subprocess.Popen(
        [sys.executable, "-m", "zkchat", "mcp", "--vault", str(world.vault)],
        cwd=world.root,
        env={**world.environment().variables, "HOME": str(world.home), "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def in_session(leader: int) -> list[int]:
    """The processes of a session that run."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and is_alive(int(folder.name)):
            try:
                state = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(state[3]) == leader:
                found.append(int(folder.name))
    return found


def left_of(leader: int) -> int:
    """How many run on although they had time to end."""
    end = time.monotonic() + SECONDS_TO_END
    while in_session(leader) and time.monotonic() < end:
        time.sleep(0.05)
    return len(in_session(leader))


def requests(*, older: bool) -> list[str]:
    """Twenty, of many kinds, in one of the two revisions."""
    if older:
        lines = [request(number, "tools/list") for number in range(1, 7)]
        lines += [request(number, "tools/call", name="search", arguments={"query": "sleep"}) for number in range(7, 15)]
        lines += [request(number, "resources/list") for number in range(15, REQUESTS)]
        return [*handshake(), *lines]
    lines = [modern(number, "tools/list") for number in range(6)]
    lines += [call(number, "ask_vault", question="How many hours?") for number in range(6, 14)]
    return lines + [modern(number, "prompts/list") for number in range(14, REQUESTS)]


def answered(world: World, number: int) -> int:
    """How many of the requests were answered, each once."""
    process = server(world)
    out, _ = process.communicate("".join(f"{line}\n" for line in requests(older=number % 2 == 0)).encode(), SECONDS)
    ids = [message["id"] for message in map(json.loads, out.splitlines()) if "result" in message]
    return len(ids) if len(ids) == len({*ids}) else 0


def end_a_server(world: World, way: str) -> int:
    """How many processes are left of a server that answered a call."""
    process = server(world)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{call(1, 'search', query='sleep')}\n".encode())
    process.stdin.flush()
    assert b'"id":1' in process.stdout.readline()
    if way == "end of input":
        process.stdin.close()
    else:
        process.send_signal(getattr(signal, way))
    process.wait(SECONDS)
    process.stdout.close()
    return left_of(process.pid)


def end_a_client(folder: Path) -> int:
    """How many processes are left of two servers with a child each."""
    with Bench(folder, plain(), plain(name="other")) as bench:
        texts = [bench.call("child", server=name).text for name in ("plain", "other")]
    processes = [int(number) for text in texts for number in text.split()]
    assert len(processes) == 4, texts
    return sum(map(is_alive, processes))


def main(folder: Path, rounds: int, starts: int) -> Report:
    folder.mkdir(parents=True, exist_ok=True)
    world = World(folder)
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    report = Report()
    for number in range(rounds):
        report.answers += answered(world, number)
        report.rounds += 1
    for number in range(starts):
        report.left += end_a_server(world, WAYS[number % len(WAYS)]) + end_a_client(folder)
        report.starts += 1
    return report


if __name__ == "__main__":
    done = main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps(asdict(done)))  # noqa: T201
    sys.exit(bool(done.left or done.answers != REQUESTS * done.rounds))
