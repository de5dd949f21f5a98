"""Every slash command once, typed into the real program on a real terminal."""

import base64
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.support.ptys import Child
from tests.support.waiting import DEADLINE
from tests.support.world import World
from zkchat.repl.commands.table import COMMANDS

PROMPT = "you ›"
ANSWERS = ["Seven hours, says [[Sleep]].", "Eight hours.", "Nine hours.", "Ten hours.", "Eleven hours."]


EDITOR = """#!/bin/sh
for file; do echo "$file" >> "$0.arguments"; done
sed -i s/What/That/ "$file"
"""
"""It writes down what it is called with, and changes a word of the file."""


class Chat:
    """`zkchat chat` in a vault of one note, with a model that counts hours."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.note("Sleep.md", "# Sleep\n\nAdults need seven hours of sleep.\n\nBut [[Coffee]] and [[Nowhere]].\n")
        world.note("Coffee.md", "# Coffee\n\nCoffee keeps people awake. #drink\n")
        world.run("rules", "new", "Tone", "Be warm.", "--include", "manual")
        world.note("Long.md", "".join(f"Paragraph {number}.\n\n" for number in range(1, 60)) + "## Zebra\n\nStripes.\n")
        self.editor = world.root / "vim"
        self.editor.write_text(EDITOR)
        self.editor.chmod(0o755)
        model = world.script(*[[{"text": text}] for text in ANSWERS])
        self.terminal = Child(
            sys.executable,
            ["-m", "zkchat", "chat", "--vault", str(world.vault), "--model", model],
            env={
                **os.environ,
                "HOME": str(world.home),
                "TERM": "xterm-256color",
                "PROMPT_TOOLKIT_NO_CPR": "1",
                "DISPLAY": "",
                "WAYLAND_DISPLAY": "",
                "CI": "",
                "VISUAL": "",
                "EDITOR": str(self.editor),
                "ZKCHAT_CONTEXT__KEEP_RECENT": "2",
            },
            dimensions=(24, 80),
            encoding="utf-8",
            timeout=DEADLINE,
        )
        self.terminal.expect(PROMPT)

    def say(self, line: str, *expected: str) -> str:
        """Type a line and wait for what is to be seen, in order, and for the next prompt; returns all of it."""
        self.terminal.send(f"{line}\r")
        return self.see(*expected, PROMPT)

    def see(self, *expected: str) -> str:
        seen = ""
        for text in expected:
            self.terminal.expect_exact(text)
            seen += (self.terminal.before or "") + text
        return seen

    def arguments(self) -> list[str]:
        """What the editor was called with, all calls together."""
        return Path(f"{self.editor}.arguments").read_text().splitlines()

    def messages(self) -> list[str]:
        """The texts of the conversation as it stands, of the session used last."""
        shown = self.world.run("context", "export").json["messages"]
        return [message["content"] for message in shown]


@pytest.fixture
def chat(world: World) -> Iterator[Chat]:
    chat = Chat(world)
    chat.say("Tell me of [[Sleep]]", "Seven hours")
    yield chat
    chat.terminal.send("/quit\r")
    chat.terminal.expect(pexpect.EOF)
    chat.terminal.close()
    assert chat.terminal.exitstatus == 0


def test_an_answer_is_looked_into_copied_and_written_down_after_a_yes(chat: Chat) -> None:
    chat.say("/help", "/sources [N]", "sources of an answer")
    chat.say("/sources", "Referenced Documents", "[[Sleep]]")
    chat.say("/refs 1", "Sleep.md", "linked by you, cited")
    chat.say("/open 1", "Opened Sleep.md:3 in vim.")
    chat.say("/paste", "Ask a question about the image.")
    seen = chat.say("/copy", "characters are on the clipboard")
    (copied,) = re.findall(r"\x1b\]52;c;([\w+/=]*)\x07", seen)
    assert base64.b64decode(copied).decode() == ANSWERS[0]
    chat.say("/more", "▌ Adults need", "seven", "— ", "Sleep")
    chat.say("/more", "There are no more passages about this.")
    chat.say("/check", "1.", "Seven hours, says", "is in your notes", "/show N reads one")
    chat.say("/context", "tokens", "Messages ", "of this conversation")
    chat.say("/stats", "2 messages: 2 sent to the model, 0 archived, 0 pinned.")
    chat.say("/goal", "There is no goal in this session.")
    chat.say("/hlep", "There is no command /hlep. Did you mean /help?")
    chat.terminal.send("/save [[Kept]] \r")
    chat.see("Save the answer as Kept.md? [y/N]")
    chat.terminal.send("y")
    chat.see("Saved as Kept.md.", PROMPT)
    note = (chat.world.vault / "Kept.md").read_text()
    assert note.startswith("---\nzkchat-note: answer\n")
    assert "> Tell me of [[Sleep]]\n\nSeven hours, says [[Sleep]].\n\n## Sources\n\n- [[Sleep]]\n" in note
    chat.say("/changes", "Create Kept.md  (/save in this session)", "/undo reverts the last change, /undo #1 only")
    chat.terminal.send("/undo\r")
    chat.see("Create Kept.md", "Undo change 1? [y/N]")
    chat.terminal.send("y")
    chat.see("Kept.md is removed again.")
    assert not (chat.world.vault / "Kept.md").exists()
    before = {*chat.world.vault.iterdir()}
    chat.terminal.send("/export\r")
    chat.see("Save the conversation as", "[y/N]")
    chat.say("n", "Nothing was saved. To choose the name: /export NAME")
    assert {*chat.world.vault.iterdir()} == before
    chat.terminal.send("/export talk.json\r")
    chat.see("Save the conversation as talk.json? [y/N]")
    chat.terminal.send("y")
    chat.see("Saved as talk.json.", PROMPT)
    assert len(json.loads((chat.world.vault / "talk.json").read_text())["messages"]) == 2


def test_the_vault_is_searched_read_and_opened_and_nothing_of_it_is_said(chat: Chat) -> None:
    chat.say("/search stripes", "1.", "Long › Zebra", "Long.md:119", "Stripes", "/show N reads one, /open N opens it.")
    chat.say("/show 1", "Long.md:119", "Zebra", "Stripes.")
    chat.say("/open 1", "Opened Long.md:119 in vim.")
    assert chat.arguments() == ["+119", str(chat.world.vault / "Long.md")]
    chat.say("/refs", "[[Sleep]]")
    chat.say("/show 1", "Sleep.md", "Adults need seven hours of sleep.")
    seen = chat.say("/show [[Long]] ", "Paragraph 1.", "/show more continues")
    assert "Paragraph 20." not in seen
    chat.say("/show more", "Paragraph 10.", "/show more continues")
    chat.say("/show all", "Paragraph 59.", "Stripes.")
    chat.say("/backlinks [[Coffee]] ", "Coffee: 1 link from other notes", "Sleep.md:5")
    chat.say("/links 1", "[[Nowhere]] → nothing")
    chat.say("/tags", "#drink", "/search tag:drink lists the notes with one tag.")
    chat.say("/recent 1", "1.", ".md")
    chat.say("/daily", "There is no daily note for", "It would be ")
    naps = chat.world.note("Naps.md", "Long sleep, short sleep; coffee first.\n")
    chat.terminal.send("/link\r")
    chat.see("Naps.md:1", "Link it?")
    chat.terminal.send("n")
    chat.see("[[Sleep|sleep]]", "a all 2 here")
    chat.terminal.send("a")
    chat.see("[[Coffee|coffee]]", "Link it?")
    chat.terminal.send("q")
    chat.see("2 mentions linked in 1 note.", "/undo reverts it.", PROMPT)
    assert naps.read_text() == "Long [[Sleep|sleep]], short [[Sleep|sleep]]; coffee first.\n"
    chat.terminal.send("/rename Naps.md Short sleep\r")
    chat.see("Rename Naps.md to Short sleep.md?")
    chat.terminal.send("y")
    chat.see("Rename Naps.md to Short sleep.md: done. /undo reverts it.", PROMPT)
    assert not naps.exists()
    chat.say("/show [[Slep]] ", "There is no note '[[Slep]]' in the vault. Closest: [[Sleep]].")
    assert chat.messages() == ["Tell me of [[Sleep]]", ANSWERS[0]]


def test_a_conversation_branches(chat: Chat) -> None:
    chat.say("/retry", "Eight hours")
    assert chat.messages() == ["Tell me of [[Sleep]]", "Eight hours."]
    chat.say("/edit", "replaces message 1")
    chat.see("Tell me of [[Sleep]]")
    assert chat.messages() == ["Tell me of [[Sleep]]", "Eight hours."]
    chat.say(" now", "Nine hours")
    assert chat.messages() == ["Tell me of [[Sleep]] now", "Nine hours."]
    chat.say("And then?", "Ten hours")
    left = re.search(r"/branch (b\d) returns", chat.say("/branch 2", "continues after message 2", "returns"))
    assert chat.messages() == ["Tell me of [[Sleep]] now", "Nine hours."]
    assert left
    chat.say("/branch", "b1", "You are after message 2, where a new branch begins.")
    chat.say(f"/branch {left[1]}", "continues after message 4")
    chat.say("/history", "Nine hours.", "And then?", "Ten hours.")


def test_a_conversation_is_compacted_left_and_resumed_with_another_model(chat: Chat) -> None:
    chat.say("And more?", "Eight hours")
    chat.say("/pin", "Message 4 is pinned")
    chat.say("/priority 4 9", "Message 4 has priority 9")
    chat.say("/compact hours", "2 older messages are now a summary")
    chat.say("/context", "Your next message is sent with this:", "Total")
    chat.say("/history", "Context compacted #1")
    chat.say("/expand 1", "Tell me of [[Sleep]]")
    chat.say("/uncompact", "Summary #1 is undone: 2 messages in the context again.")
    chat.say("/sessions", "messages  Tell me of [[Sleep]]")
    chat.say("/new", "A new session begins")
    chat.say("/stats", "0 messages")
    chat.say("/resume Tell me of [[Sleep]]", "Eight hours")
    chat.say("/stats", "4 messages")
    assert "Eight hours" not in chat.say("/model quote", "quote answers now.")
    chat.say("/model nonsense:x", "There is no model 'nonsense:x'.", "quote still answers.")
    chat.say("/today", "Changed", " today · ")
    chat.say("/brief", "Changed", " today · ")
    chat.say("/timeline [[Sleep]] ", "written")


def test_things_are_added_to_every_request_and_dropped_again(chat: Chat) -> None:
    chat.say("/rules", "Tone", "[manual]", "tokens", "when you add it")
    costs = re.compile(r"takes\s+([\d,]+)\s+tokens\s+now\s+\(([\d,]+)\s+before\)")
    added = costs.search(chat.say("/add rule Tone", "Tone is sent with every message from now on", "before)."))
    assert added
    after, before = (int(number.replace(",", "")) for number in added.groups())
    assert before < after
    dropped = costs.search(chat.say("/drop rule Tone", "Tone is not sent from now on", "before)."))
    assert dropped
    assert dropped.groups() == added.groups()[::-1]
    chat.say("/add rule Tome", "There is no rule 'Tome'.", "There is: Tone.")
    chat.say("/add [[Coffee]] ", "Coffee.md is sent with every message from now on")
    chat.say("And coffee?", "Eight hours")
    chat.say("/why [[Coffee]] ", "Coffee.md was sent for the last answer:", "added by you", "for message 4")
    chat.say("/why [[Sleep]] ", "with message 1: linked in the message", "for messages 2 and 4")
    chat.say("/drop [[Coffee]] ", "Coffee.md is not sent from now on")
    chat.say("/tools", "* read_document", "[always]", "sent every time")
    chat.say("/write on", "The model may propose changes to your notes.", "(write.accept)", "none")
    chat.say("/tools", "* edit_document")
    chat.say("/write off", "The model cannot change your notes.")


def test_another_agent_answers_and_things_are_remembered(chat: Chat) -> None:
    chat.say("/agent", "default answers.", "research:")
    chat.say("/agent reserch", "There is no agent 'reserch'.", "research")
    chat.say("/agent research", "research answers now")
    chat.say("And more?", "Eight hours")
    shown = chat.world.run("context", "show", "--message", "4", "--json").json
    assert shown["agent"] == "research"
    chat.terminal.send("/memory\r")
    chat.see("ZKCHAT.md, a note in your vault, is sent to the model with every message")
    chat.say("y", "ZKCHAT.md is sent with every message")
    assert (chat.world.vault / "ZKCHAT.md").read_text().startswith("That everyone")
    chat.say("/remember My thesis is due on 30 June.", "Remembered.")
    assert [fact["text"] for fact in chat.world.run("memory", "list", "--json").json] == [
        "My thesis is due on 30 June."
    ]


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_no_command_is_left_out_here(name: str) -> None:
    tested = Path(__file__).read_text(encoding="utf-8")
    assert f'"/{name}' in tested, f"Type /{name} in a test of tests/terminal/test_slash_commands.py."
