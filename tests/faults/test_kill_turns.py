"""A message shown as sent is never lost, whenever the process is killed."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

KILLS = 24
SCRIPT = Path(__file__).parent / "kill_turns.py"


def test_no_message_shown_as_sent_is_lost_however_the_process_is_killed(
    tmp_path: Path, scaled: Callable[[int], int]
) -> None:
    kills = scaled(KILLS)
    run = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), str(kills), "20260301"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    assert report["kills"] == kills
    assert report["sent"] > kills / 3  # else the kills came too early to prove anything
    assert report["unfinished"] > 0  # and some came in the middle of an answer
    assert (report["lost"], report["unsound"], report["not_resumed"]) == (0, 0, 0)
    assert report["sessions"] == 1
