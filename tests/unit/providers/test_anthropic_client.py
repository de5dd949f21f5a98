"""The provider `anthropic`, with the real SDK, over a server on loopback."""

import asyncio
import json
import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.providers.contract import FIND, PLAYS, answer, asking, calls_of, failure, finish_of, text_of, thinking_of
from tests.providers.loopback import KEY, AnthropicProtocol, Connection, Loopback, Request, serving
from tests.support.provider_contexts import provider_context
from tests.support.waiting import DEADLINE
from zkchat.core.choices import TokenUsage
from zkchat.core.errors import ConfigError, PromptTooLong, ProviderError
from zkchat.core.message import ImagePart, ToolCallPart
from zkchat.core.prompt import ModelRequest, PromptMessage
from zkchat.models import anthropic
from zkchat.models.anthropic import PROVIDER, Anthropic
from zkchat.models.registry import ModelSettings, choose, create
from zkchat.models.transport import TransportPolicy

pytestmark = pytest.mark.outside

QUICK = TransportPolicy(connect_timeout=DEADLINE, first_chunk_timeout=DEADLINE, chunk_timeout=DEADLINE, backoff=0.001)
WIRE = AnthropicProtocol()
CACHED = {"cache_control": {"type": "ephemeral"}}
YES, NO = {"supported": True}, {"supported": False}


def facts(*, adaptive: bool = False, enabled: bool = False, image: bool = True) -> dict[str, object]:
    """What the server says of a model."""
    types = {"adaptive": YES if adaptive else NO, "enabled": YES if enabled else NO}
    thinking = {"supported": adaptive or enabled, "types": types}
    return {
        "id": "tells",
        "type": "model",
        "display_name": "Tells",
        "created_at": "2026-01-01T00:00:00Z",
        "max_input_tokens": 200_000,
        "max_tokens": 8_000,
        "capabilities": {"thinking": thinking, "image_input": YES if image else NO},
    }


@dataclass
class Server(Loopback):
    """A server that streams these events, refuses with this, or says this of its models, as it is told."""

    events: list[bytes] = field(default_factory=list)
    refusal: tuple[int, object] | None = None
    model: dict[str, object] | None = None

    async def serve(self, request: Request, connection: Connection) -> None:
        if request.path.startswith("/v1/models"):
            if self.model is None:
                return await connection.reply(404, WIRE.error("no such page"))
            page = {"data": [self.model], "has_more": False, "first_id": None, "last_id": None}
            return await connection.reply(200, page if "?" in request.path else self.model)
        if self.refusal:
            return await connection.reply(*self.refusal)
        if not self.events:
            return await super().serve(request, connection)
        await connection.begin(WIRE.content_type)
        for event in self.events:
            await connection.piece(event)
        return await connection.end()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [request.body for request in self.requests if request.method == "POST"]


server = serving(lambda: Server(PLAYS), "function")


def model(server: Server, name: str = "tells", **more: Any) -> Anthropic:
    return Anthropic(name, base_url=server.address, api_key=KEY, policy=QUICK, **more)


def connected(server: Server, said: dict[str, object], name: str = "tells", **more: Any) -> Anthropic:
    server.model = said
    provider = model(server, name, **more)
    asyncio.run(provider.connect())
    return provider


def text(said: str, **more: object) -> dict[str, object]:
    return {"type": "text", "text": said, **more}


def of(*messages: PromptMessage, **more: Any) -> ModelRequest:
    return ModelRequest(messages=messages, window=100, **more)


HI = PromptMessage(role="user", text="hi")


def test_a_request_holds_what_was_asked_for_and_options_of_the_settings_and_nothing_else(server: Server) -> None:
    answer(model(server), of(HI))
    (request,) = server.requests
    asked = {
        "model": "tells",
        "max_tokens": 16_000,
        "messages": [{"role": "user", "content": [text("hi", **CACHED)]}],
        "stream": True,
    }
    assert request.body == asked
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["user-agent"].startswith("zkchat/")
    answer(model(server, settings=ModelSettings(options={"top_k": 5, "max_tokens": 99}, temperature=0.5)), of(HI))
    assert server.bodies[-1] == {**asked, "top_k": 5, "max_tokens": 99, "temperature": 0.5}


