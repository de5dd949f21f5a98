"""Entries as they lie in the database: what every version wrote is read, and what is written stays the same."""

import sqlite3
from pathlib import Path

from zkchat.sessions.rows import (
    EntryRow,
    ItemReader,
    ItemWriter,
    create_items_table,
    entries_of,
    insert_items,
    storable,
)
from zkchat.storage.durable_database import UnreadableRow

# In each line what is stored, and what it is stored as again where that is not the same; `-` for what is unreadable.
FORMS = [line.split("\t") for line in Path(__file__).with_name("stored_forms.tsv").read_text("utf-8").split("\n")[:-1]]
ITEMS = [
    '{"type":"system","name":"You","tokens":12,"digest":"d1"}',
    '{"type":"message","name":"m1","score":0.5}',
    '{"type":"recall","name":"m0","title":"Über \\"uns\\"","server":"s","include":"agent","reason":"near",'
    '"passing":true,"part_of":"m1"}',
]


def stored_again(body: str) -> str:
    connection = sqlite3.connect(":memory:")
    create_items_table(connection)
    insert_items(connection, [("s", number, item) for number, item in enumerate(ITEMS)])
    writer = ItemWriter("s")
    writer.catch_up(connection)
    row = EntryRow("s", 1, "message", None, None, None, None, "2026-03-01T12:00:00+00:00", body)
    try:
        (entry,) = entries_of(row, ItemReader(connection, "s"))
        return storable(entry.body, writer)[1]
    except UnreadableRow:
        return "-"
    finally:
        connection.close()


def test_an_entry_is_read_and_stored_as_ever() -> None:
    for form in FORMS:
        assert stored_again(form[0]) == form[-1]
