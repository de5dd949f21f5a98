"""A model is on this machine only if it runs here: one rule for both protocols."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.providers.loopback import KEY, Connection, Loopback, Request, serving
from tests.support.provider_contexts import provider_context
from tests.support.waiting import DEADLINE
from zkchat.core.ports import ModelProvider
from zkchat.core.prompt import Finish
from zkchat.models import transport
from zkchat.models.ollama import Ollama
from zkchat.models.openai import OpenAI
from zkchat.models.registry import ModelSettings, NamedModel, create, is_loopback, may_run_here
from zkchat.models.transport import TransportPolicy

pytestmark = pytest.mark.outside

QUICK = TransportPolicy(connect_timeout=DEADLINE, first_chunk_timeout=DEADLINE, backoff=0.001, max_retries=0)


@dataclass
class Server(Loopback):
    """Says what it is told of every model, or answers `/api/show` as it is told."""

    says: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    hangs: bool = False

    async def serve(self, request: Request, connection: Connection) -> None:
        if request.path != "/api/show":
            return await super().serve(request, connection)
        if self.hangs:
            return await connection.hang()
        return await connection.reply(self.status, self.shown() if self.status == 200 else {"error": "no"})

    def shown(self) -> object:
        shown = super().shown()
        assert isinstance(shown, dict)
        return {**shown, **self.says}


server = serving(lambda: Server({name: [Finish()] for name in ("m", "alias")}), "function")


def ollama(server: Server, name: str = "m", **more: Any) -> ModelProvider:
    return Ollama(name, host=server.address, policy=QUICK, **more)


def openai(server: Server, name: str = "m", **more: Any) -> ModelProvider:
    return OpenAI(name, base_url=f"{server.address}/v1", api_key=KEY, policy=QUICK, **more)


Connect = Callable[..., ModelProvider]
both_protocols = pytest.mark.parametrize("protocol", [ollama, openai])


def connected(provider: ModelProvider) -> tuple[bool, bool]:
    """Whether it is on this machine, and whether that is known."""
    asyncio.run(provider.connect())
    return provider.info.on_this_machine, provider.info.is_located


@both_protocols
def test_until_its_server_was_asked_a_model_is_not_on_this_machine(protocol: Connect, server: Server) -> None:
    provider = protocol(server)
    assert (provider.info.on_this_machine, provider.info.is_located) == (False, False)
    assert connected(provider) == (True, True)


@both_protocols
@pytest.mark.parametrize("field", ["remote_host", "remote_model"])
def test_an_alias_of_a_forwarded_model_is_elsewhere(protocol: Connect, server: Server, field: str) -> None:
    server.says = {field: "https://ollama.com:443"}
    assert connected(protocol(server, "alias")) == (False, True)


@both_protocols
@pytest.mark.parametrize("name", ["gpt-oss:120b-CLOUD", "kimi-k2:cloud", "x-cloud:latest", "me/x_cloud"])
def test_a_model_with_the_name_of_a_cloud_model_is_elsewhere(protocol: Connect, server: Server, name: str) -> None:
    info = protocol(server, name).info
    assert (info.on_this_machine, info.is_located) == (False, True)


def test_other_names_say_nothing() -> None:
    assert all(may_run_here(HERE[0], name, local=True) for name in ("qwen3:8b", "wordcloudy", "cloudy", "clouds:7b"))


@pytest.mark.parametrize("status", [400, 404, 501])
def test_a_server_of_openais_protocol_without_such_an_answer_runs_what_it_offers(server: Server, status: int) -> None:
    server.status = status
    assert connected(openai(server)) == (True, True)


@pytest.mark.parametrize("status", [500, 503])
def test_where_the_answer_does_not_come_the_model_counts_as_elsewhere(server: Server, status: int) -> None:
    server.status = status
    provider = openai(server)
    assert connected(provider) == (False, False)
    server.status = 200
    assert connected(provider) == (True, True)


def test_a_server_that_does_not_say_is_not_waited_for(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "LIST_SECONDS", 0.2)
    server.hangs = True
    assert connected(openai(server)) == (False, False)


HERE = ("http://LOCALHOST:1/v1", "http://127.0.0.1", "http://127.9.9.9:2", "http://me:pw@[::1]:3/x")
ELSEWHERE = (
    "https://10.0.0.1",
    "http://localhost.example.org",
    "http://foo.localhost:11434",
    "http://0.0.0.0:11434",
    "http://[::ffff:10.0.0.1]",
    "http://127.0.0.1.example.org",
    "http://2130706433",
    "http://[::1",
    "http://",
    "",
)


def test_only_addresses_of_this_machine_are_taken_for_it() -> None:
    assert [address for address in (*HERE, *ELSEWHERE) if is_loopback(address)] == [*HERE]


@pytest.mark.parametrize(
    ("models", "remote", "name", "expected"),
    [
        ({}, frozenset({"ollama"}), "ollama:m", False),
        ({}, frozenset({"openai"}), "openai:m", False),
        ({"tunnel": True}, frozenset[str](), "tunnel", False),
        ({"tunnel": True}, frozenset[str](), "ollama:m", False),  # the same model by its own name
        ({"plain": False}, frozenset({"ollama"}), "plain", False),
    ],
)
def test_the_user_may_say_it_of_a_model_or_of_a_provider(
    tmp_path: Path, server: Server, models: dict[str, bool], remote: frozenset[str], name: str, expected: bool
) -> None:
    context = provider_context(
        tmp_path,
        settings={
            "ollama": {"host": server.address, "local": "ollama" not in remote},
            "openai": {"base_url": f"{server.address}/v1", "local": "openai" not in remote},
        },
        models={
            each: NamedModel(provider="ollama", id="m", settings=ModelSettings(local=not is_remote))
            for each, is_remote in models.items()
        },
    )
    assert connected(create(name, context))[0] is expected
