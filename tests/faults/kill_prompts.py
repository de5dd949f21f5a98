"""Kill chats after Enter, while nothing answers yet, and look for the question on disk.

    python -m tests.faults.kill_prompts FOLDER KILLS SEED EARLIEST [SCENARIO…]

EARLIEST is in milliseconds after Enter. A quarter of the kills come then, the others within the following 400 ms.

Enter is the moment at which zkchat has read the key from the terminal of a prompt that shows the typed question: what
still waits in the terminal has not reached it. Each scenario is killed so many times: `dead` (a server that accepts and
never answers, or does not even accept), `index` (some thousand new notes are being indexed), `full` (the disk has no
byte left; needs the right to mount a file system in memory) and `compaction` (the model takes its time for a summary).
Chats are forked from a process that has everything loaded. Prints one JSON object.
"""

import fcntl
import json
import os
import pty
import random
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.support.world import World

PROMPT = "you ›".encode()
READS_KEYS = b"\x1b[?2004h"
"""What a prompt writes when it begins to read, so that pastes are distinguished from keys."""
ASKS_FOR_CURSOR = b"\x1b[6n"
SPAN = 0.4
"""Seconds after the earliest kill until the latest."""
DEADLINE_SECONDS = 60.0


@dataclass
class Report:
    kills: int = 0
    lost: int = 0
    unsound: int = 0
    not_resumed: int = 0
    lost_after: list[float] = field(default_factory=list)
    """Milliseconds between Enter and the kill of each lost question."""
    unavailable: str = ""


@dataclass(frozen=True)
class Scene:
    """Where the kills of one scenario happen."""

    world: World
    model: str
    before_enter: Callable[[int], None] = lambda _: None
    after_kill: Callable[[], None] = lambda: None


def chat(scene: Scene) -> tuple[int, int]:
    """A chat on a terminal of its own: its process and the terminal."""
    child, terminal = pty.fork()
    if child == 0:
        from zkchat.cli.main import run
        from zkchat.core.environment import Environment

        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")  # those of the terminal
        with suppress(OSError):  # the load of others is not what is looked at
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
        environment = Environment(
            stdin=sys.stdin,
            stdout=sys.stdout,
            stderr=sys.stderr,
            variables={"TERM": "xterm-256color", "LANG": "C.UTF-8", **scene.world.variables},
            cwd=scene.world.vault,
            home=scene.world.home,
        )
        os._exit(run(["chat", "--continue", "--model", scene.model], environment))
    return child, terminal


def read_until(terminal: int, is_there: Callable[[bytes], bool], seen: bytes = b"") -> bytes:
    """What the terminal shows, until it is what is waited for. The cursor is always at the top, if it is asked for."""
    end = time.monotonic() + DEADLINE_SECONDS
    while not is_there(seen):
        if not select.select([terminal], [], [], max(0.0, end - time.monotonic()))[0]:
            raise TimeoutError(seen[-2000:])
        try:
            new = os.read(terminal, 65_536)
        except OSError as error:
            raise EOFError(seen[-2000:]) from error
        if ASKS_FOR_CURSOR in new:
            os.write(terminal, b"\x1b[1;1R")
        seen += new
    return seen


def is_at_prompt(seen: bytes) -> bool:
    return PROMPT in seen.partition(READS_KEYS)[2]


def press_enter(child: int, terminal: int) -> None:
    """Press the key, and wait until the child has read it."""
    end = time.monotonic() + DEADLINE_SECONDS
    other_side = os.open(f"/proc/{child}/fd/0", os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        os.write(terminal, b"\r")
        while int.from_bytes(fcntl.ioctl(other_side, termios.FIONREAD, bytes(4)), sys.byteorder):
            if time.monotonic() > end:
                raise TimeoutError("Enter was never read.")
            time.sleep(0.0002)
    finally:
        os.close(other_side)


def kill_after_enter(scene: Scene, question: str, moment: float, number: int) -> None:
    child, terminal = chat(scene)
    try:
        read_until(terminal, is_at_prompt)
        os.write(terminal, question.encode())
        read_until(terminal, lambda seen: question.rsplit(maxsplit=1)[-1].encode() in seen)
        scene.before_enter(number)
        press_enter(child, terminal)
        time.sleep(moment)  # the kill comes at any moment: that is the test
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)
        scene.after_kill()


def kill_repeatedly(scene: Scene, kills: int, earliest: float, rng: random.Random) -> Report:
    report = Report()
    for number in range(kills):
        question = f"Question {number} q{rng.randrange(10**12):012}"
        moment = earliest + (rng.uniform(0, SPAN) if number % 4 else 0)
        kill_after_enter(scene, question, moment, number)
        report.kills += 1
        (database,) = scene.world.home.rglob("sessions.db")
        with closing(sqlite3.connect(database)) as connection:
            report.unsound += connection.execute("PRAGMA integrity_check").fetchone() != ("ok",)
            found = connection.execute("SELECT 1 FROM entries WHERE instr (body, ?)", (question,)).fetchone()
        if not found:
            report.lost += 1
            report.lost_after.append(round(1000 * moment, 1))
    resumed = scene.world.run("ask", "Are you there?", "--continue", "--model", quick(scene.world))
    report.not_resumed = int(resumed.code != 0)
    return report


