from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from zkchat.sessions.memories import SqliteSummaries


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[SqliteSummaries]:
    with closing(SqliteSummaries(tmp_path / "summaries.db")) as kept:
        yield kept


def test_a_sentence_is_found_by_place_and_text(kept: SqliteSummaries) -> None:
    kept.keep("a.md", "", b"1", "All of it.")
    kept.keep("a.md", "Naps", b"1", "On naps.")
    assert kept.find("a.md", "", b"1") == "All of it."
    assert kept.find("a.md", "Naps", b"1") == "On naps."
    assert kept.find("a.md", "", b"2") == ""
    assert kept.find("b.md", "", b"1") == ""


def test_what_is_to_be_forgotten_is_gone_and_the_rest_stays(kept: SqliteSummaries) -> None:
    kept.keep("a.md", "", b"1", "One.")
    kept.keep("a.md", "Naps", b"1", "On naps.")
    kept.keep("b.md", "", b"2", "Two.")
    kept.forget([("a.md", b"1")])
    assert kept.described() == [("b.md", b"2")]


def test_the_file_may_be_deleted_or_damaged_at_any_time(tmp_path: Path) -> None:
    path = tmp_path / "summaries.db"
    path.write_bytes(b"no database at all, but long enough to look like one " * 100)
    with closing(SqliteSummaries(path)) as kept:
        assert kept.find("a.md", "", b"1") == ""
        kept.keep("a.md", "", b"1", "One.")
        assert kept.find("a.md", "", b"1") == "One."
