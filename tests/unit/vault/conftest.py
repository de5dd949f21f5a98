from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from zkchat.index import SqliteNoteIndex


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteNoteIndex]:
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as opened:
        yield opened
