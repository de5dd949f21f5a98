"""`zkchat setup`: three questions at a terminal, flags for scripts, and nothing written before the last answer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.providers.contract import PLAYS
from tests.support.model_lists import Listing, tags
from tests.support.world import Result, World
from zkchat.core.errors import ExitCode


@pytest.fixture
def server() -> Iterator[Listing]:
    with Listing(PLAYS) as server:
        server.lists["/api/tags"] = tags("tells", "thinks")
        yield server


@pytest.fixture
def user(tmp_path: Path, server: Listing) -> World:
    """Somebody with notes in a folder that is no vault yet, and a running Ollama."""
    world = World(tmp_path, confirms_vault=False)
    world.note("Journal/May.md", "Slept badly.")
    world.note("Sleep.md", "Seven hours.")
    world.variables["ZKCHAT_OLLAMA__HOST"] = server.address
    return world


def answered(world: World, *lines: str, flags: tuple[str, ...] = (), cwd: Path | None = None) -> Result:
    return world.run("setup", *flags, typed="".join(f"{line}\n" for line in lines), terminal=True, cwd=cwd)


def settings(world: World) -> str:
    file = world.settings_file
    return file.read_text() if file.exists() else ""


def written(world: World, model: str, local_only: str) -> str:
    """The settings file after three answers."""
    return f'model = "{model}"\n\n[vault]\ndefault = "{world.vault}"\n\n[privacy]\nlocal_only = ["{local_only}"]\n'


def test_three_answers_make_the_settings_and_nothing_is_written_into_the_folder(user: World) -> None:
    result = answered(user, "", "2", "journal")
    assert result.code == ExitCode.OK, result.err
    assert f"[{user.vault}, 2 notes]" in result.err
    assert "1. ollama:tells   8,192 tokens, this machine, tools" in result.err
    assert "zkchat models pull all-minilm-l6-v2" in " ".join(result.err.split())
    assert settings(user) == written(user, "ollama:thinks", "journal")
    assert "model = ollama:thinks" in result.out
    assert str(user.settings_file) in result.out
    assert "To start: zkchat" in result.out
    assert sorted(path.name for path in user.vault.iterdir()) == ["Journal", "Sleep.md"]
    assert user.run("search", "seven hours").code == ExitCode.OK  # it is a vault now


def test_run_again_enter_keeps_what_is_set(user: World) -> None:
    answered(user, "", "2", "Journal")
    before = settings(user)
    result = answered(user, "", "", "")
    assert "[ollama:thinks]" in result.err
    assert "[Journal]" in result.err
    assert settings(user) == before
    answered(user, "", "quote", "-")
    assert 'model = "quote"' in settings(user)
    assert "Journal" not in settings(user)


def test_what_cannot_be_is_asked_again(user: World) -> None:
    result = answered(user, str(user.root / "nowhere"), "", "ollama:gone", "9", "1", "Journel", "Journal")
    assert result.code == ExitCode.OK
    assert "nowhere does not exist." in result.err
    assert "has no model 'gone'" in result.err
    assert "There is no model '9'." in result.err
    assert f"{user.vault} has no Journel." in result.err
    assert settings(user) == written(user, "ollama:tells", "Journal")


def test_without_the_last_answer_nothing_is_written(user: World) -> None:
    result = answered(user, "", "1")
    assert result.code == ExitCode.INTERRUPTED
    assert "Nothing was written." in result.err
    assert settings(user) == ""
    assert not (user.home / ".local" / "share" / "zkchat" / "known-vaults.json").exists()


def test_the_folder_is_the_default_vault_from_then_on(user: World) -> None:
    outside, other = user.root / "empty", user.root / "other"
    for folder in (outside, other / ".obsidian"):
        folder.mkdir(parents=True)
    answered(user, str(user.vault), "quote", "-", cwd=outside)
    assert "Sleep.md" in user.run("search", "seven hours", stdin="", cwd=outside).out
    again = answered(user, "", "", "", cwd=other)
    assert f"[{user.vault}, 2 notes]" in again.err
    assert f"To start: zkchat --vault {user.vault}" in again.out
    unnamed = user.run("setup", "--yes", "--json", stdin="", cwd=other)
    assert (unnamed.json["vault"], f'default = "{user.vault}"' in settings(user)) == (str(user.vault), True)


def test_a_key_for_a_service_is_offered_and_its_models_are_checked(
    user: World, server: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    from zkchat.core.prompt import HostedService
    from zkchat.models import registry as services

    here = HostedService("Nearby", "NEARBY_API_KEY", f"{server.address}/v1")
    monkeypatch.setattr(services, "SERVICES", (here,))
    user.variables["NEARBY_API_KEY"] = server.key
    result = answered(user, "", "4", "", "-")
    assert "4. Nearby         uses the key in NEARBY_API_KEY; your notes are sent there" in result.err
    assert f'base_url = "{server.address}/v1"' in settings(user)
    assert 'api_key_env = "NEARBY_API_KEY"' in settings(user)
    assert 'model = "openai:tells"' in settings(user)
    assert server.key not in result.out + result.err + settings(user)


def test_the_address_of_a_server_is_taken_and_the_models_there_are_offered(user: World, server: Listing) -> None:
    server.lists["/v1/models"] = 200, {"data": [{"id": "tells"}, {"id": "thinks"}]}
    address = f"{server.address}/v1"
    result = answered(user, "", address, "thinks", "-")
    assert "Models of" in result.err
    assert f'base_url = "{address}"' in settings(user)
    assert f"openai.base_url = {address}" in result.out
    assert 'model = "openai:thinks"' in settings(user)
    assert user.run("setup", "--yes", "--model", address).code == ExitCode.OK


def test_an_address_in_place_of_a_model_is_told_with_the_command_that_sets_it(user: World) -> None:
    user.confirm(user.vault)
    result = user.run("ask", "sleep?", "--model", "http://me:secret@127.0.0.1:8099/v1")
    assert "is an address, not a model." in result.err
    assert "zkchat config set openai.base_url http://…@127.0.0.1:8099/v1" in " ".join(result.err.split())


def test_scripts_say_it_all_by_flags(user: World) -> None:
    flags = ("--yes", "--vault", str(user.vault), "--model", "ollama:tells", "--local-only", "Journal, Work")
    assert user.run("setup", *flags, "--json", stdin="", cwd=user.home).json == {
        "file": str(user.settings_file),
        "settings": {"model": "ollama:tells", "vault.default": str(user.vault), "privacy.local_only": "Journal, Work"},
        "vault": str(user.vault),
    }
    assert user.run("setup", "--yes", "--model", "ollama:gone", stdin="").code == ExitCode.MODEL
    assert 'model = "ollama:tells"' in settings(user)


def test_without_a_terminal_the_commands_are_told(user: World) -> None:
    result = user.run("setup", stdin="")
    assert result.code == ExitCode.USAGE
    assert "zkchat setup --yes --vault FOLDER --model NAME --local-only FOLDERS" in result.err
    assert "zkchat config set model NAME" in result.err
    assert settings(user) == ""


def test_a_chat_goes_on_with_the_server_whose_address_is_named(user: World, server: Listing) -> None:
    server.lists["/v1/models"] = 200, {"data": [{"id": "tells"}]}
    user.confirm(user.vault)
    user.variables["OPENAI_API_KEY"] = "of-another-service"
    typed = f"/model {server.address}/v1\ny\n"
    result = user.run("chat", "--plain", "--model", "quote", typed=typed, terminal=True)
    assert "openai:tells answers now." in result.err
    assert not any(each.headers.get("authorization") for each in server.requests)  # only a request has the key
    assert f'base_url = "{server.address}/v1"' in settings(user)


def test_a_default_vault_that_is_gone_is_told_and_chosen_anew(user: World) -> None:
    user.configure('[vault]\ndefault = "~/gone"\n')
    result = answered(user, "", "quote", "-")
    assert f"The vault {user.home / 'gone'} does not exist. It is your default vault" in " ".join(result.err.split())
    assert f'default = "{user.vault}"' in settings(user)
