"""Models are recognised by their names, whoever serves them."""

import pytest

from zkchat.models.embedding_conventions import convention_for

RETRIEVE = "Represent this sentence for searching relevant passages: "
TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"


@pytest.mark.parametrize(
    ("name", "query", "document", "tokens"),
    [
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: ", 2048),
        ("hf.co/nomic-ai/nomic-embed-text-v2-moe-GGUF:Q4_K_M", "search_query: ", "search_document: ", 512),
        ("jeffh/intfloat-multilingual-e5-base:f16", "query: ", "passage: ", 512),
        ("intfloat/multilingual-e5-large-instruct", f"{TASK} ", "", 512),
        ("BAAI/bge-large-en-v1.5", RETRIEVE, "", 512),
        ("bge-small-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", "", 512),
        ("snowflake-arctic-embed2:568m", "query: ", "", 8192),
        ("Snowflake/snowflake-arctic-embed-m-v2.0", "query: ", "", 8192),
        ("Qwen/Qwen3-Embedding-8B", TASK, "", 8192),
        ("embeddinggemma:300m", "task: search result | query: ", "title: none | text: ", 2048),
        ("sentence-transformers/all-MiniLM-L6-v2", "", "", 256),
        ("text-embedding-3-large", "", "", 8191),
        ("dragonfly-e50", "", "", 512),
    ],
)
def test_a_model_is_recognised_by_its_name(name: str, query: str, document: str, tokens: int) -> None:
    known = convention_for(name)
    assert (known.query_prefix, known.document_prefix, known.max_tokens) == (query, document, tokens)


def test_models_of_one_language_are_known() -> None:
    assert convention_for("sentence-transformers/all-MiniLM-L6-v2").languages == {"en"}
    assert convention_for("paraphrase-multilingual-MiniLM-L12-v2").languages == frozenset()
    assert convention_for("nomic-embed-text-v2-moe").languages == frozenset()
