"""`zkchat context …` as a user calls it, over sessions that a scripted model answered."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import World

ANSWER = "Cats purr, says [[Cats]], and number {n} of them sleeps on the warm stove beside the old dog. " * 6


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.note("Cats.md", "# Cats\n\nCats purr.\n")
    return world


def model(world: World, window: int = 2048, **more: Any) -> str:
    answers = [[{"text": ANSWER.format(n=number)}] for number in range(40)]
    return world.script(*answers, context_limit=window, calls_tools=False, **more)


def talked(world: World, turns: int, window: int = 2048) -> str:
    name = model(world, window)
    for number in range(turns):
        result = world.run("ask", f"Question {number} about [[Cats]]?", "--continue", "--model", name)
        assert result.code == 0, result.err
    return name


def test_a_compacted_session_shows_its_marker_and_archived_messages_on_request(world: World) -> None:
    talked(world, 10)
    shown = world.run("context", "show").out
    assert "Context compacted #1" in shown
    assert "user: Question 0" not in shown
    assert "(archived) user: Question 0" in world.run("context", "show", "--archived").out
    told = world.run("context", "show", "--json").json
    assert told["summary"]["number"] >= 1
    assert len(told["archived"]) + len(told["live"]) == 20


def test_the_summary_says_who_made_it_and_names_the_notes(world: World) -> None:
    talked(world, 10)
    shown = world.run("context", "summary").out
    assert "made by scripted:scripted" in shown
    assert "- [[Cats]] is Cats.md" in shown
    assert [part["number"] for part in world.run("context", "summary", "--all", "--json").json][:1] == [1]


def test_stats_show_the_meter_the_messages_and_the_outlook(world: World) -> None:
    name = talked(world, 4, window=4096)
    shown = world.run("context", "stats", "--model", name).out
    assert "/ 4,096 tokens" in shown
    assert "8 messages: 8 sent to the model, 0 archived" in shown
    assert "more questions" in shown
    told = world.run("context", "stats", "--model", name, "--json").json
    assert sum(message["tokens"] for message in told["messages"]) <= told["usage"]["total"]
    assert told["turns_left"] > 0


def test_an_answer_shows_why_it_was_what_it_was(world: World) -> None:
    talked(world, 2)
    shown = world.run("context", "show", "--message", "2").out
    assert "in every request: default" in shown
    assert "of the context window (2,048 tokens)" in shown
    assert world.run("context", "show", "--message", "2", "--json").json["items"][0]["type"] == "system"


def test_the_request_of_an_answer_is_built_again(world: World) -> None:
    talked(world, 10)
    told = world.run("context", "show", "--message", "2", "--request", "--json").json
    assert [message["role"] for message in told["messages"]] == ["system", "user"]
    assert "Question 0" in told["messages"][1]["text"]
    shown = world.run("context", "show", "--request").out
    assert "[system]" in shown
    assert "Question 9" in shown
    assert "Tools: none" in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["show", "--message", "9"], "There is no message 9: the session has 2."),
        (["show", "--message", "1"], "There is no context data for this message."),
        (["show", "nowhere"], "There is no session 'nowhere'."),
    ],
)
def test_bad_input_gets_a_sentence(world: World, arguments: list[str], sentence: str) -> None:
    talked(world, 1)
    result = world.run("context", *arguments)
    assert result.code != 0
    assert sentence in result.err


def test_a_dry_run_shows_the_plan_and_the_summary_and_changes_nothing(world: World) -> None:
    talked(world, 4, window=8192)
    shown = world.run("context", "compact", "--dry-run", "--keep", "2", "--model", "quote").out
    assert "Would archive 6 messages (1, 2, 3, 4, 5, 6)." in shown
    assert "The summary would be:" in shown
    told = world.run("context", "compact", "--dry-run", "--keep", "2", "--model", "quote", "--json").json
    assert len(told["plan"]["archived"]) == len(told["compaction"]["archived"]) == 6
    assert told["compaction"]["tokens_after"] < told["compaction"]["tokens_before"]
    assert "compacted" not in world.run("context", "show").out


def test_a_compaction_by_hand_archives_and_says_what_it_freed(world: World) -> None:
    talked(world, 4, window=8192)
    result = world.run("context", "compact", "--keep", "2", "--model", "quote")
    assert re.match(r"6 older messages are now a summary \([\d,]+ → [\d,]+ tokens\)\.\n", result.out)
    assert "Summarising 6 older messages …" in result.err, "without tokens of a context that quoting does not fill"
    assert "No model is used now: this is kept for when one is." in result.out
    chat = world.run("chat", "--plain", "--model", "quote", stdin="/add [[Cats]]\n").out
    assert "Cats.md is sent with every message from now on. No model is used now: this is kept" in chat
    again = world.run("context", "compact", "--keep", "2", "--model", "quote", "--json")
    assert again.out == "" or json.loads(again.out)


def test_a_summary_that_would_be_larger_than_what_it_replaces_is_not_made(world: World) -> None:
    for number in range(9):  # a summary names the notes by their paths
        world.note(f"A folder with a name/That is much longer/Than what is said/N{number}.md", "Odd.\n")
    play = world.script(*([{"text": f"[[N{number}]]"}] for number in range(9)), context_limit=8192)
    typed = [*(f"Is {number} odd?" for number in range(9)), "/compact", "/stats", ""]
    told = world.run("chat", "--plain", "--model", play, stdin="\n".join(typed))
    assert "The conversation is still too short to be worth a summary." in told.err
    assert "0 archived" in told.out


def test_clearing_archives_everything(world: World) -> None:
    talked(world, 3)
    assert "6 messages are archived" in world.run("context", "clear").out
    assert world.run("context", "show", "--json").json["live"] == []
    again = world.run("context", "clear", "--json").json
    assert again == {"archived": 0, "marker": None}
    assert "nothing to archive" in world.run("context", "clear").err


def test_memory_shows_what_the_last_answer_was_reminded_of(world: World) -> None:
    talked(world, 1)
    assert "Nothing was recalled" in world.run("context", "memory").err
    talked(world, 12)
    shown = world.run("context", "memory").out
    assert "[summary" in shown
    assert any(
        row["item"]["type"] == "summary" and row["text"] for row in world.run("context", "memory", "--json").json
    )


def test_a_user_who_wants_to_be_asked_is_asked(world: World) -> None:
    world.configure("[context]\nconfirm_compaction = true\n")
    name = model(world)
    results = [
        world.run("ask", f"Question {n} about [[Cats]]?", "--continue", "--model", name, typed="n\n") for n in range(14)
    ]
    refused = next(result for result in results if result.code)
    assert "Summarise" in refused.err
    assert "The context is full" in refused.err
    agreed = world.run("ask", "One more?", "--continue", "--model", name, typed="y\n" * 4)
    assert agreed.code == 0, agreed.err


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
