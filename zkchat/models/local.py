"""The provider `local`: models in GGUF files, run in this process by llama.cpp (extra `zkchat[local]`)."""

import asyncio
import json
import os
import secrets
import socket
import tempfile
import threading
import weakref
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from zkchat.core import (
    ConfigError,
    ModelChunk,
    ModelInfo,
    ModelListing,
    ModelProvider,
    ModelRequest,
    ProviderError,
    Tokenizer,
    install_command,
)
from zkchat.models.completions import StreamedAnswer, message_param, tools_param
from zkchat.models.errors import BadReply, Endpoint, map_error
from zkchat.models.gguf import TO_PULL, find_model_file, model_files, models_folder, read_header, read_size
from zkchat.models.onnx import embedder_names
from zkchat.models.registry import (
    DEFAULT_MODEL_SETTINGS,
    Choice,
    ModelSettings,
    NamedModel,
    OfferedModel,
    ProviderContext,
    ProviderDescriptor,
    adapt_to_size,
    is_tiny,
    sampling_for,
)
from zkchat.models.transport import replace_surrogates

BYTES_PER_TOKEN = 3
"""A low estimate, for texts that are counted before the model is loaded."""
_DOCTOR = "`zkchat config doctor` shows what is set up."


BATCH_SIZE = 128
"""Prompt tokens that are processed at a time; a request can be cancelled between two batches."""
CACHE_MEGABYTES = 64
"""Of llama.cpp's prompt cache, which by default takes eight thousand."""


def is_installed() -> bool:
    return find_spec("xllamacpp") is not None


class Engine:
    """A model that is loaded when it is first needed, and its tokenizer. Every thread may use it."""

    problem = ""

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
        self._server: Any = None
        """A `xllamacpp.Server`, which comes without types."""
        self._folder = ExitStack()

    def close(self) -> None:
        self._server = None
        self._folder.close()

    @property
    def server(self) -> Any:
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
    def exact(self) -> bool:
        """Whether it is loaded, and counts tokens as it does itself; a count never loads it."""
        return self._server is not None

    def count(self, text: str) -> int:
        """The number of tokens of a text, asked over HTTP; an estimate as long as the model is not loaded."""
        words = self.escape_control_tokens(replace_surrogates(text))
        server, estimate = self._server, len(words.encode()) // BYTES_PER_TOKEN + 1
        if server is None:
            return estimate
        import httpx

        parts = urlsplit(server.listening_address)
        transport = httpx.HTTPTransport(verify=False, uds=parts.path if parts.scheme == "unix" else None)
        base = "http://localhost" if parts.scheme == "unix" else server.listening_address
        headers = {"Authorization": f"Bearer {self._key}"}
        try:
            with httpx.Client(transport=transport, base_url=base, headers=headers, timeout=None) as client:  # noqa: S113
                return len(client.post("/tokenize", json={"content": words}).json()["tokens"])
        except (httpx.HTTPError, ValueError, KeyError):
            return estimate

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

    def _load(self) -> Any:
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
        host = "127.0.0.1"
        if hasattr(socket, "AF_UNIX"):
            self._folder.close()
            folder = self._folder.enter_context(tempfile.TemporaryDirectory(prefix="zkchat-"))
            host = str(Path(folder) / "llama.sock")
        params.hostnames = [host]
        params.api_keys = [self._key]
        params.n_threads_http = 1
        if self._threads is not None:
            params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        try:
            return llama_cpp.Server(params)
        except RuntimeError as error:
            raise ProviderError(
                f"llama.cpp cannot load {self._path} with a window of {self.window:,} tokens.",
                hint="The file may be incomplete, too large for the memory, or too new for your xllamacpp. "
                "To update that: pip install --upgrade xllamacpp",
            ) from error


