import pytest

from zkchat.writing.targets import conflict_copies


@pytest.mark.parametrize(
    ("other", "is_copy"),
    [
        ("Work/Plan (conflicted copy 2026-01-01).md", True),
        ("Work/Plan (Ann's conflicted copy 2026-01-01).md", True),
        ("Work/Plan.sync-conflict-20260101-101010-ABCDEFG.md", True),
        ("Work/Plan (SFConflict ann@example.org 2026-01-01-10-10-10).md", True),
        ("Work/Plan 2.md", False),
        ("Work/Plan (draft).md", False),
        ("Plan (conflicted copy 2026-01-01).md", False),
    ],
)
def test_copies_of_syncs_are_known_by_their_names(other: str, is_copy: bool) -> None:
    assert conflict_copies("Work/Plan.md", ["Work/Plan.md", other]) == [other] * is_copy
