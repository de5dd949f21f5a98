"""Notes that change while a conversation goes on, and things of an old request that are different now."""

from contextlib import closing
from pathlib import Path
from shutil import rmtree

import pytest

from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.sessions import SessionsInMemory
from tests.support.tool_servers import Playing
from zkchat.chat.agents import build_profiles
from zkchat.chat.conversation import Conversation
from zkchat.chat.references import changed_items
from zkchat.core.events import Event, TurnFinished, Warned
from zkchat.core.message import RequestContext, RequestItem
from zkchat.core.profile import ProfileFile
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.storage.vault_files import VaultFiles

NOTES = {
    "Bees.md": "# Bees\n\n## Sound\n\nBees hum.\n\n## Food\n\nNectar.\n",
    "C# notes.md": "# C# notes\n\nTyped.\n",
    "C.md": "# C\n\nPointers.\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def warnings(events: list[Event]) -> list[str]:
    return [f"{event.text} {event.hint}" for event in events if isinstance(event, Warned)]


def asked(provider: Reciting) -> str:
    """What the model was sent with the last question."""
    return provider.requests[-1].messages[-1].text


def test_a_note_that_changed_since_it_was_linked_is_told_once_and_the_model_hears_of_it(
    own_library: Library, vault: Path
) -> None:
    provider = Reciting()
    talk = conversation_over(own_library, provider=provider)
    assert warnings(events_of(talk.say("What is in [[Bees]]?"))) == []
    assert warnings(events_of(talk.say("And then?"))) == []
    (vault / "Bees.md").write_text("# Bees\n\nBees buzz.\n")
    assert warnings(events_of(talk.say("Are you sure?"))) == [
        "Bees.md has changed since the model read it. To send its present text, link it again: [[Bees]]"
    ]
    assert "Bees.md has changed since it was quoted earlier in this conversation." in asked(provider)
    assert "What stands there is its old text." in asked(provider)
    assert warnings(events_of(talk.say("Really?"))) == []
    assert "What stands there is its old text." in asked(provider)


def test_a_note_that_is_linked_again_is_sent_again_with_a_word_that_it_changed(
    own_library: Library, vault: Path
) -> None:
    provider = Reciting()
    talk = conversation_over(own_library, provider=provider)
    events_of(talk.say("What is in [[Bees]]?"))
    (vault / "Bees.md").write_text("# Bees\n\nBees buzz.\n")
    assert warnings(events_of(talk.say("And in [[Bees]] now?"))) == [
        "Bees.md has changed since the model read it. Its present text goes with your message."
    ]
    assert "Bees buzz." in asked(provider)
    assert "The text that comes with this message is the present one." in asked(provider)
    record = talk.messages[-1].request_context
    assert record
    assert ("Bees.md", "changed since the model read it") in [(item.name, item.reason) for item in record.items]
    assert warnings(events_of(talk.say("Thanks."))) == []
    assert "has changed" not in asked(provider)


def test_a_section_is_as_fresh_as_the_whole_note_that_came_later(own_library: Library, vault: Path) -> None:
    talk = conversation_over(own_library, provider=Reciting())
    events_of(talk.say("What is in [[Bees#Sound]]?"))
    (vault / "Bees.md").write_text(NOTES["Bees.md"].replace("Nectar", "Pollen"))
    assert warnings(events_of(talk.say("And then?"))) == []
    (vault / "Bees.md").write_text("# Bees\n\n## Sound\n\nBees buzz.\n")
    assert warnings(events_of(talk.say("All of [[Bees]]?"))) == []
    assert warnings(events_of(talk.say("And then?"))) == []


@pytest.mark.parametrize(("on_this_machine", "refreshed"), [(True, False), (False, True)])
def test_a_note_that_is_gone_is_reported_to_the_user_alone_and_its_turn_stays(
    own_library: Library, vault: Path, on_this_machine: bool, refreshed: bool
) -> None:
    provider = Reciting(on_this_machine=on_this_machine)
    talk = conversation_over(own_library, provider=provider)
    events_of(talk.say("What is in [[Bees]]?"))
    (vault / "Bees.md").unlink()
    if refreshed:
        own_library.refresh()
    assert warnings(events_of(talk.say("And then, [[Bees]]?"))) == [
        "Bees.md no longer exists; the model read it earlier. What was said about it stays in the conversation. "
        "To go back to before that: /branch"
    ]
    assert "Bees hum." in provider.requests[-1].messages[1].text
    assert "no longer exists" not in asked(provider)
    assert "[[Bees]]: there is no such note" in asked(provider)
    assert warnings(events_of(talk.say("And now?"))) == []


def test_a_note_that_is_gone_may_be_private_now_so_its_turn_stays_here(own_library: Library, vault: Path) -> None:
    elsewhere, here = Reciting(), Reciting(on_this_machine=True)
    (vault / "Diary.md").write_text("---\nzkchat: local\n---\nSlept badly.\n")
    store = SessionsInMemory()
    talk = conversation_over(own_library, store, elsewhere)
    events_of(talk.say("What is in [[Bees]]?"))
    (vault / "Bees.md").rename(vault / "Wasps.md")
    (vault / "Wasps.md").write_text("---\nzkchat: local\n---\nBees hum.\n")
    assert warnings(events_of(talk.say("And then?"))) == [
        "not sent: earlier messages that used moved or deleted notes that may be private; "
        "reciting:x is not on this machine "
    ]
    assert "hum" not in str(elsewhere.requests[-1])
    local = conversation_over(own_library, store, here, session=store.get(talk.session_id))
    assert [text.partition(";")[0] for text in warnings(events_of(local.say("And then?")))] == [
        "Bees.md no longer exists"
    ]
    assert "Bees hum." in str(here.requests[-1])


def test_a_question_is_asked_again_where_the_notes_cannot_be_looked_at(own_library: Library, vault: Path) -> None:
    talk = conversation_over(own_library, provider=Reciting())
    events_of(talk.say("What is in [[Bees]]?"))
    (vault / "Bees.md").write_text("# Bees\n\nBees buzz.\n")
    assert len(warnings(events_of(talk.retry()))) == 1
    rmtree(vault)
    events = events_of(talk.retry())
    assert "Links and search do not work right now" in warnings(events)[0]
    assert isinstance(events[-1], TurnFinished)


def test_a_note_that_a_tool_read_is_noticed_too_also_after_coming_back(own_library: Library, vault: Path) -> None:
    store = SessionsInMemory()
    reads = Playing(("read_document", '{"relative_path": "Bees.md"}'), "Bees hum.")
    talk = conversation_over(own_library, store, reads)
    events_of(talk.say("What do bees do?"))
    assert warnings(events_of(talk.say("And then?"))) == []
    (vault / "Bees.md").write_text(NOTES["Bees.md"] + "\nThey fly.\n")
    provider = Reciting(calls_tools=True)
    again = conversation_over(own_library, store, provider, session=store.get(talk.session_id))
    assert len(warnings(events_of(again.say("Are you sure?")))) == 1
    assert "Read it again before you rely on it." in asked(provider)


def test_a_conversation_goes_on_where_the_index_cannot_be_asked(
    store: SessionsInMemory, own_library: Library, vault: Path, tmp_path: Path
) -> None:
    talk = conversation_over(own_library, store, Reciting())
    events_of(talk.say("What is in [[Bees]]?"))
    with closing(SqliteNoteIndex(tmp_path)) as index:  # a folder is no database
        broken = Library.over(VaultFiles(vault, exclude=(), max_note_bytes=1_000_000), index)
        again = conversation_over(broken, store, Reciting(), session=store.get(talk.session_id))
        events = events_of(again.say("And then?"))
    assert isinstance(events[-1], TurnFinished)
    assert not any("has changed" in warning for warning in warnings(events))


def rule(name: str, text: str) -> ProfileFile:
    return ProfileFile(kind="rule", name=name, origin="vault", path=f"{name}.md", text=text)


AGENT = ProfileFile(
    kind="agent",
    name="default",
    origin="vault",
    path="default.md",
    text='---\nreferences:\n  "[[C]]": always\n---\nAnswer from the notes.\n',
)


def record_of(talk: Conversation) -> RequestContext:
    events_of(talk.say("What is in [[Bees]]?"))
    record = talk.messages[-1].request_context
    assert record
    return record


def test_rules_notes_and_agents_that_changed_or_went_are_named(own_library: Library, vault: Path) -> None:
    profiles = [AGENT, rule("Tone", "Be warm.\n"), rule("Units", "Metric.\n")]
    record = record_of(conversation_over(own_library, provider=Reciting(), profiles=profiles))
    assert changed_items(record, build_profiles(profiles), own_library) == []
    small = record_of(conversation_over(own_library, provider=Reciting()))
    assert changed_items(small, build_profiles(()), own_library) == []
    for note in ("Bees.md", "C.md"):
        (vault / note).write_text("Something else.\n")
    now = build_profiles([rule("Tone", "Be cool.\n")])
    changed = changed_items(record, now, own_library)
    assert [each.sentence for each in changed] == [
        "The agent default has changed since that request.",
        "The rule Tone has changed since that request.",
        "The rule Units no longer exists.",
        "The note C has changed since that request.",
        "The note Bees.md has changed since that request.",
    ]
    (vault / "Bees.md").unlink()
    assert changed_items(record, now, own_library)[-1].now == ""


def test_what_has_no_file_or_no_digest_cannot_have_changed(own_library: Library) -> None:
    items = (
        RequestItem(type="rule", name="Old record"),
        RequestItem(type="tool", name="read_document", digest="1"),
        RequestItem(type="message", name="m1", digest="2"),
        *(
            RequestItem(type="rule", name=name, digest="3", include="manual", reason=why, this_turn_only=True)
            for name, why in (("goal", "a step of the goal"), ("daily brief", "the daily brief is to be summed up"))
        ),
    )
    assert changed_items(RequestContext(items=items), build_profiles(()), own_library) == []
    gone = RequestContext(items=(RequestItem(type="system", name="editor", digest="1"),))
    (changed,) = changed_items(gone, build_profiles(()), own_library)
    assert changed.sentence == "The agent editor no longer exists."
