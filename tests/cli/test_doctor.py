from pathlib import Path

import pytest

from tests.providers.contract import PLAYS
from tests.providers.loopback import Loopback, serving
from tests.support.world import World
from zkchat.core.errors import ExitCode


def test_a_sound_installation_has_no_problems(world: World) -> None:
    world.note("a.md", "hello")
    result = world.run("doctor")
    assert result.code == 0
    for subject in ("Python", "packages", "SQLite", "terminal", "settings", "vault", "sessions", "model", "Ollama"):
        assert subject in result.out
    assert "1 note\n" in result.out
    assert "Everything zkchat needs is there." in result.out


def test_broken_settings_are_a_problem_and_the_rest_is_still_examined(world: World) -> None:
    world.configure("colour = 1")
    result = world.run("doctor")
    assert result.code == ExitCode.CONFIG
    assert result.out.count("colour") == 1
    assert "SQLite" in result.out
    assert "vault      not checked, for the same reason\n" in result.out
    assert result.out.endswith("\n1 problem found.\n")


def test_empty_vaults_untrusted_settings_and_odd_notes_are_warnings(world: World) -> None:
    (world.vault / ".zkchat").mkdir()
    (world.vault / ".zkchat" / "config.toml").write_text('model = "openai:x"')
    findings = world.run("doctor", "--json").json
    warnings = [finding["text"] for finding in findings if finding["state"] == "warning"]
    assert any("no Markdown notes" in text for text in warnings)
    assert "not approved: settings .zkchat/config.toml" in warnings
    world.note("bad.md", b"caf\xe9")
    assert any("bad.md" in finding["text"] for finding in world.run("doctor", "--json").json)


def test_the_packages_it_looks_for_are_those_that_the_project_needs() -> None:
    import tomllib

    from packaging.requirements import Requirement

    from zkchat.cli.doctor import PACKAGES

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert sorted(Requirement(line).name for line in project["dependencies"]) == sorted(PACKAGES)


server = serving(lambda: Loopback(PLAYS), scope="function")


def test_a_model_behind_a_server_is_asked_for(world: World, server: Loopback) -> None:
    world.variables["ZKCHAT_OLLAMA__HOST"] = server.address
    result = world.run("doctor", "--model", "ollama:tells")
    assert "ollama:tells (ready; 8,192 tokens, tools, on this machine)" in result.out
    missing = world.run("doctor", "--model", "ollama:nobody")
    assert missing.code == ExitCode.MODEL
    assert "has no model 'nobody'" in missing.out
    assert "ollama pull nobody" in missing.out
    assert "Ollama     answers" in missing.out


def test_without_a_model_it_tells_what_could_be_set_up(world: World) -> None:
    world.variables["GROQ_API_KEY"] = "gsk-canary"
    out = world.run("doctor").out
    assert "→ There is a key for Groq in GROQ_API_KEY: `zkchat setup` can use it." in out
    assert "gsk-canary" not in out


def test_a_model_of_openai_needs_a_key_and_is_asked_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    result = world.run("doctor", "--model", "openai:gpt-5-mini")
    assert result.code == ExitCode.MODEL
    assert "There is no key for openai:gpt-5-mini." in result.out
    world.variables["OPENAI_API_KEY"] = "sk-canary"
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    result = world.run("doctor", "--model", "openai:gpt-5-mini")
    assert result.code == ExitCode.MODEL
    assert "OpenAI (gpt-5-mini) cannot be reached" in result.out
    assert "a key is in $OPENAI_API_KEY" in result.out
    assert "sk-canary" not in result.out


def test_a_folder_that_stays_here_in_all_vaults_need_not_be_in_this_one(world: World) -> None:
    world.note("Diaries/May.md", "Slept badly.")
    world.run("config", "set", "privacy.local_only", "Work, Dairies, Clients")
    world.note(".zkchat/config.toml", "[privacy]\nlocal_only = ['Elsewhere', 'Clients']\n")
    warnings = [finding["text"] for finding in world.run("doctor", "--json").json if finding["subject"] == "privacy"]
    assert [text.split("'")[1] for text in warnings] == ["Dairies", "Elsewhere", "Clients"]


def test_folders_that_cannot_be_written_are_told_before_a_conversation_is_lost(world: World) -> None:
    world.note("a.md", "hello")
    file = world.root / "file"
    file.touch()
    world.variables["XDG_CACHE_HOME"] = str(file)
    result = world.run("doctor", "--vault", ".")
    assert result.code == 0
    assert f"! folders    {file / 'zkchat'} cannot be written, so every command indexes your notes again" in result.out
    world.variables["XDG_DATA_HOME"] = str(file)
    result = world.run("doctor", "--vault", ".")
    assert result.code == ExitCode.STORAGE
    assert f"✗ folders    {file / 'zkchat'} cannot be written, so conversations are not saved" in result.out
