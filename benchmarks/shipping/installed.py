"""What an installation takes, and what its program costs before it does anything, beside others of its kind.

    python -m benchmarks.shipping.installed FOLDER [--only NAME …] [--runs N] [--packages N]

Each program is installed with pip into an environment of its own in FOLDER, where it stays for the next run; zkchat is
the wheel of dist/ (`make dist`). Sizes are of all installed files, compiled ones with them, without pip. Start-up
is user and system time, as a ratio to `python -c pass` of the same environment in the same run.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

DIST = Path(__file__).parents[2] / "dist"
LISTING = """
import json
from importlib.metadata import distributions
def size(package):
    files = {file.locate() for file in package.files or ()}
    return sum(file.stat().st_size for file in files if file.is_file())
print(json.dumps({p.name: size(p) for p in distributions() if p.name not in ("pip", "setuptools")}))
"""


class Program(Struct, frozen=True):
    name: str
    package: str
    """As on the package index."""


PROGRAMS = (
    Program("zkchat", "zkchat"),
    Program("llm", "llm"),
    Program("aider", "aider-chat"),
    Program("zk-chat", "zk-chat"),
)


class Environment(Struct, frozen=True):
    folder: Path
    program: Program

    @property
    def python(self) -> Path:
        return self.folder / "bin/python"

    def install(self) -> None:
        wheels = self.folder / "wheel"
        if wheels.exists():
            return
        self._run([sys.executable, "-m", "venv", str(self.folder)])
        wanted = str(*DIST.glob("*.whl")) if self.program.package == "zkchat" else self.program.package
        self._run([str(self.python), "-m", "pip", "-q", "install", wanted])
        self._run([str(self.python), "-m", "pip", "-q", "download", "--no-deps", "-d", str(wheels), wanted])

    def packages(self) -> dict[str, int]:
        """The bytes of each installed package."""
        found: dict[str, int] = json.loads(self._run([str(self.python), "-c", LISTING]).splitlines()[-1])
        return found

    def wheel(self) -> Path:
        (wheel,) = (self.folder / "wheel").iterdir()
        return wheel

    def cpu_seconds(self, arguments: Sequence[str]) -> float | None:
        """Nothing if the program does not know such a call."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            self._run(arguments)
        except subprocess.CalledProcessError:
            return None
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def _run(self, arguments: Sequence[str]) -> str:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        self.folder.mkdir(parents=True, exist_ok=True)
        return subprocess.run(
            [*arguments], check=True, capture_output=True, text=True, cwd=self.folder,
            env=environment | {"HOME": str(self.folder)},
        ).stdout  # fmt: skip


def ratios(environment: Environment, runs: int) -> list[str]:
    """`--version` and `--help` beside `python -c pass`, taking turns; the first turn is for the caches."""
    program = str(environment.folder / "bin" / environment.program.name)
    commands = ([str(environment.python), "-c", "pass"], [program, "--version"], [program, "--help"])
    turns = [[environment.cpu_seconds(command) for command in commands] for _ in range(runs + 1)][1:]
    floor, *others = [[turn[number] for turn in turns] for number in range(len(commands))]
    baseline = statistics.median(seconds for seconds in floor if seconds)
    medians = [statistics.median(seconds for seconds in times if seconds) if all(times) else None for times in others]
    return [f"{median / baseline:.1f} x" if median else "none" for median in medians]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=[program.name for program in PROGRAMS])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--packages", type=int, default=0, help="so many of the largest packages of each")
    given = parser.parse_args()
    print(f"{'':10}{'version':12}{'wheel MB':>10}{'packages':>10}{'tree MB':>10}{'--version':>12}{'--help':>10}")
    for program in PROGRAMS:
        if given.only and program.name not in given.only:
            continue
        environment = Environment(given.folder.absolute() / program.package, program)
        environment.install()
        packages, wheel = environment.packages(), environment.wheel()
        version = wheel.name.split("-")[1]
        megabytes = f"{wheel.stat().st_size / 1e6:10.2f}{len(packages):10}{sum(packages.values()) / 1e6:10.0f}"
        start_up = "".join(f"{ratio:>11}" for ratio in ratios(environment, given.runs))
        print(f"{program.name:10}{version:12}{megabytes}{start_up}", flush=True)
        for name, size in sorted(packages.items(), key=lambda item: -item[1])[: given.packages]:
            print(f"{'':10}{name:30}{size / 1e6:8.1f}")


if __name__ == "__main__":
    main()
