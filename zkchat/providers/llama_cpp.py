"""A model in a GGUF file, run in this process by llama.cpp (extra `zkchat[local]`)."""

import asyncio
import json
import threading
import weakref
from collections.abc import AsyncGenerator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from zkchat.errors import ProviderError
from zkchat.model.prompt import Finish, ModelChunk, ModelInfo, ModelRequest, PromptMessage, TextChunk
from zkchat.providers.completions import StreamedAnswer, message_param, tool_param
from zkchat.providers.descriptor import DEFAULT_MODEL_SETTINGS, ModelSettings
from zkchat.providers.errors import Endpoint, Reply, map_error
from zkchat.providers.llama_engine import Engine
from zkchat.providers.small_models import is_small, sampling_for
from zkchat.providers.transport import replace_surrogates

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk

BYTES_PER_TOKEN = 3
"""A low estimate, for texts that are counted before the model is loaded."""
_MIN_LOOP, _MAX_LOOP = 20, 300
"""In characters."""
_DOCTOR = "`zkchat doctor` shows what is set up."


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
        self._info = ModelInfo(
            provider="local",
            id=name or str(path),
            context_limit=self._engine.window,
            is_limit_declared=settings.context_limit is not None,
            calls_tools=self._engine.header.calls_tools if tools is None else tools,
            needs_evidence=is_small(self._engine.header.size) and tools is not True,
            on_this_machine=settings.local,
        )
        weakref.finalize(self, self._engine.close)

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def tokenizer(self) -> "LlamaCppTokens":
        return LlamaCppTokens(self._engine)

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
                self._engine.server.handle_chat_completions(body, take)
            except Exception as error:  # noqa: BLE001  # of a foreign library: raised where the answer is read
                take(error)
            take(None)

        loop.run_in_executor(None, work)
        try:
            answer, text = StreamedAnswer(self._endpoint), ""
            while (piece := await arrived.get()) is not None:
                for chunk in answer.chunks(self._read(piece)):
                    yield chunk
                    text += chunk.text if isinstance(chunk, TextChunk) else ""
                if repeats(text):
                    yield Finish(warning="The model began to repeat itself and was stopped.")
                    return
            for chunk in answer.end(request):
                yield chunk
        finally:
            closed.set()

    def _body(self, request: ModelRequest) -> dict[str, object]:
        sampling = sampling_for(request, self._settings, conservative=self._info.needs_evidence)
        tools = [tool_param(spec) for spec in request.tools]
        asked = {"temperature": sampling.temperature, "max_tokens": sampling.max_tokens, "tools": tools or None}
        return {
            **self._settings.options,
            **{name: value for name, value in asked.items() if value is not None},
            "messages": [message_param(self._escape_control_tokens(message)) for message in request.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,  # so that a request can be left while its prompt is still being read
        }

    def _escape_control_tokens(self, message: PromptMessage) -> PromptMessage:
        return replace(message, text=self._engine.escape_control_tokens(message.text))

    def _read(self, piece: bytes | Exception) -> "ChatCompletionChunk":
        """A piece of the answer. What came instead of one is raised as a `ProviderError`."""
        if isinstance(piece, ProviderError):
            raise piece
        if isinstance(piece, Exception):
            raise self._error(Reply(status=400, text=str(piece))) from piece
        chunk = json.loads(piece, object_hook=lambda fields: _Piece(**fields))
        if chunk.error:
            raise self._error(Reply(status=chunk.error.code or 500, text=chunk.error.message or ""))
        arrived: ChatCompletionChunk = chunk
        return arrived

    def _error(self, reply: Reply) -> ProviderError:
        return map_error(ValueError(), reply, self._endpoint).error


class _Piece(SimpleNamespace):
    """A piece of an answer as OpenAI's client shows it; to import that takes as long as to load a model."""

    def __getattr__(self, _name: str) -> None:
        """What llama.cpp leaves out."""

    @property
    def model_extra(self) -> dict[str, object]:
        return vars(self)


class LlamaCppTokens(Struct, frozen=True):
    """Counts as the model itself does once it is loaded; a count never loads it."""

    engine: Engine
    problem: ClassVar[str] = ""

    @property
    def exact(self) -> bool:
        return self.engine.is_loaded

    def count(self, text: str) -> int:
        words = self.engine.escape_control_tokens(replace_surrogates(text))
        counted = self.engine.count(words)
        return len(words.encode()) // BYTES_PER_TOKEN + 1 if counted is None else counted


def repeats(text: str) -> bool:
    """Whether it ends with the same words three times in a row, as small models do that do not know how to end."""
    tail = text[-3 * _MAX_LOOP :]
    return any(
        tail.endswith(tail[-size:] * 3) and any(letter.isalpha() for letter in tail[-size:])
        for size in range(_MIN_LOOP, len(tail) // 3 + 1)
    )
