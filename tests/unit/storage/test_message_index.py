from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from zkchat.core.session import IndexedMessage, IndexedUpTo, MessageRow
from zkchat.sessions.store import SqliteMessageIndex

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HERON = IndexedMessage(
    session="s",
    id="heron",
    place=1,
    changed=1,
    external_id="x",
    role="user",
    name="Anna",
    time=NOON,
    text="The heron is called Konrad.",
    said=b"\1\0\0\0",
    labels=b"\2\0\0\0",
    features=b"\3",
    vector=b"\4",
)
FISH = replace(HERON, id="fish", place=2, changed=2, text="He eats fish.", role="assistant")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteMessageIndex]:
    with closing(SqliteMessageIndex(tmp_path / "messages.db")) as index:
        yield index


def test_what_was_added_comes_back_as_it_was(index: SqliteMessageIndex) -> None:
    index.add("s", [FISH, HERON], IndexedUpTo(2, NOON, "method"))
    assert index.known() == {"s": IndexedUpTo(2, NOON, "method")}
    assert index.messages("s", ["heron", "fish", "bird"]) == [HERON, FISH]
    fish = MessageRow("s", "fish", 2, 2, FISH.said, FISH.labels, FISH.features, FISH.vector)
    assert index.rows("s", 0) == [fish._replace(id="heron", place=1, changed=1), fish]
    assert index.rows("s", 1) == [fish]


def test_a_message_that_changed_keeps_its_place_and_a_process_that_comes_late_changes_nothing(
    index: SqliteMessageIndex,
) -> None:
    index.add("s", [HERON, FISH], IndexedUpTo(2, NOON))
    changed = replace(HERON, changed=3, text="It is called Karl.", features=b"\5", vector=b"\6")
    later = IndexedUpTo(3, NOON + timedelta(seconds=1))
    index.add("s", [replace(changed, place=3)], later)
    index.add("s", [HERON], IndexedUpTo(1, NOON))
    assert index.messages("s", ["heron"]) == [changed]
    assert index.known() == {"s": later}


def test_what_is_forgotten_is_gone_from_the_disk(index: SqliteMessageIndex, tmp_path: Path) -> None:
    index.add("s", [HERON, FISH], IndexedUpTo(2, NOON))
    index.close()
    assert b"Konrad" in (tmp_path / "messages.db").read_bytes()
    index.forget("s")
    index.close()
    assert b"Konrad" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_a_file_that_is_no_database_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "messages.db").write_bytes(b"something else" * 500)
    with closing(SqliteMessageIndex(tmp_path / "messages.db")) as index:
        assert index.known() == {}
        index.add("s", [HERON], IndexedUpTo(1, NOON))
        index.reset()
        assert index.known() == {}
