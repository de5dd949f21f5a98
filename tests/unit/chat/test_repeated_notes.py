"""A note that the session or the agent brings in, and the message links as well, is sent once."""

import pytest
from msgspec.structs import replace

from tests.support.conversations import Reciting, answer_of, conversation_over, events_of
from zkchat.chat.context.assembly import request_from
from zkchat.chat.references import IN_EVERY_REQUEST, WITH_THE_MESSAGE
from zkchat.core.message import ChatMessage, RequestItem
from zkchat.core.profile import ProfileFile
from zkchat.core.session import AgentEntry
from zkchat.index.library import Library

NOTES = {
    "Bees.md": "# Bees\n\nBees make honey.\n\n## Sound\n\nThey hum in the meadow.\n",
    "Wasps.md": "# Wasps\n\nWasps build nests of paper.\n",
}
BEES = RequestItem(type="reference", name="Bees.md", include="manual")


def sent(provider: Reciting) -> str:
    return "\n".join(message.text for message in provider.requests[-1].messages)


def repeated(answer: ChatMessage) -> list[tuple[str, str]]:
    assert answer.request_context
    return [(left.item.name, left.item.reason) for left in answer.request_context.left_out if left.why == "repeated"]


@pytest.mark.parametrize(
    ("link", "calls_tools"), [("[[Bees]]", True), ("[[Bees#Sound]]", False), ("[[Bees]] and [[Bees#Sound]]", True)]
)
def test_an_added_note_that_is_linked_is_sent_once_and_the_record_says_why(
    library: Library, link: str, calls_tools: bool
) -> None:
    provider = Reciting(calls_tools=calls_tools, window=32_000)
    talk = conversation_over(library, provider=provider)
    talk.add(BEES)
    answer = answer_of(events_of(talk.say(f"Where do they live, says {link}?")))
    assert (sent(provider).count("<document "), sent(provider).count("# Bees")) == (1, 1)
    (row,) = (row for row in answer.references if row.relative_path == "Bees.md")
    assert (row.reference_type, row.included) == ("direct", True)
    assert {reason for _, reason in repeated(answer)} == {IN_EVERY_REQUEST}
    assert answer.request_context
    rebuilt = request_from(answer.request_context, talk.history.messages, talk.history.contents)
    assert rebuilt.messages == provider.requests[-1].messages


def test_other_notes_of_the_message_come_with_it(library: Library) -> None:
    provider = Reciting(calls_tools=True, window=32_000)
    talk = conversation_over(library, provider=provider)
    talk.add(BEES)
    answer = answer_of(events_of(talk.say("Compare [[Bees]] and [[Wasps]].")))
    assert (sent(provider).count("# Bees\n"), sent(provider).count("# Wasps\n")) == (1, 1)
    assert [name for name, _ in repeated(answer)] == ["Bees.md"]
    talk.drop(BEES)
    answer = answer_of(events_of(talk.say("And again, [[Bees]]?")))
    assert "# Bees\n" in provider.requests[-1].messages[-1].text
    assert repeated(answer) == []
    talk.add(replace(BEES, name="Bees.md#Sound"))  # of which the whole comes with the link
    assert repeated(answer_of(events_of(talk.say("What does [[Bees]] say?")))) == []


def test_a_note_that_an_agent_would_bring_in_comes_with_the_message_alone(library: Library) -> None:
    text = '---\nreferences:\n  "[[Bees]]": agent\n---\nAnswer.'
    file = ProfileFile(kind="agent", name="keeper", origin="user", path="keeper.md", text=text)
    provider = Reciting(calls_tools=True, window=32_000)
    talk = conversation_over(library, provider=provider, profiles=[file], choices=[AgentEntry(name="keeper")])
    answer_of(events_of(talk.say("Do bees make honey?")))
    assert sent(provider).count("# Bees\n") == 1
    answer = answer_of(events_of(talk.say("Do bees make honey, says [[Bees]]?")))
    assert provider.requests[-1].messages[-1].text.count("# Bees\n") == 1
    assert repeated(answer) == [("Bees", WITH_THE_MESSAGE)]
