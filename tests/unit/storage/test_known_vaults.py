import stat
from pathlib import Path

import pytest

from zkchat.storage.locations import KnownVaults


def test_what_was_added_is_known_by_everybody_who_looks_afterwards(tmp_path: Path) -> None:
    file = tmp_path / "data" / "known-vaults.json"
    KnownVaults(file).add(tmp_path / "a")
    KnownVaults(file).add(tmp_path / "b")
    KnownVaults(file).add(tmp_path / "a")
    known = KnownVaults(file)
    assert tmp_path / "a" in known
    assert tmp_path / "b" in known
    assert tmp_path / "c" not in known
    assert tmp_path not in known
    assert file.read_text().count(str(tmp_path / "a")) == 1
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["", "[]", "{", '{"vaults": 3}', '{"vaults": [3, null]}', '"/tmp"', "\x00\xff"])
def test_a_file_that_cannot_be_understood_confirms_nothing_and_is_replaced(tmp_path: Path, content: str) -> None:
    file = tmp_path / "known.json"
    file.write_text(content)
    assert tmp_path not in KnownVaults(file)
    KnownVaults(file).add(tmp_path)
    assert tmp_path in KnownVaults(file)


def test_the_oldest_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zkchat.storage.locations._MAX_VAULTS", 2)
    file = tmp_path / "known.json"
    for name in "abc":
        KnownVaults(file).add(tmp_path / name)
    assert [tmp_path / name in KnownVaults(file) for name in "abc"] == [False, True, True]
