import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.providers.contract import FIND, PLAYS, answer, asking, calls_of, failure, finish_of, text_of, thinking_of
from tests.providers.loopback import KEY, Connection, Loopback, Request, serving
from tests.support.waiting import DEADLINE
from zkchat.core.choices import TokenUsage
from zkchat.core.errors import ProviderError
from zkchat.core.message import ImagePart, ToolCallPart
from zkchat.core.prompt import ModelRequest, PromptMessage
from zkchat.models.openai import OpenAI
from zkchat.models.registry import ModelSettings
from zkchat.models.transport import TransportPolicy

pytestmark = pytest.mark.outside

QUICK = TransportPolicy(connect_timeout=DEADLINE, first_chunk_timeout=DEADLINE, chunk_timeout=DEADLINE, backoff=0.001)


@dataclass
class Server(Loopback):
    """A server that streams these deltas, and lists these models, as it is told."""

    events: list[dict[str, Any]] = field(default_factory=list)
    listed: tuple[int, object] = (200, {"object": "list", "data": []})
    hangs: bool = False
    """Whether it keeps the connection when all is said."""

    async def serve(self, request: Request, connection: Connection) -> None:
        if request.path == "/v1/models":
            return await connection.reply(*self.listed)
        if not self.events:
            return await super().serve(request, connection)
        await connection.begin("text/event-stream")
        for event in self.events:
            await connection.piece(b"data: " + json.dumps(event).encode() + b"\n\n")
        if self.hangs:
            await connection.hang()
        return await connection.end()

    def streams(self, *deltas: dict[str, Any], finish: str = "stop", **last: object) -> None:
        self.events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        self.events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], **last})


server = serving(lambda: Server(PLAYS), "function")


def model(server: Server, name: str = "tells", **more: Any) -> OpenAI:
    return OpenAI(name, base_url=f"{server.address}/v1", api_key=KEY, policy=QUICK, **more)


def sent(server: Server, request: ModelRequest, **more: Any) -> dict[str, Any]:
    """The body that reaches the server."""
    answer(model(server, **more), request)
    body: dict[str, Any] = server.requests[-1].body
    return body


def piece(index: int | None = 0, *, call_id: str | None = None, name: str | None = None, text: str = "") -> Any:
    call: dict[str, Any] = {"function": {"name": name, "arguments": text}}
    if index is not None:
        call["index"] = index
    if call_id is not None:
        call["id"] = call_id
    return {"tool_calls": [call]}


def test_a_request_holds_what_was_asked_for_and_nothing_else(server: Server) -> None:
    assert sent(server, ModelRequest(messages=(PromptMessage(role="user", text="hi"),), window=100)) == {
        "model": "tells",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    body = sent(server, asking(tools=(FIND,)), settings=ModelSettings(options={"top_k": 5}))
    assert (body["temperature"], body["max_tokens"], body["top_k"]) == (0.0, 8, 5)
    assert "max_completion_tokens" not in body
    function = {"name": "find", "description": "Find notes.", "parameters": FIND.parameters}
    assert body["tools"] == [{"type": "function", "function": function}]


def test_every_kind_of_message_is_sent(server: Server) -> None:
    image = ImagePart(name="a.png", media_type="image/png", data="cGljdHVyZQ==")
    call = ToolCallPart(call_id="c1", name="find", arguments='{"query": "眠り"}')
    broken = ToolCallPart(call_id="c2", name="find", arguments='{"query')
    messages = (
        PromptMessage(role="system", text="Be brief."),
        PromptMessage(role="user", text="What is \ud800 this?", images=(image,)),
        PromptMessage(role="assistant", tool_calls=(call, broken)),
        PromptMessage(role="tool", text="Nothing.", tool_call_id="c1", tool_name="find"),
        PromptMessage(role="assistant", text="I do not know."),
    )
    called = [
        {"type": "function", "id": "c1", "function": {"name": "find", "arguments": '{"query": "眠り"}'}},
        {"type": "function", "id": "c2", "function": {"name": "find", "arguments": '{"not_json": "{\\"query"}'}},
    ]
    assert sent(server, ModelRequest(messages=messages, window=100))["messages"] == [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is ? this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,cGljdHVyZQ==", "detail": "high"}},
            ],
        },
        {"role": "assistant", "content": None, "tool_calls": called},
        {"role": "tool", "tool_call_id": "c1", "content": "Nothing."},
        {"role": "assistant", "content": "I do not know."},
    ]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thinking_has_more_than_one_name_and_a_server_may_forget_to_hang_up(server: Server, name: str) -> None:
    usage = {"prompt_tokens": 50, "completion_tokens": 1}
    server.streams({name: "Hm."}, {name: None}, {"content": "Yes."}, usage=usage)
    server.hangs = True
    chunks = answer(model(server))
    assert (thinking_of(chunks), text_of(chunks), finish_of(chunks).reason) == ("Hm.", "Yes.", "stop")


