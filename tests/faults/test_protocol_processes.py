"""A server answers all that it was asked before its input ended, and nothing runs on after servers and clients."""

from pathlib import Path

from tests.faults.protocol_processes import REQUESTS, Report, main


def test_every_request_is_answered_and_no_process_is_left(tmp_path: Path) -> None:
    assert main(tmp_path, 1, 1) == Report(rounds=1, answers=REQUESTS, starts=1, left=0)
