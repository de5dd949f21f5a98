"""A folder becomes a vault only after a yes, and before it nothing is written there, by any command."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperArgument, TyperGroup

from tests.support.world import Result, World
from zkchat.cli.main import app
from zkchat.core.errors import ExitCode

READ_NOTES = (
    ("ask", "What is sleep?"),
    ("search", "sleep"),
    ("sessions", "list"),
    ("memory", "add", "I like tea."),
    ("trust", "--yes"),
    ("chat",),
    ("config", "set", "ui.color", "never", "--scope", "vault"),
    ("agent", "new", "editor", "--scope", "vault"),
)
NEED_NO_VAULT = (
    ("config", "show"),
    ("config", "path"),
    ("config", "set", "ui.color", "never"),
    ("agent", "list"),
    ("agent", "new", "editor"),
    ("models",),
    ("doctor",),
)


@pytest.fixture
def stranger(tmp_path: Path) -> World:
    """In a folder of notes that was never used with zkchat."""
    world = World(tmp_path, confirms_vault=False)
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    return world


def listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def calls(command: Any, *words: str) -> Iterator[list[str]]:
    """Every command of the command line, with something for each argument that has to be there."""
    if not isinstance(command, TyperGroup) or command.invoke_without_command:
        yield [*words, *("1" for each in command.params if isinstance(each, TyperArgument) and each.required)]
    if isinstance(command, TyperGroup):
        for name, each in command.commands.items():
            yield from calls(each, *words, name)


def test_no_command_writes_into_a_folder_that_nobody_confirmed(stranger: World) -> None:
    before = listing(stranger.vault)
    every = list(calls(typer.main.get_command(app)))
    assert len(every) > 40
    for arguments in every:
        result = stranger.run(*arguments, stdin="")
        assert result.code != ExitCode.BUG, (arguments, result.err)
        assert listing(stranger.vault) == before, arguments


def test_without_a_terminal_a_sentence_tells_the_way_out(stranger: World) -> None:
    for command in READ_NOTES:
        result = stranger.run(*command, stdin="")
        assert (result.code, result.out) == (ExitCode.VAULT, ""), command
        assert result.err == (
            f"zkchat: The folder {stranger.vault} is not a vault yet.\n        To use it as one: --vault . (or give "
            "the folder of your notes: --vault FOLDER)\n"
        )


def test_what_needs_no_vault_asks_for_none(stranger: World) -> None:
    for command in NEED_NO_VAULT:
        result = stranger.run(*command, terminal=True)
        assert (result.code, "[y/N]" in result.err) == (ExitCode.OK, False), command
        assert listing(stranger.vault) == ["Sleep.md"]


def search(world: World, typed: str, *more: str, cwd: Path | None = None) -> Result:
    return world.run("search", "seven hours", *more, typed=typed, terminal=True, cwd=cwd)


def test_a_yes_is_remembered_and_asked_for_once(stranger: World) -> None:
    declined = search(stranger, "\n")
    assert declined.code == ExitCode.VAULT
    assert f"Use the notes in {stranger.vault} (1 note)? No note changes unless you say so. [y/N]" in declined.err
    assert "is not a vault yet" in declined.err
    agreed = search(stranger, "y\n")
    assert agreed.code == ExitCode.OK
    assert "Sleep.md" in agreed.out
    inside = stranger.vault / "inside"
    inside.mkdir()
    again = search(stranger, "", cwd=inside)
    assert again.code == ExitCode.OK
    assert "[y/N]" not in again.err
    assert listing(stranger.vault) == ["Sleep.md", "inside"]


def test_naming_a_folder_is_a_yes(stranger: World) -> None:
    assert search(stranger, "", "--vault", ".").code == ExitCode.OK
    assert stranger.run("search", "seven hours", stdin="").code == ExitCode.OK
    other = stranger.root / "other"
    other.mkdir()
    stranger.variables["ZKCHAT_VAULT"] = str(other)
    assert stranger.run("index", stdin="", cwd=stranger.root).code == ExitCode.OK
    del stranger.variables["ZKCHAT_VAULT"]
    assert stranger.run("index", stdin="", cwd=other).code == ExitCode.VAULT


@pytest.mark.parametrize("marker", [".obsidian", ".zkchat"])
def test_a_marked_folder_is_not_asked_about(stranger: World, marker: str) -> None:
    (stranger.vault / marker).mkdir()
    result = search(stranger, "")
    assert result.code == ExitCode.OK
    assert "[y/N]" not in result.err


def test_the_home_folder_is_asked_about_even_if_it_is_marked_or_named(stranger: World) -> None:
    (stranger.home / ".obsidian").mkdir()
    (stranger.home / "Tea.md").write_text("Tea for seven hours.\n")
    (stranger.home / "tea.png").write_text("")
    question = f"Use the notes in your home folder {stranger.home} (1 note among 2 files)? No note changes"
    for named in ((), ("--vault", str(stranger.home))):
        declined = search(stranger, "n\n", *named, cwd=stranger.home)
        assert declined.code == ExitCode.VAULT
        assert question in declined.err
    unasked = stranger.run("search", "tea", stdin="", cwd=stranger.home)
    assert unasked.code == ExitCode.VAULT
    assert "Your home folder" in unasked.err
    named_elsewhere = stranger.run("search", "tea", "--vault", str(stranger.home), stdin="", cwd=stranger.vault)
    assert named_elsewhere.code == ExitCode.OK
    assert "so it is used as the vault" in named_elsewhere.err
    assert search(stranger, "", cwd=stranger.home).code == ExitCode.OK


def test_where_the_answer_cannot_be_kept_the_command_goes_on(stranger: World) -> None:
    stranger.block(".local")
    result = search(stranger, "y\n")
    assert result.code == ExitCode.OK
    assert "Your answer could not be saved" in result.err
    assert "Sleep.md" in result.out


def test_a_default_vault_is_a_yes_wherever_zkchat_is_started(stranger: World) -> None:
    notes, outside = stranger.home / "notes", stranger.root / "outside"
    for folder in (notes, outside):
        folder.mkdir()
    (notes / "Tea.md").write_text("Tea for seven hours.\n")
    assert stranger.run("config", "set", "vault.default", "~/notes", cwd=outside).code == ExitCode.OK
    asked = stranger.run("ask", "What is tea?", "--model", "quote", stdin="", cwd=outside)
    assert (asked.code, "Tea for seven hours." in asked.out) == (ExitCode.OK, True), asked.err
    stranger.variables |= {"ZKCHAT_MODEL": "quote", "TERM": "dumb"}
    started = stranger.run(terminal=True, typed="/quit\n", cwd=outside)
    assert (started.code, "Usage:" in started.out) == (ExitCode.OK, False)
    assert "notes · 1 note" in started.err
    assert listing(outside) == []
    assert listing(stranger.vault) == ["Sleep.md"]


def test_a_default_vault_that_is_gone_is_one_sentence_and_can_be_changed(stranger: World) -> None:
    outside = stranger.root / "outside"
    outside.mkdir()
    stranger.run("config", "set", "vault.default", "~/gone", cwd=outside)
    for command in (("ask", "What is tea?"), ()):
        result = stranger.run(*command, terminal=True, cwd=outside)
        assert (result.code, "It is your default vault" in result.err) == (ExitCode.VAULT, True)
        assert "zkchat setup" in result.err
    checked = stranger.run("doctor", cwd=outside)
    assert (checked.code, "It is your default vault" in checked.out) == (ExitCode.VAULT, True)
    assert stranger.run("config", "unset", "vault.default", cwd=outside).code == ExitCode.OK
    assert "Usage:" in stranger.run(terminal=True, cwd=outside).out


def test_a_vault_cannot_name_the_default_vault(stranger: World) -> None:
    evil = stranger.root / "evil"
    evil.mkdir()
    stranger.note(".zkchat/config.toml", f"[vault]\ndefault = '{evil}'\n")
    assert "'vault.default' in" in stranger.run("search", "seven hours", stdin="").err
    assert stranger.run("trust", "--yes", stdin="").code == ExitCode.OK
    assert stranger.run("config", "get", "vault.default").out.strip() == ""
    refused = stranger.run("config", "set", "vault.default", str(evil), "--scope", "vault")
    assert (refused.code, "can only be set in your own settings" in refused.err) == (ExitCode.CONFIG, True)
    assert stranger.run("index", stdin="", cwd=evil).code == ExitCode.VAULT


WITHOUT_RIGHTS = """
import os, sys
from tests.faults.change_without_room import drop_capabilities
from zkchat.__main__ import main
if os.getuid() == 0:
    drop_capabilities()
sys.argv = ["zkchat", *sys.argv[1:]]
sys.exit(main())
"""


def test_a_folder_that_may_not_be_read_is_no_vault(stranger: World) -> None:
    stranger.vault.chmod(0o300)
    command = [sys.executable, "-c", WITHOUT_RIGHTS, "search", "sleep", "--vault", str(stranger.vault)]
    home = {**os.environ, "HOME": str(stranger.home)}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=home)
    stranger.vault.chmod(0o700)
    assert result.returncode == ExitCode.VAULT
    assert result.stderr.splitlines() == [
        f"zkchat: The vault {stranger.vault} cannot be read: permission denied.",
        "        Give the folder of your notes: --vault FOLDER",
    ]
