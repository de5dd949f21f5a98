from pathlib import Path
from typing import NoReturn

import pytest
from msgspec.structs import replace

from tests.support.conversations import Reciting
from tests.support.libraries import library_of
from tests.support.sessions import NOON, SessionsInMemory
from zkchat.chat.journal import Journal
from zkchat.chat.privacy import WITHHELD, ConversationPrivacy, withheld_warnings
from zkchat.core.choices import Role
from zkchat.core.errors import StorageFull
from zkchat.core.message import (
    ChatMessage,
    CompactionPart,
    Condensed,
    DocumentReference,
    Evidence,
    EvidencePart,
    FilePart,
    ImagePart,
    LeftOut,
    LineRange,
    Part,
    RequestContext,
    RequestItem,
    TextPart,
    VaultListing,
)
from zkchat.core.prompt import ModelInfo
from zkchat.core.session import Entry, MessageEntry, read_message
from zkchat.core.session_history import History
from zkchat.core.values import from_plain
from zkchat.index.library import GuardedLibrary, Library

NOTES = {
    "Secret.md": "---\nzkchat: local\n---\nHush.\n",
    "Never.md": "---\nzkchat: never\n---\nNo.\n",
    "Open.md": "Yes.\n",
}


def said(role: Role, *parts: Part, local: bool = False, **more: object) -> ChatMessage:
    fields = {"id": "", "role": role, "parts": parts or (TextPart(text=role),), "created_at": NOON, "local": local}
    return read_message({**fields, **more})


def talk(*messages: ChatMessage) -> History:
    """Messages with their numbers for ids, one after the other."""
    history = History()
    for number, message in enumerate(messages, start=1):
        placed = replace(message, id=str(number), parent_id=str(number - 1) if number > 1 else None)
        history.extend([Entry(session_id="s", sequence=number, at=NOON, body=MessageEntry(message=placed))])
    return history


def privacy_of(history: History, library: Library, *, here: bool = False) -> ConversationPrivacy:
    journal = Journal(SessionsInMemory(), None, lambda: NOON, lambda: "new")
    journal.history = history
    provider = Reciting(on_this_machine=here)
    return ConversationPrivacy(journal=journal, library=library.guarded_for(provider), provider=provider)


def reference(path: str) -> DocumentReference:
    return DocumentReference(wikilink="[[x]]", relative_path=path)


EVIDENCE = Evidence(
    text="Hush.", relative_path="Secret.md", title="", wikilink="", lines=LineRange(first=1, last=1), score=1.0
)
GIVEN = {
    "marked": said("assistant", local=True),
    "linked": said("assistant", references=(reference("Secret.md"),)),
    "listed": said("tool", references=(reference("Secret.md"),)),
    "file": said("assistant", FilePart(name="Secret.md#Door", text="Hush.")),
    "evidence": said("assistant", EvidencePart(evidence=(EVIDENCE,))),
    "answer of the index": said(
        "assistant", EvidencePart(evidence=(), listing=VaultListing(text="", references=(reference("Secret.md"),)))
    ),
    "recorded": said(
        "assistant", request_context=RequestContext(items=(RequestItem(type="reference", name="Secret.md#Door"),))
    ),
}


@pytest.mark.parametrize("answer", GIVEN.values(), ids=GIVEN.keys())
def test_a_turn_that_was_given_a_local_note_is_hidden_from_a_model_elsewhere(
    library: Library, answer: ChatMessage
) -> None:
    history = talk(said("user"), said("assistant"), said("user"), said("tool"), answer, said("user"))
    assert privacy_of(history, library).hidden() == {"3", "4", "5"}
    never = talk(said("user", references=(reference("Never.md"),)), said("assistant"))
    assert privacy_of(never, library, here=True).hidden() == {"1", "2"}, "which is kept from every model"
    assert privacy_of(history, library, here=True).hidden() == frozenset()


def test_a_hidden_stretch_is_one_short_word_also_where_it_has_a_short_form(library: Library) -> None:
    history = talk(
        said("user"), said("assistant", local=True), said("user", local=True), said("assistant"), said("user")
    )
    shown, left_out = privacy_of(history, library).shown()
    assert [message.id for message in shown.live] == ["1", "5"]
    assert shown.condensed == {("1", ""): WITHHELD}
    assert [(left.item.name, left.why) for left in left_out] == [(id_, "private") for id_ in "1234"]
    part = CompactionPart(number=1, summary="", condensed=(Condensed(message_id="1", text="Hush."),))
    history = talk(said("user", local=True), said("system", part, context_type="summary"))
    assert privacy_of(history, library).shown()[0].condensed == {("1", ""): WITHHELD}


