"""A message is on disk when it leaves the prompt, whatever is under way then."""

from pathlib import Path

from tests.faults.reports import report_of

KILLS = 1
EARLIEST = 1000
"""Milliseconds after Enter: late enough for a busy machine, and long before anything answers."""


def test_no_question_is_lost_whatever_is_under_way_when_the_chat_is_killed(tmp_path: Path) -> None:
    reports = report_of("kill_prompts", tmp_path, KILLS, 20260301, EARLIEST)
    assert reports.keys() == {"dead", "index", "full", "compaction"}
    for report in reports.values():
        assert (report["lost"], report["unsound"], report["not_resumed"]) == (0, 0, 0), reports
        assert report["kills"] == KILLS or report["unavailable"]  # not everybody may mount a small disk
