"""Slash commands for what was said, its branches, and other sessions."""

import asyncio

import pytest
from rich.cells import cell_len

from tests.support.desks import Workplace
from zkchat.model.events import Event, Warned
from zkchat.model.message import CompactionPart, ToolCallPart, ToolResultPart
from zkchat.repl.command_context import Edit, Nothing, Outcome, Play, Switch
from zkchat.repl.commands import completions, run


@pytest.fixture
def place() -> Workplace:
    place = Workplace()
    place.exchange("What is sleep?", "Rest.")
    place.exchange("How long?", "Seven hours.")
    return place


def typed(place: Workplace, line: str) -> str:
    place.surface.lines.clear()
    assert isinstance(outcome(place, line), Nothing)
    return place.surface.text


def outcome(place: Workplace, line: str) -> Outcome:
    return asyncio.run(run(place.desk, line))


def played(place: Workplace, line: str) -> list[Event]:
    async def collected() -> list[Event]:
        play = await run(place.desk, line)
        assert isinstance(play, Play)
        return [event async for event in play.events]

    return asyncio.run(collected())


def said(place: Workplace) -> list[str]:
    return [message.text for message in place.talk.messages]


def compact(place: Workplace, *archived: str) -> None:
    number = 1 + len(place.talk.window.compactions)
    part = CompactionPart(
        number=number, summary=f"Summary {number}.", archived=archived, tokens_before=900, tokens_after=100
    )
    place.talk.add("system", "", parts=[part], context_type="summary")


def test_history_has_a_numbered_line_for_each_message(place: Workplace) -> None:
    assert typed(place, "/history").splitlines() == [
        "   1  you       What is sleep?",
        "   2  answer    Rest.",
        "   3  you       How long?",
        "   4  answer    Seven hours.",
    ]


def test_history_marks_what_is_pinned_unfinished_named_or_called(place: Workplace) -> None:
    place.talk.pin("m2")
    place.talk.add("user", "Hi", name="Ann")
    place.talk.add("assistant", "", parts=[ToolCallPart(call_id="c", name="find", arguments='{"query": "x"}')])
    place.talk.add("tool", "", parts=[ToolResultPart(call_id="c", name="find", text="4\npassages", failed=True)])
    place.talk.add("assistant", "Half", status="unfinished")
    assert typed(place, "/history").splitlines()[1:2] + typed(place, "/history").splitlines()[4:] == [
        "   2* answer    Rest.",
        "   5  Ann       Hi",
        '   6  answer    → find "x"',
        "   7  tool      ← find failed: 4 passages",
        "   8  answer    Half (unfinished)",
    ]


def test_lines_of_the_history_fit_the_screen(place: Workplace) -> None:
    place.exchange("word " * 100, "Yes.")
    place.surface.width = 40
    assert [len(line) <= 40 for line in typed(place, "/history").splitlines()] == [True] * 6
    assert "word wor…" in place.surface.text
    place.exchange("睡眠" * 100, "Yes.")
    assert "睡眠睡眠睡眠睡眠睡眠睡…" in typed(place, "/history")


def test_history_of_a_number_shows_that_message_whole(place: Workplace) -> None:
    place.talk.add("assistant", "# Long\n\ntext", status="unfinished", error="Stopped.")
    told = typed(place, "/history 5")
    assert place.surface.drawn == ["# Long\n\ntext"]
    assert told.startswith("answer, 2026-03-01")
    assert told.endswith("unfinished: Stopped.")


def test_history_of_a_number_shows_calls_of_tools_and_markers(place: Workplace) -> None:
    place.talk.add("tool", "", parts=[ToolResultPart(call_id="c", name="find", text="4 passages")])
    compact(place, "m1")
    assert "← find: 4 passages" in typed(place, "/history 5")
    assert "Context compacted #1: 1 messages archived" in typed(place, "/history 6")


def test_archived_messages_are_behind_their_marker_and_dimmed_on_request(place: Workplace) -> None:
    compact(place, "m1", "m2")
    assert [line.split()[0] for line in typed(place, "/history").splitlines()] == ["3", "4", "5"]
    assert "Context compacted #1: 2 messages archived, ~800 tokens freed" in place.surface.text
    place.surface.dimmed.clear()
    assert len(typed(place, "/history --archived").splitlines()) == 5
    assert [line.split()[0] for line in place.surface.dimmed] == ["1", "2", "5"]
    assert completions(place.desk, "/history --") == ["--archived"]


def test_a_compaction_that_was_taken_back_is_told_as_such(place: Workplace) -> None:
    compact(place, "m1")
    place.talk.uncompact()
    compact(place, "m1")
    lines = typed(place, "/history").splitlines()
    assert [line.endswith("(taken back)") for line in lines] == [False, False, False, True, False]
    assert lines[-1].startswith("   6  ──        Context compacted #1")


def test_expand_shows_the_summary_and_what_was_archived(place: Workplace) -> None:
    compact(place, "m1", "m2")
    compact(place, "m3")
    assert "How long?" in typed(place, "/expand")
    told = typed(place, "/expand #1")
    assert told.startswith("Context compacted #1")
    assert [line.split()[0] for line in told.splitlines()[1:]] == ["1", "2"]
    assert place.surface.drawn == ["Summary 2.", "Summary 1."]


def test_what_was_not_compacted_cannot_be_expanded(place: Workplace) -> None:
    assert typed(place, "/expand 1") == "Nothing has been compacted in this conversation."
    compact(place, "m1")
    assert typed(place, "/expand 2") == "There is no compaction 2: there is one. /history shows them."


