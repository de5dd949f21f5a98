"""Over the garden: answers from nothing are asked for again, and long documents get a sentence from the model."""

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from tests.support.waiting import eventually_async, other_tasks
from tests.support.world import GARDEN, World
from zkchat.app import conversation
from zkchat.app.conversation_options import ConversationOptions
from zkchat.chat.conversation import Conversation
from zkchat.core.events import Event
from zkchat.core.message import ChatMessage
from zkchat.models import scripted
from zkchat.models.scripted import Script, Scripted

QUESTION = "Why does a slip box never need to be sorted again?"
UNFOUNDED = [{"text": "Because boxes are deep."}]
FOUNDED = [{"text": "It makes room between any two slips, says [[Zettelkasten]]."}]
READS = [{"tool": "read_document", "arguments": {"relative_path": "Ideas/Zettelkasten.md"}}]
SENTENCE = "A Zettelkasten is a box of numbered slips in which notes link to notes."


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    shutil.copytree(GARDEN, world.vault, dirs_exist_ok=True)
    return world


def test_a_careless_model_is_asked_again_with_what_the_notes_say(world: World) -> None:
    model = world.script(UNFOUNDED, FOUNDED)
    result = world.run("ask", QUESTION, "--model", model)
    assert result.code == 0
    assert result.out == f"{FOUNDED[0]['text']}\n"
    assert "answered without looking into your notes" in result.err
    assert "references.look_again" in result.err


def test_for_scripts_the_second_answer_is_the_answer_and_the_record_says_why(world: World) -> None:
    whole = world.run("ask", QUESTION, "--model", world.script(UNFOUNDED, FOUNDED), "--json").json
    assert whole["answer"] == FOUNDED[0]["text"]
    assert "Ideas/Zettelkasten.md" in [row["relative_path"] for row in whole["references"] if row["cited"]]
    reasons = {item["reason"] for item in whole["context"]["items"] if item["type"] == "evidence"}
    assert reasons == {"the first answer was given without a look into the notes"}
    rebuilt = world.run("context", "show", "--request")
    assert "<evidence>" in rebuilt.out


def test_a_model_that_looks_or_is_only_thanked_is_asked_once(world: World) -> None:
    looked = world.run("ask", QUESTION, "--model", world.script(READS, UNFOUNDED, FOUNDED), "--json")
    assert looked.json["answer"] == UNFOUNDED[0]["text"]
    thanked = world.run("ask", "Thanks a lot!", "--model", world.script([{"text": "Any time."}], FOUNDED), "--json")
    assert thanked.json["answer"] == "Any time."


def second_answer(world: World, **scripted: object) -> ChatMessage:
    """Of a chat that comes back to a long document after a while at the prompt."""
    answers = [READS, FOUNDED, [{"text": SENTENCE}], READS, FOUNDED]
    (world.root / "play.json").write_text(json.dumps({"answers": answers, **scripted}))
    options = ConversationOptions(vault=world.vault, model=f"scripted:{world.root / 'play.json'}")

    async def chat(opened: conversation.OpenConversation) -> ChatMessage:
        async for _ in opened.conversation.say(QUESTION):
            pass
        opened.conversation.describe_soon()
        await eventually_async(lambda: not other_tasks())
        opened.conversation.describe_soon()  # there is nothing left to say
        async for _ in opened.conversation.say(QUESTION):
            pass
        return opened.conversation.messages[-1]

    with conversation.open_conversation(world.environment(), options) as opened:
        return asyncio.run(chat(opened))


def test_a_long_document_gets_a_sentence_of_the_model_that_later_sessions_show(world: World) -> None:
    world.variables["ZKCHAT_REFERENCES__MODEL_SUMMARIES"] = "always"
    assert SENTENCE in [row.summary for row in second_answer(world).references]
    later = world.run("ask", QUESTION, "--model", world.script(READS, FOUNDED), "--json").json
    assert SENTENCE in [row["summary"] for row in later["references"]]


@pytest.mark.parametrize("goes_on", [lambda talk: talk.say(QUESTION), lambda talk: talk.compact()])
def test_what_the_user_does_next_waits_for_no_sentence(
    world: World, goes_on: Callable[[Conversation], AsyncGenerator[Event, None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    players: list[Scripted] = []

    class Recorded(Scripted):
        def __init__(self, script: Script) -> None:
            super().__init__(script)
            players.append(self)

    monkeypatch.setattr(scripted, "Scripted", Recorded)
    world.variables["ZKCHAT_REFERENCES__MODEL_SUMMARIES"] = "always"
    options = ConversationOptions(
        vault=world.vault, model=world.script(READS, FOUNDED, [{"delay": 60}, {"text": SENTENCE}], READS, FOUNDED)
    )

    async def chat(conversation: Conversation) -> None:
        async for _ in conversation.say(QUESTION):
            pass
        conversation.describe_soon()
        await eventually_async(lambda: len(players[0].requests) == 3)
        assert other_tasks() == 1
        async for _ in goes_on(conversation):
            pass
        await eventually_async(lambda: not other_tasks())

    with conversation.open_conversation(world.environment(), options) as opened:
        asyncio.run(chat(opened.conversation))
        assert opened.conversation.messages[-1].text == FOUNDED[0]["text"]


@pytest.mark.parametrize("setting", ["local", "never"])
def test_a_script_keeps_its_answers_for_the_questions_unless_told_otherwise(world: World, setting: str) -> None:
    world.variables["ZKCHAT_REFERENCES__MODEL_SUMMARIES"] = setting
    assert second_answer(world).text == SENTENCE
