import pytest

from zkchat.writing.targets import conflict_copies


@pytest.mark.parametrize(
    "copy",
    [
        "Work/Plan (conflicted copy 2026-01-01).md",
        "Work/Plan (Ann's conflicted copy 2026-01-01).md",
        "Work/Plan (Conflicted copy phone 202601011200).md",
        "Work/Plan.sync-conflict-20260101-101010-ABCDEFG.md",
        "Work/Plan (SFConflict ann@example.org 2026-01-01-10-10-10).md",
    ],
)
def test_copies_of_syncs_are_known_by_their_names(copy: str) -> None:
    assert conflict_copies("Work/Plan.md", ["Work/Plan.md", copy]) == [copy]


@pytest.mark.parametrize(
    "other",
    [
        "Work/Plan 2.md",
        "Work/Plan (1).md",
        "Work/Plan (draft).md",
        "Plan (conflicted copy 2026-01-01).md",
        "Work/Planet.md",
    ],
)
def test_other_notes_are_none(other: str) -> None:
    assert conflict_copies("Work/Plan.md", [other]) == []