def test_every_kind_of_message_is_sent_and_what_lasts_is_marked_to_be_kept(server: Server) -> None:
    image = ImagePart(name="a.png", media_type="image/png", data="cGljdHVyZQ==")
    calls = (
        ToolCallPart(call_id="c1", name="find", arguments='{"query": "眠り"}'),
        ToolCallPart(call_id="functions.find:2", name="find", arguments='{"query'),
    )
    messages = (
        PromptMessage(role="system", text="Be brief."),
        PromptMessage(role="system", text="Be kind."),
        PromptMessage(role="user", text="What is \ud800 this?", images=(image,)),
        PromptMessage(role="assistant", text=" ", tool_calls=calls),
        PromptMessage(role="tool", text="Nothing.", tool_call_id="c1", tool_name="find"),
        PromptMessage(role="tool", text="", tool_call_id="functions.find:2", tool_name="find"),
        PromptMessage(role="system", text="Go on."),
    )
    answer(model(server), of(*messages, tools=(FIND,)))
    (body,) = server.bodies
    assert body["system"] == [text("Be brief."), text("Be kind.", **CACHED)]
    assert body["tools"] == [{"name": "find", "description": "Find notes.", "input_schema": FIND.parameters}]
    source = {"type": "base64", "media_type": "image/png", "data": "cGljdHVyZQ=="}
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "image", "source": source}, text("What is ? this?")]},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "c1", "name": "find", "input": {"query": "眠り"}},
                {"type": "tool_use", "id": "functions_find_2", "name": "find", "input": {"not_json": '{"query'}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [text("Nothing.")]},
                {"type": "tool_result", "tool_use_id": "functions_find_2", "content": []},
                text("Go on.", **CACHED),
            ],
        },
    ]


@pytest.mark.parametrize("messages", [(), (PromptMessage(role="user", text=" "),)])
def test_the_first_message_is_the_users_and_none_is_empty(server: Server, messages: tuple[PromptMessage, ...]) -> None:
    dots = {"role": "user", "content": [text("…")]}
    answer(model(server), of(*messages))
    assert server.bodies[-1]["messages"] == [dots]
    answer(model(server), of(PromptMessage(role="assistant", text="So it was."), HI))
    assert server.bodies[-1]["messages"][0] == dots


def test_the_beginning_of_a_request_is_the_same_in_the_next_turn(server: Server) -> None:
    provider = model(server)
    first = (PromptMessage(role="system", text="Be brief."), HI)
    answer(provider, of(*first))
    answer(provider, of(*first, PromptMessage(role="assistant", text="Hello."), HI))
    one, other = (json.dumps(body["messages"]).replace(f", {json.dumps(CACHED)[1:-1]}", "") for body in server.bodies)
    assert other.startswith(one.removesuffix("]"))


def test_the_server_tells_window_length_and_sight(server: Server) -> None:
    provider = model(server)
    assert (provider.info.context_limit, provider.info.is_located) == (None, False)
    info = connected(server, facts(image=False)).info
    assert (info.context_limit, info.sees_images, info.calls_tools) == (200_000, False, True)
    assert (info.on_this_machine, info.is_located) == (True, True)
    declared = ModelSettings(context_limit=999, calls_tools=False, sees_images=True, local=False)
    info = connected(server, facts(image=False), settings=declared).info
    assert (info.context_limit, info.calls_tools, info.sees_images, info.on_this_machine) == (999, False, True, False)


def test_a_server_that_knows_nothing_of_its_models_is_used_all_the_same_and_asked_once(server: Server) -> None:
    provider = model(server)
    for _ in range(2):
        asyncio.run(provider.connect())
    assert len(server.requests) == 1
    assert text_of(answer(provider))


@pytest.mark.parametrize(
    ("said", "thinking"),
    [
        (facts(adaptive=True, enabled=True), {"type": "adaptive", "display": "summarized"}),
        (facts(enabled=True), {"type": "enabled", "budget_tokens": 4_000}),
        (facts(), None),
    ],
)
def test_a_model_thinks_as_it_can(server: Server, said: dict[str, object], thinking: object) -> None:
    provider = connected(server, said)
    answer(provider, of(HI, temperature=0.2))
    body = server.bodies[-1]
    assert (body.get("thinking"), body["max_tokens"], "temperature" in body) == (thinking, 8_000, False)
    answer(provider, asking())
    assert "thinking" not in server.bodies[-1], "a short answer leaves no room for it"


def test_thoughts_go_back_with_the_results_of_the_calls_that_they_led_to(server: Server) -> None:
    server.plays["looks"] = [*PLAYS["thinks"][:2], *PLAYS["calls"][1:]]
    provider = connected(server, facts(adaptive=True), "looks")
    (first, _) = calls = calls_of(answer(provider, of(HI, tools=(FIND,))))
    results = [PromptMessage(role="tool", text="No.", tool_call_id=each.call_id, tool_name="find") for each in calls]
    later = of(HI, PromptMessage(role="assistant", tool_calls=tuple(calls)), *results, tools=(FIND,))
    answer(provider, later)
    kinds = [block["type"] for block in server.bodies[-1]["messages"][1]["content"]]
    assert kinds == ["thinking", "thinking", "tool_use", "tool_use"]
    assert server.bodies[-1]["messages"][1]["content"][0] == {
        "type": "thinking", "thinking": "Hm. ", "signature": "signed Hm. "
    }  # fmt: skip
    assert "thinking" in server.bodies[-1]
    answer(connected(server, facts(adaptive=True), "looks"), later)
    assert "thinking" not in server.bodies[-1], "thoughts of another process are lost"
    assert first.call_id


