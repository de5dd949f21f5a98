"""Whatever happens to the databases, zkchat starts and the damaged files are kept."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

CORRUPTIONS = 40


def test_every_command_runs_after_any_corruption_and_the_damaged_files_are_kept(
    tmp_path: Path, scaled: Callable[[int], int]
) -> None:
    corruptions = scaled(CORRUPTIONS)
    run = subprocess.run(
        [sys.executable, "-m", "tests.faults.corrupt_stores", str(tmp_path), str(corruptions), "20260301"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    assert report["failures"] == []
    assert (report["starts"], report["originals_kept"]) == (corruptions, corruptions)
    assert report["recoveries"] > corruptions / 4  # else the damage was too small to prove anything
