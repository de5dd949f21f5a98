"""What earlier versions left in a home works with this one: nothing that the user said, set or changed is lost."""

import json
import re
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
    return home_of(release, release / "vault", tmp_path)


def home_of(release: Path, notes: Path, folder: Path) -> World:
    world = World(folder, confirms_vault=False)
    shutil.copytree(notes, world.vault, dirs_exist_ok=True)
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
    assert json.loads(upgraded.run("search", "darker curtain", "--json").out)[0]["path"] == "Sleep.md"


def test_a_change_is_undone_to_the_last_byte(upgraded: World) -> None:
    assert "darker curtain" in (upgraded.vault / "Sleep.md").read_text("utf-8")
    assert upgraded.run("undo", "--yes").code == 0
    assert (upgraded.vault / "Sleep.md").read_text("utf-8") == NOTES["Sleep.md"]


USED = RELEASES / "used"
"""The home of somebody who had used 0.1.0 for a while, with what that version then showed of it: three sessions, one of
them with a tool call and a compaction, a fact that was forgotten, and changes, the last of which was undone."""


@pytest.fixture
def used(tmp_path: Path) -> World:
    return home_of(USED, USED / "notes", tmp_path)


def without_times(text: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "", text)


def test_all_of_a_used_home_is_shown_as_before(used: World) -> None:
    before = json.loads((USED / "shown.json").read_text("utf-8"))
    sessions = used.run("sessions", "list", "--all", "--json").json
    assert len(sessions) == len(before["sessions"])
    for now, then in zip(sessions, before["sessions"], strict=True):
        messages = used.run("sessions", "show", now["id"], "--json").json["messages"]
        kinds = [
            [each["id"], each["role"], each["status"], [part["kind"] for part in each["parts"]]] for each in messages
        ]
        assert kinds == then.pop("messages")
        assert without_times(used.run("sessions", "show", now["id"]).out) == without_times(then.pop("shown"))
        assert now == now | then
    for what, command in (("facts", "memory list"), ("changes", "changes")):
        shown = used.run(*command.split(), "--json").json
        assert [now | then for now, then in zip(shown, before[what], strict=True)] == shown
    assert {key: used.run("config", "get", key).out for key in before["settings"]} == before["settings"]


def test_what_was_changed_in_a_used_home_is_undone_step_by_step(used: World) -> None:
    assert used.run("undo", "--yes").code == 0
    assert not (used.vault / "Plan.md").exists()
    assert "Sleep more" in (used.vault / "Old plan.md").read_text("utf-8")
    assert used.run("undo", "--yes").code == 0
    assert "darker curtain" not in (used.vault / "Sleep.md").read_text("utf-8")
    assert [each["state"] for each in used.run("changes", "--json").json] == ["undone"] * 3


def test_a_compacted_conversation_of_a_used_home_goes_on(used: World) -> None:
    session = used.run("sessions", "list", "--json").json[-1]["id"]
    asked = used.run("ask", "How many hours do adults need?", "--session", session, "--model", "quote")
    assert (asked.code, "seven to nine hours" in asked.out) == (0, True), asked.err
    assert "4 messages archived" in used.run("context", "summary", session).out
