"""Time from `zkchat chat` to the first prompt on a terminal, as a ratio to `python -c pass` in the same run.

Somebody types from the first moment on. The prompt has to show a key as soon as it is there, and to hold all that were
typed before it. The vault was indexed before; the last row is a vault that is new. Run it with:
python -m benchmarks.speed.first_prompt [--notes N] [--runs N]
"""

import argparse
import compileall
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from string import ascii_lowercase

import pexpect
import pyte

from benchmarks.generate import write_vault

PACKAGE = Path(__file__).parents[2] / "zkchat"
EMPTY = """import asyncio
from prompt_toolkit import PromptSession
asyncio.run(PromptSession().prompt_async("you › "))
"""
PROMPT = "you ›"
GREETING = "zkchat · "
"""Above the prompt, when all of it is there."""
KEY_SECONDS = 0.01
MAX_SECONDS = 60
WIDTH = 400
"""So that all that is typed stands on one row."""


@dataclass(frozen=True)
class Start:
    prompt: float
    """Seconds until the prompt is on the screen."""
    key: float = 0.0
    """Seconds until all keys that were typed before stand in it."""
    whole: float = 0.0
    """Seconds until the greeting is above it."""
    cpu: float = 0.0
    """Seconds of the processor that the program took until then."""
    typed: int = 0
    lost: int = 0


class TypingUser:
    """Types a key every hundredth of a second until there is a prompt, and looks at the screen."""

    def __init__(self, arguments: list[str], environment: dict[str, str], greeting: str) -> None:
        self._screen = pyte.Screen(WIDTH, 24)
        self._stream = pyte.Stream(self._screen)
        self._greeting = greeting
        self._is_whole = False
        self._in_prompt: str | None = None
        """What stands in the prompt; None before there is one."""
        self._begun = time.perf_counter()
        self._child = pexpect.spawn(
            sys.executable, arguments, env=environment, encoding="utf-8", dimensions=(24, WIDTH), timeout=MAX_SECONDS
        )

    def start(self) -> Start:
        keys, typed = cycle(ascii_lowercase), ""
        while self._in_prompt is None:
            typed += next(keys)
            self._child.send(typed[-1])
            self._read(KEY_SECONDS)
        prompt = self._elapsed()
        while self._in_prompt != typed and self._elapsed() < prompt + 5:
            self._read(KEY_SECONDS)
        key = self._elapsed()
        while not (self._is_whole and self._in_prompt == typed) and self._elapsed() < prompt + 10:
            self._read(KEY_SECONDS)
        whole, cpu, arrived = self._elapsed(), self._processor_seconds(), self._in_prompt or ""
        self._child.close(force=True)
        return Start(prompt=prompt, key=key, whole=whole, cpu=cpu, typed=len(typed), lost=len(typed) - len(arrived))

    def _processor_seconds(self) -> float:
        fields = Path(f"/proc/{self._child.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _elapsed(self) -> float:
        taken = time.perf_counter() - self._begun
        if taken > MAX_SECONDS:
            raise TimeoutError("There is no prompt.")
        return taken

    def _read(self, seconds: float) -> None:
        try:
            self._stream.feed(self._child.read_nonblocking(65_536, timeout=seconds))
        except pexpect.TIMEOUT:
            self._elapsed()
            return
        rows = [(number, row) for number, row in enumerate(self._screen.display) if PROMPT in row]
        if rows:
            self._in_prompt = rows[-1][1].rpartition(PROMPT)[2].strip()
            self._is_whole = any(self._greeting in row for row in self._screen.display[: rows[-1][0] + 1])


def until_prompt(arguments: list[str], environment: dict[str, str]) -> Start:
    return TypingUser(arguments, environment, GREETING if "zkchat" in arguments else PROMPT).start()


def until_end(arguments: list[str], environment: dict[str, str]) -> Start:
    begun, before = time.perf_counter(), os.times()
    subprocess.run([sys.executable, *arguments], check=True, env=environment)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Start(prompt=time.perf_counter() - begun, cpu=cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    compileall.compile_dir(PACKAGE, quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HOME": folder, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
        for name in ("PYTHONDONTWRITEBYTECODE", "CI"):
            environment.pop(name, None)
        vault, empty = Path(folder) / "vault", Path(folder) / "empty.py"
        write_vault(vault, options.notes)
        empty.write_text(EMPTY)
        until_end(["-m", "zkchat", "index", "--vault", str(vault)], {**environment, "TERM": "dumb"})
        chat = ["-m", "zkchat", "chat", "--model", "quote", "--vault", str(vault)]

        def until_prompt_of_new_vault(arguments: list[str], environment: dict[str, str]) -> Start:
            with tempfile.TemporaryDirectory(dir=folder) as caches:
                return until_prompt(arguments, {**environment, "XDG_CACHE_HOME": caches})

        commands: dict[str, tuple[Callable[[list[str], dict[str, str]], Start], list[str]]] = {
            "python -c pass": (until_end, ["-c", "pass"]),
            "prompt_toolkit alone": (until_prompt, [str(empty)]),
            f"zkchat chat, {options.notes:,} notes": (until_prompt, chat),
            "the same, not indexed yet": (until_prompt_of_new_vault, chat),
        }
        starts: dict[str, list[Start]] = {name: [] for name in commands}
        for run in range(options.runs + 1):
            # Interleaved, so that a busy moment of the machine falls on all of them; the first run fills the caches.
            for name, (measure, arguments) in commands.items():
                start = measure(arguments, environment)
                if run:
                    starts[name].append(start)
    print_table(starts)


def print_table(starts: dict[str, list[Start]]) -> None:
    def median(name: str, of: str) -> float:
        values: list[float] = [getattr(start, of) for start in starts[name]]
        return statistics.median(values)

    floor = "python -c pass"
    elapsed, cpu = median(floor, "prompt"), statistics.mean(start.cpu for start in starts[floor])
    columns = ("first, ms", "ratio", "keys, ms", "whole, ms", "ratio", "CPU ratio", "typed", "lost")
    print(f"{'until the prompt is there':30}" + "".join(f"{column:>11}" for column in columns))
    for name, each in starts.items():
        prompt, key, whole = (median(name, of) for of in ("prompt", "key", "whole"))
        line = f"{name:30}{prompt * 1000:11.1f}{prompt / elapsed:10.1f}x"
        if key:
            typed, lost = sum(start.typed for start in each), sum(start.lost for start in each)
            line += f"{key * 1000:11.1f}{whole * 1000:11.1f}{whole / elapsed:10.1f}x"
            line += f"{median(name, 'cpu') / cpu:10.1f}x{typed:11}{lost:11}"
        print(line)


if __name__ == "__main__":
    main()
