"""`storage.location = "vault"`: databases that came with a vault destroy nothing, take nothing and plant nothing."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import hostile_vaults
from tests.support.world import World
from zkchat.core.errors import ExitCode


@pytest.fixture
def world(world: World) -> World:
    world.note("Cats.md", "# Cats\n\nCats purr.\n")
    return world


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def in_vault_by_own_choice(world: World) -> None:
    assert world.run("config", "set", "storage.location", "vault").code == 0


@pytest.mark.parametrize("is_approved", [False, True])
def test_an_index_that_is_a_link_destroys_no_other_database(world: World, is_approved: bool) -> None:
    hostile_vaults.databases_wanted(world.vault)
    outside = hostile_vaults.linked_index(world.vault)
    before = digest(outside)
    if is_approved:
        world.run("trust", "--yes")
    result = world.run("search", "cats")
    assert result.code == (ExitCode.STORAGE if is_approved else ExitCode.OK)
    assert ("is a symbolic link" in result.err) == is_approved
    for command in (["ask", "What do cats do?", "--model", "quote"], ["index", "--rebuild"], ["doctor"]):
        world.run(*command)
    assert digest(outside) == before
    assert not any(outside.parent.glob("*-wal"))


def test_a_trigger_that_came_with_the_vault_deletes_no_message(world: World) -> None:
    hostile_vaults.databases_wanted(world.vault)
    hostile_vaults.trigger_in_sessions(world.vault)
    world.run("trust", "--yes")
    before = digest(world.vault / ".zkchat" / "sessions.db")
    assert "another program changed it" in world.run("ask", "What do cats do?", "--model", "quote").err
    listed = world.run("sessions", "list", "--all")
    assert listed.code == ExitCode.STORAGE
    assert "another program changed it" in listed.err
    assert digest(world.vault / ".zkchat" / "sessions.db") == before


def test_facts_that_came_with_the_vault_are_none_before_the_user_approved_them(world: World) -> None:
    hostile_vaults.databases_wanted(world.vault)
    hostile_vaults.planted_memories(world.vault)
    assert world.run("memory", "list", "--json").json == []
    asked = world.run("chat", "--plain", "--model", "quote", typed="n\n", terminal=True)
    assert "database memories.db  (new)" in asked.err
    assert world.run("memory", "list", "--json").json == []
    world.run("trust", "--yes")
    assert [fact["text"] for fact in world.run("memory", "list", "--json").json] == ["EVIL fact about cats."]


def test_databases_that_came_with_the_vault_are_not_opened_by_the_users_own_setting(world: World) -> None:
    hostile_vaults.planted_memories(world.vault)
    in_vault_by_own_choice(world)
    result = world.run("memory", "list")
    assert result.code == ExitCode.STORAGE
    assert "memories.db came with the vault and is not used: somebody else may have made it." in result.err
    assert "zkchat config trust" in result.err


def test_databases_that_zkchat_made_in_the_vault_are_ours(world: World) -> None:
    in_vault_by_own_choice(world)
    assert world.run("ask", "What do cats do?", "--model", "quote").code == 0
    assert world.run("memory", "add", "My cat is called Mia.").code == 0
    assert len(world.run("sessions", "list", "--all", "--json").json) == 1
    assert len(world.run("memory", "list", "--json").json) == 1
    chat = world.run("chat", "--plain", "--model", "quote", typed="What do cats do?\n", terminal=True)
    assert "[y/N]" not in chat.err.partition("Remember")[0]
    states = {item["name"]: item["state"] for item in world.run("trust", "--json").json["items"]}
    assert set(states.values()) == {"approved"}


READING = (
    ["doctor"],
    ["links", "Cats"],
    ["sessions", "list", "--all"],
    ["sessions", "search", "cats"],
    ["memory", "list"],
    ["refs", "--top"],
    ["agent", "list"],
    ["config", "show"],
    ["trust"],
    ["vault", "stats"],
    ["ask", "--help"],
    ["ask", "Hello!", "--agent", "nobody", "--model", "quote"],
    ["ask", "Hello!", "--session", "none", "--model", "quote"],
    ["sessions", "show", "none"],
    ["memory", "forget", "none"],
)


def test_commands_that_store_nothing_and_those_that_fail_write_nothing_into_the_vault(world: World) -> None:
    for command in READING:
        world.run(*command)
        assert [file.name for file in world.vault.iterdir()] == ["Cats.md"], command
    assert not (world.home / ".local" / "share" / "zkchat" / "vaults").exists()


def test_where_no_file_of_ours_can_be_written_notes_are_still_found(world: World) -> None:
    world.block(".local", ".cache", ".config")
    for command in (("search", "cats"), ("ask", "What do cats do?", "--model", "quote")):
        result = world.run(*command, "--vault", str(world.vault))
        assert (result.code, "Cats purr." in result.out) == (0, True), result.err
        assert "cannot be written (not a directory), so your notes are indexed again for this command." in result.err


@pytest.mark.parametrize(
    "hostile",
    [
        (hostile_vaults.endless_vault_id, hostile_vaults.pipe_as_settings, hostile_vaults.linked_profiles),
        (hostile_vaults.pipe_as_vault_id, hostile_vaults.pipes_as_profiles),
    ],
)
def test_no_strange_file_of_a_vault_stops_a_command(world: World, hostile: tuple[Callable[[Path], None], ...]) -> None:
    for add in hostile:
        add(world.vault)
    asked = world.run("ask", "What do cats do?", "--model", "quote")
    assert (asked.code, "Cats purr." in asked.out) == (0, True)
    assert len(world.run("sessions", "list", "--all", "--json").json) == 1
    assert "EVIL" not in world.run("rules", "list").out
