import json
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from tests.support.world import World
from zkchat.app import stores
from zkchat.core.choices import Role
from zkchat.core.errors import ExitCode
from zkchat.core.message import ChatMessage, TextPart
from zkchat.core.session import MessageEntry

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def say(world: World, title: str, *texts: str) -> str:
    with stores.open_sessions(world.environment(), world.vault) as store:
        session = store.create(title)
        for number, text in enumerate(texts):
            role: Role = "assistant" if number % 2 else "user"
            parts = (TextPart(text=text),)
            message = ChatMessage(
                id=f"{title}{number}", external_id=f"x{number}", role=role, name="Anna", parts=parts, created_at=NOON
            )
            store.append(session.id, [MessageEntry(message=message)])
        return session.id


@pytest.fixture
def talk(world: World) -> str:
    return say(world, "Birds", "The heron is called Konrad.", "Konrad eats fish.", "And the roof leaks.")


def test_the_best_messages_are_shown_with_their_session(world: World, talk: str) -> None:
    first, snippet, *_ = world.run("sessions", "search", "what", "does", "Konrad", "eat").out.splitlines()
    assert first.startswith("1. [Anna]  2026-03-01 ")
    assert first.endswith(f"  Birds  {talk}")
    assert snippet == "   Konrad eats fish."


def test_hits_are_json_for_scripts(world: World, talk: str) -> None:
    hit = world.run("sessions", "search", "roof", "--json").json[0]
    assert 0 < hit.pop("score") < 2
    assert hit == {
        "session": talk,
        "message": "Birds2",
        "external_id": "x2",
        "role": "user",
        "name": "Anna",
        "time": "2026-03-01T12:00:00Z",
        "snippet": "And the roof leaks.",
    }


def test_the_search_can_be_kept_to_one_session_and_some_hits(world: World, talk: str) -> None:
    other = say(world, "Ponds", "A heron stands at the pond.")
    assert {hit["session"] for hit in world.run("sessions", "search", "heron", "--json").json} == {talk, other}
    only = world.run("sessions", "search", "heron", "--session", "ponds", "--json").json
    assert [hit["session"] for hit in only] == [other]
    assert len(world.run("sessions", "search", "heron", "--limit", "1", "--json").json) == 1


def test_queries_from_standard_input_are_answered_line_by_line(world: World, talk: str) -> None:
    result = world.run("sessions", "search", "--stdin", stdin="roof\n\nКонрад 'x\nKonrad eats\n")
    answers = [json.loads(line) for line in result.out.splitlines()]
    assert [answer["query"] for answer in answers] == ["roof", "", "Конрад 'x", "Konrad eats"]
    assert [[hit["message"] for hit in answer["hits"]][:1] for answer in answers] == [["Birds2"], [], [], ["Birds1"]]


def test_a_time_alone_finds_the_conversations_of_then(world: World) -> None:
    world.now = lambda: NOON
    old = say(world, "Stove", "Is the stove paid?", "Yes, last week.")
    world.now = lambda: NOON + timedelta(days=7)
    say(world, "Today", "What did I do last week?")
    assert [hit["session"] for hit in world.run("sessions", "search", "last week", "--json").json] == [old]
    chat = world.run("chat", "--plain", "--model", "quote", stdin="/sessions last week\n/resume paid stove\n/stats\n")
    assert "Stove" in chat.out
    assert f"Session {old}." in chat.out


def test_a_session_is_resumed_by_a_part_of_its_title_or_what_was_said(world: World, talk: str) -> None:
    other = say(world, "Ponds", "A pond.", "Konrad was there.")
    run = partial(world.run, "chat", "--plain", "--model", "quote")
    assert f"Session {talk}." in run(stdin="/resume bird\n/stats\n").out
    assert f"Session {talk}." in run(stdin="/resume roof\n/stats\n").out
    assert "1 message: 0 archived" in run(stdin="/resume roof\n/stats\n").out  # no model has a context here
    several = run(stdin="/resume Konrad\n/sessions roof\n/sessions xylophone\n").out
    assert talk in several
    assert other in several
    assert "To continue one of them: /resume ID." in several
    assert "No session matches “xylophone” by its title, its words or its time." in several


def test_a_search_takes_words_or_standard_input(world: World) -> None:
    for command in (("sessions", "search"), ("search",)):
        nothing = world.run(*command, " ", stdin="")
        assert (nothing.code, "What do you want to search for?" in nothing.err) == (ExitCode.USAGE, True)
        both = world.run(*command, "heron", "--stdin", stdin="")
        assert (both.code, "either words or --stdin, not both" in both.err) == (ExitCode.USAGE, True)


def test_nothing_found_is_said_in_a_pipe_too(world: World, talk: str) -> None:
    assert world.run("sessions", "search", "xylophone").err == "No message matches. Try fewer or other words.\n"
