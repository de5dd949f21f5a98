"""A log that is piped in and far longer than the window, against a server that records what it gets."""

from pathlib import Path

import pytest

from tests.support.recording_server import RecordingServer
from tests.support.world import World

pytestmark = pytest.mark.outside

RESERVE = 512
ENGLISH = [
    f"2026-03-04 12:{n % 60:02}:{n % 31:02} [build-{n % 7}] step {n} finished with 0 errors" for n in range(1_000)
]
ENGLISH[430] = "2026-03-04 12:40:01 [deploy-docs] Process completed with exit code 1"
CHINESE = [f"第{n}号设备由小组{n % 9}在周{n % 7}检查完毕" for n in range(2_000)]
CHINESE[830] = "新版本的发布由韩梅梅负责"
LANGUAGES = {
    "English": ("Which job failed?", "\n".join(ENGLISH), ENGLISH[430]),
    "Chinese": ("谁负责发布？", "，".join(CHINESE), CHINESE[830]),
}


@pytest.mark.parametrize(
    ("window", "has_tools", "language"),
    [(2_048, True, "English"), (2_048, False, "Chinese"), (4_096, True, "Chinese"), (8_192, True, "English")],
)
def test_the_question_and_the_line_that_answers_reach_the_model(
    tmp_path: Path, window: int, has_tools: bool, language: str
) -> None:
    question, log, line = LANGUAGES[language]
    with RecordingServer(window, has_tools=has_tools) as server:
        world = World(tmp_path, variables={"ZKCHAT_OLLAMA__HOST": server.address})
        world.note("Tea.md", "# Tea\n\nGreen tea.\n")
        result = world.run("ask", question, "--model", "ollama:m", stdin=log)
    assert result.code == 0
    body = server.chats[0]
    sent = body["messages"][-1]["content"]
    assert sent.startswith(question)
    assert line in sent
    assert "left out …]" in sent
    tokens = [server.prompt_tokens(request) for request in server.requests if request.body is body]
    assert tokens[0] <= window - RESERVE
    assert f"{len(question) + 2 + len(log):,} characters" in result.err
    assert has_tools == ("read_attachment" in str(body.get("tools"))) or window < 4_096
