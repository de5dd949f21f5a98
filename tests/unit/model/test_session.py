from datetime import UTC, datetime, timedelta

import pytest

from zkchat.core.choices import Role
from zkchat.core.message import ChatMessage, Status, TextPart
from zkchat.core.session import DraftEntry, Entry, EntryBody, HeadEntry, MessageEntry, PinEntry, TitleEntry
from zkchat.core.session_history import History, messages_of, thread_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def entries(*bodies: EntryBody) -> list[Entry]:
    return [
        Entry(session_id="s", sequence=number, at=NOON + timedelta(seconds=number), body=body)
        for number, body in enumerate(bodies, start=1)
    ]


def message(
    id_: str, parent: str | None = None, text: str = "", role: Role = "user", status: Status = "complete"
) -> MessageEntry:
    parts = (TextPart(text=text or id_),)
    return MessageEntry(
        message=ChatMessage(id=id_, parent_id=parent, role=role, parts=parts, created_at=NOON, status=status)
    )


def draft(id_: str, text: str = "", thinking: str = "", parent: str | None = None) -> DraftEntry:
    return DraftEntry(message_id=id_, parent_id=parent, text=text, thinking=thinking, provider="p", model="m")


def ids(messages: list[ChatMessage]) -> list[str]:
    return [found.id for found in messages]


@pytest.mark.parametrize(
    ("talk", "thread"),
    [
        (entries(), []),
        (entries(message("m1"), TitleEntry(title="x"), message("m2", "m1"), message("m3", "m2")), ["m1", "m2", "m3"]),
        (entries(message("m1"), HeadEntry(message_id=None)), []),
        (entries(message("m2", "m1"), message("m3", "m2")), ["m2", "m3"]),
        (entries(message("m1"), HeadEntry(message_id="gone")), []),
        (entries(message("m1", "m2"), message("m2", "m1")), ["m1", "m2"]),
    ],
    ids=["empty", "from the first to the last", "begun anew", "parent lost", "head lost", "in a circle"],
)
def test_the_thread_runs_from_the_first_message_to_the_head(talk: list[Entry], thread: list[str]) -> None:
    assert ids(thread_of(talk)) == thread


def test_a_branch_leaves_the_messages_after_its_beginning() -> None:
    talk = entries(message("m1"), message("m2", "m1"), message("m3", "m2"), HeadEntry(message_id="m1"))
    assert ids(thread_of(talk)) == ["m1"]
    branched = [*talk, *entries(message("m4", "m1"), PinEntry(message_id="m3"))]
    assert ids(thread_of(branched)) == ["m1", "m4"]
    assert list(messages_of(branched)) == ["m1", "m2", "m3", "m4"]


def test_a_later_entry_of_a_message_takes_the_place_of_the_earlier_one() -> None:
    talk = entries(message("m1"), message("m2", "m1", "Ei", status="unfinished"), message("m2", "m1", "Eight"))
    assert [found.text for found in thread_of(talk)] == ["m1", "Eight"]


def test_a_message_that_another_process_finishes_late_does_not_move_the_head() -> None:
    talk = entries(message("m1"), message("m2", "m1", "Ei"), message("m3", "m2"), message("m2", "m1", "Eight"))
    assert History(talk).head == "m3"
    assert [found.text for found in thread_of(talk)] == ["m1", "Eight", "m3"]


def test_an_answer_that_is_still_arriving_is_the_head_and_unfinished() -> None:
    talk = entries(message("m1"), draft("m2", "Eight ", "hm ", "m1"), draft("m2", "hours", "hm", "m1"))
    (_, answer) = thread_of(talk)
    assert (answer.text, answer.thinking, answer.status, answer.role) == (
        "Eight hours",
        "hm hm",
        "unfinished",
        "assistant",
    )
    assert (answer.provider, answer.model, answer.session_id) == ("p", "m", "s")
    assert (answer.created_at, answer.finished_at) == (talk[1].at, talk[2].at)


def test_an_orphan_is_a_draft_whose_message_never_came() -> None:
    talk = entries(message("m1"), draft("m2", "whole"), message("m2", "m1", "whole"), draft("m3", "half"))
    assert ids(History(talk).orphans) == ["m3"]


def test_a_draft_that_comes_after_its_message_says_nothing_new() -> None:
    talk = entries(draft("m1", "Ei"), message("m1", text="Ei", status="unfinished"), draft("m1", "ght"))
    assert History(talk).orphans == []
    assert [found.text for found in messages_of(talk).values()] == ["Ei"]


@pytest.mark.parametrize("lost", [1, 2])
def test_a_thread_goes_on_over_a_message_that_damage_took_away(lost: int) -> None:
    talk = entries(message("m1"), message("m2", "m1"), message("m3", "m2"), message("m4", "m3"))
    del talk[lost]
    assert len(thread_of(talk)) == 3
