"""Start-up: each command's time as a ratio to `python -c pass`, beside a Typer hello-world in the same run.

python -m benchmarks.speed.startup [--runs N]
"""

import argparse
import compileall
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HELLO = """import typer
app = typer.Typer(rich_markup_mode=None, add_completion=False)
@app.command()
def hello(name: str = "you") -> None: print("hello", name)
app()
"""


def seconds(command: list[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    package = Path(__file__).parents[2] / "zkchat"
    compileall.compile_dir(package, quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        hello = Path(folder) / "hello.py"
        hello.write_text(HELLO)
        vault = package.parent / "vault-fixtures" / "garden"
        python = sys.executable
        commands = {
            "python -c pass": [python, "-c", "pass"],
            "Typer hello-world --help": [python, str(hello), "--help"],
            "Typer hello-world": [python, str(hello)],
            "zkchat --version": [python, "-m", "zkchat", "--version"],
            "zkchat --help": [python, "-m", "zkchat", "--help"],
            "zkchat ask --help": [python, "-m", "zkchat", "ask", "--help"],
            "zkchat ask … (quote, warm index)": [
                python, "-m", "zkchat", "ask", "Why are titles statements?", "--vault", str(vault), "--model", "quote",
            ],
        }  # fmt: skip
        environment = {**os.environ, "HOME": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for command in commands.values():
            seconds(command, environment)  # once for the caches
        # Interleaved, so that a busy moment of the machine falls on all of them.
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(runs):
            for name, command in commands.items():
                times[name].append(seconds(command, environment))
    baseline = statistics.median(times["python -c pass"])
    print(f"{'command':36}{'median ms':>12}{'ratio':>9}")
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"{name:36}{median * 1000:12.1f}{median / baseline:8.1f}x")


if __name__ == "__main__":
    main()
