"""Our own small files, as commands use them: several processes at once, strange things in their place."""

import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.world import World


def test_settings_changed_by_several_processes_at_once_are_all_kept(world: World) -> None:
    command = [sys.executable, "-m", "zkchat", "config", "set"]
    variables = {**os.environ, "HOME": str(world.home)}
    names = [f"m{number}" for number in range(4)]
    started = [
        subprocess.Popen([*command, f"models.{name}.id", name], cwd=world.vault, env=variables, stderr=subprocess.PIPE)
        for name in names
    ]
    said = [process.communicate(timeout=120)[1] for process in started]
    assert [process.returncode for process in started] == [0] * 4, said
    assert sorted(tomllib.loads(world.settings_file.read_text())["models"]) == sorted(names)


def test_the_data_folder_is_private_even_if_an_approval_is_the_first_thing_in_it(world: World) -> None:
    world.note(".zkchat/config.toml", 'model = "quote"')
    assert world.run("config", "trust", "--yes").code == 0
    data = world.home / ".local" / "share" / "zkchat"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (data, data / "trust.json")] == [0o700, 0o600]


def _garbage(file: Path) -> None:
    file.write_bytes(b"\xdd" * 5_000)


@pytest.mark.parametrize("damage", [_garbage, os.mkfifo], ids=["garbage", "a pipe"])
def test_a_damaged_lock_of_the_sessions_does_not_keep_them_from_being_opened(world: World, damage: object) -> None:
    assert callable(damage)
    world.note("Sleep.md", "Sleep is good.")
    assert world.run("ask", "What is sleep?", "--model", "quote").code == 0
    (lock,) = world.home.rglob("sessions.db.lock")
    lock.unlink()
    damage(lock)
    result = world.run("sessions", "list", "--all", "--json")
    assert (result.code, len(result.json)) == (0, 1), result.err
