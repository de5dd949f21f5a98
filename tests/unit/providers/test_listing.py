import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.providers.contract import PLAYS
from tests.providers.loopback import KEY
from tests.support.model_lists import Listing, tags
from tests.support.provider_contexts import provider_context
from zkchat.core.prompt import ModelListing
from zkchat.models import ollama, openai
from zkchat.models import transport as listing
from zkchat.models.registry import descriptor_of

pytestmark = pytest.mark.outside


@pytest.fixture
def server() -> Iterator[Listing]:
    with Listing(PLAYS) as server:
        yield server


def listed(folder: Path, server: Listing, provider: str) -> ModelListing:
    settings = {"ollama": {"host": server.address}, "openai": {"base_url": f"{server.address}/v1"}}
    context = provider_context(folder, settings=settings, variables={"OPENAI_API_KEY": KEY})
    found = asyncio.run(descriptor_of(provider).list_models(context))
    assert found
    return found


@pytest.fixture
def openai_listing(tmp_path: Path, server: Listing) -> Callable[[], ModelListing]:
    return lambda: listed(tmp_path, server, "openai")


def test_the_models_of_ollama_come_with_windows_and_tools(
    server: Listing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ollama, "DESCRIBE_SECONDS", 60)  # on a busy machine, too
    server.lists["/api/tags"] = tags("tells", "thinks")
    infos = listed(tmp_path, server, "ollama").models
    assert [(info.name, info.context_limit, info.calls_tools) for info in infos] == [
        ("ollama:tells", 8192, True),
        ("ollama:thinks", 8192, True),
    ]


def test_the_key_is_not_taken_elsewhere(server: Listing, openai_listing: Callable[[], ModelListing]) -> None:
    server.lists["/v1/models"] = 302, {}
    assert "another address" in openai_listing().problem


def test_a_server_without_a_list_is_a_sentence(server: Listing, openai_listing: Callable[[], ModelListing]) -> None:
    server.lists["/v1/models"] = 404, {}
    found = openai_listing()
    assert "has no list of models" in found.problem
    assert "/v1" in found.hint


@pytest.mark.parametrize("body", ["a page", [1], {"data": "x"}])
def test_a_list_that_is_none_is_a_sentence(
    server: Listing, openai_listing: Callable[[], ModelListing], body: object
) -> None:
    server.lists["/v1/models"] = 200, body
    assert "zkchat cannot read" in openai_listing().problem


def test_a_list_without_end_is_not_read_to_its_end(
    server: Listing, openai_listing: Callable[[], ModelListing], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MAX_LIST_BYTES", 100)
    server.lists["/v1/models"] = 200, {"data": [{"id": "m" * 101}]}
    assert "sent a reply that is too long" in openai_listing().problem


@pytest.mark.parametrize(
    ("name", "expected"), [("gpt-5-mini", True), ("o3", True), ("gpt-4o-audio-preview", False), ("whisper-1", False)]
)
def test_of_openais_own_models_only_those_that_talk_count(name: str, expected: bool) -> None:
    assert openai.is_chat_model(name) is expected


def test_a_model_whose_capabilities_say_that_it_only_embeds_is_no_model_to_talk_to(
    server: Listing, tmp_path: Path
) -> None:
    status, body = tags("tells", "mine")
    assert isinstance(body, dict)
    body["models"][1]["capabilities"] = ["embedding"]
    server.lists["/api/tags"] = status, body
    found = listed(tmp_path, server, "ollama")
    assert ([info.id for info in found.models], found.embedding_models) == (["tells"], ("ollama:mine",))
