"""Whatever happens to the databases, zkchat starts and the damaged files are kept."""

from collections.abc import Callable
from pathlib import Path

from tests.faults.reports import report_of

CORRUPTIONS = 40


def test_every_command_runs_after_any_corruption_and_the_damaged_files_are_kept(
    tmp_path: Path, scaled: Callable[[int], int]
) -> None:
    corruptions = scaled(CORRUPTIONS)
    report = report_of("corrupt_stores", tmp_path, corruptions, 20260301)
    assert report["failures"] == []
    assert (report["starts"], report["originals_kept"]) == (corruptions, corruptions)
    assert report["recoveries"] > corruptions / 4  # else the damage was too small to prove anything
