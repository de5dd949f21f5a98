from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from tests.support.world import World
from zkchat.app import stores
from zkchat.core.choices import Role
from zkchat.core.errors import ExitCode
from zkchat.core.message import (
    ChatMessage,
    CompactionPart,
    EvidencePart,
    FilePart,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from zkchat.core.ports import SessionStore
from zkchat.core.session import HeadEntry, ListingEntry, MessageEntry
from zkchat.core.session_history import messages_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@contextmanager
def store_of(world: World) -> Iterator[SessionStore]:
    with stores.open_sessions(world.environment(), world.vault) as store:
        yield store


def message(id_: str, *parts: Part, role: Role = "user") -> MessageEntry:
    return MessageEntry(message=ChatMessage(id=id_, role=role, parts=parts, created_at=NOON))


@pytest.fixture
def talk(world: World) -> str:
    """A session called Sleep with two questions and two answers; returns its id."""
    with store_of(world) as store:
        session = store.create("Sleep")
        for number in (1, 3):
            store.append(session.id, [message(f"m{number}", TextPart(text=f"Question {number}?"))])
            store.append(
                session.id, [message(f"m{number + 1}", TextPart(text=f"Answer {number + 1}."), role="assistant")]
            )
        return session.id


def test_the_list_shows_id_count_and_title(world: World, talk: str) -> None:
    with store_of(world) as store:
        store.create()
    lines = world.run("sessions", "list", "--all").out.splitlines()
    assert lines[0].startswith(talk)
    assert lines[0].endswith("4 messages  Sleep")
    assert "(untitled)" in lines[1]  # nothing was said in it
    world.run("ask", "Lost?", "--model", "scripted:nowhere.json")
    assert world.run("sessions", "list", "--all").out.splitlines()[0].endswith("     1 message  Lost?")


def test_a_list_without_sessions_names_the_single_questions(world: World) -> None:
    world.note("Sleep.md", "Seven hours.\n")
    world.run("ask", "How many hours?", "--model", "quote")
    assert (
        world.run("sessions", "list").err
        == "Not listed: 1 single question (zkchat ask). See: zkchat sessions list --all\n"
    )


def test_a_session_is_shown_message_by_message(world: World, talk: str) -> None:
    shown = world.run("sessions", "show", "sleep").out
    assert shown.startswith(f"Sleep  {talk}\n")
    assert shown.index("Question 1?") < shown.index("Answer 2.") < shown.index("Question 3?") < shown.index("Answer 4.")
    assert "[user]" in shown
    assert "[assistant]" in shown


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--last", "1"], ["m4"]),
        (["--role", "assistant", "--last", "1"], ["m4"]),
        (["--until", "2020-01-01T10:00"], []),
        (["--since", "2020-01-01", "--until", "2999-12-31T00:00:00Z"], ["m1", "m2", "m3", "m4"]),
    ],
)
def test_a_part_of_a_session_can_be_shown(world: World, talk: str, options: list[str], expected: list[str]) -> None:
    shown = world.run("sessions", "show", talk[:5], "--json", *options).json
    assert [message["id"] for message in shown["messages"]] == expected
    assert shown["session"]["id"] == talk


def test_a_time_that_is_none_gets_an_example(world: World, talk: str) -> None:
    for time in ("soon", "2026-13-01", "", "0001-01-01T00:00+23:00"):
        result = world.run("sessions", "show", talk, "--since", time)
        assert result.code == ExitCode.USAGE
        assert f"--since '{time}' is not a time." in result.err
        assert "2026-03-01" in result.err


def test_every_part_of_a_message_is_shown_in_its_way(world: World) -> None:
    parts: tuple[Part, ...] = (
        ThinkingPart(text="secret thoughts"),
        EvidencePart(evidence=()),
        ToolCallPart(call_id="c", name="read_document", arguments='{"path": "Sleep.md"}'),
        ToolResultPart(call_id="c", name="read_document", text="No such note.", failed=True),
        FilePart(name="plan.txt", text="…"),
        CompactionPart(number=1, summary="They slept.", archived=("a", "b"), tokens_before=5000, tokens_after=200),
        UnknownPart(fields={"kind": "hologram"}),
        TextPart(text="Done."),
    )
    with store_of(world) as store:
        session = store.create("Parts")
        broken = ChatMessage(
            id="m2",
            parent_id="m1",
            role="assistant",
            created_at=NOON + timedelta(hours=1),
            status="error",
            error="The line was cut.",
        )
        store.append(session.id, [message("m1", *parts, role="assistant"), MessageEntry(message=broken)])
    shown = world.run("sessions", "show", "Parts").out
    assert shown.splitlines()[3:-3] == [
        '→ read_document {"path": "Sleep.md"}',
        "← read_document failed: No such note.",
        "[plan.txt]",
        "Context compacted #1: 2 messages archived, ~4,800 tokens freed",
        "They slept.",
        "[hologram]",
        "Done.",
    ]
    assert shown.splitlines()[-2].endswith("m2  (error)")
    assert shown.splitlines()[-1] == "The line was cut."


