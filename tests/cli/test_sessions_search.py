"""`zkchat sessions search`, from the command line to the disk."""

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
    result = world.run("sessions", "search", "what", "does", "Konrad", "eat")
    first, snippet, *_ = result.out.splitlines()
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


def test_a_message_without_the_word_is_not_listed_before_one_with_it(world: World) -> None:
    texts = ["When is her birthday?", "Her birthday is in May.", "Good.", "Yes.", "What else?", "Nothing."]
    say(world, "Aylin", *texts)
    say(world, "Cake", "Cake.", "Which cake?", "For the birthday.", "A lemon cake.")
    found = [hit["snippet"] for hit in world.run("sessions", "search", "birthday", "--json").json]
    assert all("birthday" in text for text in found[:3])


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


def test_a_deleted_session_leaves_no_trace(world: World, talk: str) -> None:
    world.run("sessions", "search", "Konrad")
    assert any(b"Konrad" in file.read_bytes() for file in world.home.rglob("*") if file.is_file())
    assert world.run("sessions", "delete", talk, "--yes").code == ExitCode.OK
    assert not any(b"Konrad" in file.read_bytes() for file in world.home.rglob("*") if file.is_file())


def test_nothing_found_is_said_to_somebody_who_looks(world: World, talk: str) -> None:
    result = world.run("sessions", "search", "xylophone", terminal=True)
    assert (result.code, result.out) == (ExitCode.OK, "")
    assert "No message matches." in result.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [((), "What do you want to search for?"), (("heron", "--stdin"), "either words or --stdin, not both")],
)
def test_a_search_takes_words_or_standard_input(world: World, arguments: tuple[str, ...], said: str) -> None:
    for command in (("sessions", "search"), ("search",)):
        result = world.run(*command, *arguments, stdin="")
        assert result.code == ExitCode.USAGE
        assert said in result.err


def test_nothing_found_is_said_in_a_pipe_too(world: World, talk: str) -> None:
    assert world.run("sessions", "search", "xylophone").err == "No message matches. Try fewer or other words.\n"


def test_what_a_model_read_is_found_as_well(world: World) -> None:
    world.note("Boat.md", "# Boat\n\nThe varnish of the boat is Le Tonkinois.\n")
    world.note("Stove.md", "# Stove\n\nThe stove burns beech logs.\n")
    call = {"tool": "read_document", "arguments": {"relative_path": "Boat"}}
    play = world.script([call], [{"text": "Yes."}], [{"text": "It does."}])
    world.run("ask", "Have a look at it.", "--model", play)
    world.run("ask", "-c", "See [[Stove]].", "--model", play)
    (tool, *_), (note, *_) = (
        world.run("sessions", "search", words, "--json").json for words in ("Tonkinois varnish", "beech logs")
    )
    assert (tool["role"], tool["name"], "Le Tonkinois" in tool["snippet"]) == ("tool", "read_document", True)
    assert (note["role"], note["name"], "beech logs" in note["snippet"]) == ("tool", "Stove.md", True)
    typed = world.run("chat", "--model", play, stdin="/sessions Tonkinois varnish\n").out
    assert tool["session"] in typed
