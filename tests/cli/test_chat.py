"""`zkchat chat`, in this process: at an edited prompt, on a plain terminal, and in a pipe."""

import io
import os
import sys
from pathlib import Path
from threading import current_thread

import pytest
from msgspec.structs import replace
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from tests.support.screens import without_sequences
from tests.support.waiting import eventually
from tests.support.world import Result, Terminal, World
from zkchat.cli.change_review import ActiveConversation
from zkchat.cli.editors import desktop_opener
from zkchat.cli.main import run


@pytest.fixture
def model(world: World) -> str:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    return world.script([{"text": "First."}], [{"text": "Second."}], [{"text": "Third."}])


def at_prompt(world: World, keys: str, *arguments: str) -> Result:
    """What comes of these keys, typed into the prompt."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        pipe.send_text(keys)
        environment = replace(world.environment(terminal=True), stdin=Terminal())
        return result(run(("chat", *arguments), environment), environment.stdout, environment.stderr)


def on_plain_terminal(world: World, typed: str, *arguments: str) -> Result:
    environment = replace(world.environment(terminal=True), stdin=Terminal(typed))
    return result(run(("chat", *arguments), environment), environment.stdout, environment.stderr)


def result(code: int, out: object, err: object) -> Result:
    assert isinstance(out, io.StringIO)
    assert isinstance(err, io.StringIO)
    return Result(code, out.getvalue(), err.getvalue())


def sessions(world: World) -> list[dict[str, object]]:
    listed = world.run("sessions", "list", "--all", "--json").json
    assert isinstance(listed, list)
    return listed


def test_a_message_is_answered_and_kept(world: World, model: str) -> None:
    chat = at_prompt(world, "What is [[Sleep]]?\r\x04", "--model", model)
    assert chat.code == 0
    assert "First." in chat.out
    assert "1 [[Sleep]]  Sleep.md  linked by you  Adults need seven hours.\n" in without_sequences(chat.out)
    assert chat.err.splitlines()[0] == "zkchat · vault · 1 note · scripted:scripted"
    assert len(chat.err.splitlines()) <= 5
    assert [session["title"] for session in sessions(world)] == ["What is [[Sleep]]?"]


def test_a_conversation_that_cannot_be_opened_leaves_one_where_one_is(world: World, model: str) -> None:
    chat = at_prompt(world, "/model nonsense:x\r/resume nowhere\rstill here\r\x04", "--model", model)
    assert chat.code == 0
    assert "There is no model 'nonsense:x'." in chat.out
    assert "nowhere" in chat.out
    assert "First." in chat.out


def test_without_a_terminal_only_the_answers_are_on_standard_output(world: World, model: str) -> None:
    world.run("chat", "--model", model, stdin="First?\n")
    chat = world.run("chat", "--model", model, "--continue", stdin="Second?\n")
    assert (chat.code, chat.out) == (0, "Second.\n")


def test_a_chat_without_a_place_for_sessions_goes_on_unsaved(world: World, model: str) -> None:
    world.block(".local")
    chat = at_prompt(world, "one\r/sessions\r\x04", "--model", model, "--vault", str(world.vault))
    assert chat.code == 0
    assert "First." in chat.out
    assert "not saved" in chat.err + chat.out


def test_a_new_vault_is_indexed_behind_the_prompt_and_not_before_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        world.note(f"Sleep {number}.md", "Adults need seven hours.\n")
    threads: list[str] = []
    refresh = ActiveConversation.refresh

    def observed(active: ActiveConversation) -> None:
        threads.append(current_thread().name)
        refresh(active)

    monkeypatch.setattr(ActiveConversation, "refresh", observed)
    chat = at_prompt(world, "How many hours?\r\x04", "--model", "quote")
    assert "zkchat · vault · 3 notes · quote" in chat.err
    assert "Adults need seven" in chat.out
    assert threads
    assert all(name.startswith("zkchat-background") for name in threads)


def test_of_a_large_vault_that_is_new_the_notes_are_not_all_counted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zkchat.cli.interactive_chat.MAX_FILES_COUNTED", 2)
    for number in range(3):
        world.note(f"{number}.md", "Adults need seven hours.\n")
    assert "· more than 2 notes ·" in at_prompt(world, "\x04", "--model", "quote").err


def test_a_first_question_is_asked_at_once_and_the_chat_goes_on(world: World, model: str) -> None:
    chat = on_plain_terminal(world, "And then?\n", "What", "is [[Sleep]]?", "--model", model, "--plain")
    assert chat.code == 0
    assert "you › What is [[Sleep]]?\n" in chat.err
    live = world.run("context", "show", "--json").json["live"]
    assert [message["parts"][0]["text"] for message in live] == ["What is [[Sleep]]?", "First.", "And then?", "Second."]


def test_thinking_is_shown_as_it_is_set(world: World) -> None:
    world.note("Sleep.md", "Sleep.\n")
    model = world.script([{"thinking": "Let me see."}, {"text": "First."}])
    shown = {}
    for view in ("shown", "folded", "hidden"):
        world.variables["ZKCHAT_UI__THINKING"] = view
        shown[view] = at_prompt(world, "one\r\x04", "--model", model).out
    assert "Let me see." in shown["shown"]
    assert "… thought for" in without_sequences(shown["folded"])
    assert "see" not in shown["hidden"].replace("seven", "")
    assert "thought" not in shown["hidden"]


@pytest.mark.skipif(sys.platform == "darwin", reason="there is always a desktop")
def test_an_address_is_handed_to_the_desktop_if_there_is_one(world: World, tmp_path: Path) -> None:
    opener, opened = tmp_path / "xdg-open", tmp_path / "opened"
    opener.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    opener.chmod(0o700)
    world.variables["PATH"] = f"{tmp_path}:{os.environ['PATH']}"
    assert desktop_opener(world.environment()) is None
    world.variables["DISPLAY"] = ":0"
    opens = desktop_opener(world.environment())
    assert opens
    opens("obsidian://open?path=x")
    eventually(opened.exists)
    assert opened.read_text() == "obsidian://open?path=x\n"


def test_what_is_wrong_with_a_note_is_told_with_the_first_turn_and_not_in_the_greeting(
    world: World, model: str
) -> None:
    world.variables["ZKCHAT_VAULT__MAX_NOTE_BYTES"] = "100"
    world.note("Large.md", "x" * 200)
    greeting, _, rest = at_prompt(world, "one\r\x04", "--model", model).err.partition("Ctrl-D to quit.")
    assert "Large.md" not in greeting
    assert rest.count("warning: Large.md") == 1


def test_a_line_with_a_key_from_any_variable_of_the_user_is_not_in_the_history(world: World, model: str) -> None:
    world.variables |= {"EXAMPLE_TOKEN": "canary-in-plain-words", "MINE": "sparrow-in-plain-words"}
    world.variables["ZKCHAT_OPENAI__API_KEY_ENV"] = "MINE"
    typed = "Is canary-in-plain-words safe?\rIs sparrow-in-plain-words?\rHello!\r\x04"
    at_prompt(world, typed, "--model", model)
    kept = (world.environment().data_dir / "history").read_text()
    assert "Hello!" in kept
    assert "in-plain-words" not in kept


def test_what_could_be_set_up_is_said_in_one_chat_only(world: World) -> None:
    greeted = [on_plain_terminal(world, "").err for _ in range(2)]
    assert ["zkchat setup" in each for each in greeted] == [True, False]
