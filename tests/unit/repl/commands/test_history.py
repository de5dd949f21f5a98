"""Slash commands for what was said, its branches, and other sessions."""

import pytest
from rich.cells import cell_len

from tests.support.command_harness import CommandHarness
from zkchat.core.message import CompactionPart, ToolCallPart, ToolResultPart
from zkchat.repl.command_context import Edit, Switch
from zkchat.repl.commands.table import completions


@pytest.fixture
def harness() -> CommandHarness:
    harness = CommandHarness()
    harness.exchange("What is sleep?", "Rest.")
    harness.exchange("How long?", "Seven hours.")
    return harness


def said(harness: CommandHarness) -> list[str]:
    return [message.text for message in harness.conversation.messages]


def compact(harness: CommandHarness, *archived: str) -> None:
    number = 1 + len(harness.conversation.window.compactions)
    part = CompactionPart(
        number=number, summary=f"Summary {number}.", archived=archived, tokens_before=900, tokens_after=100
    )
    harness.conversation.add("system", "", parts=[part], context_type="summary")


def test_history_has_a_numbered_line_for_each_message_that_marks_what_is_odd_about_it(harness: CommandHarness) -> None:
    harness.conversation.pin("m2")
    harness.conversation.add("user", "Hi", name="Ann")
    call = ToolCallPart(call_id="c", name="find", arguments='{"query": "x"}')
    result = ToolResultPart(call_id="c", name="find", text="4\npassages", failed=True)
    harness.conversation.add("assistant", "", parts=[call])
    harness.conversation.add("tool", "", parts=[result])
    harness.conversation.add("assistant", "Half", status="unfinished")
    harness.conversation.add("assistant", "", status="error", error="Stopped.")
    assert harness.typed("/history").splitlines() == [
        "   1  you       What is sleep?",
        "   2* answer    Rest.",
        "   3  you       How long?",
        "   4  answer    Seven hours.",
        "   5  Ann       Hi",
        '   6  answer    → find "x"',
        "   7  tool      ← find failed: 4 passages",
        "   8  answer    Half (unfinished)",
        "   9  answer     (stopped)",
    ]


def test_lines_of_the_history_fit_the_screen(harness: CommandHarness) -> None:
    harness.exchange("word " * 100, "Yes.")
    harness.surface.width = 40
    assert [len(line) <= 40 for line in harness.typed("/history").splitlines()] == [True] * 6
    assert "word wor…" in harness.surface.text
    harness.exchange("睡眠" * 100, "Yes.")
    assert "睡眠睡眠睡眠睡眠睡眠睡…" in harness.typed("/history")


def test_history_of_a_number_shows_that_message_whole(harness: CommandHarness) -> None:
    harness.conversation.add("assistant", "# Long\n\ntext", status="unfinished", error="Stopped.")
    told = harness.typed("/history 5")
    assert harness.surface.drawn == ["# Long\n\ntext"]
    assert told.startswith("answer, 2026-03-01")
    assert told.endswith("unfinished: Stopped.")


def test_archived_messages_are_behind_their_marker_and_dimmed_on_request(harness: CommandHarness) -> None:
    compact(harness, "m1", "m2")
    *lines, last = harness.typed("/history").splitlines()
    assert [line.split()[0] for line in lines] == ["3", "4", "5"]
    assert last == "2 archived messages not listed: /history --archived"
    assert "Context compacted #1: 2 messages archived, ~800 tokens freed" in harness.surface.text
    harness.surface.dimmed.clear()
    assert len(harness.typed("/history --archived").splitlines()) == 5
    assert [line.split()[0] for line in harness.surface.dimmed] == ["1", "2", "5"]
    assert completions(harness.context, "/history --") == ["--archived"]


def test_a_compaction_that_was_taken_back_is_shown_as_such(harness: CommandHarness) -> None:
    compact(harness, "m1")
    harness.conversation.uncompact()
    compact(harness, "m1")
    *lines, _ = harness.typed("/history").splitlines()
    assert [line.endswith("(undone)") for line in lines] == [False, False, False, True, False]
    assert lines[-1].startswith("   6  ──        Context compacted #1")


def test_expand_shows_the_summary_and_what_was_archived(harness: CommandHarness) -> None:
    compact(harness, "m1", "m2")
    compact(harness, "m3")
    assert "How long?" in harness.typed("/expand")
    told = harness.typed("/expand #1")
    assert told.startswith("Context compacted #1")
    assert [line.split()[0] for line in told.splitlines()[1:]] == ["1", "2"]
    assert harness.surface.drawn == ["Summary 2.", "Summary 1."]


