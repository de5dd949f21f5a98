"""What earlier versions left in a home works with this one: nothing that the user said, set or changed is lost."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from scripts.release_data import NOTES, RELEASES
from tests.support.world import World
from zkchat.app.paths import known_vaults

VERSIONS = sorted(path.name for path in RELEASES.iterdir() if (path / "vault").is_dir())


@pytest.fixture(params=VERSIONS)
def upgraded(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    """The home of a user of that version, who now has this one."""
    release = RELEASES / request.param
    world = World(tmp_path, confirms_vault=False)
    shutil.copytree(release / "vault", world.vault, dirs_exist_ok=True)
    known_vaults(world.environment()).add(world.vault.resolve())
    vault_id = (world.vault / ".zkchat/vault-id").read_text("utf-8").strip()
    settings = world.home / ".config/zkchat"
    settings.mkdir(parents=True)
    shutil.copy(release / "config.toml", settings)
    for dump in release.glob("*.sql"):
        kind = ".cache" if dump.stem == "index" else ".local/share"
        folder = world.home / kind / "zkchat/vaults" / vault_id
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(sqlite3.connect(folder / f"{dump.stem}.db")) as connection:
            connection.executescript(dump.read_text("utf-8"))
    return world


def test_there_is_a_release_to_upgrade_from() -> None:
    assert VERSIONS


def test_conversations_go_on(upgraded: World) -> None:
    (session,) = upgraded.run("sessions", "list", "--json").json
    shown = upgraded.run("sessions", "show", session["id"]).out
    assert "How many hours of sleep do adults need?" in shown
    assert "When is the last cup of coffee?" in shown
    assert "seven to nine hours" in shown
    assert upgraded.run("ask", "When is the last cup of coffee?", "--continue").code == 0
    assert len(upgraded.run("sessions", "list", "--json").json) == 1


def test_settings_facts_and_the_index_are_there(upgraded: World) -> None:
    assert upgraded.run("config", "get", "context.max_tokens").out == "4096\n"
    assert "I drink tea in the evening." in upgraded.run("memory", "list").out
    hits = json.loads(upgraded.run("search", "darker curtain", "--json").out)
    assert hits[0]["path"] == "Sleep.md"


def test_a_change_is_undone_to_the_last_byte(upgraded: World) -> None:
    assert "darker curtain" in (upgraded.vault / "Sleep.md").read_text("utf-8")
    assert upgraded.run("undo", "--yes").code == 0
    assert (upgraded.vault / "Sleep.md").read_text("utf-8") == NOTES["Sleep.md"]
