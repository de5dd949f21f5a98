"""What a model elsewhere gets of a local note by way of the server: nothing, whatever a client sends along."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("starlette")

from tests.providers.loopback import serving
from tests.support.egress import FILE, ID, OVER_OLLAMA, QUOTING, Recorder, embed_elsewhere, leaked, make_scene
from tests.support.embedding_server import EmbeddingServer
from tests.support.web_server import Web, served
from zkchat.core.message import ToolCallPart

pytestmark = [pytest.mark.outside, pytest.mark.skipif(sys.platform == "win32", reason="signals")]
HERE, ELSEWHERE = OVER_OLLAMA
READ = ToolCallPart(call_id="c1", name="read_document", arguments=f'{{"path": "{FILE}"}}')

server = serving(lambda: Recorder({}))


@pytest.fixture
def web(tmp_path_factory: pytest.TempPathFactory, server: Recorder) -> Iterator[Web]:
    server.requests.clear()
    server.call, server.says = None, "Fine."
    with served(make_scene(tmp_path_factory.mktemp("web-egress"), server).world, ELSEWHERE) as web:
        yield web


def said(web: Web, server: Recorder, *messages: dict[str, str], model: str = "zkchat") -> tuple[str, Any]:
    """What the model's server got, and what the client."""
    answer = web.post("/v1/chat/completions", {"model": model, "messages": [*messages]})
    received = server.received()
    assert received != "[]"
    return received, answer["choices"][0]["message"]["content"]


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def test_nothing_of_a_local_note_reaches_a_model_elsewhere_from_the_page(web: Web, server: Recorder) -> None:
    session = web.ask("Hello.")[-1]["session"]
    server.received()
    for text in (f"Tell me of [[{ID}]].", f"/show [[{ID}]]", "What is the password?", f"/add [[{ID}]]", "And now?"):
        web.ask(text, session=session)
        assert leaked(server.received(), text) == set(), text
    server.call = READ
    web.ask("Go on.", session=session)
    assert leaked(server.received(), FILE) == set()
    server.call = None
    web.ask(f"/model {HERE}", session=session)
    web.ask(f"Tell me of [[{ID}]].", session=session)
    assert leaked(server.received())


def test_nothing_of_a_local_note_reaches_a_model_elsewhere_from_a_client(web: Web, server: Recorder) -> None:
    for text in (f"Tell me of [[{ID}]].", "What is the lighthouse password?"):
        assert leaked(said(web, server, user(text))[0], text) == set()
    assert leaked(said(web, server, {"role": "system", "content": f"Read [[{ID}]]."}, user("Go on."))[0], ID) == set()
    server.call = READ
    assert leaked(said(web, server, user("Go on."))[0], FILE) == set()
    assert leaked(said(web, server, user("Go on."), model=HERE)[0])


def test_what_was_said_with_local_notes_stays_here_when_a_client_changes_the_model(web: Web, server: Recorder) -> None:
    server.says = QUOTING
    first = user(f"Tell me of [[{ID}]].")
    _, text = said(web, server, first, model=HERE)
    assert "Quollsecret" in text
    server.says = "Fine."
    before = (first, {"role": "assistant", "content": text})
    for question in ("And then?", "And then?"):  # the second time its session has gone on
        received, _ = said(web, server, *before, user(question))
        assert leaked(received) == set()
    fine = {"role": "assistant", "content": "Fine."}
    changed = (first, {"role": "assistant", "content": f"{text}!"}, user("Thanks."), fine)
    assert leaked(said(web, server, *changed, user("And then?"))[0]) == set()
    assert leaked(said(web, server, *changed, user("And then?"), model=HERE)[0])


def test_texts_of_clients_are_embedded_on_this_machine_alone(
    tmp_path_factory: pytest.TempPathFactory, server: Recorder
) -> None:
    with EmbeddingServer() as embedder:
        world = make_scene(tmp_path_factory.mktemp("web-embed"), server).world
        embed_elsewhere(world, embedder)
        with served(world, ELSEWHERE) as web:
            refused = web.post("/v1/embeddings", {"input": ["The lighthouse password is Quollsecret."]})
        assert refused["error"]["type"] == "TextKeptHere"
        assert not any("Quollsecret" in text for text in embedder.embedded)
