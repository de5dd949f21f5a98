import os
from pathlib import Path

import pytest

from tests.support.world import World
from zkchat.app.paths import find_paths, find_vault
from zkchat.core.errors import ConfigError, LostDefaultVault, UnconfirmedVault, VaultError

pytestmark = pytest.mark.skipif(os.sep != "/", reason="the root of a drive may be a vault")


@pytest.mark.parametrize("named", [Path("/"), None])
def test_the_root_of_the_file_system_is_no_vault(world: World, named: Path | None) -> None:
    with pytest.raises(VaultError, match="whole file system") as refused:
        find_vault(world.environment(cwd=Path("/")), named)
    assert "--vault" in refused.value.hint


def test_a_vault_is_named_or_marked_or_confirmed_or_has_such_a_parent(world: World) -> None:
    inside = world.root / "folder" / "inside"
    inside.mkdir(parents=True)
    with pytest.raises(UnconfirmedVault, match="is not a vault yet"):
        find_vault(world.environment(cwd=inside), None)
    assert find_paths(world.environment(cwd=inside), None, needs_vault=False).vault == inside
    assert find_vault(world.environment(cwd=inside), Path("..")) == inside.parent
    world.confirm(world.root)
    assert find_vault(world.environment(cwd=inside), None) == world.root
    (inside.parent / ".obsidian").mkdir()
    assert find_vault(world.environment(cwd=inside), None) == inside.parent
    world.confirm(inside)
    assert find_vault(world.environment(cwd=inside), None) == inside
    world.variables["ZKCHAT_VAULT"] = str(world.vault)
    assert find_vault(world.environment(cwd=inside), None) == world.vault


def test_a_marker_makes_no_vault_of_the_home_folder(world: World) -> None:
    notes = world.home / "notes"
    for folder in (world.home / ".obsidian", notes):
        folder.mkdir()
    for here in (world.home, notes):
        with pytest.raises(UnconfirmedVault, match=str(here)):
            find_vault(world.environment(cwd=here), None)
    assert find_vault(world.environment(), world.home) == world.home
    world.confirm(world.home)
    assert find_vault(world.environment(cwd=notes), None) == world.home


def set_default(world: World, value: str) -> None:
    world.configure(f"[vault]\ndefault = {value}\n")


def test_the_default_vault_comes_after_what_is_named_and_what_is_around(world: World) -> None:
    outside, notes = world.root / "outside", world.home / "notes"
    for folder in (outside, notes):
        folder.mkdir()
    set_default(world, "'~/notes'")
    for here in (outside, Path("/"), world.home):
        assert find_vault(world.environment(cwd=here), None) == notes
        assert find_paths(world.environment(cwd=here), None, needs_vault=False).vault == notes
    assert find_vault(world.environment(), None) == world.vault
    assert find_vault(world.environment(cwd=world.home), outside) == outside
    world.variables["ZKCHAT_VAULT__DEFAULT"] = str(outside)
    assert find_vault(world.environment(cwd=world.home), None) == outside
    world.variables["ZKCHAT_VAULT"] = str(world.vault)
    assert find_vault(world.environment(cwd=world.home), None) == world.vault


def test_a_default_vault_that_is_gone_stops_only_what_needs_it(world: World) -> None:
    set_default(world, "'~/gone'")
    outside = world.environment(cwd=world.root)
    with pytest.raises(LostDefaultVault, match=r"gone does not exist. It is your default vault") as lost:
        find_vault(outside, None)
    assert "zkchat setup" in lost.value.hint
    assert find_paths(outside, None, needs_vault=False).vault == world.root
    assert find_vault(world.environment(), None) == world.vault
    assert find_vault(outside, world.vault) == world.vault


@pytest.mark.parametrize("value", ["'notes'", "5", "['~/notes']", "'"])
def test_a_default_vault_that_is_no_whole_path_is_a_mistake_in_the_settings(world: World, value: str) -> None:
    set_default(world, value)
    with pytest.raises(ConfigError, match=r"config\.toml"):
        find_vault(world.environment(cwd=world.root), None)
    assert find_paths(world.environment(cwd=world.root), None, needs_vault=False).vault == world.root