def test_what_was_not_compacted_cannot_be_expanded(harness: CommandHarness) -> None:
    assert harness.typed("/expand 1") == "Nothing is summarised in this conversation."
    compact(harness, "m1")
    assert harness.typed("/expand 2") == "There is no summary 2: there is one. /history shows them."


def test_pin_keeps_a_message_and_once_more_lets_it_go(harness: CommandHarness) -> None:
    assert "Message 4 is pinned" in harness.typed("/pin")
    assert "Message 1 is pinned" in harness.typed("/pin 1")
    assert harness.conversation.window.pinned == {"m4", "m1"}
    assert harness.typed("/pin 1") == "Message 1 is no longer pinned."
    assert harness.conversation.window.pinned == {"m4"}


def test_priority_says_how_important_a_message_is_and_history_shows_it(harness: CommandHarness) -> None:
    assert harness.typed("/priority 1 9") == ("Message 1 has priority 9: it is kept word for word while it fits.")
    assert harness.typed("/priority #2  2") == "Message 2 has priority 2: it leaves the context before others."
    assert harness.typed("/priority 3 7") == "Message 3 has priority 7: it leaves the context after others."
    assert [message.priority for message in harness.conversation.window.live] == [9, 2, 7, 5]
    assert harness.typed("/history").splitlines()[0] == "   1  you       What is sleep? (priority 9)"
    assert harness.typed("/priority 1 5") == "Message 1 has priority 5: it is of normal importance."
    assert "priority" not in harness.typed("/history").splitlines()[0]


@pytest.mark.parametrize("line", ["/priority 1", "/priority 1 11", "/priority 1 0", "/priority 1 ²"])
def test_a_priority_goes_from_1_to_10(harness: CommandHarness, line: str) -> None:
    told = harness.typed(line)
    assert told.startswith("Give a message and its priority, from 1 to 10 (5 is the default).")
    assert "/priority 4 9" in told
    assert [message.priority for message in harness.conversation.messages] == [5, 5, 5, 5]


@pytest.mark.parametrize("line", ["/priority 5 9", "/pin 5"])
def test_a_compaction_has_no_priority_and_is_not_pinned(harness: CommandHarness, line: str) -> None:
    compact(harness, "m1")
    assert harness.typed(line).startswith("5 is a summary, not a message.")
    assert not harness.conversation.window.pinned


def test_branches_are_listed_with_their_first_words_and_returned_to(harness: CommandHarness) -> None:
    assert harness.typed("/branch").splitlines()[0].endswith("4 messages  What is sleep?")
    harness.typed("/branch 2")
    assert harness.typed("/branch").splitlines()[1] == "You are after message 2; your next begins a new branch."
    harness.exchange("How deep\x1b?", "Deeper.")
    first, second, footer = harness.typed("/branch").splitlines()
    assert first.startswith("  b1 ")
    assert first.endswith(" 4 messages  How long?")
    assert second.startswith("* b2 ")
    assert second.endswith(" 4 messages  How deep␛?")
    assert "/branch b1" in footer
    there = harness.typed("/branch b1").splitlines()
    assert there[:2] == ["The conversation continues after message 4.", "That message says: Seven hours."]
    assert said(harness)[-1] == "Seven hours."
    assert harness.typed("/branch b1") == "You are there already."
    assert "continues after message 4" in harness.typed("/branch B2")
    assert said(harness)[-1] == "Deeper."
    assert harness.typed("/branch b3") == "There is no branch 3: there are 2. /branch lists them."
    assert "There is no branch 'xyz' in this session." in harness.typed("/branch xyz")
    assert harness.typed("/branch 4") == "You are there already."
    assert completions(harness.context, "/branch b") == ["b1", "b2"]


@pytest.mark.parametrize(("number", "left"), [("1", 0), ("2", 2), ("3", 2), ("#2", 2)])
def test_branch_goes_on_after_an_answer_or_in_the_place_of_a_question(
    harness: CommandHarness, number: str, left: int
) -> None:
    harness.typed(f"/branch {number}")
    assert len(said(harness)) == left


def test_a_branch_before_a_compaction_says_that_it_is_not_in_force_there(harness: CommandHarness) -> None:
    compact(harness, "m1", "m2")
    assert "Summary #1 is not used in this branch. /compact makes a new one." in harness.typed("/branch 4")
    assert "does not apply" not in harness.typed("/branch b1")


