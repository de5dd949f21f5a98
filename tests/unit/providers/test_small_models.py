"""Small models are asked with conservative sampling, whoever runs them: seen in the requests."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from tests.providers.contract import PLAYS, answer
from tests.providers.loopback import KEY, Connection, Loopback, Request, serving
from tests.support.waiting import DEADLINE
from zkchat.core.prompt import ModelRequest, PromptMessage
from zkchat.models.ollama import Ollama
from zkchat.models.openai import OpenAI
from zkchat.models.registry import ModelSettings, parse_size, size_in_name
from zkchat.models.transport import TransportPolicy

pytestmark = pytest.mark.outside

QUICK = TransportPolicy(connect_timeout=DEADLINE, first_chunk_timeout=DEADLINE, backoff=0.001)
QUESTION = ModelRequest(messages=(PromptMessage(role="user", text="How long?"),), window=2048)
TINY, LARGE = 134_515_008, 8_190_735_360


@dataclass
class Server(Loopback):
    """Both protocols, with a model of some size."""

    size: object = LARGE
    can: list[str] = field(default_factory=lambda: ["completion", "tools"])

    def shown(self) -> object:
        facts = {"general.parameter_count": self.size, "llama.context_length": 32768}
        return {"capabilities": self.can, "details": {}, "model_info": facts}

    async def serve(self, request: Request, connection: Connection) -> None:
        if request.path != "/v1/models":
            return await super().serve(request, connection)
        entry = {"id": "tells", "object": "model", "meta": {"n_params": self.size, "n_ctx": 32768}}
        return await connection.reply(200, {"object": "list", "data": [entry]})


server = serving(lambda: Server(PLAYS), "function")


def asked(server: Server, protocol: str, settings: ModelSettings, request: ModelRequest = QUESTION) -> dict[str, Any]:
    """Temperature and length that reach the server, by the names they have there."""
    model = connected(server, protocol, settings)
    answer(model, request)
    body = server.requests[-1].body
    wanted = body["options"] if protocol == "ollama" else body
    names = {"temperature", "num_predict", "max_tokens", "max_completion_tokens"}
    return {name: value for name, value in wanted.items() if name in names}


def connected(server: Server, protocol: str, settings: ModelSettings) -> Ollama | OpenAI:
    model: Ollama | OpenAI = (
        Ollama("tells", host=server.address, settings=settings, policy=QUICK)
        if protocol == "ollama"
        else OpenAI("tells", base_url=f"{server.address}/v1", api_key=KEY, settings=settings, policy=QUICK)
    )
    asyncio.run(model.connect())
    return model


LIMIT = {"ollama": "num_predict", "openai": "max_tokens"}
CAREFUL = {"temperature": 0.0, "limit": 256}


@pytest.mark.parametrize("protocol", LIMIT)
@pytest.mark.parametrize(
    ("size", "settings", "wanted", "sent"),
    [
        (TINY, {}, {}, CAREFUL),
        (TINY, {}, {"temperature": 0.7, "max_answer_tokens": 1000}, {"temperature": 0.7, "limit": 1000}),
        (TINY, {"temperature": 0.4, "options": {"limit": 2000}}, {}, {"temperature": 0.4, "limit": 2000}),
        (TINY, {"calls_tools": True}, {}, {}),
        (LARGE, {}, {}, {}),
        ("135M", {}, {}, {}),
        (0, {}, {}, {}),
    ],
)
def test_a_tiny_model_takes_the_likeliest_words_and_not_too_many_unless_something_else_is_said(
    server: Server, protocol: str, size: object, settings: dict[str, Any], wanted: dict[str, Any], sent: dict[str, Any]
) -> None:
    server.size = size
    options = {
        LIMIT[protocol] if name == "limit" else name: value for name, value in settings.get("options", {}).items()
    }
    found = asked(server, protocol, ModelSettings(**{**settings, "options": options}), replace(QUESTION, **wanted))
    assert {"limit" if name == LIMIT[protocol] else name: value for name, value in found.items()} == sent


def test_a_model_that_thinks_is_left_the_room_for_it(server: Server) -> None:
    server.size = TINY
    server.can = ["completion", "thinking"]
    assert asked(server, "ollama", ModelSettings()) == {}


@pytest.mark.parametrize(
    ("text", "expected"), [("494.03M", 494_030_000), ("8.0B", 8_000_000_000), ("8x7B", None), ("", None), (7, None)]
)
def test_sizes_are_parsed_as_servers_and_files_write_them(text: object, expected: int | None) -> None:
    assert parse_size(text) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("qwen3:0.6b", 600_000_000),
        ("qwen3-30b-a3b", 30_000_000_000),
        ("Qwen2.5-7B-Instruct-1M", 7_000_000_000),
        ("long-context-1m", None),
        ("tiny-20m", 20_000_000),
        ("tiny-19m", None),
        ("mixtral-8x7b", None),
        ("model-4bit", None),
        ("gpt-5-mini", None),
    ],
)
def test_a_name_may_tell_the_size(name: str, expected: int | None) -> None:
    assert size_in_name(name) == expected


@pytest.mark.parametrize("protocol", LIMIT)
@pytest.mark.parametrize(
    ("size", "tools", "expected"),
    [
        (0, None, (False, False, True)),
        (1_199_999_999, None, (True, True, False)),
        (1_200_000_000, None, (True, False, True)),
        (2_999_999_999, None, (True, False, True)),
        (2_999_999_999, True, (False, False, True)),
        (3_000_000_000, None, (False, False, True)),
    ],
)
def test_a_small_model_is_handed_evidence_and_keeps_its_tools_for_changes(
    server: Server, protocol: str, size: int, tools: bool | None, expected: tuple[bool, bool, bool]
) -> None:
    server.size = size
    info = connected(server, protocol, ModelSettings(calls_tools=tools)).info
    assert (info.needs_evidence, info.is_tiny, info.calls_tools) == expected
