"""What a conversation gives to memory and takes from it."""

import pytest

from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.memories import MemoriesInMemory
from tests.support.sessions import NOON, SessionsInMemory
from zkchat.chat.context.selection import Relevance
from zkchat.chat.conversation import Conversation
from zkchat.chat.memory import Memory
from zkchat.core.errors import UsageError
from zkchat.core.profile import ProfileFile
from zkchat.core.session import AgentEntry, ItemsEntry
from zkchat.index.library import Library

FACT = "My thesis on cats is due on 30 June."
QUESTION = "When is my thesis on cats due?"
NOTES = {"Cats.md": "# Cats\n\nCats purr.\n"}


def over(library: Library, facts: MemoriesInMemory) -> Conversation:
    return conversation_over(library, provider=Reciting(), memory=Memory(facts, Relevance(), lambda: NOON))


def test_facts_that_went_into_an_answered_request_are_counted(library: Library) -> None:
    facts = MemoriesInMemory(FACT, "The sea is salty.")
    events_of(over(library, facts).say(QUESTION))
    assert [fact.uses for fact in facts.kept] == [1, 0]


def test_a_model_that_uses_no_memory_remembers_nothing(library: Library) -> None:
    talk = conversation_over(library, provider=Reciting())
    events_of(talk.say("I decided to write in English."))
    assert talk.worth_keeping(talk.messages) == []
    with pytest.raises(UsageError, match="has no use for what is remembered") as caught:
        talk.remember(FACT)
    assert "zkchat memory add" in caught.value.hint


def test_what_the_user_chose_for_a_conversation_is_kept_with_its_first_message(library: Library) -> None:
    store = SessionsInMemory()
    memory = Memory(MemoriesInMemory(FACT), Relevance(), lambda: NOON)
    choices = (AgentEntry(name="research"), ItemsEntry(private=True))
    talk = conversation_over(library, store, Reciting(), memory=memory, choices=choices)
    assert talk.is_private
    assert store.sessions() == []
    events_of(talk.say("I decided to write in English."))
    assert talk.worth_keeping(talk.messages) == []
    again = conversation_over(library, store, Reciting(), session=store.get(talk.session_id))
    assert (again.agent.name, again.is_private) == ("research", True)
    events_of(talk.say("Hello!"))
    kinds = [entry.body.kind for entry in store.entries(talk.session_id)]
    assert (kinds.count("agent"), kinds.count("items")) == (1, 1)


def test_for_an_agent_without_memory_nothing_is_proposed_or_sent(library: Library) -> None:
    memory = Memory(MemoriesInMemory(FACT), Relevance(), lambda: NOON)
    text = "---\nmemory: false\n---\nAnswer."
    file = ProfileFile(kind="agent", name="plain", origin="user", path="plain.md", text=text)
    for name, is_used in (("default", True), ("plain", False)):
        provider, choices = Reciting(), [AgentEntry(name=name)]
        talk = conversation_over(library, provider=provider, memory=memory, profiles=[file], choices=choices)
        events_of(talk.say("I decided to write the thesis on cats in English."))
        events_of(talk.say(QUESTION))
        assert (FACT in str(provider.requests[-1])) is is_used
        assert bool(talk.worth_keeping(talk.messages)) is is_used
