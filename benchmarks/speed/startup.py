"""Start-up: each command's CPU time as a ratio to `python -c pass`, beside a Typer hello-world in the same run.

    python -m benchmarks.speed.startup [--runs N] [--notes N]

Commands over notes work on a generated vault that is indexed, and in which nothing has changed. Beside them stands a
look at every file of it (`scandir` + `stat`), which each of them has to take.
"""

import argparse
import compileall
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.generate import write_vault

HELLO = """import typer
app = typer.Typer(rich_markup_mode=None, add_completion=False)
@app.command()
def hello(name: str = "you") -> None: print("hello", name)
app()
"""


LOOK = """import os, sys
def look(folder):
    for entry in os.scandir(folder):
        look(entry.path) if entry.is_dir() else entry.stat()
look(sys.argv[1])
"""


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """Of CPU: user and system time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def commands(folder: Path, notes: int) -> dict[str, list[str]]:
    (folder / "hello.py").write_text(HELLO)
    (folder / "vault").mkdir()
    query, *_ = write_vault(folder / "vault", notes).queries(3)
    python, vault = sys.executable, str(folder / "vault")
    zkchat, hello = [python, "-m", "zkchat"], str(folder / "hello.py")
    return {
        "python -c pass": [python, "-c", "pass"],
        "import numpy": [python, "-c", "import numpy"],
        "Typer hello-world --help": [python, hello, "--help"],
        "Typer hello-world": [python, hello],
        "zkchat --version": [*zkchat, "--version"],
        "zkchat --help": [*zkchat, "--help"],
        "zkchat ask --help": [*zkchat, "ask", "--help"],
        "zkchat config show": [*zkchat, "config", "show", "--vault", vault],
        "zkchat sessions list": [*zkchat, "sessions", "list", "--vault", vault],
        f"scandir + stat, {notes:,} notes": [python, "-c", LOOK, vault],
        "zkchat index, nothing changed": [*zkchat, "index", "--vault", vault],
        "zkchat search tag:idea": [*zkchat, "search", "tag:idea", "--vault", vault],
        "zkchat search": [*zkchat, "search", query, "--vault", vault],
        "zkchat ask --model quote": [*zkchat, "ask", query, "--model", "quote", "--vault", vault],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--notes", type=int, default=10_000)
    wanted = parser.parse_args()
    compileall.compile_dir(Path(__file__).parents[2] / "zkchat", quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        listed = commands(Path(folder), wanted.notes)
        environment = {**os.environ, "HOME": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for command in listed.values():
            seconds(command, environment)  # once for the caches; the index is made here
        # Interleaved, so that a busy moment of the machine falls on all of them.
        times: dict[str, list[float]] = {name: [] for name in listed}
        for _ in range(wanted.runs):
            for name, command in listed.items():
                times[name].append(seconds(command, environment))
    baseline = statistics.median(times["python -c pass"])
    print(f"{'command':36}{'CPU ms':>10}{'ratio':>9}")
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"{name:36}{median * 1000:10.1f}{median / baseline:8.1f}x")


if __name__ == "__main__":
    main()
