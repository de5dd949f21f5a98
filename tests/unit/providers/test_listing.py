import asyncio
from collections.abc import Iterator

import pytest

from tests.providers.contract import PLAYS
from tests.providers.loopback import KEY
from tests.support.model_lists import Listing, tags
from zkchat.core.errors import ProviderError
from zkchat.models import ollama, openai
from zkchat.models import transport as listing

pytestmark = pytest.mark.outside


@pytest.fixture
def server() -> Iterator[Listing]:
    with Listing(PLAYS) as server:
        yield server


def openai_names(server: Listing) -> list[tuple[str, int | None]]:
    infos = asyncio.run(openai.list_models(f"{server.address}/v1", api_key=KEY, key_variable="MY_KEY"))
    return [(info.name, info.context_limit) for info in infos]


def openai_error(server: Listing) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        openai_names(server)
    return caught.value


def test_the_models_of_ollama_come_with_windows_and_tools(server: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama, "DESCRIBE_SECONDS", 60)  # on a busy machine, too
    server.lists["/api/tags"] = tags("tells", "thinks")
    infos, _ = asyncio.run(ollama.list_models(server.address))
    assert [(info.name, info.context_limit, info.calls_tools) for info in infos] == [
        ("ollama:tells", 8192, True),
        ("ollama:thinks", 8192, True),
    ]


def test_the_key_is_not_taken_elsewhere(server: Listing) -> None:
    server.lists["/v1/models"] = 302, {}
    assert "another address" in openai_error(server).message


def test_a_server_without_a_list_is_a_sentence(server: Listing) -> None:
    server.lists["/v1/models"] = 404, {}
    error = openai_error(server)
    assert "has no list of models" in error.message
    assert "/v1" in error.hint


@pytest.mark.parametrize("body", ["a page", [1], {"data": "x"}])
def test_a_list_that_is_none_is_a_sentence(server: Listing, body: object) -> None:
    server.lists["/v1/models"] = 200, body
    assert "zkchat cannot read" in openai_error(server).message


def test_a_list_without_end_is_not_read_to_its_end(server: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MAX_LIST_BYTES", 100)
    server.lists["/v1/models"] = 200, {"data": [{"id": "m" * 101}]}
    assert "sent a reply that is too long" in openai_error(server).message


@pytest.mark.parametrize(
    ("name", "expected"), [("gpt-5-mini", True), ("o3", True), ("gpt-4o-audio-preview", False), ("whisper-1", False)]
)
def test_of_openais_own_models_only_those_that_talk_count(name: str, expected: bool) -> None:
    assert openai.is_chat_model(name) is expected


def test_a_model_whose_capabilities_say_that_it_only_embeds_is_no_model_to_talk_to(server: Listing) -> None:
    status, body = tags("tells", "mine")
    assert isinstance(body, dict)
    body["models"][1]["capabilities"] = ["embedding"]
    server.lists["/api/tags"] = status, body
    models, embedding = asyncio.run(ollama.list_models(server.address))
    assert ([info.id for info in models], embedding) == (["tells"], ["ollama:mine"])
