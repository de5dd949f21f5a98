"""The form of embedding requests and replies: Ollama's `/api/embed`, and OpenAI's `/v1/embeddings`."""

import math
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from msgspec import Struct, field

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_KEEP_ALIVE: Final = "10m"
"""For so long Ollama keeps the model loaded, so that the next question need not wait for it."""


class EmbeddingSettings(Struct, frozen=True, kw_only=True):
    """What the settings say of the embedding model."""

    batch_size: int = 32
    timeout: float = 60.0
    dimensions: int | None = None
    query_prefix: str | None = None
    """None: what is known of the model."""
    document_prefix: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    """Sent along as the server knows them."""
    local: bool = True
    """False where the model runs on another machine, whatever its address says."""


DEFAULT_EMBEDDING_SETTINGS: Final = EmbeddingSettings()


class EmbeddingWire(Protocol):
    """The form of requests and replies of one kind of server."""

    @property
    def url(self) -> str: ...

    def body(self, texts: Sequence[str], settings: EmbeddingSettings) -> dict[str, object]: ...

    def rows(self, reply: Any) -> list[Any]:
        """The rows of a reply in the order of the texts. Raises `ValueError`, `TypeError` and `LookupError`."""
        ...


class OllamaWire(Struct, frozen=True):
    """Ollama's own interface, whose OpenAI-like one ignores options."""

    model: str
    host: str

    @property
    def url(self) -> str:
        return f"{self.host.rstrip('/')}/api/embed"

    def body(self, texts: Sequence[str], settings: EmbeddingSettings) -> dict[str, object]:
        options = {"keep_alive": _KEEP_ALIVE, **settings.options}
        body: dict[str, object] = {"model": self.model, "input": [*texts], "truncate": True}
        body["keep_alive"] = options.pop("keep_alive")
        if options:
            body["options"] = options
        return body if settings.dimensions is None else {**body, "dimensions": settings.dimensions}

    def rows(self, reply: Any) -> list[Any]:
        return [*reply["embeddings"]]


class OpenAIWire(Struct, frozen=True):
    """OpenAI's embeddings, as llama.cpp, vLLM, LM Studio and others offer them too."""

    model: str
    base_url: str

    @property
    def url(self) -> str:
        return f"{self.base_url.rstrip('/')}/embeddings"

    def body(self, texts: Sequence[str], settings: EmbeddingSettings) -> dict[str, object]:
        body = {**settings.options, "model": self.model, "input": [*texts], "encoding_format": "float"}
        return body if settings.dimensions is None else {**body, "dimensions": settings.dimensions}

    def rows(self, reply: Any) -> list[Any]:
        entries = [*reply["data"]]
        places = [entry.get("index", place) for place, entry in enumerate(entries)]
        if sorted(places) != [*range(len(entries))]:
            raise ValueError("rows are missing or there twice")
        return [entry["embedding"] for _, entry in sorted(zip(places, entries, strict=True), key=lambda pair: pair[0])]


def numbers_of(row: Any) -> "NDArray[np.float32]":
    """The numbers of a row, which a server may send packed whatever it was asked for."""
    import numpy as np

    if isinstance(row, str):
        return np.frombuffer(b64decode(row, validate=True), dtype="<f4")
    return np.array([math.nan if number is None else number for number in row], dtype=np.float32)
