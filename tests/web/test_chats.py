"""The chat of the page: turns as streams, stopping, questions to the user, and sessions that others write into."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("starlette")

from tests.support.sessions import NOON
from tests.support.web_server import Web, events_of, served
from tests.support.world import World
from zkchat.core.changes import ChangeSet, FileWrite
from zkchat.core.message import ChatMessage, ToolResultPart
from zkchat.repl.commands.table import COMMANDS
from zkchat.web import chats
from zkchat.web.answers import plain_message

pytestmark = [pytest.mark.outside, pytest.mark.skipif(sys.platform == "win32", reason="signals")]
SLOW: list[dict[str, Any]] = [{"text": "Seven "}, {"delay": 60}, {"text": "hours."}]


@pytest.fixture
def world(world: World) -> World:
    world.note("Sleep.md", "# Sleep\n\nSeven hours are enough, see [[Tea]].\n\n## Naps\n\nShort ones.\n")
    world.note("Tea.md", "# Tea\n\nGreen.\n")
    return world


@pytest.fixture
def web(world: World) -> Iterator[Web]:
    with served(
        world, world.script([{"text": "Seven hours, "}, {"text": "says [[Sleep]]."}], [{"text": "Yes."}])
    ) as web:
        yield web


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["kind"] for event in events]


def last(events: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return [event for event in events if event["kind"] == kind][-1]


def test_a_turn_is_a_stream_of_events_and_is_in_the_sessions_of_the_terminal(web: Web) -> None:
    events = web.ask("How long should I [[Sleep]]?")
    assert "".join(event["text"] for event in events if event["kind"] == "text") == "Seven hours, says [[Sleep]]."
    assert (kinds(events)[0], kinds(events)[-1]) == ("session", "end")
    (reference,) = last(events, "finished")["message"]["references"]
    assert (reference["relative_path"], reference["cited"]) == ("Sleep.md", True)
    session = last(events, "session")
    assert session["title"] == "How long should I [[Sleep]]?"
    more = web.ask("Really?", session=session["id"])
    assert last(more, "end") == {"kind": "end", "session": session["id"], "stopped": False}
    assert [each["title"] for each in web.world.run("sessions", "list", "--json").json] == [session["title"]]
    assert [each["id"] for each in web.get("/api/sessions")] == [session["id"]]
    messages = web.get(f"/api/sessions/{session['id']}")["messages"]
    assert [each["parts"][0]["text"] for each in messages if each["role"] == "assistant"] == [
        "Seven hours, says [[Sleep]].",
        "Yes.",
    ]
    assert messages[1]["context_usage"]["window"]
    assert messages[1]["request_context"] is None


def test_what_cannot_be_asked_is_told(web: Web) -> None:
    assert web.post("/api/chat", {"message": " "})["error"]["message"] == "message must be a text that is not empty."
    assert web.post("/api/chat", {"message": 5})["error"]["type"] == "UsageError"
    assert web.post("/api/chat", {"message": "Hello", "session": "nope"})["error"]["type"] == "SessionNotFound"
    assert web.get("/api/sessions/nope")["error"]["type"] == "SessionNotFound"
    with web.client() as client:
        assert client.post("/api/chat", content=b"{", headers={"Content-Type": "application/json"}).status_code == 400
        assert client.post("/api/chat", data={"message": "Hello"}).status_code == 400
        for size, said in ((4_000_000, "not a JSON object"), (4_000_001, "larger than 4,000,000 bytes")):
            refused = client.post("/api/chat", content=b" " * size, headers={"Content-Type": "application/json"})
            assert (refused.status_code, said in refused.json()["error"]["message"]) == (400, True)
        assert client.get("/api/chat").status_code == 405
    assert web.post("/api/chat", {"message": "Hello", "agent": "nobody"})["error"]["type"] == "UnknownProfile"
    session = last(web.ask("/search tea"), "end")["session"]
    assert last(web.ask("Hello", session=session, agent="nobody"), "error")["text"] == "There is no agent 'nobody'."


@pytest.mark.parametrize("how", ["stop", "close", "end"])
def test_an_answer_that_is_stopped_is_kept(world: World, how: str) -> None:
    with (
        served(world, world.script(SLOW)) as web,
        web.client() as client,
        client.stream("POST", "/api/chat", json={"message": "How long?"}) as answer,
    ):
        events = events_of(answer)
        session = next(events)["id"]
        while next(events)["kind"] != "text":
            pass
        if how == "stop":
            assert web.post("/api/chat", {"message": "And?", "session": session})["error"]["type"] == "Busy"
            assert web.post("/api/chat/stop", {"session": session}) == {"stopped": True}
            assert last([*events], "end")["stopped"]
        elif how == "close":
            answer.close()
    messages = world.run("sessions", "show", session, "--json").json["messages"]
    assert [(each["role"], each["parts"][0]["text"], each["status"]) for each in messages] == [
        ("user", "How long?", "complete"),
        ("assistant", "Seven ", "unfinished"),
    ]


def test_an_agent_is_chosen_with_a_message(web: Web) -> None:
    session = last(web.ask("/search tea"), "end")["session"]
    assert last(web.ask("How long, [[Sleep]]?", session=session, agent="research"), "session")["agent"] == "research"
    assert last(web.ask("Really?", session=session), "session")["agent"] == "research"
    assert last(web.ask("/search tea", agent="writer"), "session")["agent"] == "writer"


def test_slash_commands_print_markdown(web: Web) -> None:
    events = web.ask("/search seven hours")
    printed = last(events, "printed")["text"]
    assert ("Sleep" in printed, "/show N" in printed, "/open" in printed) == (True, True, False)
    session = last(events, "end")["session"]
    assert "Short ones." in last(web.ask("/show [[Sleep#Naps]]", session=session), "printed")["text"]
    assert "- `/search" in last(web.ask("/help", session=session), "printed")["text"]
    assert "only in a terminal" in last(web.ask("/open 1", session=session), "printed")["text"]
    assert {"search", "show", "context"} <= {each["name"] for each in web.get("/api/commands")}


def test_without_leave_to_write_no_command_changes_a_note(web: Web) -> None:
    before = {path: path.read_bytes() for path in web.world.vault.rglob("*.md")}
    session = last(web.ask("How long?"), "end")["session"]
    for command in COMMANDS:
        for argument in ("", "Tea New name"):
            for event in web.ask(f"/{command.name} {argument}".strip(), session=session):
                assert event["kind"] != "question" or event["about"] != "changes"
    assert {path: path.read_bytes() for path in web.world.vault.rglob("*.md")} == before
    offered = {each["name"] for each in web.get("/api/commands")}
    assert offered & (chats.CHANGES_NOTES | chats.TERMINAL_ONLY) == set()


EDIT = {"tool": "create_document", "arguments": {"path": "New.md", "text": "# New\n\nA line.\n"}}


@pytest.mark.parametrize(("answer", "decision"), [("yes", "applied"), ("no", "declined"), ("stop", "dropped")])
def test_proposed_changes_wait_for_a_yes(world: World, answer: str, decision: str) -> None:
    with (
        served(world, world.script([EDIT], [{"text": "I propose a note."}]), write=True) as web,
        web.client() as client,
        client.stream("POST", "/api/chat", json={"message": "Write a new note."}) as stream,
    ):
        events = []
        for event in events_of(stream):
            events.append(event)
            if event["kind"] == "question":
                assert (event["about"], "+A line." in event["diff"]) == ("changes", True)
                assert not (world.vault / "New.md").exists()
                session = events[0]["id"]
                if answer == "stop":
                    web.post("/api/chat/stop", {"session": session})
                    continue
                wrong = {"session": session, "id": "99", "answer": "yes"}
                assert "no longer waits" in web.post("/api/review", wrong)["error"]["message"]
                assert "answer must be" in web.post("/api/review", {**wrong, "answer": "maybe"})["error"]["message"]
                reply = {"session": session, "id": event["id"], "answer": answer}
                assert web.post("/api/review", reply) == {"answered": True}
    if answer != "stop":
        assert last(events, "changes_reviewed")["decision"] == decision
    assert (world.vault / "New.md").exists() == (answer == "yes")


def test_always_counts_only_where_it_is_offered() -> None:
    asker = chats.Asker()
    asker.send = lambda event: asker.reply(event["id"], "always")
    change = ChangeSet(title="New note")
    assert [asker.review(change, may_always=offered).always for offered in (True, False)] == [True, False]


def test_a_long_diff_and_what_a_tool_returned_are_cut() -> None:
    asked: list[dict[str, Any]] = []
    asker = chats.Asker()

    def decline(event: dict[str, Any]) -> None:
        asked.append(event)
        asker.reply(event["id"], "no")

    asker.send = decline
    for size in (99_000, 101_000):
        asker.review(ChangeSet(title="New note", writes=(FileWrite(path="A.md", before=None, after=b"x\n" * size),)))
    asker.review(ChangeSet(title="One line", writes=(FileWrite(path="A.md", before=None, after=b"x" * 99_000),)))
    assert [len(each["diff"]) for each in asked[:2]] == [100_002, 100_002]
    assert not asked[2]["diff"].endswith("…")
    result = ToolResultPart(call_id="c", name="t", text="x" * 2_001)
    shown = plain_message(ChatMessage(id="m", role="assistant", created_at=NOON, parts=(result,)))
    assert len(shown["parts"][0]["text"]) == 2_000


def test_a_command_that_asks_is_answered_too(world: World) -> None:
    with served(world, world.script([{"text": "Seven hours."}]), write=True) as web, web.client() as client:
        session = last(web.ask("How long?"), "end")["session"]
        with client.stream("POST", "/api/chat", json={"message": "/save", "session": session}) as stream:
            for event in events_of(stream):
                if event["kind"] == "question":
                    assert event["about"] == "command"
                    web.post("/api/review", {"session": session, "id": event["id"], "answer": "yes"})
    assert len([*world.vault.glob("*.md")]) == 3


def test_what_a_terminal_says_in_a_session_is_told(web: Web) -> None:
    session = last(web.ask("How long?"), "end")["session"]
    with (
        web.client() as client,
        client.stream("GET", f"/api/sessions/{session}/events") as one,
        client.stream("GET", "/api/sessions/events") as every,
    ):
        lines = [stream.iter_lines() for stream in (one, every)]
        assert [next(each) for each in lines] == [": ", ": "]
        web.world.run("ask", "And now?", "--session", session, "--model", "quote")
        for each in lines:
            event = json.loads(next(line for line in each if line.startswith("data: ")).removeprefix("data: "))
            assert (event["kind"], event["session"]) == ("changed", session)
    assert len(web.get(f"/api/sessions/{session}")["messages"]) == 4


def test_more_conversations_than_are_kept_open_go_on(web: Web) -> None:
    sessions = [last(web.ask("/search tea"), "end")["session"] for _ in range(chats.MAX_KEPT_OPEN + 2)]
    assert len({*sessions}) == chats.MAX_KEPT_OPEN + 2
    asked = last(web.ask("How long?"), "end")["session"]
    for _ in range(chats.MAX_KEPT_OPEN + 2):
        web.ask("/search tea")
    assert "Yes." in str(web.ask("Really?", session=asked))
