"""A note that zkchat writes is whole or not there, whenever the process is killed."""

import json
import subprocess
import sys
from pathlib import Path

KILLS = 200
SCRIPT = Path(__file__).parent / "kill_note_writes.py"


def test_no_new_note_is_torn_however_the_process_is_killed(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), str(KILLS), "20260301"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    assert report["kills"] == KILLS
    assert report["written"] > KILLS / 3  # else the kills came too early to prove anything
    assert report["left_over"] > 0  # and some came in the middle of a note
    assert (report["torn"], report["changed"], report["seen_by_others"]) == (0, False, [])
