"""What a session keeps, counts, imports and leaves out, at every size of window, with and without tools.

Against a server that records what it gets, which the user's own `OLLAMA_HOST` names.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.providers.loopback import Request
from tests.support.recording_server import RecordingServer
from tests.support.world import World
from zkchat.core.errors import ExitCode
from zkchat.core.prompt import Finish

pytestmark = [pytest.mark.outside, pytest.mark.slow]

RESERVE = 512
WINDOWS = (2_048, 8_192, 32_768)
QUESTIONS = {
    "English": ("What of the old harbour?", "And of the mill?", "And the berth?", "Once more, please?"),
    "Chinese": ("老港口怎么样？", "磨坊呢？", "泊位呢？", "请再说一遍？"),
}
PAGE = {"English": "I keep forty hives.", "Chinese": "我养了四十箱蜂。"}
RULE = {"English": "Answer in one sentence.", "Chinese": "用一句话回答。"}
IMPORTED = {"English": "The ferry leaves at nine.", "Chinese": "渡轮九点开。"}
_USED = re.compile(r"^Context: (.*)$", re.MULTILINE)


@pytest.fixture(params=[(window, tools) for window in WINDOWS for tools in (False, True)], ids=str)
def server(request: pytest.FixtureRequest) -> Iterator[RecordingServer]:
    window, has_tools = request.param
    with RecordingServer(window, has_tools=has_tools) as server:
        server.plays["silent"] = [Finish()]
        yield server


@pytest.fixture(params=QUESTIONS)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def user(tmp_path: Path, server: RecordingServer, language: str) -> World:
    world = World(tmp_path, variables={"ZKCHAT_OLLAMA__HOST": "", "OLLAMA_HOST": f"127.0.0.1:{server.port}"})
    limit = f'[models.large]\nprovider = "ollama"\nid = "m"\ncontext_limit = {4 * server.window}\n'
    world.configure(f'model = "quote"\n{limit}')
    world.note("Tea.md", "# Tea\n\nGreen tea.\n")
    world.note("ZKCHAT.md", f"{PAGE[language]}\n")
    world.note(".zkchat/rules/brief.md", f"---\ninclude: always\ncolour: red\n---\n{RULE[language]}\n")
    world.note(".zkchat/rules/off.md", "---\ninclude: always\nenabled: false\n---\nSpeak in rhyme.\n")
    assert world.run("trust", "--yes").code == 0
    return world


def said(server: RecordingServer) -> str:
    """All that the last request says."""
    return "\n".join(str(message["content"]) for message in server.chats[-1]["messages"])


def test_a_session_keeps_its_word(user: World, server: RecordingServer, language: str) -> None:
    first, second, third, last = QUESTIONS[language]
    assert user.run("ask", first, "--model", "ollama:m").code == 0
    told = user.run("ask", second, "-c", "--json").json
    assert (told["model"], told["usage"]["context"]["window"]) == ("ollama:m", server.window)
    assert PAGE[language] in said(server)
    assert RULE[language] in said(server)
    assert "rhyme" not in said(server)
    lines = [third, "/add [[Tea]]", "/stats", "/context", "/branch 2", "/stats", "/context", "/branch"]
    chat = user.run("chat", "--plain", "--continue", stdin="\n".join([*lines, "/drop [[ZKCHAT]]", last, ""]))
    assert chat.code == 0
    added, branched = _USED.findall(chat.out)
    assert branched != added
    assert f"/ {server.window:,} tokens" in added
    assert "in every request: " in chat.out
    assert re.search(r"^ +b1 .* 6 messages", chat.out, re.MULTILINE)
    assert chat.err.count("There is no 'colour' here.") == 1
    assert "0 messages archived" not in chat.out + chat.err
    assert PAGE[language] not in said(server)
    stats = user.run("context", "stats").out
    assert f"Model ollama:m, context window {server.window:,} tokens." in stats
    assert max(map(server.prompt_tokens, _chat_requests(server))) <= server.window - RESERVE


def test_what_a_model_or_a_file_brings_is_said(user: World, server: RecordingServer, language: str) -> None:
    question = QUESTIONS[language][0]
    silent = user.run("ask", question, "--model", "ollama:silent")
    assert (silent.code, silent.out) == (ExitCode.NO_ANSWER, "")
    assert "answered nothing." in silent.err
    large = user.run("ask", question, "--model", "large", "--json").json
    assert large["usage"]["context"]["window"] == 4 * server.window
    messages = [
        {"role": "user", "content": [{"type": "text", "text": question}, {"type": "compaction", "content": "…"}]},
        {"role": "assistant", "content": [{"type": "text", "text": IMPORTED[language]}]},
    ]
    imported = user.run("context", "import", "--file", "-", "--json", stdin=json.dumps({"messages": messages})).json
    options = ("--session", imported["session"], "--model", "ollama:m")
    user.variables["ZKCHAT_MEMORY__ENABLED"] = "false"
    assert user.run("ask", QUESTIONS[language][1], *options).code == 0
    assert IMPORTED[language] in said(server)
    assert PAGE[language] not in said(server)


def _chat_requests(server: RecordingServer) -> list[Request]:
    chats = [id(body) for body in server.chats]
    return [request for request in server.requests if id(request.body) in chats]
