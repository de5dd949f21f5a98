import shutil
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from tests.support import hostile_vaults
from zkchat.core.errors import StorageError
from zkchat.storage.locations import KnownVaults, Locations, claim, locate


def numbered_ids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"vault{next(numbers):03}"


@dataclass
class Home:
    """A user's folders, and vaults in them."""

    root: Path
    new_id: Callable[[], str]

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    def vault(self, name: str) -> Path:
        folder = self.root / name
        folder.mkdir()
        return folder

    def claim(self, vault: Path) -> Locations:
        return claim(vault, data_dir=self.data, cache_dir=self.cache, new_id=self.new_id)

    def locate(self, vault: Path) -> Locations:
        return locate(vault, data_dir=self.data, cache_dir=self.cache)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, numbered_ids())


def id_of(vault: Path) -> str:
    return (vault / ".zkchat" / "vault-id").read_text().strip()


def test_databases_live_outside_the_vault_under_its_id_and_looking_writes_nothing(home: Home) -> None:
    vault = home.vault("notes")
    assert not home.locate(vault).sessions.exists()
    assert [file.name for file in home.root.rglob("*")] == ["notes"]
    places = home.claim(vault)
    assert places.sessions == home.data / "vaults" / "vault001" / "sessions.db"
    assert places.index == home.locate(vault).index
    assert places.index.parent.parent == home.cache / "vaults"
    assert id_of(vault) == "vault001"
    assert [file.name for file in (vault / ".zkchat").iterdir()] == ["vault-id"]


def test_a_moved_vault_keeps_its_sessions_and_a_copy_gets_places_of_its_own(home: Home) -> None:
    vault = home.vault("notes")
    sessions = home.claim(vault).sessions
    moved = vault.rename(home.root / "renamed")
    assert home.locate(moved).sessions == sessions
    places = home.claim(moved)
    assert places.sessions == sessions
    copy = shutil.copytree(moved, home.root / "copy")
    assert home.locate(copy) != places
    assert id_of(copy) == "vault001"  # looking wrote nothing
    copied = home.claim(copy)
    assert copied.sessions == home.data / "vaults" / "vault002" / "sessions.db"
    assert home.locate(copy) == copied
    assert home.claim(moved) == places


def test_a_vault_that_cannot_be_written_is_known_by_its_path_until_it_can_be_again(home: Home) -> None:
    vault, other = home.vault("notes"), home.vault("other")
    for folder in (vault, other):  # so that nobody can write an id there, whoever they are
        (folder / ".zkchat").write_text("a file where a folder should be")
    places = home.claim(vault)
    assert places.sessions.parent.name.startswith("path-")
    assert places == home.locate(vault) == home.claim(vault)
    assert places != home.claim(other)
    places.sessions.write_text("talks")
    (vault / ".zkchat").unlink()
    assert home.claim(vault).sessions.read_text() == "talks"
    assert id_of(vault)


def test_nothing_is_written_where_a_link_leads_out_of_the_vault(home: Home) -> None:
    vault, elsewhere = home.vault("notes"), home.vault("elsewhere")
    (vault / ".zkchat").symlink_to(elsewhere)
    assert home.claim(vault).sessions.parent.name.startswith("path-")
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("target", ["nowhere", "somebody-elses"])
def test_an_id_that_is_a_link_is_replaced_and_not_followed(home: Home, target: str) -> None:
    vault = home.vault("notes")
    (home.root / "somebody-elses").write_text("anotherid")
    (vault / ".zkchat").mkdir()
    (vault / ".zkchat" / "vault-id").symlink_to(home.root / target)
    assert home.claim(vault).sessions.parent.name == id_of(vault) == "vault001"
    assert not (vault / ".zkchat" / "vault-id").is_symlink()
    assert (home.root / "somebody-elses").read_text() == "anotherid"
    assert not (home.root / "nowhere").exists()


@pytest.mark.parametrize("hostile", [hostile_vaults.endless_vault_id, hostile_vaults.pipe_as_vault_id])
def test_an_id_without_an_end_is_none(home: Home, hostile: Callable[[Path], None]) -> None:
    vault = home.vault("notes")
    hostile(vault)
    assert home.locate(vault).sessions.parent.name.startswith("path-")
    assert home.claim(vault).sessions.parent.name == "vault001"


@pytest.mark.parametrize("nonsense", ["", "../../../etc", "short", "UPPER-CASE", "path-0123456789abcdef", "ä" * 12])
def test_an_id_that_is_none_is_replaced(home: Home, nonsense: str) -> None:
    vault = home.vault("notes")
    (vault / ".zkchat").mkdir()
    (vault / ".zkchat" / "vault-id").write_text(nonsense)
    assert home.claim(vault).sessions == home.data / "vaults" / "vault001" / "sessions.db"


def test_of_several_that_give_an_id_at_once_one_wins_for_all(home: Home) -> None:
    vault = home.vault("notes")
    with ThreadPoolExecutor(8) as threads:
        places = {*threads.map(lambda _: home.claim(vault).sessions, range(8))}
    assert [place.parent.name for place in places] == [id_of(vault)]


def test_a_cache_of_an_earlier_version_is_found_under_the_id(home: Home) -> None:
    vault = home.vault("notes")
    home.claim(vault)
    earlier = home.cache / "vaults" / "vault001"
    earlier.mkdir(parents=True)
    assert home.locate(vault).index == home.claim(vault).index == earlier / "index.db"


def test_a_folder_for_data_that_cannot_be_used_is_named(home: Home) -> None:
    home.data.write_text("a file")
    vault = home.vault("notes")
    with pytest.raises(StorageError, match="could not be written"):
        home.claim(vault)
    assert [*vault.iterdir()] == []


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


@pytest.mark.parametrize("content", ["", "[]", '{"vaults": [3, null]}', '"/tmp"', "\x00\xff"])
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
