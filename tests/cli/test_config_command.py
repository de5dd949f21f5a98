import json
from importlib.resources import files

import pytest

from tests.support.world import Result, World
from zkchat.config.schema import field_of
from zkchat.core.errors import ExitCode


class ConfigCommand:
    """`zkchat config` of a user with a home and a vault, without the variables of other tests."""

    def __init__(self, world: World) -> None:
        self.world, self.variables, self.home = world, world.variables, world.home
        self.variables["ZKCHAT_OLLAMA__HOST"] = ""
        self.user_file, self.vault_file = world.settings_file, world.note(".zkchat/config.toml", "")
        self.vault_file.unlink()

    def run(self, *arguments: str, typed: str | None = None) -> Result:
        return self.world.run("config", *arguments, stdin="" if typed is None else None, typed=typed or "")


@pytest.fixture
def config(world: World) -> ConfigCommand:
    return ConfigCommand(world)


def test_headers_of_a_model_are_shown_without_their_values(config: ConfigCommand) -> None:
    config.world.configure('[models.mine]\nprovider = "openai"\nid = "x"\nheaders = { X-Title = "heron" }\n')
    for shown in (config.run("show"), config.run("show", "--json"), config.run("get", "models.mine.headers")):
        assert ("X-Title" in shown.out, "heron" in shown.out) == (True, False)


def test_show_lists_every_value_with_its_origin(config: ConfigCommand) -> None:
    config.vault_file.write_text('[ui]\ncolor = "never"\n')
    config.variables["ZKCHAT_CONTEXT__MAX_TOKENS"] = "4096"
    result = config.run("show")
    lines = [line.split("  ") for line in result.out.splitlines()]
    told = {line[0]: line[-1].strip() for line in lines}
    assert result.code == 0
    assert told['ui.color = "never"'] == f"# vault {config.vault_file}"
    assert told["context.max_tokens = 4096"] == "# variable ZKCHAT_CONTEXT__MAX_TOKENS"
    assert told["vault.exclude = []"] == "# default"


def test_show_as_json_gives_values_layers_and_places(config: ConfigCommand) -> None:
    config.vault_file.write_text('[vault]\nexclude = ["a"]\n[ollama]\nhost = "http://evil.example"\n')
    shown = json.loads(config.run("show", "--json").out)
    assert shown["settings"]["vault.exclude"] == {"value": ["a"], "layer": "vault", "where": str(config.vault_file)}
    assert shown["settings"]["ollama.host"]["layer"] == "default"
    assert "zkchat config trust" in shown["warnings"][0]


def test_a_name_that_can_mean_no_model_is_set_with_a_warning(config: ConfigCommand) -> None:
    forgotten = config.run("set", "model", "qwen3:8b")
    assert forgotten.code == 0
    assert "warning: There is no model 'qwen3:8b'. Did you mean 'ollama:qwen3:8b'?" in forgotten.err
    assert "Did you mean 'openai:gpt-4o'?" in config.run("set", "model", "gpt-4o").err
    keyless = config.run("set", "model", "openai:gpt-5").err
    assert "warning: There is no key for openai:gpt-5 yet. Put it into the variable OPENAI_API_KEY." in keyless
    for known in ("ollama:qwen3:8b", "quote", ""):
        assert "warning" not in config.run("set", "model", known).err


def test_set_with_the_scope_of_the_vault_writes_the_vaults_file(config: ConfigCommand) -> None:
    config.run("set", "model", "quote", "--scope", "vault")
    assert config.vault_file.read_text() == 'model = "quote"\n'
    assert not config.user_file.exists()


def test_unset_goes_back_to_the_default(config: ConfigCommand) -> None:
    config.run("set", "model", "quote")
    assert config.run("unset", "model").err.startswith("Removed model")
    assert config.run("get", "model").out == "\n"
    assert "is not set" in config.run("unset", "model").err


def test_an_unknown_setting_ends_with_a_sentence_and_the_exit_code_for_settings(config: ConfigCommand) -> None:
    for arguments in (["get", "context.max_token"], ["set", "context.max_token", "5"], ["unset", "context.max_token"]):
        result = config.run(*arguments)
        assert result.code == ExitCode.CONFIG
        assert result.out == ""
        assert "Unknown setting 'context.max_token'." in result.err
        assert "Did you mean 'context.max_tokens'?" in result.err


def test_a_mistake_in_the_file_can_be_corrected_by_the_command_that_its_hint_names(config: ConfigCommand) -> None:
    config.run("set", "model", "quote")
    config.user_file.write_text('[ui]\ncolor = "red"\n')
    failed = config.run("show")
    assert failed.code == ExitCode.CONFIG
    assert "zkchat config unset ui.color --scope user" in failed.err
    config.run("unset", "ui.color", "--scope", "user")
    assert config.run("show").code == 0


def test_path_tells_where_the_files_are_and_whether_they_exist(config: ConfigCommand) -> None:
    config.run("set", "model", "quote")
    assert config.run("path").out.splitlines() == [
        f"user   {config.user_file}",
        f"vault  {config.vault_file}  (not there yet)",
    ]
    assert json.loads(config.run("path", "--json").out) == {
        "user": {"path": str(config.user_file), "exists": True},
        "vault": {"path": str(config.vault_file), "exists": False},
    }


