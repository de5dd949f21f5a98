"""Time from `zkchat chat` to the first prompt on a terminal, as a ratio to `python -c pass` in the same run.

The vault was indexed before. Run it with: python -m benchmarks.speed.first_prompt [--notes N] [--runs N]
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
from pathlib import Path

import pexpect

from benchmarks.generate import write_vault

PACKAGE = Path(__file__).parents[2] / "zkchat"
EMPTY = """import asyncio
from prompt_toolkit import PromptSession
asyncio.run(PromptSession().prompt_async("you › "))
"""


def until_prompt(arguments: list[str], environment: dict[str, str]) -> float:
    """Seconds until `you ›` is on the screen."""
    start = time.perf_counter()
    child = pexpect.spawn(sys.executable, arguments, env=environment, encoding="utf-8", dimensions=(24, 80), timeout=60)
    child.expect("you ›")
    taken = time.perf_counter() - start
    child.close(force=True)
    return taken


def until_end(arguments: list[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, env=environment)
    return time.perf_counter() - start


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
        commands: dict[str, tuple[Callable[[list[str], dict[str, str]], float], list[str]]] = {
            "python -c pass": (until_end, ["-c", "pass"]),
            "prompt_toolkit alone": (until_prompt, [str(empty)]),
            f"zkchat chat, {options.notes:,} notes": (until_prompt, chat),
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for run in range(options.runs + 1):
            # Interleaved, so that a busy moment of the machine falls on all of them; the first run fills the caches.
            for name, (measure, arguments) in commands.items():
                taken = measure(arguments, environment)
                if run:
                    times[name].append(taken)
    baseline = statistics.median(times["python -c pass"])
    print(f"{'until the first prompt':36}{'median ms':>12}{'ratio':>9}")
    for name, taken_each in times.items():
        median = statistics.median(taken_each)
        print(f"{name:36}{median * 1000:12.1f}{median / baseline:8.1f}x")


if __name__ == "__main__":
    main()
