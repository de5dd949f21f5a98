"""What gives way in a full request, and in which order, against a server that records what it gets."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.recording_server import RecordingServer
from tests.support.world import World

pytestmark = [pytest.mark.outside, pytest.mark.slow]

RESERVE = 512
WINDOWS = (2_048, 8_192)


def world_of(folder: Path, server: RecordingServer, **variables: str) -> World:
    world = World(folder, variables={"ZKCHAT_OLLAMA__HOST": server.address, "ZKCHAT_MODEL": "ollama:m", **variables})
    world.note("Tea.md", "# Tea\n\nGreen tea.\n")
    return world


def sizes(server: RecordingServer) -> list[int]:
    chats = [id(body) for body in server.chats]
    return [server.prompt_tokens(request) for request in server.requests if id(request.body) in chats]


def roles(body: dict[str, Any]) -> list[str]:
    return [message["role"] for message in body["messages"] if message["role"] != "system"]


def english(words: int) -> str:
    return " ".join(f"Word {number} of the story is about the old harbour." for number in range(words // 10))


def chinese(characters: int) -> str:
    return "".join(f"第{number}句话说的是老港口。" for number in range(characters // 10))


@pytest.mark.parametrize(
    ("window", "write", "has_tools"),
    [(WINDOWS[0], chinese, False), (WINDOWS[0], english, True), (WINDOWS[1], chinese, True)],
)
def test_a_long_message_that_fits_alone_is_sent_whole(tmp_path: Path, window: int, write: Any, has_tools: bool) -> None:
    """Whatever was said before, and however much of it the message brings back."""
    with RecordingServer(window, has_tools=has_tools) as server:
        world = world_of(tmp_path, server)
        for number in range(2):
            world.run("ask", f"{write(window // 4)} Question {number}?", *(["-c"] if number else []))
        message = f"{write(window // 3)} What of all this is about the old harbour?"
        result = world.run("ask", message, "-c")
    assert result.code == 0
    assert "longer than" not in result.err
    assert "more than the context has room for" not in result.err
    assert message in server.chats[-1]["messages"][-1]["content"]
    assert max(sizes(server)) <= window - RESERVE


NOTE = {
    "English": "# Meeting\n\nWe met at noon.\n\n"
    + "".join(f"## Item {n}\n\n{f'Ann said that item {n} is settled. ' * 12}\n\n" for n in range(40)),
    "Chinese": "# 会议\n\n我们中午见面。\n\n"
    + "".join(f"## 第{n}项\n\n{f'小明说第{n}项已经定了。' * 20}\n\n" for n in range(60)),
}


@pytest.mark.parametrize(("window", "language"), [(WINDOWS[0], "English"), (WINDOWS[1], "Chinese")])
def test_of_a_long_linked_note_a_model_without_tools_gets_as_much_as_fits(
    tmp_path: Path, window: int, language: str
) -> None:
    with RecordingServer(window, has_tools=False) as server:
        world = world_of(tmp_path, server)
        world.note("Meeting.md", NOTE[language])
        result = world.run("ask", "Summarise [[Meeting]]", "--json").json
    (body,) = server.chats
    sent = body["messages"][-1]["content"]
    assert sent.startswith("Summarise [[Meeting]]")
    assert '<document path="Meeting.md"' in sent
    if '<document path="Meeting.md">' in sent:
        assert NOTE[language].strip() in sent
    else:
        assert "Outline:" in sent
        assert "left out …]" in sent
        assert 0.6 * (window - RESERVE) <= result["usage"]["context"]["total"]  # as we expect that the server counts
        assert result["references"][0]["extent"].startswith("outline")
    assert sizes(server)[0] <= window - RESERVE


PINNED = {
    english: "Remember that the berth is number 17, on the north quay.",
    chinese: "请记住泊位是十七号，在北码头。",
}


@pytest.mark.parametrize(
    ("strategy", "window", "has_tools", "write"),
    [
        ("hybrid", WINDOWS[0], True, chinese),
        ("discard", WINDOWS[0], False, english),
        ("summarize", WINDOWS[1], True, english),
    ],
)
def test_a_pinned_message_stays_word_for_word_with_its_answer(
    tmp_path: Path, strategy: str, window: int, has_tools: bool, write: Any
) -> None:
    pinned = PINNED[write]
    with RecordingServer(window, has_tools=has_tools) as server:
        world = world_of(tmp_path, server, ZKCHAT_CONTEXT__STRATEGY=strategy)
        world.run("ask", pinned)
        session = world.run("sessions", "list", "--all", "--json").json[0]["id"]
        assert world.run("sessions", "pin", session, "1").code == 0
        for number in range(4):
            assert world.run("ask", f"{write(window // 4)} {number}?", "-c").code == 0
    for body in server.chats:
        contents = [message["content"] for message in body["messages"]]
        assert any(pinned in content for content in contents)
        order = roles(body)
        assert order[0] == order[-1] == "user"
        assert all({one, other} == {"user", "assistant"} for one, other in pairwise(order))
    assert len(server.chats[-1]["messages"]) < 10
    assert max(sizes(server)) <= window - RESERVE


def test_pins_that_do_not_fit_together_are_named(tmp_path: Path) -> None:
    with RecordingServer(2_048, has_tools=False) as server:
        world = world_of(tmp_path, server)
        for number in range(3):
            world.run("ask", f"Pin {number}: {english(500)}", *(["-c"] if number else []))
            session = world.run("sessions", "list", "--all", "--json").json[0]["id"]
            world.run("sessions", "pin", session, str(2 * number + 1))
        result = world.run("ask", f"{english(500)} And now?", "-c")
    assert result.code == 0
    assert 'Not all pinned messages fit in the context with your message. Archived: "Pin ' in result.err
    assert f"Pin 2: {english(500)}" in str(server.chats[-1]["messages"])
