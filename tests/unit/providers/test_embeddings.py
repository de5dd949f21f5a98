"""Vectors from servers, over both wires, against a server on this machine that can fail."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.providers.loopback import serving
from tests.support.embedding_server import EmbeddingServer, Received, Sent, vector_of, wrapped
from tests.support.waiting import DEADLINE
from zkchat.core.errors import ProviderError, TextKeptHere, TextRefused
from zkchat.core.index import OpenText
from zkchat.models import embeddings
from zkchat.models.embedding_conventions import EmbeddingSettings
from zkchat.models.embeddings import ServerEmbedder, ollama_embedder, openai_embedder
from zkchat.models.transport import TransportPolicy

pytestmark = pytest.mark.outside
KEY = "sk-canary-77aa"
QUICK = TransportPolicy(connect_timeout=DEADLINE, max_retries=2, backoff=0.001, max_backoff=5)
WIRES = ("ollama", "openai")


server = serving(EmbeddingServer, scope="function")


def embedder_at(
    server: EmbeddingServer, wire: str = "ollama", model: str = "some-model", **settings: object
) -> ServerEmbedder:
    wanted = replace(EmbeddingSettings(timeout=DEADLINE), **settings)
    if wire == "ollama":
        made = ollama_embedder(model, host=server.host, api_key=KEY, settings=wanted)
    else:
        made = openai_embedder(model, base_url=f"{server.host}/v1", api_key=KEY, settings=wanted)
    made._policy = QUICK
    return made


def opened(*texts: str) -> list[OpenText]:
    return [*map(OpenText, texts)]


def unit(text: str, dimensions: int = 32) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    row = np.array(vector_of(text, dimensions), dtype=np.float32)
    return row / np.linalg.norm(row)


def test_ollama_gets_what_its_documentation_asks_for(server: EmbeddingServer) -> None:
    rows = embedder_at(server, model="nomic-embed-text", options={"num_ctx": 2048}).embed(
        opened("tea and cake", "rain")
    )
    assert server.received[0].path == "/api/embed"
    assert server.received[0].body == {
        "model": "nomic-embed-text",
        "input": ["search_document: tea and cake", "search_document: rain"],
        "truncate": True,
        "keep_alive": "10m",
        "options": {"num_ctx": 2048},
    }
    np.testing.assert_allclose(rows[0], unit("search_document: tea and cake"), rtol=1e-6)
    embedder_at(server, options={"keep_alive": -1}).embed(opened("tea"))
    assert (server.received[1].body["keep_alive"], "options" in server.received[1].body) == (-1, False)


def test_openai_gets_what_its_documentation_asks_for(server: EmbeddingServer) -> None:
    embedder = embedder_at(server, "openai", "text-embedding-3-small", dimensions=16, options={"user": "me"})
    rows = embedder.embed(opened("tea and cake", "rain"))
    assert server.received[0].path == "/v1/embeddings"
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.received[0].body == {
        "model": "text-embedding-3-small",
        "input": ["tea and cake", "rain"],
        "encoding_format": "float",
        "dimensions": 16,
        "user": "me",
    }
    np.testing.assert_allclose(rows[1], unit("rain", 16), rtol=1e-6)  # whatever the order in the reply


@pytest.mark.parametrize("wire", WIRES)
def test_a_question_has_its_own_prefix(server: EmbeddingServer, wire: str) -> None:
    embedder_at(server, wire, "nomic-ai/Nomic-Embed-Text-v1.5:Q8_0").embed_query("who drinks tea?")
    assert server.embedded == ["search_query: who drinks tea?"]
    server.received.clear()
    overridden = embedder_at(server, wire, "nomic-embed-text", query_prefix="ask: ", document_prefix="")
    overridden.embed_query("tea?")
    overridden.embed(["tea"])
    assert server.embedded == ["ask: tea?", "tea"]


def test_vectors_made_in_different_ways_have_different_names(server: EmbeddingServer) -> None:
    plain = embedder_at(server, model="all-minilm")
    assert plain.name == "ollama:all-minilm" == embedder_at(server, model="all-minilm:latest").name
    names = {
        plain.name,
        embedder_at(server, model="all-minilm", dimensions=16).name,
        embedder_at(server, model="all-minilm", document_prefix="x").name,
        embedder_at(server, "openai", model="all-minilm").name,
    }
    assert len(names) == 4


def test_batches_are_bounded_in_texts_and_in_length(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "_MAX_BATCH_CHARS", 40)
    texts = opened("a b", "c", "d", "e" * 30, "f" * 30, "g")
    rows = embedder_at(server, batch_size=2).embed(texts)
    assert [request.body["input"] for request in server.received] == [texts[:2], texts[2:4], texts[4:]]
    np.testing.assert_allclose(rows, [unit(text) for text in texts], rtol=1e-6)


def test_a_long_text_is_cut_to_what_the_model_reads_and_an_empty_one_not_sent(server: EmbeddingServer) -> None:
    rows = embedder_at(server, model="all-minilm").embed(["word " * 1000, "茶" * 1000, "", "short", " \n"])
    assert [len(text) for text in server.embedded] == [1024, 256, 5]
    assert rows.any(axis=1).tolist() == [True, True, False, True, False]


@pytest.mark.parametrize("status", [400, 500])
def test_a_text_that_is_too_long_is_cut_and_holds_up_no_other(server: EmbeddingServer, status: int) -> None:
    def refuse_long(request: Received) -> Sent | None:
        if max(map(len, request.body["input"])) > 300:
            return Sent(status, {"error": "the input length exceeds the context length"})
        return None

    server.always = refuse_long
    rows = embedder_at(server).embed(["tea", "rain " * 200, "cake"])
    assert rows.any(axis=1).all()
    np.testing.assert_allclose(rows[[0, 2]], [unit("tea"), unit("cake")], rtol=1e-6)


def test_a_text_that_is_refused_holds_up_no_other(server: EmbeddingServer) -> None:
    server.always = lambda request: Sent(400, {"error": "bad input"}) if "bad" in request.body["input"] else None
    embedder = embedder_at(server)
    assert embedder.embed(["tea", "bad", "rain", "cake"]).any(axis=1).tolist() == [True, False, True, True]
    with pytest.raises(TextRefused, match="bad input"):
        embedder.embed(["bad"])


def test_a_model_that_refuses_everything_is_not_blamed_on_the_texts(server: EmbeddingServer) -> None:
    server.always = lambda _: Sent(400, {"error": "this model does not support embeddings"})
    with pytest.raises(ProviderError, match="does not support embeddings") as caught:
        embedder_at(server).embed(opened(*(f"text {number}" for number in range(32))))
    assert not isinstance(caught.value, TextRefused)
    assert len(server.received) == 2


def rows_of(change: Callable[[list[list[float]]], object]) -> Callable[[Received], Sent]:
    """A reply whose rows are not right."""
    return lambda request: Sent(body=wrapped(request, change([vector_of(text) for text in request.body["input"]])))  # type: ignore[arg-type]


NO_VECTORS = {
    "too many": (rows_of(lambda rows: rows * 2), "4 results for 2 texts"),
    "of different lengths": (rows_of(lambda rows: [rows[0], rows[1][:-1]]), "different lengths"),
    "not numbers": (rows_of(lambda rows: [["x"] * 32 for _ in rows]), "something else than numbers"),
    "null": (rows_of(lambda rows: [[None] * 32 for _ in rows]), "NaN"),
    "zeros": (rows_of(lambda rows: [[0.0] * 32 for _ in rows]), "zeros"),
    "empty rows": (rows_of(lambda rows: [[] for _ in rows]), "without vectors"),
    "NaN": (lambda _: Sent(body=b'{"embeddings": [[NaN, 1], [1, 2]], "data": 1}'), "NaN|without vectors"),
    "no rows": (lambda _: Sent(body={"message": "hello"}), "without vectors"),
    "HTML": (lambda _: Sent(body=b"<html><title>Log in</title></html>"), "zkchat cannot read"),
    "packed": (lambda _: Sent(body=b"x", headers={"Content-Encoding": "gzip"}), "zkchat cannot read"),
    "endless nesting": (lambda _: Sent(body=b"[" * 100_000), "zkchat cannot read"),
}


@pytest.mark.parametrize("fault", NO_VECTORS)
def test_what_are_no_vectors_is_a_sentence(server: EmbeddingServer, fault: str) -> None:
    server.always, sentence = NO_VECTORS[fault]
    for wire in WIRES:
        with pytest.raises(ProviderError, match=sentence) as caught:
            embedder_at(server, wire).embed(["tea", "cake"])
        assert "some-model" in caught.value.message


def test_a_reply_beyond_the_limit_is_a_sentence(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "_MAX_REPLY_BYTES", 1000)
    with pytest.raises(ProviderError, match="too long"):
        embedder_at(server).embed(["tea"] * 10)


def test_dimensions_that_are_not_kept_are_cut_or_refused(server: EmbeddingServer) -> None:
    server.always = rows_of(lambda rows: rows)  # 32 numbers, whatever is asked for
    rows = embedder_at(server, model="nomic-embed-text", dimensions=16).embed(["tea"])
    assert rows.shape == (1, 16)
    with pytest.raises(ProviderError, match=r"32 numbers where `embeddings.dimensions` is 16"):
        embedder_at(server, dimensions=16).embed(["tea"])
    server.always, embedder = None, embedder_at(server)
    embedder.embed(["tea"])
    server.dimensions = 48
    with pytest.raises(ProviderError, match="48 numbers, and of 32 before"):
        embedder.embed(["tea"])
    assert embedder.dimensions == 32


@pytest.mark.parametrize("wire", WIRES)
def test_a_busy_server_is_asked_again_unless_it_asks_for_a_long_wait(server: EmbeddingServer, wire: str) -> None:
    server.faults = [lambda _: Sent(429, {"error": "slow down"}, {"Retry-After": "0"}), lambda _: Sent(500, {}), None]
    assert embedder_at(server, wire).embed(opened("tea")).any()
    server.always = lambda _: Sent(429, {"error": "slow down"}, {"Retry-After": "3600"})
    with pytest.raises(ProviderError, match="429") as caught:
        embedder_at(server, wire).embed(opened("tea"))
    assert "3,600 seconds" in (caught.value.hint or "")
    assert len(server.received) == 4


def test_a_server_that_hangs_is_given_up(server: EmbeddingServer) -> None:
    server.always = server.hang
    embedder = embedder_at(server, timeout=1)
    embedder._policy = replace(QUICK, max_retries=0)
    with pytest.raises(ProviderError, match=r"did not answer within 1 second"):
        embedder.embed(["tea"])
    with pytest.raises(ProviderError, match=r"did not answer within 1 second"):
        embedder.embed_query(OpenText("tea"))


def test_closing_ends_what_is_waited_for(server: EmbeddingServer) -> None:
    began = threading.Event()

    def hang(request: Received) -> Sent | None:
        began.set()
        return server.hang(request)

    server.always = hang
    embedder = embedder_at(server)
    errors: list[ProviderError] = []

    def embed() -> None:
        with pytest.raises(ProviderError) as caught:
            embedder.embed(["tea"])
        errors.append(caught.value)

    thread = threading.Thread(target=embed)
    thread.start()
    assert began.wait(5)
    embedder.close()
    thread.join(4)
    assert len(errors) == 1
    with pytest.raises(ProviderError, match="was cancelled"):
        embedder.embed_query("tea")


def test_nothing_is_sent_once_it_is_closed_however_busy_the_machine(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = asyncio.run_coroutine_threadsafe

    def started(coroutine: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop) -> Future[Any]:
        future = start(coroutine, loop)
        wait([future], DEADLINE)  # the asking thread comes last
        return future

    embedder = embedder_at(server)
    embedder.close()
    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", started)
    with pytest.raises(ProviderError, match="was cancelled"):
        embedder.embed(opened("tea"))
    assert not server.received


def test_a_server_that_is_away_is_a_sentence_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddingServer() as gone:
        embedder = embedder_at(gone)
        assert embedder.embed_query("tea").any()
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        embedder.embed_query("tea")
    assert "ollama serve" in (caught.value.hint or "")
    monkeypatch.setattr(embedder._closing, "wait", lambda _: pytest.fail("it is of no use to ask again"))
    with pytest.raises(ProviderError, match="cannot be reached"):
        embedder.embed(["tea"])


@pytest.mark.parametrize("wire", WIRES)
def test_nothing_is_sent_to_another_address(server: EmbeddingServer, wire: str) -> None:
    with EmbeddingServer() as other:
        server.always = lambda request: Sent(307, {}, {"Location": f"{other.host}{request.path}"})
        with pytest.raises(ProviderError, match="another address"):
            embedder_at(server, wire).embed(["tea"])
        assert not other.received


def test_a_refused_key_is_never_repeated(server: EmbeddingServer) -> None:
    server.always = lambda _: Sent(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
    with pytest.raises(ProviderError, match="refused the key") as caught:
        embedder_at(server, "openai").embed(["tea"])
    server.always = lambda _: Sent(400, {"error": {"message": f"No: {KEY}"}})
    with pytest.raises(ProviderError, match="No: …") as second:
        embedder_at(server, "openai").embed(["tea"])
    assert KEY not in f"{caught.value!r}{second.value!r}{second.value.__cause__!r}"


@pytest.mark.parametrize("wire", WIRES)
def test_a_forwarded_model_is_elsewhere(server: EmbeddingServer, wire: str) -> None:
    assert embedder_at(server, wire).is_on_this_machine
    assert not embedder_at(server, wire, local=False).is_on_this_machine
    assert not embedder_at(server, wire, "some-model:cloud").is_on_this_machine
    server.remote_host = "https://ollama.com"
    assert not embedder_at(server, wire).is_on_this_machine
    for server.show_status, is_here in ((404, True), (501, True), (500, False)):
        assert embedder_at(server, wire).is_on_this_machine is is_here


@pytest.mark.parametrize("wire", WIRES)
def test_a_model_elsewhere_is_sent_nothing_but_what_is_known_to_be_open(server: EmbeddingServer, wire: str) -> None:
    elsewhere = embedder_at(server, wire, local=False)
    for text in ("a title", OpenText("a title") + "", OpenText("a title")[:]):
        with pytest.raises(TextKeptHere, match="is not on this machine"):
            elsewhere.embed_query(text)
        with pytest.raises(TextKeptHere):
            elsewhere.embed([OpenText("a passage"), text])
    assert server.received == []
    elsewhere.embed_query(OpenText("who drinks tea?"))
    embedder_at(server, wire).embed(["a title"])
    assert server.embedded == ["who drinks tea?", "a title"]


def test_a_server_that_does_not_say_where_its_model_runs_is_elsewhere() -> None:
    with EmbeddingServer() as gone:
        embedder = embedder_at(gone)
    assert not embedder.is_on_this_machine
    assert not openai_embedder("m", base_url="https://192.0.2.1/v1").is_on_this_machine
