"""Whether a model answers, asked of real clients against a server on loopback."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.providers.contract import PLAYS
from tests.providers.loopback import KEY, serving
from tests.support.model_lists import Listing
from tests.support.provider_contexts import provider_context
from zkchat.core.errors import ProviderError
from zkchat.models.openai import OpenAI
from zkchat.models.registry import ProviderContext, create, descriptor_of

pytestmark = pytest.mark.outside


server = serving(lambda: Listing(PLAYS), "function")


def verify(name: str, context: ProviderContext) -> None:
    model = create(name, context)
    asyncio.run(descriptor_of(model.info.provider).verify(model, context))


def speaking_to(server: Listing, tmp_path: Path, *, host: str = "127.0.0.1", key: str = KEY) -> ProviderContext:
    return provider_context(
        tmp_path,
        settings={"ollama": {"host": server.address}, "openai": {"base_url": f"http://{host}:{server.port}/v1"}},
        variables={"OPENAI_API_KEY": key},
    )


def paths(server: Listing) -> list[str]:
    return [request.path for request in server.requests]


def test_ollama_is_asked_to_show_the_model_and_another_server_here_to_list_it(server: Listing, tmp_path: Path) -> None:
    verify("ollama:tells", speaking_to(server, tmp_path))
    assert paths(server) == ["/api/show"]
    verify("openai:tells", speaking_to(server, tmp_path))
    assert "/v1/chat/completions" not in paths(server), "a list of a server on this machine is believed"
    with pytest.raises(ProviderError, match="has no model 'gone'"):
        verify("ollama:gone", speaking_to(server, tmp_path))


@pytest.mark.parametrize("list_", [(404, {}), (200, {"data": [{"id": "one"}, {"id": "two"}]})])
def test_a_model_that_no_list_holds_is_asked_for_a_few_words(
    server: Listing, tmp_path: Path, list_: tuple[int, object]
) -> None:
    server.lists["/v1/models"] = list_
    verify("openai:tells", speaking_to(server, tmp_path))
    body = server.requests[-1].body
    assert [message["content"] for message in body["messages"]] == ["Hello"]
    assert body["max_tokens"] == 16
    with pytest.raises(ProviderError, match="has no model 'gone'"):
        verify("openai:gone", speaking_to(server, tmp_path))


def test_a_server_elsewhere_proves_that_it_takes_the_key_whatever_it_lists(server: Listing, tmp_path: Path) -> None:
    context = speaking_to(server, tmp_path, host="0.0.0.0")
    named = {"OPENAI_ORG_ID": "org-1", "OPENAI_PROJECT_ID": "proj-2"}
    verify("openai:tells", replace(context, variables={**context.variables, **named}))
    headers = server.requests[-1].headers
    assert (headers["openai-organization"], headers["openai-project"]) == ("org-1", "proj-2")
    with pytest.raises(ProviderError, match="refused the key"):
        verify("openai:tells", speaking_to(server, tmp_path, host="0.0.0.0", key="sk-wrong"))


def test_openai_itself_is_asked_for_the_model_alone(server: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    server.lists["/v1/models/gpt-5"] = 200, {"id": "gpt-5", "object": "model", "created": 1, "owned_by": "openai"}
    server.lists["/v1/models/gpt-6"] = 404, {"error": {"message": "no such model"}}

    def of_openai(name: str) -> OpenAI:
        model = OpenAI(name, base_url=f"{server.address}/v1", api_key=KEY)
        monkeypatch.setattr(model, "_is_openai", True)
        monkeypatch.setattr(model, "_connected", True)
        return model

    asyncio.run(of_openai("gpt-5").verify())
    with pytest.raises(ProviderError, match="has no model 'gpt-6'"):
        asyncio.run(of_openai("gpt-6").verify())
    assert paths(server) == ["/v1/models/gpt-5", "/v1/models/gpt-6"]


def test_without_a_key_openai_is_not_asked(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="There is no key for openai:gpt-5"):
        verify("openai:gpt-5", provider_context(tmp_path))
