"""Which rules, notes, tools and memories go into a request, and what the record says of them."""

from pathlib import Path

import pytest

from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.libraries import library_of
from tests.support.sessions import SessionsInMemory
from zkchat.chat.conversation import Conversation
from zkchat.core.errors import ConfigError
from zkchat.core.events import TurnFinished, Warned
from zkchat.core.message import RequestItem
from zkchat.core.profile import ProfileFile
from zkchat.index.library import Library

NOTES = {
    "Beekeeping.md": "# Beekeeping\n\nBees need a hive, honey and a careful beekeeper.\n",
    "Harbour.md": "# Harbour\n\nShips lie in the harbour.\n",
}


def rule(name: str, include: str, text: str, description: str = "") -> ProfileFile:
    head = f"---\ninclude: {include}\ndescription: {description}\n---\n"
    return ProfileFile(kind="rule", name=name, origin="vault", path=f"{name}.md", text=head + text)


AGENT = ProfileFile(
    kind="agent",
    name="default",
    origin="vault",
    path="default.md",
    text='---\nreferences:\n  "[[Harbour]]": always\n  "[[Beekeeping]]": agent\n---\nAnswer from the notes.\n',
)
PROFILES = (
    AGENT,
    rule("A", "always", "Be brief."),
    rule("B", "manual", "Use metric units."),
    rule("C", "agent", "Quote every sonnet with its rhyme scheme.", "Sonnets, poems, rhyme and verse"),
)


def talk_over(library: Library, profiles: tuple[ProfileFile, ...] = PROFILES) -> tuple[Conversation, Reciting]:
    provider = Reciting()
    return conversation_over(library, SessionsInMemory(), provider, profiles=profiles), provider


def sent(talk: Conversation, text: str) -> list[str]:
    finished = events_of(talk.say(text))[-1]
    assert isinstance(finished, TurnFinished)
    assert finished.message.request_context
    items = finished.message.request_context.items
    return [item.name for item in items if item.type in {"rule", "reference"} and not item.part_of]


def agent_of_the_answer(talk: Conversation) -> str:
    record = talk.messages[-1].request_context
    assert record
    return record.agent


def test_the_session_has_what_is_always_there_and_added_and_a_message_brings_what_bears_on_it(library: Library) -> None:
    talk, provider = talk_over(library)
    assert sent(talk, "Good morning!") == ["A", "Harbour"]
    talk.add(RequestItem(type="rule", name="B"))
    assert sent(talk, "Which sonnets have rhyme and verse?") == ["A", "Harbour", "B", "C"]
    assert "rhyme scheme" in provider.requests[-1].messages[-1].text
    assert "Use metric units." in provider.requests[-1].messages[0].text
    record = talk.messages[-1].request_context
    assert record
    chosen = {item.name: item for item in record.items}
    assert chosen["C"].include == "agent"
    assert chosen["C"].score
    assert chosen["C"].score > 0.4
    assert chosen["B"].include == "manual"
    assert sent(talk, "What does a beekeeper need for bees and honey?") == ["A", "Harbour", "B", "Beekeeping"]
    assert "rhyme scheme" not in str(provider.requests[-1])


def test_a_log_below_a_question_brings_nothing_along(library: Library) -> None:
    talk, _ = talk_over(library)
    log = "\n".join(f"{number} sonnets with rhyme and verse were printed" for number in range(100))
    assert sent(talk, f"Which job failed?\n\n{log}") == ["A", "Harbour"]
    assert sent(talk, f"Which sonnets have rhyme and verse?\n\n{log}") == ["A", "Harbour", "C"]


def test_an_agent_that_a_message_speaks_to_answers_that_message_alone(library: Library) -> None:
    talk, provider = talk_over(library)
    sent(talk, "@writer Shorten this.")
    assert agent_of_the_answer(talk) == "writer"
    sent(talk, "And now?")
    assert agent_of_the_answer(talk) == "default"
    assert "Answer from the notes." in provider.requests[-1].messages[0].text
    events = events_of(talk.say("@nobody Hello!"))
    assert any("no agent 'nobody'" in event.text for event in events if isinstance(event, Warned))
    assert agent_of_the_answer(talk) == "default"
    assert talk.use_agent("Research").name == "research"
    sent(talk, "Hello!")
    assert agent_of_the_answer(talk) == "research"
    with pytest.raises(ConfigError, match="no agent 'reserch'"):
        talk.use_agent("reserch")


@pytest.mark.parametrize(
    ("way", "answer", "cited"),
    [
        ("by the profile", "See [[Harbour]].", True),
        ("by the profile", "Hello.", False),
        ("added", "> Ships lie in the harbour.", True),
        ("imported by the page", "See [[Harbour]].", True),
    ],
)
def test_a_note_that_goes_along_with_every_request_is_a_source(
    tmp_path: Path, way: str, answer: str, cited: bool
) -> None:
    page = {"ZKCHAT.md": "See @Harbour.md\n"} if way == "imported by the page" else {}
    with library_of(tmp_path, {**NOTES, **page}) as library:
        provider = Reciting(lambda _: answer, calls_tools=True, window=32_000)
        talk = conversation_over(library, provider=provider, profiles=[AGENT] if way == "by the profile" else [])
        if way == "added":
            talk.add(RequestItem(type="reference", name="Harbour.md", include="manual"))
        sent(talk, "Good morning!")
        (source,) = talk.messages[-1].references
    assert (source.wikilink, source.relative_path) == ("[[Harbour]]", "Harbour.md")
    assert (source.reference_type, source.via, source.included) == ("search", "context", True)
    assert (source.cited, source.unverified) == (cited, False)