def test_a_branch_does_not_begin_in_the_middle_of_an_answer(harness: CommandHarness) -> None:
    harness.conversation.add("user", "More?")
    harness.conversation.add("assistant", "", parts=[ToolCallPart(call_id="c", name="find", arguments="{}")])
    harness.conversation.add("tool", "", parts=[ToolResultPart(call_id="c", name="find", text="x")])
    for number in (6, 7):
        assert "is only a step on the way to an answer" in harness.typed(f"/branch {number}")
    assert len(said(harness)) == 7


def test_edit_brings_the_last_message_back_and_stores_nothing(harness: CommandHarness) -> None:
    before = [*harness.store.entries("s1")]
    assert harness.outcome("/edit") == Edit("How long?", replaces="m3")
    assert harness.store.entries("s1") == before
    assert "replaces message 3; the old messages are kept (/branch)." in harness.surface.text
    harness.conversation.add("user", "More?")
    assert harness.outcome("/edit") == Edit("More?", replaces="m5")
    assert "replaces message 5; the old one is kept (/branch)." in harness.surface.text


def test_sessions_are_listed_each_in_one_line_and_the_present_one_marked(harness: CommandHarness) -> None:
    other = harness.store.create().id
    harness.store.append(other, [entry.body for entry in harness.store.entries("s1")[:2]])
    harness.store.titles = {"s1": "夢の日記 " + "and what it says " * 20, other: ""}
    harness.store.create()
    for width in (60, 100):
        harness.surface.width = width
        first, second = harness.typed("/sessions").splitlines()
        assert first.startswith("* s1  2026-03-01")
        assert first.endswith("…")
        assert width - 2 <= cell_len(first) <= width
        assert second.startswith("  s2  ")
        assert second.endswith("2 messages  (untitled)")


def test_of_many_sessions_the_last_fifteen_are_listed(harness: CommandHarness) -> None:
    said = [entry.body for entry in harness.store.entries("s1")[:2]]
    for _ in range(15):
        harness.store.append(harness.store.create().id, said)
    *listed, last = harness.typed("/sessions").splitlines()
    assert (len(listed), last) == (15, "… and 1 older ones: zkchat sessions list")


def test_resume_switches_to_the_session_that_is_named_and_new_to_none(harness: CommandHarness) -> None:
    assert harness.outcome("/new") == Switch(session=None)
    assert harness.surface.text.startswith("A new session begins with your next message.")
    harness.store.create()
    assert harness.outcome("/resume s2") == Switch(session="s2")
    assert harness.typed("/resume s1") == "You are in that session."
    assert harness.typed("/resume zzz") == "No session matches “zzz” by its title, its words or its time."
    assert harness.typed(f"/resume {'5' * 5000}").startswith("No session matches “555")


def test_resume_without_a_name_lets_one_choose_from_a_list_or_by_its_number(harness: CommandHarness) -> None:
    other = harness.store.create().id
    harness.store.append(other, [harness.store.entries("s1")[0].body])
    harness.store.titles = {"s1": "Sleep", other: "2"}
    harness.store.create()
    assert harness.outcome("/resume") is None
    assert harness.surface.text == "To continue one of them: /resume NUMBER, TITLE, ID or words that were said."
    (rows,) = harness.surface.lists
    assert [(row.name, row.about, row.search, row.is_current) for row in rows] == [
        ("Sleep", ("just now", "4 messages", ""), "s1 ", True),
        ("2", ("just now", "1 message", ""), "s2 ", False),
    ]
    harness.surface.picks = 1
    assert harness.outcome("/resume") == Switch(session=other)
    assert harness.typed("/resume 1") == "You are in that session."
    harness.store.titles[other] = "1"
    assert harness.outcome("/resume 1") == Switch(session=other), "a title comes before a number"
    harness.store.titles[other] = "Tea"
    assert harness.outcome("/resume 2") == Switch(session=other)


def test_sessions_are_completed_by_any_part_of_their_title_and_the_beginning_of_their_id(
    harness: CommandHarness,
) -> None:
    harness.store.titles["s1"] = "On Sleep"
    assert completions(harness.context, "/resume sle") == ["On Sleep"]
    assert completions(harness.context, "/resume s1") == ["s1"]
    assert completions(harness.context, "/resume ") == ["On Sleep"]
