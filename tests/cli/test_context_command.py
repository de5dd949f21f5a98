"""`zkchat context …` as a user calls it, over sessions that a scripted model answered."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import World

ANSWER = "Cats purr, says [[Cats]], and number {n} of them sleeps on the warm stove beside the old dog. " * 6


@pytest.fixture
def world(world: World) -> World:
    world.note("Cats.md", "# Cats\n\nCats purr.\n")
    return world


def model(world: World, window: int = 2048, **more: Any) -> str:
    answers = [[{"text": ANSWER.format(n=number)}] for number in range(40)]
    return world.script(*answers, context_limit=window, calls_tools=False, **more)


def talked(world: World, turns: int, window: int = 2048) -> str:
    name = model(world, window)
    asked = "".join(f"Question {number} about [[Cats]]?\n" for number in range(turns))
    result = world.run("chat", "--continue", "--model", name, stdin=asked)
    assert result.code == 0, result.err
    return name


@pytest.fixture(scope="module")
def long_talk(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A user with a session of ten questions, in whose small window there was no room for all of them."""
    world = World(tmp_path_factory.mktemp("talk"))
    world.note("Cats.md", "# Cats\n\nCats purr.\n")
    talked(world, 10)
    return world


def test_a_compacted_session_shows_its_marker_and_archived_messages_on_request(long_talk: World) -> None:
    shown = long_talk.run("context", "show").out
    assert "Context compacted #1" in shown
    assert "user: Question 0" not in shown
    assert "(archived) user: Question 0" in long_talk.run("context", "show", "--archived").out
    told = long_talk.run("context", "show", "--json").json
    assert told["summary"]["number"] >= 1
    assert len(told["archived"]) + len(told["live"]) == 20


def test_the_summary_says_who_made_it_and_names_the_notes(long_talk: World) -> None:
    shown = long_talk.run("context", "summary").out
    assert "made by scripted:scripted" in shown
    assert "- [[Cats]] is Cats.md" in shown
    assert [part["number"] for part in long_talk.run("context", "summary", "--all", "--json").json][:1] == [1]


def test_stats_show_the_meter_the_messages_and_the_outlook(long_talk: World) -> None:
    name = model(long_talk)
    shown = long_talk.run("context", "stats", "--model", name).out
    assert "/ 2,048 tokens" in shown
    assert "20 messages: " in shown
    largest = [int(tokens.replace(",", "")) for tokens in re.findall(r"^ +([\d,]+)  (?:user|assistant): ", shown, re.M)]
    told = long_talk.run("context", "stats", "--model", name, "--json").json
    assert sum(message["tokens"] for message in told["messages"]) <= told["usage"]["total"]
    assert largest == sorted((message["tokens"] for message in told["messages"]), reverse=True)[:5]
    assert told["turns_left"] >= 0


def test_an_answer_shows_why_it_was_what_it_was_and_its_request_is_built_again(long_talk: World) -> None:
    shown = long_talk.run("context", "show", "--message", "2").out
    assert "in every request: default" in shown
    assert "of the context window (2,048 tokens)" in shown
    assert long_talk.run("context", "show", "--message", "2", "--json").json["items"][0]["type"] == "system"
    told = long_talk.run("context", "show", "--message", "2", "--request", "--json").json
    assert [message["role"] for message in told["messages"]] == ["system", "user"]
    assert "Question 0" in told["messages"][1]["text"]
    shown = long_talk.run("context", "show", "--request").out
    for said in ("[system]", "Question 9", "Tools: none"):
        assert said in shown


def test_bad_input_gets_a_sentence(long_talk: World) -> None:
    for arguments, sentence in (
        (["show", "--message", "99"], "There is no message 99: the session has "),
        (["show", "--message", "1"], "It is not known what was sent for this message."),
        (["show", "nowhere"], "There is no session 'nowhere'."),
    ):
        result = long_talk.run("context", *arguments)
        assert (result.code != 0, sentence in result.err) == (True, True)


def test_a_dry_run_shows_the_plan_and_the_summary_and_changes_nothing(world: World) -> None:
    talked(world, 4, window=8192)
    shown = world.run("context", "compact", "--dry-run", "--keep", "2", "--model", "quote").out
    assert "Would archive 6 messages (1, 2, 3, 4, 5, 6)." in shown
    assert "The summary would be:" in shown
    assert "(none)" not in shown
    told = world.run("context", "compact", "--dry-run", "--keep", "2", "--model", "quote", "--json").json
    assert len(told["plan"]["archived"]) == len(told["compaction"]["archived"]) == 6
    assert told["compaction"]["tokens_after"] < told["compaction"]["tokens_before"]
    assert "compacted" not in world.run("context", "show").out


def test_a_compaction_by_hand_archives_and_says_what_it_freed(world: World) -> None:
    talked(world, 4, window=8192)
    result = world.run("context", "compact", "--keep", "2", "--model", "quote")
    assert re.match(r"6 older messages are now a summary \([\d,]+ → [\d,]+ tokens\)\.\n", result.out)
    assert "Summarising 6 older messages …" in result.err, "without tokens of a context that quoting does not fill"
    assert "No model is used now; this takes effect once one is." in result.out
    chat = world.run("chat", "--plain", "--model", "quote", stdin="/add [[Cats]]\n").out
    assert "Cats.md is sent with every message from now on. No model is used now; this takes effect" in chat
    again = world.run("context", "compact", "--keep", "2", "--model", "quote", "--json")
    assert again.out == "" or json.loads(again.out)


def test_clearing_archives_everything(world: World) -> None:
    talked(world, 3)
    assert "6 messages are archived" in world.run("context", "clear").out
    assert world.run("context", "show", "--json").json["live"] == []
    assert world.run("context", "clear", "--json").json == {"archived": 0, "marker": None}
    assert "nothing to archive" in world.run("context", "clear").err


def test_memory_shows_what_the_last_answer_was_reminded_of(world: World, long_talk: World) -> None:
    talked(world, 1)
    assert "Nothing was recalled" in world.run("context", "memory").err
    assert "[summary" in long_talk.run("context", "memory").out
    rows = long_talk.run("context", "memory", "--json").json
    assert any(row["item"]["type"] == "summary" and row["text"] for row in rows)


def test_a_user_who_wants_to_be_asked_is_asked(world: World) -> None:
    world.configure("[context]\nconfirm_compaction = true\n")
    name = model(world)
    asked = (f"Question {number} about [[Cats]]?" for number in range(14))
    said = (world.run("ask", each, "--continue", "--model", name, typed="n\n") for each in asked)
    refused = next(result for result in said if result.code)
    assert "Summarise" in refused.err
    assert "The context is full" in refused.err
    agreed = world.run("ask", "One more?", "--continue", "--model", name, typed="y\n" * 4)
    assert agreed.code == 0, agreed.err
    assert world.run("context", "stats", "--model", name, "--json").json["compactions"]


def test_a_summary_is_opened_in_the_editor_where_that_is_wanted(world: World, tmp_path: Path) -> None:
    world.configure("[context]\nreview_summary = true\n")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "And the stove is warm." >> "$1"\n')
    editor.chmod(0o755)
    world.variables["EDITOR"] = str(editor)
    talked(world, 4, window=8192)
    world.run("context", "compact", "--keep", "2", "--model", "quote", typed="")
    assert "And the stove is warm." in world.run("context", "summary").out
    world.variables["EDITOR"] = str(tmp_path / "nowhere")
    talked(world, 4, window=8192)
    failed = world.run("context", "compact", "--keep", "2", "--model", "quote", typed="")
    assert "cannot be started" in failed.err
    assert "8 older messages are now a summary" in failed.out
