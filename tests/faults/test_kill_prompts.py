"""A message is on disk when it leaves the prompt, whatever is under way then."""

import json
import subprocess
import sys
from pathlib import Path

KILLS = 1
EARLIEST = "1000"
"""Milliseconds after Enter: late enough for a busy machine, and long before anything answers."""


def test_no_question_is_lost_whatever_is_under_way_when_the_chat_is_killed(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.faults.kill_prompts", str(tmp_path), str(KILLS), "20260301", EARLIEST],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert run.returncode == 0, run.stderr
    reports = json.loads(run.stdout)
    assert reports.keys() == {"dead", "index", "full", "compaction"}
    for report in reports.values():
        assert (report["lost"], report["unsound"], report["not_resumed"]) == (0, 0, 0), reports
        assert report["kills"] == KILLS or report["unavailable"]  # not everybody may mount a small disk
