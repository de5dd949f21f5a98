import asyncio
import base64
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.providers.contract import PLAYS, answer, asking, calls_of, failure, finish_of
from tests.providers.loopback import (
    KEY,
    PROTOCOLS,
    Connection,
    Loopback,
    OllamaProtocol,
    Request,
    prompt_tokens,
    serving,
)
from tests.support.waiting import DEADLINE
from zkchat.core.message import ImagePart, ToolCallPart
from zkchat.core.prompt import ModelRequest, PromptMessage
from zkchat.models.ollama import Ollama
from zkchat.models.registry import ModelSettings
from zkchat.models.transport import TransportPolicy

pytestmark = pytest.mark.outside

QUICK = TransportPolicy(connect_timeout=DEADLINE, first_chunk_timeout=DEADLINE, backoff=0.001)


@dataclass
class Server(Loopback):
    """Ollama, as it shows a model called `tells`, and as it treats a prompt that does not fit."""

    model: dict[str, Any] = field(default_factory=dict)
    knows_flags: bool = True
    """Whether it is new enough to refuse what is too long."""
    window: int = 10_000

    def shown(self) -> object:
        shown = super().shown()
        assert isinstance(shown, dict)
        return {**shown, **self.model}

    async def serve(self, request: Request, connection: Connection) -> None:
        fits = request.path != "/api/chat" or prompt_tokens(request) <= self.window
        if fits:
            return await super().serve(request, connection)
        protocol = PROTOCOLS["/api/chat"]
        assert isinstance(protocol, OllamaProtocol)
        if self.knows_flags and request.body["truncate"] is False:
            return await connection.reply(400, protocol.error("the input length exceeds the context length"))
        await connection.begin(protocol.content_type)
        await connection.piece(protocol.line(message={"role": "assistant", "content": "Yes."}))
        await connection.piece(protocol.finish("stop", self.window // 2))
        return await connection.end()


server = serving(lambda: Server(PLAYS), "function")


def sent(server: Server, request: ModelRequest, **more: Any) -> dict[str, Any]:
    """The body that reaches the server."""
    answer(Ollama("tells", host=server.address, policy=QUICK, **more), request)
    assert server.requests[-1].path == "/api/chat"
    body: dict[str, Any] = server.requests[-1].body
    return body


def test_the_window_is_always_sent_and_nothing_may_be_cut(server: Server) -> None:
    body = sent(server, ModelRequest(messages=(PromptMessage(role="user", text="hi"),), window=4321))
    assert body["options"] == {"num_ctx": 4321}
    assert (body["truncate"], body["shift"], body["stream"]) == (False, False, True)
    settings = ModelSettings(options={"top_p": 0.5, "num_ctx": 1, "temperature": 1.0})
    body = sent(server, asking(), settings=settings, api_key=f" {KEY}\n")
    assert body["options"] == {"top_p": 0.5, "temperature": 0.0, "num_predict": 8, "num_ctx": 2048}
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"


def test_every_kind_of_message_is_sent(server: Server) -> None:
    image = ImagePart(name="a.png", media_type="image/png", data=base64.b64encode(b"picture").decode())
    call = ToolCallPart(call_id="c1", name="find", arguments='{"query": "x"}')
    broken = ToolCallPart(call_id="c2", name="find", arguments='{"query')
    messages = (
        PromptMessage(role="system", text="Be brief."),
        PromptMessage(role="user", text="What is \ud800 this?", images=(image,)),
        PromptMessage(role="assistant", tool_calls=(call, broken)),
        PromptMessage(role="tool", text="Nothing.", tool_call_id="c1", tool_name="find"),
    )
    assert sent(server, ModelRequest(messages=messages, window=100))["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is ? this?", "images": [image.data]},
        {
            "role": "assistant",
            "tool_calls": [
                {"function": {"name": "find", "arguments": {"query": "x"}}},
                {"function": {"name": "find", "arguments": {"not_json": '{"query'}}},
            ],
        },
        {"role": "tool", "content": "Nothing.", "tool_name": "find"},
    ]


@pytest.mark.parametrize(
    ("shown", "window"),
    [
        ({"parameters": 'stop                           "x"\nnum_ctx                        4096'}, 4096),
        ({"parameters": "num_ctx many"}, 8192),
        ({}, 8192),
        ({"parameters": None, "model_info": {"qwen3.context_length": 40960, "qwen3.block_count": 36}}, 40960),
        ({"model_info": {"general.architecture": "x"}}, None),
    ],
)
def test_the_window_is_what_the_model_file_says_or_else_the_model(
    server: Server, shown: dict[str, object], window: int | None
) -> None:
    server.model.update(shown)
    model = Ollama("tells", host=server.address)
    assert (model.info.context_limit, model.info.calls_tools) == (None, False)
    for _ in range(2):
        asyncio.run(model.connect())
    assert (model.info.context_limit, model.info.calls_tools) == (window, True)
    assert len(server.requests) == 1


@pytest.mark.parametrize("tools", [True, False])
def test_what_the_settings_declare_counts_for_more(server: Server, tools: bool) -> None:
    server.model["capabilities"] = ["completion"] if tools else ["completion", "tools"]
    model = Ollama("tells", host=server.address, settings=ModelSettings(context_limit=999, calls_tools=tools))
    for _ in range(2):
        assert (model.info.context_limit, model.info.calls_tools) == (999, tools)
        asyncio.run(model.connect())


def test_a_prompt_that_the_server_refuses_is_told_as_too_long(server: Server) -> None:
    server.window = 20
    _, error = failure(Ollama("tells", host=server.address, policy=QUICK), asking("word " * 100))
    assert "The prompt is longer than" in error.message
    assert "context.max_tokens" in error.hint


@pytest.mark.parametrize("words", [100, 480])
def test_a_prompt_that_an_old_server_cuts_is_told(server: Server, words: int) -> None:
    server.knows_flags, server.window = False, words // 2
    warning = finish_of(answer(Ollama("tells", host=server.address), asking("word " * words))).warning
    assert f"read only {words // 4:,} tokens" in warning
    assert "context.max_tokens" in warning


@pytest.mark.parametrize("words", [10, 485])
def test_a_prompt_that_was_read_whole_raises_no_alarm(server: Server, words: int) -> None:
    assert finish_of(answer(Ollama("tells", host=server.address), asking("word " * words))).warning == ""


def test_calls_in_different_answers_have_different_ids(server: Server) -> None:
    model = Ollama("calls", host=server.address)
    assert len({call.call_id for _ in range(3) for call in calls_of(answer(model))}) == 6
