import os
from pathlib import Path

import pytest

from tests.support.world import World
from zkchat.compose.paths import find_vault
from zkchat.errors import VaultError

pytestmark = pytest.mark.skipif(os.sep != "/", reason="the root of a drive may be a vault")


@pytest.mark.parametrize("named", [Path("/"), None])
def test_the_root_of_the_file_system_is_no_vault(world: World, named: Path | None) -> None:
    with pytest.raises(VaultError, match="whole file system") as refused:
        find_vault(world.environment(cwd=Path("/")), named)
    assert "--vault" in refused.value.hint


def test_a_marker_at_the_root_of_the_file_system_is_passed_over(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    is_dir = Path.is_dir
    monkeypatch.setattr(Path, "is_dir", lambda path: str(path) == "/.obsidian" or is_dir(path))
    assert find_vault(world.environment(), None) == world.vault.resolve()
