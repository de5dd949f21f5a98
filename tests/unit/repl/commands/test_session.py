"""Slash commands for what every request holds: /add /drop /rules /tools /agent /memory /remember /why."""

import asyncio
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.command_harness import CommandHarness
from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.memories import MemoriesInMemory
from tests.support.sessions import NOON
from zkchat.chat.context.selection import Relevance
from zkchat.chat.conversation import Conversation
from zkchat.chat.memory import Memory
from zkchat.chat.session_items import SessionItem, SessionItems
from zkchat.core.choices import ToolName
from zkchat.core.message import DocumentReference, LeftOut, RequestContext, RequestItem
from zkchat.core.profile import ProfileFile
from zkchat.core.session import ItemsEntry
from zkchat.core.values import from_plain
from zkchat.index.library import Library
from zkchat.repl.command_context import Switch
from zkchat.repl.commands.table import completions, run

NOTES = {
    "Beekeeping.md": "# Beekeeping\n\n## Hives\n\nBees need a hive.\n\n## Honey\n\nHoney is sweet.\n",
    "Harbour.md": "# Harbour\n\nShips lie in the harbour.\n",
    "Bees.md": "# Bees\n\nBees hum.\n",
    "Long.md": "# Long\n\n" + "A word that is said again and again. " * 2000,
}


def profile(kind: str, name: str, text: str) -> ProfileFile:
    return from_plain(ProfileFile, {"kind": kind, "name": name, "origin": "vault", "path": f"{name}.md", "text": text})


PROFILES = (
    profile("agent", "default", '---\nreferences:\n  "[[Harbour]]": always\n---\nAnswer from the notes.\n'),
    profile("agent", "small", "---\ncontext:\n  max_tokens: 2048\ndescription: Says little.\n---\nBe brief.\n"),
    profile("rule", "Brevity", "---\ninclude: always\n---\nBe brief.\n"),
    profile("rule", "Units", "---\ninclude: manual\n---\nUse metric units.\n"),
    profile("rule", "Dates", "---\ninclude: agent\ndescription: Dates and calendars\n---\nWrite 2026-03-01.\n"),
)


class ConversationHarness(CommandHarness):
    """A command context over a real conversation."""

    def __init__(self, library: Library, *, calls_tools: bool = True, profiles: tuple[ProfileFile, ...] = PROFILES):
        super().__init__(library=library)
        self.facts = MemoriesInMemory()
        self.talk: Conversation = conversation_over(
            library,
            self.store,
            Reciting(window=8192, calls_tools=calls_tools),
            profiles=profiles,
            memory=Memory(self.facts, Relevance(), lambda: NOON),
        )
        self.context = replace(self.context, conversation=self.talk, items=SessionItems(self.talk))

    def sent(self) -> list[str]:
        """Names of what the last request held beside messages and tools."""
        context = self.talk.messages[-1].request_context
        assert context
        return [item.name for item in context.items if item.type in {"rule", "reference"}]


@pytest.fixture
def harness(own_library: Library) -> ConversationHarness:
    return ConversationHarness(own_library)


def test_a_rule_that_is_added_is_sent_every_time_and_its_cost_is_shown(harness: ConversationHarness) -> None:
    told = harness.typed("/add rule units")
    assert told.startswith("Units is sent with every message from now on.")
    ((after, before),) = re.findall(r"sends ([\d,]+) tokens besides its own words \(([\d,]+) before\)", told)
    assert int(after.replace(",", "")) > int(before.replace(",", ""))
    events_of(harness.talk.say("Hello!"))
    assert harness.sent() == ["Brevity", "Harbour", "Units"]
    assert harness.typed("/drop rule Units").startswith("Units is not sent from now on.")
    assert harness.typed("/rules").splitlines()[-2].endswith("dropped by you")
    events_of(harness.talk.say("Hello!"))
    assert harness.sent() == ["Brevity", "Harbour"]


def test_a_note_is_added_by_link_and_a_section_by_its_heading_and_dropped_even_if_it_is_gone(
    harness: ConversationHarness, tmp_path: Path
) -> None:
    assert harness.typed("/add [[bees]]").startswith("Bees.md is sent with every message")
    told = harness.typed("/add [[Beekeeping#Hives|the hives]]")
    assert told.startswith("Beekeeping.md#Hives is sent with every message")
    events_of(harness.talk.say("Hello!"))
    assert harness.sent()[-2:] == ["Bees.md", "Beekeeping.md#Hives"]
    context = harness.talk.messages[-1].request_context
    assert context
    (text,) = (harness.talk.history.contents[item.digest] for item in context.items if item.name.endswith("#Hives"))
    assert "Bees need a hive." in text
    assert "sweet" not in text
    (tmp_path / "vault" / "Bees.md").unlink()
    assert harness.typed("/drop [[Bees]]").startswith("Bees.md is not sent")