def test_a_compaction_without_a_summary_shows_its_messages_alone(place: Workplace) -> None:
    place.talk.add("system", "", parts=[CompactionPart(number=1, summary="", archived=("m1",))])
    assert "What is sleep?" in typed(place, "/expand")
    assert not place.surface.drawn


def test_pin_keeps_a_message_and_once_more_lets_it_go(place: Workplace) -> None:
    assert "Message 4 is pinned" in typed(place, "/pin")
    assert "Message 1 is pinned" in typed(place, "/pin 1")
    assert place.talk.window.pinned == {"m4", "m1"}
    assert typed(place, "/pin 1") == "Message 1 is not pinned any more."
    assert place.talk.window.pinned == {"m4"}


def test_branch_goes_back_before_the_last_question(place: Workplace) -> None:
    assert "goes on after message 2" in typed(place, "/branch")
    assert said(place) == ["What is sleep?", "Rest."]


@pytest.mark.parametrize(("number", "left"), [("1", 0), ("2", 2), ("3", 2), ("#2", 2)])
def test_branch_goes_on_after_an_answer_or_in_the_place_of_a_question(place: Workplace, number: str, left: int) -> None:
    typed(place, f"/branch {number}")
    assert len(said(place)) == left


def test_the_beginning_of_a_conversation_is_told_as_such(place: Workplace) -> None:
    assert "goes on at its beginning" in typed(place, "/branch 1")


def test_what_a_branch_left_can_be_returned_to(place: Workplace) -> None:
    assert "/branch m4 returns to what came later." in typed(place, "/branch 1")
    place.exchange("What is light?", "Waves.")
    typed(place, "/branch m4")
    assert said(place) == ["What is sleep?", "Rest.", "How long?", "Seven hours."]


def test_a_branch_may_begin_after_a_compaction(place: Workplace) -> None:
    compact(place, "m1")
    place.talk.add("user", "More?")
    typed(place, "/branch 5")
    assert len(said(place)) == 5


def test_a_branch_does_not_begin_in_the_middle_of_an_answer(place: Workplace) -> None:
    place.talk.add("user", "More?")
    place.talk.add("assistant", "", parts=[ToolCallPart(call_id="c", name="find", arguments="{}")])
    place.talk.add("tool", "", parts=[ToolResultPart(call_id="c", name="find", text="x")])
    for number in (6, 7):
        assert "in the middle of an answer" in typed(place, f"/branch {number}")
    assert len(said(place)) == 7


def test_branching_to_nowhere_is_told(place: Workplace) -> None:
    assert typed(place, "/branch 4") == "The conversation goes on there already."
    assert "There is no message 'xyz' in this session." in typed(place, "/branch xyz")
    assert "There is no message 'xyz' in this session." in typed(Workplace(), "/branch xyz")


def test_retry_plays_the_answer_once_more(place: Workplace) -> None:
    assert played(place, "/retry") == [Warned(text="retried")]


def test_edit_brings_the_last_message_back_and_begins_a_branch_in_its_place(place: Workplace) -> None:
    assert outcome(place, "/edit") == Edit("How long?")
    assert said(place) == ["What is sleep?", "Rest."]
    assert "/branch m4 returns" in place.surface.text


def test_sessions_are_listed_and_the_present_one_marked(place: Workplace) -> None:
    other = place.store.create().id
    place.store.append(other, [entry.body for entry in place.store.entries("s1")[:2]])
    place.store.titles = {"s1": "Sleep", other: ""}
    place.store.create()
    first, second = typed(place, "/sessions").splitlines()
    assert first.startswith("* s1  2026-03-01")
    assert first.endswith("4 messages  Sleep")
    assert second.startswith("  s2  ")
    assert second.endswith("2 messages  (untitled)")


def test_a_session_takes_one_line_however_long_its_title_is(place: Workplace) -> None:
    place.store.titles["s1"] = "夢の日記 " + "and what it says " * 20
    for width in (60, 100):
        place.surface.width = width
        (line,) = typed(place, "/sessions").splitlines()
        assert line.endswith("…")
        assert width - 2 <= cell_len(line) <= width


def test_a_long_list_of_sessions_ends_with_how_to_see_the_rest(place: Workplace) -> None:
    for _ in range(20):
        place.store.append(place.store.create().id, [place.store.entries("s1")[0].body])
    lines = typed(place, "/sessions").splitlines()
    assert len(lines) == 16
    assert lines[-1] == "… and 6 older ones: zkchat sessions list"


def test_resume_switches_to_the_session_that_is_named(place: Workplace) -> None:
    place.store.create()
    assert outcome(place, "/resume s2") == Switch(session="s2")
    assert typed(place, "/resume s1") == "You are in that session."
    assert typed(place, "/resume zzz") == "No session 'zzz'."
    assert typed(place, "/resume").startswith("Which session?")


def test_sessions_are_completed_by_any_part_of_their_title_and_the_beginning_of_their_id(place: Workplace) -> None:
    place.store.titles["s1"] = "On Sleep"
    assert completions(place.desk, "/resume sle") == ["On Sleep"]
    assert completions(place.desk, "/resume s1") == ["s1"]
    assert completions(place.desk, "/resume ") == ["On Sleep"]


def test_new_begins_another_conversation(place: Workplace) -> None:
    assert outcome(place, "/new") == Switch(session=None)
    assert place.surface.text.startswith("A new session begins with your next message.")