def test_pieces_of_several_calls_may_be_mixed(server: Server) -> None:
    server.streams(
        piece(0, call_id="a", name="find", text='{"query"'),
        piece(1, call_id="b", name="list", text='{"folder"'),
        piece(0, text=': "x"}'),
        piece(1, text=': "y"}'),
        finish="tool_calls",
    )
    calls = calls_of(answer(model(server)))
    assert [(call.call_id, call.name, call.arguments) for call in calls] == [
        ("a", "find", '{"query": "x"}'),
        ("b", "list", '{"folder": "y"}'),
    ]


@pytest.mark.parametrize("index", [0, None])
def test_calls_with_one_number_are_told_apart_by_their_ids(server: Server, index: int | None) -> None:
    first, second = piece(index, call_id="a", name="find", text="{}"), piece(index, call_id="b", name="list", text="{}")
    server.streams(first, second)
    assert [call.name for call in calls_of(answer(model(server)))] == ["find", "list"]


def test_calls_without_ids_and_arguments_get_both(server: Server) -> None:
    server.streams(piece(0, name="now"), piece(1, name="now"), {"tool_calls": [{"index": 1}]}, finish="stop")
    chunks = answer(model(server))
    first, second = calls_of(chunks)
    assert first.arguments == second.arguments == "{}"
    assert first.call_id != second.call_id
    assert finish_of(chunks).reason == "tool_calls"


def test_of_arguments_without_end_only_the_beginning_is_kept(server: Server) -> None:
    server.streams(piece(0, name="now"), *[piece(0, text="x" * 60_000)] * 4, finish="tool_calls")
    (call,) = calls_of(answer(model(server)))
    assert len(call.arguments) == 120_000


def test_an_answer_with_names_that_are_none_or_that_a_filter_stopped_is_a_sentence(server: Server) -> None:
    server.streams({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": {"no": "name"}, "arguments": "{}"}}]})
    assert "zkchat cannot read" in failure(model(server))[1].message
    server.streams({"content": "How to"}, finish="content_filter")
    arrived, error = failure(model(server))
    assert text_of(arrived) == "How to"
    assert "filter" in error.message


def test_all_that_a_server_counts_is_reported(server: Server) -> None:
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 800},
        "completion_tokens_details": {"reasoning_tokens": 30},
        "cost": 0.25,
    }
    server.streams({"content": "Yes."}, usage=usage)
    reported = TokenUsage(prompt_tokens=900, completion_tokens=50, cached_tokens=800, thinking_tokens=30, cost=0.25)
    assert finish_of(answer(model(server))).usage == reported


