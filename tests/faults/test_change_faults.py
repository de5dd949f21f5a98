"""A change set is whole or not there, whoever kills, disturbs or hinders the process that makes it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.reports import report_of

KILLS = 30


def test_a_set_is_wholly_made_or_wholly_taken_back_however_the_process_is_killed(
    tmp_path: Path, scaled: Callable[[int], int]
) -> None:
    kills = scaled(KILLS)
    report = report_of("kill_changes", tmp_path, kills, 20260301)
    assert report["kills"] == kills
    assert report["changes"] > 0  # else the kills came too early to prove anything
    assert report["taken_back"] > 0  # and some came in the middle of a set
    assert [report[name] for name in ("torn", "not_whole", "lost", "left_over")] == [0, 0, 0, 0]


def test_nothing_is_lost_of_what_processes_and_an_editor_write_to_one_note_at_once(
    tmp_path: Path, scaled: Callable[[int], int]
) -> None:
    report = report_of("write_side_by_side", tmp_path, scaled(8), scaled(28), 20260301)
    assert report["saves"] > 0
    assert (report["lost"], report["left_over"]) == ([], 0)
    done, tried = report["done"]["note append"]
    assert done >= 0.99 * tried


def test_undoing_all_restores_the_tree_and_loses_no_edit_from_outside(
    tmp_path: Path, scaled: Callable[[int], int]
) -> None:
    sequences = scaled(10)
    report = report_of("undo_sequences", tmp_path, sequences, 12, 20260301)
    assert report["identical"] == sequences
    assert report["undone_among_edits"] > sequences
    assert report["refused"] > sequences / 2
    assert [report[name] for name in ("refused_but_changed", "texts_lost")] == [0, 0]


@pytest.mark.parametrize(("way", "kind", "refusals"), [("full", "StorageFull", 3), ("read-only", "StorageError", 3)])
def test_where_files_cannot_be_written_all_is_as_before(tmp_path: Path, way: str, kind: str, refusals: int) -> None:
    report = report_of("change_without_room", tmp_path, way)
    assert len(report["refused"]) == refusals
    assert all(each.startswith(f"{kind}: ") and "could not be written" in each for each in report["refused"])
    assert report["as_before"]
    assert report["states"] == ["undone", "applied"]
