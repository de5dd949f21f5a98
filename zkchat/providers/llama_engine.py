"""llama.cpp in this process: one loaded model that answers requests of OpenAI's protocol and counts tokens."""

import json
import os
import secrets
import socket
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPException
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from zkchat.errors import ConfigError, ProviderError
from zkchat.extras import install_command
from zkchat.providers.gguf import read_header

BATCH_SIZE = 128
"""Prompt tokens that are processed at a time; a request can be cancelled between two batches."""
CACHE_MEGABYTES = 64
"""Of llama.cpp's prompt cache, which by default takes eight thousand."""


class Server(Protocol):
    """What we use of `xllamacpp.Server`, which comes without types."""

    @property
    def listening_address(self) -> str: ...

    def handle_chat_completions(self, request: bytes, callback: Callable[[bytes], bool], /) -> None:
        """Answer piece by piece, until the callback returns True. Exceptions of the callback are lost."""
        ...


def is_installed() -> bool:
    return find_spec("xllamacpp") is not None


class Engine:
    """A model that is loaded when it is first needed. Every thread may use it."""

    def __init__(self, path: Path, *, window: int | None = None, threads: int | None = None) -> None:
        """Raises `ConfigError` where the package or the file is missing."""
        if not is_installed():
            raise ConfigError(
                "A model in a file needs the package xllamacpp, which is not installed.",
                hint=f"Install it: {install_command('local')}",
            )
        # Threads that spin while they wait make llama.cpp ten times slower. It reads this when it is imported.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # noqa: TID251
        self.header = read_header(path)
        self.window = window or self.header.window
        self._path = path
        self._threads = threads
        self._control_tokens = self.header.control_tokens
        self._key = secrets.token_urlsafe()
        self._lock = threading.Lock()
        self._server: Server | None = None
        self._folder = ExitStack()

    def close(self) -> None:
        self._server = None
        self._folder.close()

    @property
    def server(self) -> Server:
        """The loaded model. Raises `ProviderError` where it cannot be loaded."""
        with self._lock:
            if self._server is None:
                self._check_memory()
                self._server = self._load()
            return self._server

    def escape_control_tokens(self, text: str) -> str:
        """Break up control tokens in a text, with which a note could end its own message."""
        if self._control_tokens is None:
            return text
        return self._control_tokens.sub(lambda found: f"{found[0][:1]}\u200b{found[0][1:]}", text)

    @property
    def is_loaded(self) -> bool:
        return self._server is not None

    def count(self, text: str) -> int | None:
        """The number of tokens of a text, asked over HTTP; None as long as the model is not loaded."""
        server = self._server
        if server is None:
            return None
        connection = _connection(server.listening_address)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        try:
            connection.request("POST", "/tokenize", json.dumps({"content": text}), headers)
            return len(json.load(connection.getresponse())["tokens"])
        except (OSError, HTTPException, ValueError, KeyError):
            return None
        finally:
            connection.close()

    def _check_memory(self) -> None:
        """A model that is too large does not fail to load: it brings the whole machine to a halt."""
        if not hasattr(os, "sysconf"):
            return
        needed, there = self.header.bytes_for(self.window), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if needed > there:
            raise ProviderError(
                f"{self._path} needs {needed / 1e9:,.1f} GB of memory with a window of {self.window:,} tokens; "
                f"this machine has {there / 1e9:,.1f} GB.",
                hint="Choose a smaller file, or a smaller window: zkchat config set context.max_tokens 4096",
            )

    def _load(self) -> Server:
        llama_cpp = import_module("xllamacpp")
        params = llama_cpp.CommonParams()
        params.model.path = str(self._path)
        params.n_ctx = self.window
        params.n_batch = params.n_ubatch = BATCH_SIZE
        params.n_parallel = 1
        params.cache_ram_mib = CACHE_MEGABYTES
        params.verbosity = 0
        params.ui = False
        params.warmup = False
        # It always listens somewhere: in a folder that is ours alone, or at least behind a key that nobody knows.
        params.hostnames = [self._socket() if hasattr(socket, "AF_UNIX") else "127.0.0.1"]
        params.api_keys = [self._key]
        params.n_threads_http = 1
        if self._threads is not None:
            params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        try:
            server: Server = llama_cpp.Server(params)
        except RuntimeError as error:
            raise ProviderError(
                f"llama.cpp cannot load {self._path} with a window of {self.window:,} tokens.",
                hint="The file may be incomplete, too large for the memory, or newer than your xllamacpp: "
                "pip install --upgrade xllamacpp",
            ) from error
        return server

    def _socket(self) -> str:
        self._folder.close()
        return str(Path(self._folder.enter_context(tempfile.TemporaryDirectory(prefix="zkchat-"))) / "llama.sock")


class _UnixConnection(HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)


def _connection(address: str) -> HTTPConnection:
    parts = urlsplit(address)
    return _UnixConnection(parts.path) if parts.scheme == "unix" else HTTPConnection(parts.netloc)
