"""Coming back to a session: the lists to choose from, in this process."""

import pytest

from tests.cli.test_chat import at_prompt, on_plain_terminal, sessions
from tests.support.world import World


@pytest.fixture
def two_sessions(world: World) -> str:
    """A vault with the sessions “one” and “two”; the model that answers in it."""
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    model = world.script([{"text": "First."}], [{"text": "Second."}], [{"text": "Third."}])
    at_prompt(world, "one\r/clear\rtwo\r\x04", "--model", model)
    return model


def counts(world: World) -> dict[object, object]:
    return {session["title"]: session["message_count"] for session in sessions(world)}


def test_the_session_that_is_chosen_from_the_list_goes_on(world: World, two_sessions: str) -> None:
    chat = at_prompt(world, "one\rthree\r\x04", "--resume", "--model", two_sessions)
    assert chat.code == 0
    assert "Continuing “one”, 2 messages." in chat.err
    assert counts(world) == {"one": 4, "two": 2}
    at_prompt(world, "/resume\rtwo\rfour\r\x04", "--model", two_sessions)
    assert counts(world) == {"one": 4, "two": 4}


def test_leaving_the_list_begins_nothing(world: World, two_sessions: str) -> None:
    chat = at_prompt(world, "\x03", "--resume", "--model", two_sessions)
    assert (chat.code, chat.out) == (0, "")
    assert chat.err == "No session was chosen. To start a new one: zkchat\n"
    still = at_prompt(world, "/resume\r\x03three\r\x04", "--continue", "--model", two_sessions)
    assert "Continuing “two”" in still.err
    assert counts(world) == {"one": 2, "two": 4}
    at_prompt(world, "/new\rfresh\r\x04", "--continue", "--model", two_sessions)
    assert counts(world) == {"one": 2, "two": 4, "fresh": 2}


def test_where_nothing_can_be_drawn_the_list_is_numbered(world: World, two_sessions: str) -> None:
    piped = world.run("chat", "--resume", "--model", two_sessions, stdin="three\n")
    assert piped.code == 2
    assert [line.split()[:2] for line in piped.out.splitlines()] == [["1.", "two"], ["2.", "one"]]
    assert str(sessions(world)[0]["id"]) in piped.out
    assert "zkchat --session" in piped.err
    plain = on_plain_terminal(world, "/resume\n/resume 2\nthree\n", "--plain", "--model", two_sessions)
    assert " 2. one" in plain.out
    assert "To continue one of them: /resume NUMBER, TITLE, ID or words that were said." in plain.out
    assert counts(world) == {"one": 4, "two": 2}


def test_a_single_question_is_kept_and_listed_once_it_is_gone_on_with(world: World, two_sessions: str) -> None:
    assert world.run("ask", "Once?", "--model", two_sessions).code == 0
    listed = world.run("sessions", "list", terminal=True)
    assert "Once?" not in listed.out
    assert listed.err == "Not listed: 1 single question (zkchat ask). See: zkchat sessions list --all\n"
    assert world.run("sessions", "list").err == "", "a script is told nothing"
    assert [session["title"] for session in world.run("sessions", "list", "--json").json] == ["two", "one"]
    assert [session["title"] for session in sessions(world)] == ["Once?", "two", "one"]
    assert "Once?" in world.run("sessions", "show", "Once?").out
    chat = at_prompt(world, "/sessions\r/resume Once?\r\x04", "--model", two_sessions)
    assert "Last time, just now: “Once?”." in chat.err, "as -c goes on with it"
    assert "Once?" not in chat.out.partition("you › ")[0]
    assert "Once?\n" in chat.out.partition("you › ")[2]
    assert len(world.run("sessions", "list").out.splitlines()) == 2, "looking at it does not list it"
    stats = ("context", "stats", "--model", two_sessions)
    assert "The conversation “two”, last used 20" in world.run(*stats).err, "and not the single question"
    assert world.run("context", "show", "--json").json["session"]["title"] == "Once?", "what was sent last"
    assert world.run(*stats, "Once?").err == world.run(*stats, "--json").err == ""
    assert "“two”" in world.run("context", "compact", "--dry-run", "--model", two_sessions).err
    assert world.run("ask", "-c", "Twice?", "--model", two_sessions).code == 0
    assert [session["title"] for session in world.run("sessions", "list", "--json").json] == ["Once?", "two", "one"]


def test_leaving_tells_how_to_come_back_where_something_was_said(world: World, two_sessions: str) -> None:
    said = at_prompt(world, "three\r/model quote\r\x04", "--model", two_sessions)
    assert said.err.splitlines()[-1] == "To continue later: zkchat -c"
    spaced = world.vault.rename(world.root / "my vault")
    elsewhere = at_prompt(world, "four\r/quit\r", "--vault", str(spaced), "--model", two_sessions)
    assert f"To continue later: zkchat --vault '{spaced}' -c" in elsewhere.err
    silent = at_prompt(world, "/stats\r/resume one\r\x04", "--vault", str(spaced), "--model", two_sessions)
    assert "To continue later" not in silent.err


def test_a_single_question_is_found_by_its_words_where_no_chat_is(world: World, two_sessions: str) -> None:
    world.run("ask", "How deep is the fjord?", "--model", two_sessions)
    chat = at_prompt(world, "/resume fjord\rDeeper?\r\x04", "--model", two_sessions)
    assert "No session matches" not in chat.err + chat.out
    assert counts(world)["How deep is the fjord?"] == 4
    world.run("ask", "Which fjord is that?", "--model", two_sessions)
    listed = at_prompt(world, "/sessions fjord\r\x04", "--model", two_sessions).out
    assert ("How deep" in listed, "Which fjord" in listed) == (True, False)
