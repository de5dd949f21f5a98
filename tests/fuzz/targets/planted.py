"""Defects made on purpose, one for each number, to show that the harness sees them. Not among the targets of a run."""

import os
import re
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.case import Broken, Case, Folders, Target, require


def nothing(_: Case) -> None:
    """A case that passes."""


def exception(case: Case) -> None:
    case.note("input.txt", "the input")
    raise ValueError("planted")


def promise(_: Case) -> None:
    raise Broken("a planted promise\nseen: otherwise")


def hang_in_c(_: Case) -> None:
    re.match("(a+)+$", "a" * 60 + "b")


def leave(_: Case) -> None:
    os._exit(0)


def confined(case: Case) -> None:
    """Nothing of this is allowed, so the case passes."""
    attempts: list[Callable[[], object]] = [
        lambda: Path("/tmp/zkchat-fuzz-planted").write_text(""),
        lambda: Path(case.folder.parents[1] / "planted").mkdir(),
        lambda: Path("/tmp/zkchat-fuzz-planted").symlink_to("x"),
        lambda: subprocess.run(["true"], check=False),
        lambda: socket.create_connection(("192.0.2.1", 9), timeout=1),
        lambda: socket.getaddrinfo("example.org", 80),
    ]
    for number, attempt in enumerate(attempts):
        try:
            attempt()
        except OSError as error:
            require("the case" in str(error), f"attempt {number} is refused by the harness", str(error))
        else:
            raise Broken(f"attempt {number} was allowed")


DEFECTS = (nothing, exception, promise, hang_in_c, leave, confined, nothing)


class Planted:
    def run(self, case: Case) -> None:
        DEFECTS[case.number](case)


def make(_folders: Folders) -> Target:
    return Planted()
