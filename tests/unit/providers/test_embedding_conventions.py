"""Models are recognised by their names, whoever serves them."""

import re
from pathlib import Path

import pytest

from zkchat.models.embedding_wires import CONVENTIONS, Convention, convention_for

PAGE = Path(__file__).parents[3] / "docs" / "embeddings.md"

RETRIEVE = "Represent this sentence for searching relevant passages: "
TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"


@pytest.mark.parametrize(
    ("name", "query", "document", "dimensions"),
    [
        ("nomic-embed-text", "search_query: ", "search_document: ", 768),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: ", 768),
        ("text-embedding-nomic-embed-text-v1.5", "search_query: ", "search_document: ", 768),
        ("hf.co/nomic-ai/nomic-embed-text-v2-moe-GGUF:Q4_K_M", "search_query: ", "search_document: ", 768),
        ("intfloat/multilingual-e5-large", "query: ", "passage: ", 1024),
        ("intfloat/multilingual-e5-large-instruct", f"{TASK} ", "", 1024),
        ("e5-small-v2", "query: ", "passage: ", 384),
        ("jeffh/intfloat-multilingual-e5-base:f16", "query: ", "passage: ", 768),
        ("bge-m3:latest", "", "", 1024),
        ("BAAI/bge-large-en-v1.5", RETRIEVE, "", 1024),
        ("bge-small-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", "", 0),
        ("mxbai-embed-large:335m", RETRIEVE, "", 1024),
        ("snowflake-arctic-embed:22m", RETRIEVE, "", 384),
        ("snowflake-arctic-embed", RETRIEVE, "", 1024),
        ("snowflake-arctic-embed2:568m", "query: ", "", 1024),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", "", 1024),
        ("qwen3-embedding:0.6b", TASK, "", 1024),
        ("Qwen/Qwen3-Embedding-8B", TASK, "", 4096),
        ("embeddinggemma:300m", "task: search result | query: ", "title: none | text: ", 768),
        ("thenlper/gte-base", "", "", 768),
        ("jina-embeddings-v2-base-de", "", "", 768),
        ("all-minilm:l6-v2", "", "", 384),
        ("sentence-transformers/all-MiniLM-L6-v2", "", "", 384),
        ("text-embedding-3-large", "", "", 3072),
        ("my-own-model", "", "", 0),
        ("dragonfly-e50", "", "", 0),
    ],
)
def test_a_model_is_recognised_by_its_name(name: str, query: str, document: str, dimensions: int) -> None:
    known = convention_for(name)
    assert (known.query_prefix, known.document_prefix, known.dimensions) == (query, document, dimensions)


def test_models_of_one_language_are_known() -> None:
    assert convention_for("sentence-transformers/all-MiniLM-L6-v2").languages == {"en"}
    assert convention_for("paraphrase-multilingual-MiniLM-L12-v2").languages == frozenset()
    assert convention_for("nomic-embed-text-v2-moe").languages == frozenset()


def test_no_convention_is_hidden_behind_another() -> None:
    for convention in CONVENTIONS:
        name = re.sub(r"\(([^|)]*)[^)]*\)", r"\1", convention.pattern).split("|")[0].replace(".*", "x")
        assert convention_for(name) is convention


def documented_row(convention: Convention) -> str:
    prefixes = [convention.query_prefix, convention.document_prefix]
    cells = [
        convention.pattern.replace(".*", "…").replace("|", ", "),
        *(f"`{prefix}`".replace("\n", "⏎").replace("|", "\\|") if prefix else "" for prefix in prefixes),
        f"{convention.dimensions:,}" if convention.dimensions else "",
        f"{convention.max_tokens:,}",
        "yes" if convention.can_shorten else "",
        ", ".join(sorted(convention.languages)),
    ]
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def test_the_page_has_a_row_for_every_model() -> None:
    page = PAGE.read_text("utf-8")
    assert [row for row in map(documented_row, CONVENTIONS) if row not in page] == []