def quick(world: World) -> str:
    return world.script(*[[{"text": "Seven hours."}]] * 2000, context_limit=100_000)


def begun(folder: Path) -> World:
    """A user with one note and one session."""
    folder.mkdir(parents=True)
    world = World(folder)
    world.note("Sleep.md", "Adults need seven hours of sleep.\n")
    assert world.run("ask", "How long?", "--model", quick(world)).code == 0
    return world


@contextmanager
def dead(folder: Path) -> Iterator[Scene]:
    world = begun(folder)
    with closing(socket.create_server(("127.0.0.1", 0), backlog=0)) as server, closing(socket.socket()) as waiting:
        address = server.getsockname()
        waiting.connect(address)  # it takes the only slot of the queue, and nobody ever accepts it
        world.variables["ZKCHAT_OLLAMA__HOST"] = f"http://{address[0]}:{address[1]}"
        yield Scene(world, "ollama:llama3.2")


@contextmanager
def silent(folder: Path) -> Iterator[Scene]:
    world = begun(folder)
    with closing(socket.create_server(("127.0.0.1", 0), backlog=500)) as server:
        address = server.getsockname()
        world.variables["ZKCHAT_OLLAMA__HOST"] = f"http://{address[0]}:{address[1]}"
        yield Scene(world, "ollama:llama3.2")


@contextmanager
def index(folder: Path) -> Iterator[Scene]:
    world = begun(folder)

    def add_notes(number: int) -> None:
        for note in range(2500):
            world.note(f"{number}/{note}.md", f"# Note {note}\n\nIt links [[{note + 1}]] about sleep.\n" * 5)

    add_notes(0)
    (cache,) = world.home.rglob("index.db")
    small = cache.read_bytes()

    def forget() -> None:
        for file in cache.parent.glob("index.db*"):
            file.unlink()
        cache.write_bytes(small)

    yield Scene(world, slow(world), after_kill=forget)


@contextmanager
def full(folder: Path) -> Iterator[Scene]:
    data = folder / "home" / ".local" / "share"
    data.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(data)], check=True, capture_output=True)
    try:
        folder.joinpath("vault").mkdir()
        world = World(folder)
        world.note("Sleep.md", "Adults need seven hours of sleep.\n")
        assert world.run("ask", "How long?", "--model", quick(world)).code == 0
        filler = data / "filler"

        def fill(_number: int) -> None:
            with suppress(OSError), filler.open("wb", buffering=0) as stream:
                for size in (1 << 20, 4096, 1):
                    with suppress(OSError):
                        while True:
                            stream.write(bytes(size))

        yield Scene(world, slow(world), before_enter=fill, after_kill=lambda: filler.unlink(missing_ok=True))
    finally:
        subprocess.run(["umount", "-l", str(data)], check=False, capture_output=True)


@contextmanager
def compaction(folder: Path) -> Iterator[Scene]:
    world = begun(folder)
    long = "The cat sleeps on the warm stove, and the old dog waits beside it for the evening. " * 60
    for number in range(6):
        answer = world.script(*[[{"text": f"Answer {number}."}]] * 20, context_limit=100_000)
        assert world.run("ask", long, "--continue", "--model", answer).code == 0
    yield Scene(world, slow(world, context_limit=6000))


def slow(world: World, **more: int) -> str:
    """A model that answers after a minute."""
    file = world.root / "slow.json"
    file.write_text(json.dumps({"answers": [[{"delay": 60}, {"text": "At last."}]] * 2000, **more}))
    return f"scripted:{file}"


SCENARIOS: dict[str, tuple[Callable[[Path], "contextmanager[Scene]"], ...]] = {  # type: ignore[valid-type]
    "dead": (dead, silent),
    "index": (index,),
    "full": (full,),
    "compaction": (compaction,),
}


def run_scenario(name: str, folder: Path, kills: int, earliest: float, rng: random.Random) -> Report:
    total = Report()
    variants = SCENARIOS[name]
    for index, variant in enumerate(variants):
        share = kills // len(variants) + (index < kills % len(variants))
        try:
            with variant(folder / variant.__name__) as scene:  # type: ignore[attr-defined]
                report = kill_repeatedly(scene, share, earliest, rng)
        except subprocess.CalledProcessError as error:
            return Report(unavailable=error.stderr.decode().strip())
        total.kills += report.kills
        total.lost += report.lost
        total.unsound += report.unsound
        total.not_resumed += report.not_resumed
        total.lost_after += report.lost_after
    return total


def main() -> None:
    folder, kills, rng = Path(sys.argv[1]), int(sys.argv[2]), random.Random(sys.argv[3])
    warm = begun(folder / "warm")  # so that every module is loaded before the first chat is forked
    child, terminal = chat(Scene(warm, quick(warm)))
    read_until(terminal, is_at_prompt)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(terminal)
    names = sys.argv[5:] or list(SCENARIOS)
    earliest = float(sys.argv[4]) / 1000
    reports = {name: asdict(run_scenario(name, folder, kills, earliest, rng)) for name in names}
    sys.stdout.write(json.dumps(reports, indent=1) + "\n")


if __name__ == "__main__":
    main()
