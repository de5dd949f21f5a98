from pathlib import Path

import pytest

from tests.support.libraries import library_of
from zkchat.app import library as fresh_index
from zkchat.app.library import FreshIndex


class Watch:
    """What is known of changes, without a system that tells."""

    def __init__(self) -> None:
        self.quiet = False
        self.begun = 0

    def is_quiet(self) -> bool:
        return self.quiet

    def begin(self) -> None:
        self.begun += 1
        self.quiet = True


def test_files_are_looked_at_unless_it_is_certain_that_nothing_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(fresh_index, "monotonic", lambda: now[0])
    with library_of(tmp_path, {"A.md": "One."}) as library:
        watch = Watch()
        index = FreshIndex(library, watch)  # type: ignore[arg-type]
        assert index.refresh()
        assert index.refresh() is None
        watch.quiet = False
        assert index.refresh()
        assert watch.begun == 2
        now[0] += fresh_index.MAX_UNSCANNED_SECONDS
        assert index.refresh()
        assert watch.begun == 2
        assert FreshIndex(library, None).refresh()
