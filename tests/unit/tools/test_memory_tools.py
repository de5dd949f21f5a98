import asyncio
import json

from tests.support.memories import MemoriesInMemory
from tests.support.sessions import NOON
from zkchat.chat.context.selection import Relevance
from zkchat.chat.memory import Memory
from zkchat.chat.tools.memory import memory_tools, recall_tools
from zkchat.chat.tools.registry import Toolbox
from zkchat.core.message import ToolCallPart
from zkchat.core.ports import ToolOutcome
from zkchat.core.session import IndexedMessage


def box_of(store: MemoriesInMemory, *, consent: bool = True) -> tuple[Toolbox, list[str]]:
    asked: list[str] = []

    def may_remember(text: str) -> bool:
        asked.append(text)
        return consent

    memory = Memory(store, Relevance(), lambda: store.now)
    return Toolbox(memory_tools(memory, may_remember, lambda: "s1")), asked


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


def test_nothing_is_kept_when_the_user_refuses_and_no_key_whoever_agrees() -> None:
    store = MemoriesInMemory()
    box, _ = box_of(store, consent=False)
    outcome = use(box, "remember", information="The user owes us money")
    assert outcome.failed
    assert "does not want this" in outcome.text
    box, _ = box_of(store)
    assert use(box, "remember", information="The key is sk-abcdefghijklmnop123456").failed
    assert store.kept == ()


def test_what_was_kept_can_be_found_again() -> None:
    box, _ = box_of(MemoriesInMemory("Mia likes nuts", "My thesis is due in June"))
    outcome = use(box, "recall", query="nuts for Mia")
    assert outcome.text == "<memory>Mia likes nuts (said by you, 2026-03-01)</memory>"
    assert outcome.summary == "1 fact"
    assert use(box, "recall", query="water").summary == "nothing found"


def said(text: str) -> tuple[IndexedMessage, float]:
    message = IndexedMessage(
        session="s", id=text[:5], place=1, changed=1, role="user", name="Anna", time=NOON, text=text, said=b"",
        labels=b"", features=b"",
    )  # fmt: skip
    return message, 0.5


def recalled(*found: tuple[IndexedMessage, float], **arguments: object) -> ToolOutcome:
    (tool,) = recall_tools(lambda query, limit: found[:limit] if query == "the heron" else [])
    assert tool.spec.name == "search_conversation"
    return asyncio.run(tool.call(json.dumps(arguments)))


def test_what_was_said_is_given_as_data_with_speaker_and_date_and_long_messages_share_the_page() -> None:
    eats = said("He eats fish.")
    outcome = recalled(said("The heron is called Konrad."), eats, query="the heron")
    assert outcome.text == (
        "<message user Anna 2026-03-01>The heron is called Konrad.</message>\n\n"
        "<message user Anna 2026-03-01>He eats fish.</message>"
    )
    assert outcome.summary == "2 messages"
    assert recalled(eats, eats, q="the heron", limit=1).summary == "1 message"
    long = said(" ".join(f"Sentence number {n} is about Konrad's house." for n in range(300)))
    assert 4_000 < len(recalled(long, long, query="the heron").text) <= 8_200
