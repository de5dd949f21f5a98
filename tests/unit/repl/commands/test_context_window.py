"""Slash commands for what the model is sent: /stats /context /compact /uncompact."""

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from tests.support.command_harness import CommandHarness
from tests.support.conversations import Reciting, conversation_over
from tests.support.libraries import library_of
from tests.support.screens import a_usage
from zkchat.chat.session_items import SessionItems
from zkchat.core.choices import ItemType
from zkchat.core.events import Warned
from zkchat.core.message import CompactionPart, LeftOut, RequestContext, RequestItem
from zkchat.render.context import context_lines, parts_of


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[CommandHarness]:
    with library_of(tmp_path, {}) as library:
        harness = CommandHarness(SessionItems(conversation_over(library, provider=Reciting())))
        harness.exchange("What is sleep?", "Rest.")
        yield harness


def compact(harness: CommandHarness) -> None:
    harness.conversation.add("system", "", parts=[CompactionPart(number=1, summary="Short.", archived=("m1",))])


def test_stats_shows_the_meter_and_counts_messages(harness: CommandHarness) -> None:
    assert "Nothing has been sent to the model yet." in harness.typed("/stats")
    harness.conversation.usage = a_usage()
    harness.conversation.pin("m2")
    harness.conversation.prioritise("m2", 9)
    compact(harness)
    told = harness.typed("/stats")
    assert harness.typed("/context stats") == told
    assert harness.surface.shown_usage == a_usage()
    assert told.splitlines() == [
        "2 messages: 1 sent to the model, 1 archived, 1 pinned.",
        "Pinned: 2.",
        "Priority 9: 2 (it is kept word for word while it fits).",
        "Model scripted:play, context window 8,192 tokens. Session s1.",
    ]


CONTEXT = RequestContext(
    agent="research",
    items=(
        RequestItem(type="message", name="m1", tokens=30),
        RequestItem(type="tool", name="find", server="files", include="agent", score=0.876, tokens=5),
        RequestItem(type="rule", name="Citation style", tokens=10),
        RequestItem(type="rule", name="Tone\x1b[31m", include="manual", tokens=1000),
        RequestItem(type="message", name="m2", tokens=140),
        RequestItem(type="reference", name="Sleep.md", include="manual", tokens=100, part_of="m2"),
    ),
    left_out=(LeftOut(item=RequestItem(type="rule", name="Dates"), why="score"),),
    usage=a_usage(),
)


def test_context_shows_what_the_last_answer_was_made_of(harness: CommandHarness) -> None:
    harness.exchange("Why?", "Because.", request_context=CONTEXT)
    assert harness.typed("/context").splitlines() == [
        "what          tokens  why",
        "Instructions     320  in every request: rule Citation style; linked or added by you: rule Tone␛[31m",
        "Tools            410  found for your message: files/find",
        "Notes          2,200  linked or added by you: Sleep.md",
        "Messages         504  2 of this conversation",
        "Left out              Dates (not relevant to your message)",
        "Total          3,434  41 % of the context window (8,192 tokens)",
        "Compaction     6,963  starts above this (85 %)",
        "Written            0  in 1 request, 0.0 s",
        "So far 1 request sent 3,434 tokens, and the model wrote 0, in 0.0 s; tokens of 1 request are estimated.",
    ]


def test_a_quoted_answer_tells_its_places_and_nothing_of_tokens() -> None:
    items = (
        RequestItem(type="system", name="default", tokens=30),
        RequestItem(type="evidence", name="Sleep.md", include="agent", score=0.9, tokens=5),
        RequestItem(type="evidence", name="Sleep.md", include="agent", score=0.4, tokens=5),
        RequestItem(type="message", name="m1", tokens=30),
    )
    assert [*context_lines(RequestContext(items=items, usage=a_usage()), "quote")] == [
        "No model was asked: the answer is quoted from your notes.",
        "Notes  found for your message: Sleep.md (2 passages)",
    ]


def test_the_table_has_the_parts_and_the_numbers_of_the_bar() -> None:
    usage = a_usage(memory=30, images=90)
    items = tuple(RequestItem(type=each, name=each, tokens=7) for each in get_args(ItemType))
    context = RequestContext(items=items, left_out=(LeftOut(item=items[0], why="budget"),), usage=usage)
    heading, *rows, left_out, whole, compaction = context_lines(context)
    assert heading.split() == ["what", "tokens", "why"]
    shown = {title.lower(): int(tokens.replace(",", "")) for title, tokens, *_ in map(str.split, rows)}
    assert [*shown.items()] == [*parts_of(usage)]
    assert left_out.startswith("Left out")
    assert whole.split()[:2] == ["Total", f"{usage.total:,}"]
    assert compaction.split()[:2] == ["Compaction", f"{usage.compacts_at:,}"]


def test_what_has_an_id_for_a_name_is_shown_by_what_it_says() -> None:
    fact = RequestItem(type="memory", name="01f", title="Due on 30 June.\x1b", include="agent", score=0.5, tokens=9)
    items = (
        fact,
        RequestItem(type="summary", name="01s", reason="replaces the archived messages"),
        RequestItem(type="recall", name="01m", title="The boat is red.", include="manual"),
    )
    hidden = tuple(LeftOut(item=RequestItem(type="message", name=id_), why="private") for id_ in ("01a", "01b"))
    context = RequestContext(items=items, left_out=(LeftOut(item=fact, why="budget"), *hidden))
    assert [*context_lines(context)] == [
        "what      tokens  why",
        "Memory            in every request: replaces the archived messages; earlier messages on this: "
        "“The boat is red.”; found for your message: “Due on 30 June.␛”",
        "Left out          “Due on 30 June.␛” (no room), 2 messages (private)",
    ]


def test_a_message_without_a_record_says_so(harness: CommandHarness) -> None:
    for line in ("/context", "/context 1"):
        assert harness.typed(line).startswith("It is not known what was sent for that message.")


@pytest.mark.parametrize(
    ("typed", "done"),
    [("  about the budget ", "about the budget"), (" brief the budget", "brief the budget"), (" FULL", "full")],
)
def test_compact_plays_a_compaction_with_its_detail_and_focus(harness: CommandHarness, typed: str, done: str) -> None:
    assert harness.played(f"/compact{typed}") == [Warned(text=f"compacted {done}")]


def test_uncompact_takes_the_last_compaction_back(harness: CommandHarness) -> None:
    compact(harness)
    assert harness.typed("/uncompact") == "Summary #1 is undone: 1 message in the context again."
    assert len(harness.conversation.window.live) == 2
    assert harness.typed("/uncompact") == "Nothing is summarised in this conversation."
