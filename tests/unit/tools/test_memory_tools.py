import asyncio
import json

from tests.support.memories import MemoriesInMemory
from tests.support.sessions import NamedSession
from zkchat.chat.context.selection import Relevance
from zkchat.chat.memory import Memory
from zkchat.chat.tools.memory import memory_tools
from zkchat.chat.tools.registry import Toolbox
from zkchat.core.message import ToolCallPart
from zkchat.core.ports import ToolOutcome


def box_of(store: MemoriesInMemory, *, consent: bool = True) -> tuple[Toolbox, list[str]]:
    asked: list[str] = []

    def may_remember(text: str) -> bool:
        asked.append(text)
        return consent

    memory = Memory(store, Relevance(), lambda: store.now)
    return Toolbox(memory_tools(memory, may_remember, NamedSession("s1"))), asked


def use(box: Toolbox, name: str, **arguments: str) -> ToolOutcome:
    return asyncio.run(box.call(ToolCallPart(call_id="1", name=name, arguments=json.dumps(arguments))))


def test_a_fact_is_kept_when_the_user_agrees() -> None:
    store = MemoriesInMemory()
    box, asked = box_of(store)
    outcome = use(box, "remember", fact="Mia  likes nuts")
    assert asked == ["Mia likes nuts"]
    assert outcome.text == "Remembered."
    assert [(fact.text, fact.source, fact.session_id) for fact in store.kept] == [("Mia likes nuts", "model", "s1")]
    assert use(box, "remember", information="Mia likes nuts").summary == "known already"


def test_nothing_is_kept_when_the_user_refuses() -> None:
    store = MemoriesInMemory()
    box, _ = box_of(store, consent=False)
    outcome = use(box, "remember", information="The user owes us money")
    assert outcome.failed
    assert "does not want this" in outcome.text
    assert store.kept == ()


def test_a_key_is_not_kept_even_if_the_user_agrees() -> None:
    store = MemoriesInMemory()
    box, _ = box_of(store)
    assert use(box, "remember", information="The key is sk-abcdefghijklmnop123456").failed
    assert store.kept == ()


def test_what_was_kept_can_be_found_again() -> None:
    box, _ = box_of(MemoriesInMemory("Mia likes nuts", "My thesis is due in June"))
    outcome = use(box, "recall", query="nuts for Mia")
    assert outcome.text == "<memory>Mia likes nuts (said by you, 2026-03-01)</memory>"
    assert outcome.summary == "1 fact"


def test_what_was_not_kept_is_not_found() -> None:
    box, _ = box_of(MemoriesInMemory("Mia likes nuts"))
    assert use(box, "recall", query="thesis").summary == "nothing found"
