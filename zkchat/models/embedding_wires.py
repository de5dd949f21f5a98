"""What embedding models and their servers expect: Ollama's `/api/embed` and OpenAI's `/v1/embeddings`, prefixes of
queries and passages, lengths, dimensions.

A model is recognised by its name, whoever publishes or serves it: owners, tags and quantizations do not matter.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

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
        """The rows of a reply in the order of the texts. Raises `ValueError`, `TypeError` and `LookupError`."""
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


_RETRIEVE: Final = "Represent this sentence for searching relevant passages: "
_TASK: Final = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"

_ENGLISH: Final = frozenset({"en"})
_CHINESE: Final = frozenset({"zh", "en"})

DEFAULT_MAX_TOKENS: Final = 512
"""What nearly every embedding model can read."""


class Convention(Struct, frozen=True):
    """How texts are handed to a model, and what it makes of them."""

    pattern: str
    """Of its name, in lower case with single hyphens."""
    query_prefix: str = ""
    document_prefix: str = ""
    dimensions: int = 0
    """Of its vectors as they are; 0 where that is not known."""
    max_tokens: int = DEFAULT_MAX_TOKENS
    """Tokens of a text that it reads as it is usually served."""
    can_shorten: bool = False
    """Whether the first numbers of its vectors are vectors too (Matryoshka representations)."""
    languages: frozenset[str] = frozenset()
    """Codes of those that it was trained on, where they are few; empty: many, or not known."""


CONVENTIONS: Final = (
    Convention("nomic-embed-text-v2", "search_query: ", "search_document: ", 768, 512, can_shorten=True),
    Convention(
        "nomic-embed-text", "search_query: ", "search_document: ", 768, 2048, can_shorten=True, languages=_ENGLISH
    ),
    Convention("e5-.*-instruct", _TASK + " ", "", 1024),
    Convention("e5-small", "query: ", "passage: ", 384),
    Convention("e5-base", "query: ", "passage: ", 768),
    Convention("e5-large", "query: ", "passage: ", 1024),
    Convention("e5", "query: ", "passage: "),
    Convention("bge-m3", "", "", 1024, 8192),
    Convention("bge-(small|base|large)-zh", "为这个句子生成表示以用于检索相关文章：", languages=_CHINESE),
    Convention("bge-small", _RETRIEVE, "", 384, languages=_ENGLISH),
    Convention("bge-base", _RETRIEVE, "", 768, languages=_ENGLISH),
    Convention("bge-large", _RETRIEVE, "", 1024, languages=_ENGLISH),
    Convention("mxbai-embed", _RETRIEVE, "", 1024, can_shorten=True, languages=_ENGLISH),
    Convention("snowflake-arctic-embed-m-v2", "query: ", "", 768, 8192, can_shorten=True),
    Convention("snowflake-arctic-embed2|snowflake-arctic-embed-l-v2", "query: ", "", 1024, 8192, can_shorten=True),
    Convention("snowflake-arctic-embed-(xs|s|22m|33m)", _RETRIEVE, "", 384, languages=_ENGLISH),
    Convention("snowflake-arctic-embed-(m|110m|137m)", _RETRIEVE, "", 768, languages=_ENGLISH),
    Convention("snowflake-arctic-embed", _RETRIEVE, "", 1024, languages=_ENGLISH),
    Convention("qwen3-embedding-4b", _TASK, "", 2560, 8192, can_shorten=True),
    Convention("qwen3-embedding-8b", _TASK, "", 4096, 8192, can_shorten=True),
    Convention("qwen3-embedding-0-6b", _TASK, "", 1024, 8192, can_shorten=True),
    Convention("qwen3-embedding", _TASK, "", 0, 8192, can_shorten=True),
    Convention("embeddinggemma", "task: search result | query: ", "title: none | text: ", 768, 2048, can_shorten=True),
    Convention("gte-qwen2.*-instruct", _TASK + " ", "", 0, 8192),
    Convention("gte-small", "", "", 384, languages=_ENGLISH),
    Convention("gte-multilingual-base", "", "", 768),
    Convention("gte-base", "", "", 768, languages=_ENGLISH),
    Convention("gte-large", "", "", 1024, languages=_ENGLISH),
    Convention("gte", "", ""),
    Convention(
        "jina-embeddings-v3",
        "Represent the query for retrieving evidence documents: ",
        "Represent the document for retrieval: ",
        1024,
        8192,
        can_shorten=True,
    ),
    Convention("jina-embeddings-v2-small", "", "", 512, 8192),
    Convention("jina-embeddings-v2", "", "", 768, 8192),
    Convention("all-minilm", "", "", 384, 256, languages=_ENGLISH),
    Convention("all-mpnet", "", "", 768, 384, languages=_ENGLISH),
    Convention("paraphrase-multilingual-minilm", "", "", 384, 128),
    Convention("paraphrase-multilingual", "", "", 768, 128),
    Convention("granite-embedding-(278m|125m)", "", "", 768),
    Convention("granite-embedding", "", "", 384),
    Convention("text-embedding-3-small", "", "", 1536, 8191, can_shorten=True),
    Convention("text-embedding-3-large", "", "", 3072, 8191, can_shorten=True),
    Convention("text-embedding-ada-002", "", "", 1536, 8191),
)
"""The first whose pattern stands in the name counts."""

_UNKNOWN: Final = Convention("")


def convention_for(model: str) -> Convention:
    """What is known of a model by its name; texts go as they are to one that is not known."""
    name = re.sub(r"[^a-z0-9]+", "-", model.rpartition("/")[2].casefold())
    return next((each for each in CONVENTIONS if re.search(rf"(?:^|-)(?:{each.pattern})(?:-|$)", name)), _UNKNOWN)


def is_only_for_embedding(capabilities: Collection[object]) -> bool:
    """Whether a model with these capabilities makes vectors and answers nothing."""
    return "embedding" in capabilities and "completion" not in capabilities