def test_all_that_a_server_counts_is_reported(server: Server) -> None:
    usage = {"input_tokens": 100, "cache_creation_input_tokens": 50, "cache_read_input_tokens": 800, "output_tokens": 1}
    counted = {"output_tokens": 50, "output_tokens_details": {"thinking_tokens": 30}}
    server.events = [
        WIRE.event("message_start", message={"id": "m", "type": "message", "content": [], "usage": usage}),
        WIRE.event("ping"),
        *WIRE.block(0, {"type": "redacted_thinking", "data": "xyz"}),
        *WIRE.block(1, text("Y"), {"type": "text_delta", "text": "es."}),
        WIRE.event("message_delta", delta={"stop_reason": "end_turn"}, usage=counted),
        WIRE.event("message_stop"),
    ]
    chunks = answer(model(server, settings=ModelSettings(price_input=2.0, price_cached=0.5, price_output=10.0)))
    assert (text_of(chunks), thinking_of(chunks)) == ("Yes.", "")
    reported = TokenUsage(prompt_tokens=950, completion_tokens=50, cached_tokens=800, thinking_tokens=30, cost=0.0012)
    assert finish_of(chunks).usage == reported


def test_what_a_filter_stopped_and_what_is_too_long_are_told_apart(server: Server) -> None:
    server.events = [WIRE.event("message_delta", delta={"stop_reason": "refusal"}, usage={"output_tokens": 1})]
    assert "filter" in failure(model(server))[1].message
    server.refusal = (400, WIRE.error("prompt is too long: 208310 tokens > 200000 maximum"))
    assert isinstance(failure(model(server))[1], PromptTooLong)


@pytest.mark.parametrize(("kind", "said"), [("overloaded_error", "failed (529): Busy"), ("other", "answer: Busy")])
def test_an_error_instead_of_an_answer_is_told_as_others_are(server: Server, kind: str, said: str) -> None:
    error = {"type": "error", "error": {"type": kind, "message": "Busy"}}
    server.events = [WIRE.named("error", json.dumps(error).encode())]
    assert said in failure(model(server))[1].message
    assert len(server.requests) == (4 if kind == "overloaded_error" else 1)


def test_nothing_that_is_logged_holds_the_key(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        answer(model(server))
    assert caplog.records
    assert KEY not in caplog.text


def test_no_variable_of_the_process_chooses_key_or_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    assert finish_of(answer(model(server))).reason == "stop"
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    server.key = ""
    answer(Anthropic("tells", base_url=f"{server.address}/v1/", policy=QUICK))
    assert server.requests[-1].headers["authorization"] == "Bearer none"


def test_without_a_key_or_the_sdk_nothing_of_it_is_listed_or_chosen(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.model = facts()
    bare = provider_context(tmp_path, settings={"anthropic": {"base_url": server.address}})
    with_key = replace(bare, variables={"ANTHROPIC_API_KEY": f" {KEY}\n"})
    assert (asyncio.run(PROVIDER.list_models(bare)), PROVIDER.status(bare)) == (None, None)
    found, status = asyncio.run(PROVIDER.list_models(with_key)), PROVIDER.status(with_key)
    assert found
    (listed,) = found.models
    assert (listed.name, listed.context_limit, listed.on_this_machine) == ("anthropic:tells", 200_000, False)
    assert status
    assert status.is_available
    assert choose(with_key).model == "quote", "a key alone sends no note anywhere"
    assert not create("anthropic:tells", with_key).info.on_this_machine
    monkeypatch.setattr(anthropic, "find_spec", lambda _: None)
    assert asyncio.run(PROVIDER.list_models(with_key)) is None
    with pytest.raises(ConfigError, match="not installed") as caught:
        create("anthropic:tells", with_key)
    assert "zkchat[anthropic]" in caught.value.hint


def test_there_is_no_talking_to_anthropic_itself_without_a_key() -> None:
    with pytest.raises(ProviderError, match="no key for Anthropic"):
        asyncio.run(Anthropic("claude").connect())


def test_an_endless_line_is_ended_and_a_list_that_is_not_there_a_problem(server: Server, tmp_path: Path) -> None:
    server.events = [*WIRE.block(0, text("So.")), *[b"data: " + b"x" * 500_000] * 6]
    arrived, error = failure(model(server))
    assert text_of(arrived) == "So."
    assert "too long and was cut off" in error.message
    settings, variables = {"anthropic": {"base_url": server.address}}, {"ANTHROPIC_API_KEY": KEY}
    found = asyncio.run(PROVIDER.list_models(provider_context(tmp_path, settings=settings, variables=variables)))
    assert found
    assert found.problem
    assert KEY not in repr(found)
