import asyncio
from pathlib import Path

import pytest

from tests.providers.contract import PLAYS
from tests.providers.loopback import KEY, serving
from tests.support.model_lists import Listing, tags
from tests.support.provider_contexts import provider_context
from zkchat.core.prompt import ModelListing
from zkchat.models import ollama, openai
from zkchat.models import transport as listing
from zkchat.models.registry import descriptor_of

pytestmark = pytest.mark.outside


server = serving(lambda: Listing(PLAYS), "function")


def listed(folder: Path, server: Listing, provider: str) -> ModelListing:
    settings = {"ollama": {"host": server.address}, "openai": {"base_url": f"{server.address}/v1"}}
    context = provider_context(folder, settings=settings, variables={"OPENAI_API_KEY": KEY})
    found = asyncio.run(descriptor_of(provider).list_models(context))
    assert found
    return found


def test_the_models_of_ollama_come_with_windows_and_tools_and_those_that_only_embed_apart(
    server: Listing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ollama, "DESCRIBE_SECONDS", 60)  # on a busy machine, too
    monkeypatch.setattr(ollama, "QUICK", listing.TransportPolicy())
    status, body = tags("tells", "thinks", "mine")
    assert isinstance(body, dict)
    body["models"][2]["capabilities"] = ["embedding"]
    server.lists["/api/tags"] = status, body
    found = listed(tmp_path, server, "ollama")
    assert [(info.name, info.context_limit, info.calls_tools) for info in found.models] == [
        ("ollama:tells", 8192, True),
        ("ollama:thinks", 8192, True),
    ]
    assert found.embedding_models == ("ollama:mine",)


@pytest.mark.parametrize(
    ("list_", "said"),
    [
        ((302, {}), "another address"),  # which the key is not taken to
        ((404, {}), "has no list of models"),
        ((200, [1]), "zkchat cannot read"),
        ((200, {"data": "x"}), "zkchat cannot read"),
    ],
)
def test_a_list_that_is_none_is_a_sentence(
    server: Listing, tmp_path: Path, list_: tuple[int, object], said: str
) -> None:
    server.lists["/v1/models"] = list_
    found = listed(tmp_path, server, "openai")
    assert said in found.problem
    assert list_[0] != 404 or "/v1" in found.hint


def test_a_list_without_end_is_not_read_to_its_end(
    server: Listing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MAX_LIST_BYTES", 100)
    server.lists["/v1/models"] = 200, {"data": [{"id": "m" * 101}]}
    assert "sent a reply that is too long" in listed(tmp_path, server, "openai").problem


@pytest.mark.parametrize(
    ("name", "expected"), [("gpt-5-mini", True), ("o3", True), ("gpt-4o-audio-preview", False), ("whisper-1", False)]
)
def test_of_openais_own_models_only_those_that_talk_count(name: str, expected: bool) -> None:
    assert openai.is_chat_model(name) is expected