def test_branches_are_shown_with_the_messages(world: World) -> None:
    def said(id_: str, parent: str | None, text: str, role: Role = "user") -> MessageEntry:
        entry = message(id_, TextPart(text=text), role=role)
        return MessageEntry(message=replace(entry.message, parent_id=parent))

    with store_of(world) as store:
        session = store.create("Two ways")
        store.append(session.id, [said("m1", None, "Sleep?"), said("m2", "m1", "Rest.", "assistant")])
        assert "branches" not in world.run("sessions", "show", "Two ways").out
        store.append(session.id, [said("m3", "m2", "Why?"), HeadEntry(message_id="m2"), said("m4", "m2", "How long?")])
    shown = world.run("sessions", "show", "Two ways").out.splitlines()
    assert shown[-3].startswith("2 branches; in a chat, /branch b1")
    assert shown[-2].startswith("  b1")
    assert shown[-2].endswith("  Why?")
    assert shown[-1].startswith("* b2")
    assert shown[-1].endswith("    3 messages  How long?")
    branches = world.run("sessions", "show", "Two ways", "--json").json["branches"]
    assert [(each["number"], each["head"], each["first_words"], each["is_current"]) for each in branches] == [
        (1, "m3", "Why?", False),
        (2, "m4", "How long?", True),
    ]


def test_messages_are_pinned_and_get_priorities(world: World, talk: str) -> None:
    with store_of(world) as store:
        for id_, parent in (("m2", "m1"), ("m3", "m2"), ("m4", "m3")):
            (stored,) = [each for key, each in messages_of(store.entries(talk)).items() if key == id_]
            store.append(talk, [MessageEntry(message=replace(stored, parent_id=parent))])
    assert world.run("sessions", "pin", "Sleep", "2").out == "Message 2 is pinned: it is never summarised.\n"
    assert world.run("sessions", "priority", "Sleep", "3", "9").out == (
        "Message 3 has priority 9: it is kept word for word while it fits.\n"
    )
    shown = world.run("context", "show", "Sleep").out.splitlines()
    assert shown[3:5] == ["   2  assistant: Answer 2.  (pinned)", "   3  user: Question 3?  (priority 9)"]
    assert world.run("sessions", "show", "Sleep").out.count("(priority 9)") == 1
    assert [
        each["priority"] for each in world.run("sessions", "show", talk, "--last", "2", "--json").json["messages"]
    ] == [9, 5]
    unpinned = world.run("sessions", "pin", talk, "2", "--off", "--json").json
    assert unpinned == {"number": 2, "message": "m2", "pinned": False}
    changed = world.run("sessions", "priority", talk, "3", "1", "--json").json
    assert changed == {"number": 3, "message": "m3", "priority": 1}
    assert "(pinned)" not in world.run("context", "show", "Sleep").out
    assert world.run("sessions", "pin", talk, "4").code == ExitCode.OK, "the last one"


def test_a_message_or_priority_that_is_none_is_an_error(world: World, talk: str) -> None:
    for arguments, sentence in (
        (("priority", "7", "9"), "There is no message 7: the session has 1."),
        (("pin", "7"), "There is no message 7: the session has 1."),
        (("priority", "1", "11"), "it must be 10 or less"),
        (("priority", "1", "0"), "it must be 1 or more"),
        (("pin", "0"), "it must be 1 or more"),
    ):
        result = world.run("sessions", arguments[0], talk, *arguments[1:])
        assert (result.code, sentence in result.err) == (ExitCode.USAGE, True)


def test_nothing_in_a_message_acts_on_the_terminal(world: World) -> None:
    with store_of(world) as store:
        session = store.create("\x1b]0;title\x07")
        store.append(session.id, [message("m1", TextPart(text="\x1b[2J"))])
    shown = world.run("sessions", "show", session.id).out + world.run("sessions", "list", "--all").out
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_a_session_gets_another_title(world: World, talk: str) -> None:
    result = world.run("sessions", "rename", talk, "  Sleep \n and dreams ")
    assert result.out == f"{talk} is now called: Sleep and dreams\n"
    assert world.run("sessions", "rename", "sleep and dreams", "Dreams", "--json").json["title"] == "Dreams"


def test_a_session_is_deleted_on_the_users_word(world: World, talk: str) -> None:
    assert world.run("sessions", "delete", "Sleep", "--yes").out == f"Deleted {talk} (Sleep, 4 messages).\n"
    assert world.run("sessions", "list", "--all", "--json").json == []


def test_nothing_is_deleted_without_a_yes(world: World, talk: str) -> None:
    result = world.run("sessions", "delete", talk, stdin="")
    assert result.code == ExitCode.USAGE
    assert "Nothing was deleted" in result.err
    assert "--yes" in result.err
    assert len(world.run("sessions", "list", "--all", "--json").json) == 1


def test_a_single_question_that_is_renamed_is_listed(world: World, talk: str) -> None:
    with store_of(world) as store:
        store.append(talk, [ListingEntry(listed=False)])
    assert world.run("sessions", "list", "--json").json == []
    world.run("sessions", "rename", talk, "Dreams")
    assert [each["title"] for each in world.run("sessions", "list", "--json").json] == ["Dreams"]