@pytest.mark.parametrize(
    "first", [said("assistant", local=True), said("user", ImagePart(name="x", media_type="y", data="z"), local=True)]
)
def test_what_cannot_be_said_in_a_word_is_left_out(library: Library, first: ChatMessage) -> None:
    history = talk(first, said("user"))
    assert [message.id for message in privacy_of(history, library).shown()[0].live] == ["2"]


@pytest.mark.parametrize(
    ("marker", "is_hidden"),
    [
        (said("system", CompactionPart(number=1, summary="It was."), local=True), True),
        (said("system", CompactionPart(number=1, summary="It was.", references=(reference("Secret.md"),))), True),
        (said("system", CompactionPart(number=1, summary="It was.", references=(reference("Open.md"),))), False),
    ],
)
def test_a_summary_of_local_turns_is_hidden(library: Library, marker: ChatMessage, is_hidden: bool) -> None:
    history = talk(said("user"), said("assistant"), marker, said("user"))
    shown, _ = privacy_of(history, library).shown()
    assert shown.summary
    assert (shown.summary.summary, bool(shown.summary.references)) == (
        ("", False) if is_hidden else ("It was.", bool(history.window.summary and history.window.summary.references))
    )
    assert [message.id for message in shown.live] == ["1", "2", "4"]


def test_without_an_index_whatever_had_to_do_with_notes_is_hidden(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> NoReturn:
        raise StorageFull("No room for the index.")

    monkeypatch.setattr(GuardedLibrary, "hidden", full)
    monkeypatch.setattr(GuardedLibrary, "kept_from_turns", full)
    history = talk(said("user", references=(reference("Open.md"),)), said("user"))
    assert privacy_of(history, library).hidden() == {"1"}
    assert privacy_of(history, library, here=True).hidden() == frozenset()


def test_a_message_that_is_stored_again_is_looked_at_again(library: Library) -> None:
    history = talk(said("user"))
    asked = privacy_of(history, library)
    assert asked.hidden() == frozenset()
    again = said("user", id="1", references=(reference("Secret.md"),))
    history.extend([Entry(session_id="s", sequence=2, at=NOON, body=MessageEntry(message=again))])
    assert asked.hidden() == {"1"}


def test_what_is_written_is_bound_to_this_machine_once_something_was_disclosed(library: Library) -> None:
    here = privacy_of(talk(said("user")), library, here=True)
    assert not here.keeps_local()
    here.library.read("Secret.md")
    assert here.keeps_local()
    here.begin_turn()
    assert not here.keeps_local()
    here.disclose()
    assert here.keeps_local()
    after = talk(said("user", local=True), said("user"))
    assert privacy_of(after, library, here=True).keeps_local(), "what follows a local turn is bound too"
    assert not privacy_of(after, library).keeps_local()


@pytest.mark.parametrize(
    ("text", "is_sent"),
    [
        ("two three four five six", True),
        ("two three four five", False),
        ("so my plan is this", True),
        ("so Ann says this", False),  # three letters stand everywhere
        ("it is ab12cd.", True),
        ("it is ab12c.", False),
        ("it was 2026-03-01.", False),
    ],
)
def test_arguments_are_compared_with_passages_names_and_codes_of_local_notes(
    tmp_path: Path, text: str, is_sent: bool
) -> None:
    local = "---\nzkchat: local\n---\n"
    note = "One two three four five six seven eight nine ten eleven twelve."
    notes = {"Plan.md": f"{local}{note}\nab12cd ab12c 2026-03-01\n", "Ann.md": f"{local}x\n"}
    with library_of(tmp_path, notes) as library:
        privacy = privacy_of(talk(said("user")), library)
        assert privacy.are_sent_in(text) is is_sent
        assert [privacy.are_received_in(each) for each in (note, note.partition(" ")[2])] == [True, False]


def test_the_user_is_told_once_of_each_thing_and_once_of_all_messages() -> None:
    def left(name: str, why: str, reason: str = "", kind: str = "reference") -> LeftOut:
        return from_plain(LeftOut, {"item": {"type": kind, "name": name, "reason": reason}, "why": why})

    context = RequestContext(
        left_out=(
            left("[[A]]", "private", "is private"),
            left("[[A]]", "private", "is private"),
            left("B.md", "private", "is never to be read"),
            left("C", "budget"),
            left("1", "private", "rests on private notes", kind="message"),
            left("2", "private", "rests on private notes", kind="message"),
            left("3", "private", "rests on moved or deleted notes that may be private", kind="message"),
        )
    )
    assert withheld_warnings(context, ModelInfo(provider="openai", id="x")) == [
        "not sent: [[A]] is private and openai:x is not on this machine",
        "not sent: B.md is never to be read",
        "not sent: earlier messages that used private notes; openai:x is not on this machine",
        "not sent: earlier messages that used moved or deleted notes that may be private; "
        "openai:x is not on this machine",
    ]
