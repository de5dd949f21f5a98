"""Long conversations with a model that has tools, in small windows, over both wires against a server that records."""

import json
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from tests.providers.loopback import PROTOCOLS, Connection, Request
from tests.support.recording_server import RecordingServer
from tests.support.world import World
from zkchat.chat.context.assembly import SUMMARY, digest
from zkchat.chat.tools.registry import CORE_TOOLS
from zkchat.core.errors import ExitCode
from zkchat.core.message import ToolCallPart
from zkchat.core.prompt import Finish, ModelChunk, TextChunk, ToolRequested

pytestmark = [pytest.mark.outside, pytest.mark.slow]

RESERVE = 512
ESTIMATE_ERROR = 0.01
"""How far what is expected of a server may be off: its count is learnt from what it reported before."""
ADDRESS = {"ollama": ("ZKCHAT_OLLAMA__HOST", ""), "openai": ("ZKCHAT_OPENAI__BASE_URL", "/v1")}
ALL_TOOLS = 12
FEWEST_TURNS = 12
"""Of a conversation that is shortened; one with fewer has all of its turns."""
CALLS: tuple[tuple[str, dict[str, str]], ...] = (
    ("find_excerpts", {"query": "sourdough"}),
    ("read_document", {"path": "Rye bread"}),
    ("list_documents", {}),
    ("find_backlinks", {"relative_path": "Rye bread.md"}),
)
SUBJECTS = {
    "English": ("sourdough", "harbour", "beekeeping", "tides", "rye flour", "the old mill"),
    "Chinese": (
        "酸面团的发酵时间",
        "港口的潮汐表",
        "养蜂的工具清单",
        "黑麦面粉的比例",
        "老磨坊的历史",
        "春天的播种计划",
    ),
}
QUESTION = {
    "English": "Question {}: what do my notes say about {}, and how does it bear on what we said before?",
    "Chinese": "第{}个问题：关于{}，我的笔记里写了什么？这和我们之前讨论的内容有什么关系？",
}
ANSWER = {
    "English": "Point {}: the dough rests for a night before it is baked, says [[Rye bread]]. ",
    "Chinese": "第{}点：面团在烘烤之前要静置一整夜，见[[Rye bread]]，然后再放进炉子里烤。",
}
SUMMARIES = {"English": "They talked about [[Rye bread]].", "Chinese": "他们讨论了[[Rye bread]]的做法。"}


class CallingServer(RecordingServer):
    """A model with tools that calls one in every third of its answers."""

    def __init__(self, window: int, language: str) -> None:
        super().__init__(window, has_tools=True)
        self._language = language
        self._answers = count(1)

    @property
    def chats(self) -> list[dict[str, Any]]:
        """Those for summaries too."""
        return [request.body for request in self.requests if request.path in PROTOCOLS]

    async def serve(self, request: Request, connection: Connection) -> None:
        if request.path == "/v1/models":
            models = [{"id": "m", "object": "model", "max_model_len": self.window}]
            return await connection.reply(200, {"object": "list", "data": models})
        if request.path == "/api/show" and "/v1/models" in {each.path for each in self.requests}:
            return await connection.reply(404, {"error": "not an Ollama"})
        if request.path in PROTOCOLS:
            self.plays["m"] = self._answer(request.body)
        return await super().serve(request, connection)

    def _answer(self, body: dict[str, Any]) -> list[ModelChunk]:
        if body["messages"][0]["content"] == SUMMARY:
            return [TextChunk(text=SUMMARIES[self._language]), Finish()]
        number = next(self._answers)
        offered = {tool["function"]["name"] for tool in body.get("tools") or ()}
        name, arguments = CALLS[number // 3 % len(CALLS)]
        if number % 3 == 0 and name in offered and body["messages"][-1]["role"] == "user":
            call = ToolCallPart(call_id=f"call-{number}", name=name, arguments=json.dumps(arguments))
            return [ToolRequested(call=call), Finish(reason="tool_calls")]
        sentences = (ANSWER[self._language].format(f"{number}.{each}") for each in range(3 + number % 4))
        return [TextChunk(text="".join(sentences)), Finish()]


@pytest.fixture
def user(world: World) -> World:
    world.note(
        "Rye bread.md",
        "# Rye bread\n\nThe sourdough rests for a night. See [[Harbour]].\n\n" + "Knead the dough well. " * 300,
    )
    world.note("Harbour.md", "# Harbour\n\nThe tides at the harbour turn at six. [[Rye bread]] is sold there.\n")
    world.note("面包.md", "# 面包\n\n酸面团的发酵时间是一整夜。港口的潮汐表在墙上。\n")
    return world


def questions(language: str, turns: int) -> Iterator[str]:
    subjects = SUBJECTS[language]
    for number in range(1, turns + 1):
        yield QUESTION[language].format(number, subjects[number % len(subjects)])


@pytest.mark.parametrize(
    ("window", "turns", "provider", "language"),
    [
        (2_048, 20, "ollama", "English"),
        (2_048, 12, "openai", "Chinese"),
        (4_096, 12, "ollama", "Chinese"),
        (8_192, 8, "openai", "English"),
        (32_768, 4, "ollama", "English"),
    ],
)
def test_a_conversation_with_tools_goes_on_within_the_window(
    user: World, window: int, turns: int, provider: str, language: str, scaled: Callable[[int], int]
) -> None:
    asked = [*questions(language, min(turns, max(FEWEST_TURNS, scaled(2 * turns))))]
    with CallingServer(window, language) as server:
        variable, path = ADDRESS[provider]
        user.variables[variable] = f"{server.address}{path}"
        result = user.run("chat", "--model", f"{provider}:m", stdin="\n".join([*asked, "/quit", ""]))
    assert result.code == ExitCode.OK
    assert "zkchat: " not in result.err, result.err  # how a turn that failed is reported
    chats = [body for body in server.chats if body["messages"][0]["content"] != SUMMARY]
    for text in asked:
        assert any(text in str(body["messages"]) for body in chats), text
    assert max(map(server.tokens, server.chats)) <= (1 + ESTIMATE_ERROR) * (window - RESERVE)
    assert any(message["role"] == "tool" for body in chats for message in body["messages"])
    for body in chats:
        names = {tool["function"]["name"] for tool in body.get("tools") or ()}
        assert names >= CORE_TOOLS
        assert len(names) == ALL_TOOLS or window < 4_096


def test_the_record_counts_the_definitions_as_they_are_sent(user: World) -> None:
    for provider, (variable, path) in ADDRESS.items():
        with CallingServer(32_768, "English") as server:
            user.variables[variable] = f"{server.address}{path}"
            assert user.run("ask", "What about sourdough?", "--model", f"{provider}:m").code == ExitCode.OK
        record = user.run("context", "show", "--message", "2", "--json").json
        counted = [item for item in record["items"] if item["type"] == "tool"]
        (sent,) = (body["tools"] for body in server.chats)
        texts = [json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in sent]
        assert [item["digest"] for item in counted] == [digest(text) for text in texts]
        assert sum(item["tokens"] for item in counted) <= 700 + len(counted)
