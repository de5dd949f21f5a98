"""A message shown as sent is never lost, whenever the process is killed."""

from collections.abc import Callable
from pathlib import Path

from tests.faults.reports import report_of

KILLS = 24


def test_no_message_shown_as_sent_is_lost_however_the_process_is_killed(
    tmp_path: Path, scaled: Callable[[int], int]
) -> None:
    kills = scaled(KILLS)
    report = report_of("kill_turns", tmp_path, kills, 20260301)
    assert report["kills"] == kills
    assert report["sent"] > kills / 3  # else the kills came too early to prove anything
    assert report["unfinished"] > 0  # and some came in the middle of an answer
    assert (report["lost"], report["unsound"], report["not_resumed"]) == (0, 0, 0)
    assert report["sessions"] == 1