def test_a_note_without_room_is_refused_with_another_way(harness: ConversationHarness) -> None:
    told = harness.typed("/add [[Long]]")
    assert told.startswith("Long.md takes ")
    assert told.endswith("Link the note in a message instead.")
    assert harness.talk.history.items == ()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/add", "Give a note, a rule, a tool or memory: /add [[Note]], /add rule NAME, /add tool NAME, /add memory."),
        ("/add rule Brevity", "Brevity is sent with every message already."),
        ("/add tool find_relatd", "There is no tool 'find_relatd'. Choose from: find_related"),
        ("/add [[Harbor]]", "There is no note [[Harbor]]. Did you mean [[Harbour]]?"),
        ("/drop rule Units", "Units is not sent in this session."),
        ("/remember", "What should zkchat remember? For example: /remember My thesis is due on 30 June."),
        ("/why [[Bees]]", "There is no answer yet. Ask something first."),
    ],
)
def test_wrong_use_is_shown_with_the_way_out(harness: ConversationHarness, line: str, told: str) -> None:
    assert harness.typed(line).startswith(told)


def test_rules_and_tools_are_listed_with_mode_tokens_and_whether_they_are_sent(harness: ConversationHarness) -> None:
    rules = harness.typed("/rules").splitlines()
    assert re.fullmatch(r"\* Brevity  \[always\] +\d+ tokens", rules[0])
    assert re.fullmatch(r"  Dates    \[agent\] +\d+ tokens  when it fits a message", rules[1])
    assert re.fullmatch(r"  Units    \[manual\] +\d+ tokens  when you add it", rules[2])
    assert rules[3:] == ["* sent every time"]
    assert any(line.startswith("* read_document") for line in harness.typed("/tools").splitlines())
    assert harness.typed("/tools").count("sent every time") == 1
    assert harness.typed("/drop tool find_related").startswith("find_related is not sent")
    assert any("find_related" in line and "dropped by you" in line for line in harness.typed("/tools").splitlines())


def test_without_rules_and_tools_a_sentence_says_so(library: Library) -> None:
    harness = ConversationHarness(library, calls_tools=False, profiles=())
    assert harness.typed("/rules") == "There are no rules yet. Create one: zkchat memory rules new NAME TEXT."
    assert harness.typed("/tools") == "reciting:x has no tools: it can only answer."
    assert harness.typed("/add tool read_document") == "reciting:x has no tools. /model chooses another model."
    assert harness.typed("/add rule Tone") == "There is no rule 'Tone'. Create one: zkchat memory rules new"


def test_what_is_switched_off_is_listed_as_such_and_cannot_be_chosen(library: Library) -> None:
    off = "---\nenabled: false\n---\nBe warm.\n"
    harness = ConversationHarness(library, profiles=(profile("rule", "Tone", off), profile("agent", "poet", off)))
    assert harness.typed("/rules") == "  Tone  switched off"
    assert harness.typed("/add rule tone") == "The rule 'Tone' is switched off. Delete the line `enabled` in Tone.md."
    assert "poet: switched off" in harness.typed("/agent")
    assert harness.typed("/agent poet").startswith("The agent 'poet' is switched off.")


def test_an_agent_with_settings_of_its_own_has_the_conversation_opened_again(harness: ConversationHarness) -> None:
    assert harness.outcome("/agent small") == Switch(session=harness.talk.session_id)
    assert harness.outcome("/agent default") == Switch(session=harness.talk.session_id)


def test_the_page_of_the_vault_is_opened_and_made_after_a_yes(harness: ConversationHarness) -> None:
    harness.surface.says_yes = False
    assert harness.typed("/memory") == "Nothing was written."
    assert "zkchat memory forget ID deletes one." in harness.typed("/memory forget")
    assert (harness.files, harness.pages_edited) == ({}, [])
    harness.surface.says_yes = True
    assert harness.typed("/memory").startswith("ZKCHAT.md is sent with every message.")
    assert ([*harness.files], harness.pages_edited) == (["ZKCHAT.md"], ["ZKCHAT.md"])
    harness.unapproved.add("ZKCHAT.md")
    assert harness.typed("/memory").startswith("ZKCHAT.md is not sent until you approve: zkchat config trust.")
    assert len(harness.surface.questions) == 2


def test_a_fact_is_remembered_unless_the_conversation_is_private(harness: ConversationHarness) -> None:
    assert harness.typed("/remember My thesis is due on 30 June.") == "Remembered."
    assert [(fact.text, fact.source) for fact in harness.facts.kept] == [("My thesis is due on 30 June.", "user")]
    events_of(harness.talk.say("Hello!"))
    harness.store.append(harness.talk.session_id, [ItemsEntry(private=True)])
    harness.talk.history.extend(harness.store.entries(harness.talk.session_id)[-1:])
    assert harness.typed("/remember I live in Bergen.").startswith("This conversation is private")
    assert len(harness.facts.kept) == 1


def test_names_are_completed(harness: ConversationHarness) -> None:
    assert completions(harness.context, "/add r") == ["rule Brevity", "rule Dates", "rule Units"]
    assert completions(harness.context, "/why tool read_a") == ["tool read_attachment"]
    assert completions(harness.context, "/agent s") == ["small"]
    assert "research" in completions(harness.context, "/agent @")
    harness.typed("/add [[Bees]]")
    assert completions(harness.context, "/drop [[") == ["[[Bees]]"]
    assert "rule Units" in completions(harness.context, "/drop ")