class LlamaCpp:
    def __init__(
        self,
        path: Path,
        *,
        name: str = "",
        settings: ModelSettings = DEFAULT_MODEL_SETTINGS,
        threads: int | None = None,
    ) -> None:
        """`settings.options` go into every request: `top_p`, `repeat_penalty`, what llama.cpp's server knows.

        Raises `ConfigError` where the package or the file is missing. The model is loaded when it is first needed.
        """
        self._engine = Engine(path, window=settings.context_limit, threads=threads)
        self._settings = settings
        self._endpoint = Endpoint(
            server="llama.cpp",
            model=name or path.name,
            if_unreachable=_DOCTOR,
            if_key_refused=_DOCTOR,
            if_model_missing=_DOCTOR,
        )
        tools = settings.calls_tools
        info = ModelInfo(
            provider="local",
            id=name or str(path),
            context_limit=self._engine.window,
            is_limit_declared=settings.context_limit is not None,
            calls_tools=self._engine.header.calls_tools if tools is None else tools,
            on_this_machine=settings.local,
        )
        self._info = adapt_to_size(info, self._engine.header.size, settings)
        weakref.finalize(self, self._engine.close)

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def tokenizer(self) -> Engine:
        return self._engine

    async def connect(self) -> None:
        """Load the model, on a thread of its own. Raises `ProviderError` where it cannot be loaded."""
        await asyncio.to_thread(lambda: self._engine.server)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Generates on a thread of its own, and stops a token or two after it is closed."""
        loop = asyncio.get_running_loop()
        arrived: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        closed = threading.Event()
        body = json.dumps(self._body(request)).encode()

        def take(piece: bytes | Exception | None) -> bool:
            loop.call_soon_threadsafe(arrived.put_nowait, piece)
            return closed.is_set()

        def work() -> None:
            try:
                # Answers piece by piece, until `take` returns True. Exceptions of it would be lost.
                self._engine.server.handle_chat_completions(body, take)
            except Exception as error:  # noqa: BLE001  # of a foreign library: raised where the answer is read
                take(error)
            take(None)

        loop.run_in_executor(None, work)
        try:
            answer = StreamedAnswer(self._endpoint)
            while (piece := await arrived.get()) is not None:
                if isinstance(piece, Exception):
                    raise piece
                for chunk in answer.chunks(piece):
                    yield chunk
            for chunk in answer.end(request):
                yield chunk
        except ProviderError:
            raise
        except BadReply as reply:
            raise map_error(BadReply(reply.status or 500, reply.text), self._endpoint).error from None
        except Exception as error:
            raise map_error(BadReply(400, str(error)), self._endpoint).error from error
        finally:
            closed.set()

    def _body(self, request: ModelRequest) -> dict[str, object]:
        temperature, max_tokens = sampling_for(request, self._settings, conservative=self._info.needs_evidence)
        asked = {"temperature": temperature, "max_tokens": max_tokens, **tools_param(request)}
        escape = self._engine.escape_control_tokens
        return {
            **self._settings.options,
            **{name: value for name, value in asked.items() if value is not None},
            "messages": [message_param(replace(each, text=escape(each.text))) for each in request.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,  # so that a request can be left while its prompt is still being read
        }


class LocalDescriptor(ProviderDescriptor, frozen=True):
    def create(self, model: NamedModel, context: ProviderContext) -> ModelProvider:
        path = find_model_file(model.id, folder=context.folder, home=context.home, cache=context.cache)
        windows = [window for window in (model.settings.context_limit, context.window) if window]
        settings = replace(model.settings, context_limit=min(windows, default=None))
        return LlamaCpp(path, name=model.id, settings=settings)

    def offered_models(self, context: ProviderContext) -> Sequence[OfferedModel]:
        files = model_files(context.cache)
        if not files:
            return ()  # looking for the package that runs them takes longer than all the rest
        return [OfferedModel(path.stem, is_tiny(read_size(path))) for path in files] if is_installed() else ()

    def choose(self, names: Sequence[str], context: ProviderContext) -> Choice | None:
        return Choice(model=f"local:{names[0]}", why="it is on this machine") if names else None

    async def list_models(self, context: ProviderContext) -> ModelListing:
        source, models = f"Files in {models_folder(context.cache)}", tuple(list_models(context.cache))
        embedders = tuple(f"local:{name}" for name in embedder_names(context.cache))
        if not models:
            return ModelListing(source=source, embedding_models=embedders, hint=f"Fetch one: {TO_PULL}")
        if not is_installed():
            return ModelListing(
                source=source,
                models=models,
                embedding_models=embedders,
                problem="They need the package xllamacpp, which is not installed.",
                hint=f"Install it: {install_command('local')}",
            )
        return ModelListing(source=source, models=models, embedding_models=embedders)

    def tokenizer(self, model: ModelProvider) -> Tokenizer:
        assert isinstance(model, LlamaCpp)
        return model.tokenizer


PROVIDER: Final = LocalDescriptor(name="local", usage="`local:NAME`, `local:FILE.gguf`", in_process=True)


def list_models(cache: Path) -> list[ModelInfo]:
    """The models in the cache folder: fetched ones, and those that the user put there. Other files are left out."""
    found = []
    for path in model_files(cache):
        with suppress(ConfigError):
            header = read_header(path)
            info = ModelInfo(
                provider="local",
                id=path.stem,
                context_limit=header.window,
                calls_tools=header.calls_tools,
                on_this_machine=True,
            )
            found.append(adapt_to_size(info, header.size, DEFAULT_MODEL_SETTINGS))
    return found
