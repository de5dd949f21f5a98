"""Whole conversations: whatever is said, linked, pasted and pinned, at any window, a request keeps what it promises."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.libraries import library_of
from tests.support.sessions import SessionsInMemory
from zkchat.chat.context.condensing import split_question
from zkchat.chat.context.tokens import Estimate
from zkchat.chat.conversation import Conversation
from zkchat.chat.core import Policy
from zkchat.chat.request import RESULTS_SHARE
from zkchat.core.choices import CompactionStrategy
from zkchat.core.events import Compacted, PromptReady, TurnFailed
from zkchat.core.message import ChatMessage, FilePart
from zkchat.core.prompt import ModelRequest
from zkchat.core.values import to_json, to_plain
from zkchat.index.library import Library

RESERVE = 512
LONG = "".join(f"## Part {number}\n\n" + f"What part {number} says of boats. " * 30 + "\n\n" for number in range(40))
NOTES = {
    "Short.md": "A short note on apples.\n",
    "Medium.md": "# Medium\n\n"
    + "".join(f"## H{n}\n\nSentence {n} on pears and plums. " * 8 + "\n\n" for n in range(6)),
    "Long.md": LONG,
    "Chinese.md": "# 茶\n\n" + "".join(f"## 第{n}节\n\n关于茶的第{n}句话，很长很长。" * 20 + "\n\n" for n in range(12)),
    "Plain.md": "no full stop in this note and no heading either\n" * 400,
}
LINKS = ["", "", " [[Short]]", " [[Medium]]", " [[Long]]", " [[Chinese]]", " [[Plain]]", " [[Long]] [[Chinese]]"]
KINDS: dict[str, Callable[[int], str]] = {
    "short": lambda n: "Some words about cats. " * (1 + n % 40),
    "chinese": lambda n: "关于猫的几句话。" * (1 + n % 60),
    "story": lambda n: "A longer story about cats and dogs. " * (40 + n % 700),
    "log": lambda n: "Which job failed?\n\n" + "".join(f"line {k} ok 0.{k}s\n" for k in range(30 + n)),
    "chinese data": lambda n: "这里有什么问题？\n\n" + "数据" * (200 + 5 * n),
}


@dataclass(frozen=True)
class Saying:
    """What the user says, by a short name for a long text, and how long the answer is."""

    kind: str
    length: int
    link: str
    answer: int

    @property
    def text(self) -> str:
        return KINDS[self.kind](self.length) + self.link


@dataclass(frozen=True)
class Scene:
    turns: list[Saying]
    pins: list[int]
    window: int
    calls_tools: bool
    strategy: CompactionStrategy


SAYINGS = st.builds(
    Saying,
    kind=st.sampled_from([*KINDS]),
    length=st.integers(0, 4_000),
    link=st.sampled_from(LINKS),
    answer=st.integers(1, 250),
)
SCENES = st.builds(
    Scene,
    turns=st.lists(SAYINGS, min_size=1, max_size=7),
    pins=st.lists(st.integers(0, 12), max_size=3),
    window=st.sampled_from([2_048, 4_096, 8_192, 32_768]),
    calls_tools=st.booleans(),
    strategy=st.sampled_from(["summarize", "discard", "hybrid"]),
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with library_of(Path(tmp_path_factory.mktemp("vault")), NOTES) as made:
        yield made


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(SCENES)
def test_what_a_request_promises(library: Library, scene: Scene) -> None:
    answers = [f"{'An answer of some length. ' * saying.answer}" for saying in scene.turns]
    model = Reciting(lambda number: answers[number - 1], window=scene.window, calls_tools=scene.calls_tools)
    talk = conversation_over(
        library, SessionsInMemory(), model, policy=Policy(strategy=scene.strategy), max_tokens=scene.window
    )
    for number, saying in enumerate(scene.turns):
        said = saying.text
        events = events_of(talk.say(said))
        assert not [each for each in events if isinstance(each, TurnFailed)]
        (ready, *_) = [each for each in events if isinstance(each, PromptReady)]
        assert ready.usage.total <= scene.window - RESERVE
        request = model.requests[number]
        check_size(request, scene)
        check_roles(request)
        check_question(request, said, scene)
        check_room(talk, ready, scene, is_compacted=any(isinstance(each, Compacted) for each in events))
        for pin in scene.pins:
            if pin < len(talk.messages) and pin // 2 == number:
                talk.pin(talk.messages[pin].id)


def check_size(request: ModelRequest, scene: Scene) -> None:
    count = Estimate().count
    texts = sum(count(message.text) + 4 for message in request.messages)
    assert texts + sum(count(tool.description) for tool in request.tools) <= scene.window - RESERVE


def check_roles(request: ModelRequest) -> None:
    roles = [message.role for message in request.messages if message.role != "system"]
    assert roles[0] == "user"
    assert all({before, after} == {"user", "assistant"} for before, after in pairwise(roles))


def check_question(request: ModelRequest, said: str, scene: Scene) -> None:
    sent = request.messages[-1].text
    fixed = sum(Estimate().count(to_json(to_plain(tool))) for tool in request.tools) + 700
    is_whole = said in sent
    event(f"window {scene.window}, whole: {is_whole}")
    if Estimate().count(said) + fixed <= scene.window - RESERVE:
        assert is_whole
    else:
        typed = split_question(said)
        assert typed.before.strip() in sent or Estimate().count(typed.question) > scene.window // 4


def check_room(talk: Conversation, ready: PromptReady, scene: Scene, *, is_compacted: bool) -> None:
    """Where something of this message was cut, hardly any room is left."""
    asked = next(message for message in reversed(talk.messages) if message.role == "user")
    answer = talk.messages[-1]
    assert answer.request_context is not None
    cap = scene.window - RESERVE
    unused = cap - ready.usage.total
    is_cut = is_question_cut(talk, asked)
    partial = [part for part in asked.parts_of(FilePart) if part.extent]
    event(f"question cut: {is_cut}, documents in part: {bool(partial)}, tools: {scene.calls_tools}")
    if is_cut:  # a model with tools has room to read on in it
        assert unused <= (0.05 + (RESULTS_SHARE if scene.calls_tools else 0)) * cap + 16
    elif partial and not (scene.calls_tools or is_compacted):
        # With tools a document has a share of the room, and the rest is read; a compaction makes room for later turns.
        assert unused <= 0.05 * cap + 64
    for left in answer.request_context.left_out:
        if left.why == "budget" and left.item.type != "tool":
            assert unused <= 0.05 * cap or left.item.tokens > unused


def is_question_cut(talk: Conversation, asked: ChatMessage) -> bool:
    short = talk.window.condensed.get((asked.id, ""))
    return short is not None and asked.text not in short