@pytest.mark.parametrize(
    "entry",
    [
        {"id": "tells", "max_model_len": 4096},
        {"id": "tells", "meta": {"n_ctx": 4096, "n_ctx_train": 8192}},
        {"id": "/models/any.gguf", "meta": {"n_ctx": 4096}},
    ],
)
def test_the_window_is_found_under_the_name_that_the_server_gives_it(server: Server, entry: dict[str, object]) -> None:
    server.listed = (200, {"object": "list", "data": [entry]})
    provider = model(server)
    assert provider.info.context_limit is None
    asyncio.run(provider.connect())
    assert provider.info.context_limit == 4096
    asyncio.run(provider.connect())
    assert [request.path for request in server.requests] == ["/v1/models", "/api/show"]
    declared = model(server, settings=ModelSettings(context_limit=999, calls_tools=False))
    asyncio.run(declared.connect())
    assert (declared.info.context_limit, declared.info.calls_tools) == (999, False)


@pytest.mark.parametrize(
    "listed",
    [
        (200, {"object": "list", "data": [{"id": "tells", "max_model_len": "many", "meta": None}]}),
        (404, {"error": "no such page"}),
    ],
)
def test_a_server_that_does_not_tell_its_window_is_used_all_the_same(
    server: Server, listed: tuple[int, object]
) -> None:
    server.listed = listed
    provider = model(server)
    asyncio.run(provider.connect())
    assert provider.info.context_limit is None
    assert provider.info.calls_tools


@pytest.mark.parametrize("listed", [(200, {}), (200, "no"), (401, {}), (500, {"detail": "broken"})])
def test_a_list_that_makes_no_sense_is_a_sentence(server: Server, listed: tuple[int, object]) -> None:
    server.listed = listed
    with pytest.raises(ProviderError) as caught:
        asyncio.run(model(server).connect())
    assert server.address in caught.value.message


@pytest.mark.parametrize(
    ("name", "window", "encoding"),
    [
        ("gpt-4o-mini", 128_000, "o200k_base"),
        ("gpt-4-0613", 8_192, "cl100k_base"),
        ("gpt-5-nano", 272_000, "o200k_base"),
        ("ft:gpt-3.5-turbo-0125:us::1", None, "cl100k_base"),
        ("brand-new", None, ""),
    ],
)
def test_windows_and_encodings_of_openai_itself_are_known_without_asking(
    name: str, window: int | None, encoding: str
) -> None:
    provider = OpenAI(name, api_key=KEY)
    asyncio.run(provider.connect())
    assert (provider.info.context_limit, provider.info.tokenizer) == (window, encoding)
    assert not provider.info.on_this_machine


@pytest.mark.parametrize(("name", "temperature"), [("gpt-4o", 0.0), ("gpt-5-mini", None)])
def test_openai_itself_is_spoken_to_in_its_newer_words(
    server: Server, monkeypatch: pytest.MonkeyPatch, name: str, temperature: float | None
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.address)  # the only way there from here
    server.streams({"content": "Yes."})
    provider = OpenAI(name, base_url="http://api.openai.com/v1", api_key=f" {KEY}\n", policy=QUICK)
    assert text_of(answer(provider)) == "Yes."
    (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.path == "http://api.openai.com/v1/chat/completions"
    assert request.body["max_completion_tokens"] == 8
    assert "max_tokens" not in request.body
    assert request.body.get("temperature") == temperature


def test_a_header_of_the_user_takes_the_place_of_the_key(server: Server) -> None:
    server.streams({"content": "Yes."})
    answer(model(server, headers={"Authorization": "Token mine"}))
    assert server.requests[-1].headers["authorization"] == "Token mine"


@pytest.mark.parametrize("key", ["sk-cänary-☃", "sk-canary\nx: y"])
def test_a_key_that_cannot_be_sent_is_a_sentence_without_it(server: Server, key: str) -> None:
    _, error = failure(OpenAI("tells", base_url=f"{server.address}/v1", api_key=key, policy=QUICK))
    assert "cannot be sent" in error.message
    assert "anary" not in repr(error) + error.hint


def test_an_address_that_is_none_is_a_sentence() -> None:
    _, error = failure(OpenAI("any", base_url="ftp://example.org", policy=QUICK))
    assert "ftp://example.org" in error.message
