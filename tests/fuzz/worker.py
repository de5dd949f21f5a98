"""The child process: reads lines of a target's name and a number, runs these cases, and answers each with JSON.

    python -m tests.fuzz.worker SEED FOLDER CPU_SECONDS

A case that takes too much CPU ends the process by SIGPROF, after its stack was written to FOLDER/stacks.txt.
"""

import faulthandler
import importlib
import json
import logging
import os
import shutil
import signal
import sys
import threading
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.case import Broken, Case, Folders, Target, signature
from tests.fuzz.confinement import confine_to, limit_memory

STACKS = "stacks.txt"
CASE = "case"


@dataclass
class Strays(logging.Handler):
    """Exceptions that reach nobody: of threads, of finalizers, of tasks that nobody waits for."""

    seen: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(logging.ERROR)
        logging.getLogger("asyncio").addHandler(self)
        threading.excepthook = lambda args: self._add(args.exc_value)
        sys.unraisablehook = lambda args: self._add(args.exc_value)

    def __hash__(self) -> int:
        return id(self)

    def emit(self, record: logging.LogRecord) -> None:
        self._add(record.exc_info[1] if record.exc_info else RuntimeError(record.getMessage()))

    def taken(self) -> str:
        text, self.seen = "\n".join(self.seen), []
        return text

    def _add(self, error: BaseException | None) -> None:
        if error is not None:
            self.seen.append("".join(traceback.format_exception(error)))


def failure_of(target: Target, case: Case, strays: Strays) -> dict[str, str] | None:
    trace = ""
    try:
        target.run(case)
    except Broken as broken:
        trace = "".join(traceback.format_exception(broken))
        promise = str(broken).partition("\n")[0]
        return {"kind": "promise", "signature": promise, "text": trace + strays.taken()}
    except BaseException as error:
        trace = "".join(traceback.format_exception(error))
    kind, trace = ("exception", trace) if trace else ("stray exception", strays.taken())
    return {"kind": kind, "signature": signature(trace), "text": trace} if trace else None


def run_case(target: Target, case: Case, strays: Strays, cpu_seconds: float) -> dict[str, str] | None:
    shutil.rmtree(case.folder, ignore_errors=True)
    case.folder.mkdir()
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    try:
        return failure_of(target, case, strays)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def make_target(name: str, folder: Path) -> Target:
    folders = Folders(folder / "shared" / name, folder / CASE)
    shutil.rmtree(folders.case, ignore_errors=True)
    folders.shared.mkdir(parents=True)
    made: Target = importlib.import_module(f"tests.fuzz.targets.{name}").make(folders)
    return made


def main() -> None:
    seed, folder, cpu_seconds = int(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
    # Whatever a library prints is kept apart from our lines.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    limit_memory()
    os.chdir(folder)
    confine_to(folder)
    strays = Strays()
    targets: dict[str, Target] = {}
    stacks = (folder / STACKS).open("w")
    faulthandler.enable(stacks)
    faulthandler.register(signal.SIGPROF, stacks, all_threads=True, chain=True)
    for line in sys.stdin:
        name, number = line.split()
        target = targets.get(name) or targets.setdefault(name, make_target(name, folder))
        case = Case(seed, name, int(number), folder / CASE)
        answers.write(json.dumps(run_case(target, case, strays, cpu_seconds)) + "\n")
        answers.flush()
    os._exit(0)  # threads of a target need not be waited for


if __name__ == "__main__":
    main()
