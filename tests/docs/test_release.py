"""How a release is prepared: what becomes of the changelog, and which notes it has."""

from datetime import date

import pytest

from scripts.release import foreign_changes, notes_of, released, source_time

CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Tea.\n\n## [0.1.0] - 2026-01-01\n\n- Coffee.\n"
DAY = date(2026, 3, 8)


def test_what_is_unreleased_becomes_a_version() -> None:
    changed = released(CHANGELOG, "0.2.0", DAY)
    assert changed.startswith("# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-03-08\n\n### Added\n\n- Tea.\n")
    assert released(changed, "0.2.0", DAY) == changed, "a second time nothing changes"
    assert notes_of(changed, "0.2.0") == "### Added\n\n- Tea.\n"
    assert notes_of(changed, "0.1.0") == "- Coffee.\n"


def test_a_release_needs_something_new() -> None:
    with pytest.raises(SystemExit, match="nothing under"):
        released("## [Unreleased]\n\n## [0.1.0] - 2026-01-01\n\n- Coffee.\n", "0.2.0", DAY)
    with pytest.raises(SystemExit, match="no version"):
        notes_of(CHANGELOG, "0.2.0")


def test_artefacts_hold_the_day_of_the_release_so_that_the_tag_builds_the_same() -> None:
    assert source_time(CHANGELOG, "0.1.0", 7) == 1767225600  # midnight of 2026-01-01, UTC
    assert source_time(CHANGELOG, "0.2.0", 7) == 7, "before it is released"


def test_a_release_is_prepared_from_what_is_committed() -> None:
    ours = " M CHANGELOG.md\n M zkchat/version.py\n?? tests/releases/0.2.0/index.sql\n"
    assert foreign_changes(ours, "0.2.0") == []
    assert foreign_changes(f"{ours} M zkchat/api.py\n?? notes.txt\n", "0.2.0") == [" M zkchat/api.py", "?? notes.txt"]