def test_a_link_to_the_users_file_stays_a_link(config: ConfigCommand) -> None:
    dotfile = config.home / "dotfiles.toml"
    config.user_file.parent.mkdir(parents=True)
    config.user_file.symlink_to(dotfile)
    config.run("set", "model", "quote")
    assert config.user_file.is_symlink()
    assert dotfile.read_text() == 'model = "quote"\n'


def test_a_link_out_of_the_vault_is_not_written_through(config: ConfigCommand) -> None:
    outside = config.home / "outside.toml"
    config.vault_file.symlink_to(outside)
    result = config.run("set", "model", "quote", "--scope", "vault")
    assert result.code == ExitCode.CONFIG
    assert "it is a symbolic link" in result.err
    assert not outside.exists()


class TestTrust:
    ASKED = '[ollama]\nhost = "http://ours:1"\n'

    def test_a_yes_at_the_terminal_approves_what_was_shown(self, config: ConfigCommand) -> None:
        config.vault_file.write_text(self.ASKED)
        assert "zkchat config trust --yes" in config.run("trust").out
        assert config.run("get", "ollama.host").out == "http://127.0.0.1:11434\n"
        result = config.run("trust", typed="y\n")
        assert (result.code, 'ollama.host = "http://ours:1"' in result.out) == (0, True)
        assert config.run("get", "ollama.host").out == "http://ours:1\n"

    def test_a_no_approves_nothing_and_can_be_changed(self, config: ConfigCommand) -> None:
        config.vault_file.write_text(self.ASKED)
        result = config.run("trust", typed="\n")
        assert (result.code, "It is not used." in result.err) == (0, True)
        assert config.run("get", "ollama.host").out == "http://127.0.0.1:11434\n"
        assert "(declined)" in config.run("trust", typed="y\n").out
        assert config.run("get", "ollama.host").out == "http://ours:1\n"

    def test_what_the_user_sets_in_the_vaults_file_is_approved_by_that(self, config: ConfigCommand) -> None:
        assert config.run("set", "ollama.host", "http://h:1", "--scope", "vault").code == 0
        assert config.run("set", "model", "quote", "--scope", "vault").code == 0
        assert config.run("get", "ollama.host").out == "http://h:1\n"
        config.run("unset", "model", "--scope", "vault")
        assert config.run("get", "ollama.host").out == "http://h:1\n"

    def test_setting_something_approves_nothing_that_was_there_before(self, config: ConfigCommand) -> None:
        config.vault_file.write_text(self.ASKED)
        result = config.run("set", "model", "quote", "--scope", "vault")
        assert "This takes effect once you approve" in result.err
        assert config.run("get", "ollama.host").out == "http://127.0.0.1:11434\n"
        assert config.run("get", "model").out == "\n"
        config.run("unset", "model", "--scope", "vault")
        assert config.run("get", "ollama.host").out == "http://127.0.0.1:11434\n"


def test_settings_that_are_a_link_to_itself_are_a_sentence(world: World) -> None:
    file = world.settings_file
    file.parent.mkdir(parents=True)
    file.symlink_to("config.toml")
    for arguments in (("set", "ui.color", "never"), ("unset", "ui.color"), ("show",)):
        assert world.run("config", *arguments).code == ExitCode.CONFIG
    assert world.run("config", "path").code == ExitCode.OK
    assert file.is_symlink()


def test_a_setting_is_shown_with_its_help_and_the_value_alone_on_standard_output(world: World) -> None:
    shown = world.run("config", "get", "context.strategy")
    assert shown.out == "summarize\n"
    assert "What happens to older messages" in shown.err
    assert 'It takes "summarize", "discard" or "hybrid". Default: "summarize".' in shown.err
    assert "set in" not in shown.err
    world.run("config", "set", "context.keep_recent", "9")
    changed = world.run("config", "get", "context.keep_recent")
    assert changed.out == "9\n"
    assert f"Default: 6. This value is set in {world.settings_file}." in changed.err
    told = world.run("config", "get", "context.keep_recent", "--json")
    where = str(world.settings_file)
    assert told.json == {"key": "context.keep_recent", "value": 9, "layer": "user", "where": where}
    assert told.err == ""


ELSEWHERE = [line.split("\t") for line in (files("zkchat.config") / "names_elsewhere.tsv").read_text().splitlines()]


def test_names_of_other_programs_lead_to_ours(world: World) -> None:
    for name, _, ours in ELSEWHERE:
        assert (field_of(ours) is not None, field_of(name)) == (True, None), name
    for name, program, ours in (ELSEWHERE[0], ELSEWHERE[-1]):
        for command in (("get", name), ("set", name, "1")):
            said = world.run("config", *command)
            assert said.code == ExitCode.CONFIG
            assert f"is a setting of {program}; in zkchat it is '{ours}'." in said.err
    said = world.run("config", "set", 'models."GPT 4.1".api_base', "http://127.0.0.1:9/v1")
    assert "in zkchat it is 'models.GPT 4.1.base_url'." in said.err
