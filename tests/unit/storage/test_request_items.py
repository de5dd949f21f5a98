"""Items of request records are stored once in a session, and come back as they were written."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.sessions import NOON
from zkchat.core.choices import BudgetUse, ContextUsage
from zkchat.core.errors import StorageFull
from zkchat.core.message import ChatMessage, DocumentReference, LeftOut, RequestContext, RequestItem, TextPart
from zkchat.core.session import MessageEntry
from zkchat.sessions import store as module
from zkchat.sessions.rows import ItemReader, ItemWriter, create_items_table, insert_items
from zkchat.sessions.store import SqliteSessions


def answer(number: int, items: tuple[RequestItem, ...]) -> MessageEntry:
    usage = ContextUsage(messages=number, window=100, budgets={"messages": BudgetUse(used=number, limit=50)})
    return MessageEntry(
        message=ChatMessage(
            id=f"m{number}",
            session_id="s1",
            role="assistant",
            created_at=NOON,
            parts=(TextPart(text="Seven."),),
            references=(DocumentReference(wikilink="[[Sleep]]", relative_path="Sleep.md", anchor_found=False),),
            request_context=RequestContext(items=items, usage=usage),
        )
    )


def items_up_to(number: int) -> tuple[RequestItem, ...]:
    return tuple(RequestItem(type="message", name=f"m{each:04}", tokens=each) for each in range(number))


def opened(path: Path) -> SqliteSessions:
    ids = count(1)
    return SqliteSessions(path / "sessions.db", now=lambda: NOON, new_id=lambda: f"s{next(ids)}")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteSessions]:
    with opened(tmp_path) as opened_store:
        opened_store.create()
        yield opened_store


def bodies(store: SqliteSessions) -> list[object]:
    return [entry.body for entry in store.entries("s1")]


def test_a_record_does_not_grow_with_the_conversation(store: SqliteSessions, tmp_path: Path) -> None:
    said = [answer(number, items_up_to(number)) for number in range(0, 40, 2)]
    for each in said:
        store.append("s1", [each])
    assert bodies(store) == said
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as connection:
        sizes = [size for (size,) in connection.execute("SELECT length(body) FROM entries ORDER BY sequence")]
        assert connection.execute("SELECT count(*), max(number) FROM request_items").fetchone() == (19, 37)
    assert sizes[-1] <= sizes[2] + 10


def test_an_item_is_stored_once_whatever_score_it_had(store: SqliteSessions, tmp_path: Path) -> None:
    recalled = RequestItem(type="recall", name="m1", title="Cats sleep.", include="agent", tokens=9)
    said = [
        MessageEntry(
            message=replace(
                answer(number, ()).message,
                request_context=RequestContext(
                    items=(recalled, replace(recalled, score=number / 7)),
                    left_out=(LeftOut(item=replace(recalled, score=number / 3), why="budget"),),
                ),
            )
        )
        for number in range(10)
    ]
    store.append("s1", said)
    assert bodies(store) == said
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as connection:
        assert connection.execute("SELECT count(*) FROM request_items").fetchone() == (1,)


MANY = st.lists(st.lists(st.integers(0, 30), max_size=12), max_size=12)


@given(MANY)
def test_items_come_back_in_their_order_however_they_repeat(records: list[list[int]]) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        create_items_table(connection)
        pool = items_up_to(31)
        written = []
        for record in records:
            writer = ItemWriter("s1")  # as another process would
            writer.catch_up(connection)
            written.append(writer.write([pool[each] for each in record]))
            insert_items(connection, writer.new_rows())
        reader = ItemReader(connection, "s1")
        assert [reader.read(each) for each in written] == [tuple(pool[each] for each in record) for record in records]


def test_two_processes_number_the_items_of_one_session(store: SqliteSessions, tmp_path: Path) -> None:
    with opened(tmp_path) as other:
        said = []
        for number in range(20):
            entry = answer(number, (*items_up_to(number), RequestItem(type="rule", name=f"own {number % 2}")))
            (store if number % 2 else other).append("s1", [entry])
            said.append(entry)
        assert bodies(store) == bodies(other) == said


def test_numbers_that_were_not_written_are_not_used(store: SqliteSessions, monkeypatch: pytest.MonkeyPatch) -> None:
    store.append("s1", [answer(1, items_up_to(3))])

    def refuse(*_: object) -> None:
        raise StorageFull("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(module, "insert_entries", refuse)
        with pytest.raises(StorageFull):
            store.append("s1", [answer(2, items_up_to(9))])
    last = answer(3, items_up_to(12)[6:])
    store.append("s1", [last])
    assert bodies(store)[-1] == last


def test_items_go_with_their_session(store: SqliteSessions, tmp_path: Path) -> None:
    store.append("s1", [answer(1, items_up_to(3))])
    store.delete("s1")
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as connection:
        assert connection.execute("SELECT count(*) FROM request_items").fetchone() == (0,)


@pytest.mark.parametrize(
    "numbers", ["", "7", "0-2,x", "2-0", "0-99999999999", "-", "0-1,900", "0=", "0=x", "0=1.2.3", "0-1=2"]
)
def test_damaged_numbers_name_only_what_is_there(numbers: str) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        create_items_table(connection)
        writer = ItemWriter("s1")
        writer.write(items_up_to(3))
        insert_items(connection, writer.new_rows())
        assert set(ItemReader(connection, "s1").read(numbers)) <= {*items_up_to(3)}


@pytest.mark.parametrize("sent", [5, 3])
def test_a_recovered_session_gives_no_number_twice(store: SqliteSessions, tmp_path: Path, sent: int) -> None:
    left_out = tuple(LeftOut(item=item, why="budget") for item in items_up_to(5)[sent:])
    context = RequestContext(items=items_up_to(sent), left_out=left_out)
    store.append("s1", [answer(0, items_up_to(3))])
    store.append("s1", [MessageEntry(message=replace(answer(1, ()).message, request_context=context))])
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as connection:
        connection.execute("DROP TRIGGER request_items_stay")
        connection.execute("DELETE FROM request_items WHERE number > 2")
        connection.commit()
    store.close()
    later = answer(2, (RequestItem(type="rule", name="new"),))
    with recovered(tmp_path / "new.db", tmp_path / "sessions.db") as again:
        assert items_of(bodies(again)[-1]) == items_up_to(3)
        again.append("s1", [later])
        assert items_of(bodies(again)[1]) == items_up_to(3)
        assert bodies(again)[1].message.request_context.left_out == ()  # type: ignore[attr-defined]
        assert bodies(again)[2] == later
    with closing(sqlite3.connect(tmp_path / "new.db")) as connection, connection:
        connection.execute("DROP TRIGGER request_items_stay")
        connection.execute("DELETE FROM request_items WHERE item LIKE '%new%'")
    with recovered(tmp_path / "newer.db", tmp_path / "new.db") as again:
        again.append("s1", [answer(3, items_up_to(1)), answer(4, (RequestItem(type="rule", name="newer"),))])
        assert items_of(bodies(again)[2]) == ()


def recovered(target: Path, source: Path) -> SqliteSessions:
    store = SqliteSessions(target, now=lambda: NOON, new_id=lambda: "s9")
    with store._writing() as connection:
        SqliteSessions.restore(connection, [source])
    return store


def items_of(body: object) -> tuple[RequestItem, ...]:
    assert isinstance(body, MessageEntry)
    assert body.message.request_context
    return body.message.request_context.items


def test_a_row_that_is_lost_or_damaged_takes_no_other_item_with_it(store: SqliteSessions, tmp_path: Path) -> None:
    for number in (5, 10, 15):
        store.append("s1", [answer(number, items_up_to(number))])
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as connection, connection:
        connection.execute("DROP TRIGGER request_items_stay")
        connection.execute("DELETE FROM request_items WHERE number = 9")
        connection.execute("DROP TRIGGER request_items_stay_as_written")
        connection.execute("UPDATE request_items SET item = x'789c' WHERE number = 4")
    assert bodies(store)[-1].message.request_context.items == items_up_to(15)[10:]  # type: ignore[attr-defined]


def test_what_a_request_held_is_counted_by_type_and_but_for_messages_by_mode() -> None:
    note = RequestItem(type="reference", name="Sleep.md", include="agent")
    held = RequestContext(items=(*items_up_to(2), note))
    assert held.counts == {"by_type": {"message": 2, "reference": 1}, "by_mode": {"agent": 1}}