def test_why_shows_what_brought_a_note_in_and_for_which_messages(harness: ConversationHarness) -> None:
    events_of(harness.talk.say("What is in [[Bees]]?"))
    events_of(harness.talk.say("Which dates stand in the ledger of the port?"))
    lines = harness.typed("/why [[bees]]").splitlines()
    assert lines[0] == "Bees.md was sent for the last answer:"
    assert re.fullmatch(r"- with message 1: linked in the message, \d+ tokens", lines[1])
    assert lines[2] == "It was sent for messages 2 and 4."  # its text holds its passages, which are not sent again
    assert "always there, " in harness.typed("/why [[Harbour]]")
    assert harness.typed("/why [[Beekeeping]]").splitlines() == [
        "Beekeeping.md was not sent for the last answer: it did not match the question.",
        "1. The search does not find Beekeeping.md: the note has none of your words, and nothing close to them.",
        "   Add words of the question to the note or its aliases, or write [[Beekeeping]] in the question.",
        "/show N reads entry N, /open N opens it.",
        "It was never sent in this session.",
    ]


def test_why_shows_what_kept_a_rule_or_a_tool_out(harness: ConversationHarness) -> None:
    harness.typed("/drop rule Brevity")
    harness.typed("/drop tool find_related")
    harness.typed("/add [[Bees]]")
    events_of(harness.talk.say("Which calendars are there?"))
    assert harness.typed("/why rule Brevity").splitlines()[:2] == [
        "Brevity was not sent for the last answer:",
        "- you dropped it",
    ]
    assert "- you dropped it" in harness.typed("/why tool find_related")
    assert "added by you, " in harness.typed("/why [[Bees]]")
    assert re.search(r"(on the subject of your message, |0\.\d\d of 1)", harness.typed("/why rule Dates"))


def why(
    harness: ConversationHarness,
    *references: DocumentReference,
    context: RequestContext | None,
    line: str = "/why [[Beekeeping]]",
) -> list[str]:
    """What `/why`, or another command, tells of an answer that was made elsewhere."""
    recorded = CommandHarness(harness.context.items)
    recorded.exchange("What are bees?", "Insects.", *references, request_context=context)
    asyncio.run(run(recorded.context, line))
    return recorded.surface.lines


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("budget", "there was no room for its 120 tokens"),
        ("score", "it was not relevant enough (0.31 of 1)"),
        ("removed", "you dropped it"),
        ("private", "it is private, and the model is not on this machine"),
        ("missing", "it could not be read"),
        ("unapproved", "it came with the vault and you have not approved it: zkchat config trust"),
        ("abstained", "there was nothing"),
    ],
)
def test_every_reason_to_leave_a_note_out_has_its_words(harness: ConversationHarness, reason: str, words: str) -> None:
    item = RequestItem(type="reference", name="Beekeeping.md#Hives", tokens=120, score=0.31, reason="there was nothing")
    left = from_plain(LeftOut, {"item": item, "why": reason})
    told = why(harness, context=RequestContext(left_out=(left,)))
    assert told[:2] == ["Beekeeping.md was not sent for the last answer:", f"- {words}"]


def test_tools_for_which_there_was_no_room_are_named(harness: ConversationHarness) -> None:
    left_out = {"budget": "git_log", "removed": "git_push", "score": "git_show"}
    left = [{"item": RequestItem(type="tool", name=name), "why": reason} for reason, name in left_out.items()]
    told = why(harness, context=RequestContext(left_out=from_plain(tuple[LeftOut, ...], left)), line="/tools")
    assert told[-1] == "Not offered to the model, as there was no room: git_log"


def test_what_a_tool_read_was_there_too_and_without_a_record_there_is_no_why(harness: ConversationHarness) -> None:
    read = DocumentReference(
        wikilink="[[Beekeeping]]",
        relative_path="Beekeeping.md",
        reference_type="search",
        via=ToolName("read_document"),
        included=True,
    )
    assert why(harness, read, context=RequestContext()) == [
        "Beekeeping.md was sent for the last answer:",
        "- read by the model, not cited",
        "It was sent for message 2.",
    ]
    assert why(harness, context=None) == ["It is not known what was sent for the last answer."]


def test_what_changed_since_an_answer_is_shown(harness: ConversationHarness, tmp_path: Path) -> None:
    events_of(harness.talk.say("What is in [[Bees]]?"))
    assert "has changed" not in harness.typed("/context")
    (tmp_path / "vault" / "Bees.md").write_text("# Bees\n\nBees buzz.\n")
    assert "The note Bees.md has changed since that request." in harness.typed("/context 2")


@pytest.mark.parametrize("name", ["web/Weather", "web_weather"])
def test_a_tool_of_a_server_has_two_names(
    harness: ConversationHarness, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    offered = SessionItem(item=RequestItem(type="tool", name="web_weather", server="web"), written="web/weather")
    monkeypatch.setattr(SessionItems, "offered", lambda *_: [offered])
    assert SessionItems(harness.talk).find("tool", name) is offered
