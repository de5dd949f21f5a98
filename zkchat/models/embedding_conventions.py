"""What the settings say of an embedding model, and what its authors expect: prefixes, lengths, languages.

A model is recognised by its name, whoever publishes or serves it: owners, tags and quantizations do not matter.
"""

import re
from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Struct, field

SERVER_WEIGHT: Final = 7 / 3
"""Chosen with MiniLM on one half of the questions of benchmarks/retrieval."""


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

_RETRIEVE: Final = "Represent this sentence for searching relevant passages: "
_TASK: Final = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_ENGLISH: Final = frozenset({"en"})
_CHINESE: Final = frozenset({"zh", "en"})


class Convention(Struct, frozen=True):
    """How texts are handed to a model."""

    pattern: str
    """Of its name, in lower case with single hyphens."""
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = 512
    """Tokens of a text that it reads as it is usually served; nearly every model can read so many."""
    can_shorten: bool = False
    """Whether the first numbers of its vectors are vectors too (Matryoshka representations)."""
    languages: frozenset[str] = frozenset()
    """Codes of those that it was trained on, where they are few; empty: many, or not known."""


CONVENTIONS: Final = (
    Convention("nomic-embed-text-v2", "search_query: ", "search_document: ", can_shorten=True),
    Convention("nomic-embed-text", "search_query: ", "search_document: ", 2048, can_shorten=True, languages=_ENGLISH),
    Convention("e5-.*-instruct", f"{_TASK} "),
    Convention("e5", "query: ", "passage: "),
    Convention("bge-m3", max_tokens=8192),
    Convention("bge-(small|base|large)-zh", "为这个句子生成表示以用于检索相关文章：", languages=_CHINESE),
    Convention("bge-(small|base|large)", _RETRIEVE, languages=_ENGLISH),
    Convention("mxbai-embed", _RETRIEVE, can_shorten=True, languages=_ENGLISH),
    Convention("snowflake-arctic-embed(2|-[lm]-v2)", "query: ", "", 8192, can_shorten=True),
    Convention("snowflake-arctic-embed", _RETRIEVE, languages=_ENGLISH),
    Convention("qwen3-embedding", _TASK, "", 8192, can_shorten=True),
    Convention("embeddinggemma", "task: search result | query: ", "title: none | text: ", 2048, can_shorten=True),
    Convention("gte-qwen2.*-instruct", f"{_TASK} ", "", 8192),
    Convention("gte-(small|base|large)", languages=_ENGLISH),
    Convention("gte"),
    Convention(
        "jina-embeddings-v3",
        "Represent the query for retrieving evidence documents: ",
        "Represent the document for retrieval: ",
        8192,
        can_shorten=True,
    ),
    Convention("jina-embeddings-v2", max_tokens=8192),
    Convention("all-minilm", max_tokens=256, languages=_ENGLISH),
    Convention("all-mpnet", max_tokens=384, languages=_ENGLISH),
    Convention("paraphrase-multilingual", max_tokens=128),
    Convention("granite-embedding"),
    Convention("text-embedding-3-(small|large)", max_tokens=8191, can_shorten=True),
    Convention("text-embedding-ada-002", max_tokens=8191),
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
