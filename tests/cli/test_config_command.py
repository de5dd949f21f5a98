"""`zkchat config`, from the command line to the files."""

import io
import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.world import World
from zkchat.cli.main import run
from zkchat.environment import Environment
from zkchat.errors import ExitCode


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@dataclass
class Result:
    code: int
    out: str
    err: str


@dataclass
class Desk:
    """A user with a home and a vault, who types commands."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for folder in (self.home, self.vault_file.parent):
            folder.mkdir(parents=True)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def user_file(self) -> Path:
        return self.home / ".config" / "zkchat" / "config.toml"

    @property
    def vault_file(self) -> Path:
        return self.folder / "vault" / ".zkchat" / "config.toml"

    def types(self, *arguments: str, stdin: io.StringIO | None = None) -> Result:
        out, err = io.StringIO(), io.StringIO()
        environment = Environment(
            stdin=stdin or io.StringIO(),
            stdout=out,
            stderr=err,
            variables=self.variables,
            cwd=self.vault_file.parents[1],
            home=self.home,
        )
        code = run(["config", *arguments], environment)
        return Result(code, out.getvalue(), err.getvalue())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_show_lists_every_value_with_its_origin(desk: Desk) -> None:
    desk.vault_file.write_text('[ui]\ncolor = "never"\n')
    desk.variables["ZKCHAT_CONTEXT__MAX_TOKENS"] = "4096"
    result = desk.types("show")
    lines = [line.split("  ") for line in result.out.splitlines()]
    told = {line[0]: line[-1].strip() for line in lines}
    assert result.code == 0
    assert told['ui.color = "never"'] == f"# vault {desk.vault_file}"
    assert told["context.max_tokens = 4096"] == "# variable ZKCHAT_CONTEXT__MAX_TOKENS"
    assert told["vault.exclude = []"] == "# default"


def test_what_is_unset_is_shown_as_such(desk: Desk) -> None:
    assert "context.max_tokens = (unset)" in desk.types("show").out


def test_show_as_json_gives_values_layers_and_places(desk: Desk) -> None:
    desk.vault_file.write_text('[vault]\nexclude = ["a"]\n[ollama]\nhost = "http://evil.example"\n')
    shown = json.loads(desk.types("show", "--json").out)
    assert shown["settings"]["vault.exclude"] == {"value": ["a"], "layer": "vault", "where": str(desk.vault_file)}
    assert shown["settings"]["ollama.host"]["layer"] == "default"
    assert "zkchat trust" in shown["warnings"][0]


def test_warnings_go_beside_the_result(desk: Desk) -> None:
    desk.vault_file.write_text('[ollama]\nhost = "http://evil.example"\n')
    result = desk.types("get", "ollama.host")
    assert result.out == "http://127.0.0.1:11434\n"
    assert "until you approve: ollama.host" in result.err


def test_a_value_that_was_set_is_got(desk: Desk) -> None:
    assert desk.types("set", "context.max_tokens", "4096").code == 0
    assert desk.types("get", "context.max_tokens").out == "4096\n"
    assert desk.user_file.exists()
    assert not desk.vault_file.exists()


def test_get_as_json_names_the_origin(desk: Desk) -> None:
    desk.types("set", "model", "quote")
    assert json.loads(desk.types("get", "model", "--json").out) == {
        "key": "model",
        "value": "quote",
        "layer": "user",
        "where": str(desk.user_file),
    }


def test_set_with_the_scope_of_the_vault_writes_the_vaults_file(desk: Desk) -> None:
    desk.types("set", "model", "quote", "--scope", "vault")
    assert desk.vault_file.read_text() == 'model = "quote"\n'
    assert not desk.user_file.exists()


def test_comments_survive_a_set(desk: Desk) -> None:
    desk.vault_file.write_text('# our vault\nmodel = "a"  # for now\n')
    desk.types("set", "model", "b", "--scope", "vault")
    assert desk.vault_file.read_text() == '# our vault\nmodel = "b"  # for now\n'


def test_unset_goes_back_to_the_default(desk: Desk) -> None:
    desk.types("set", "model", "quote")
    assert "Removed model" in desk.types("unset", "model").err
    assert desk.types("get", "model").out == "\n"
    assert "is not set" in desk.types("unset", "model").err


def test_an_unknown_setting_ends_with_a_sentence_and_the_exit_code_for_settings(desk: Desk) -> None:
    for arguments in (["get", "context.max_token"], ["set", "context.max_token", "5"], ["unset", "context.max_token"]):
        result = desk.types(*arguments)
        assert result.code == ExitCode.CONFIG
        assert result.out == ""
        assert "Unknown setting 'context.max_token'." in result.err
        assert "Did you mean 'context.max_tokens'?" in result.err


def test_a_mistake_in_the_file_can_be_corrected_by_the_command_that_its_hint_names(desk: Desk) -> None:
    desk.types("set", "model", "quote")
    desk.user_file.write_text('[ui]\ncolor = "red"\n')
    failed = desk.types("show")
    assert failed.code == ExitCode.CONFIG
    assert "zkchat config unset ui.color --scope user" in failed.err
    desk.types("unset", "ui.color", "--scope", "user")
    assert desk.types("show").code == 0


def test_path_tells_where_the_files_are_and_whether_they_exist(desk: Desk) -> None:
    desk.types("set", "model", "quote")
    assert desk.types("path").out.splitlines() == [
        f"user   {desk.user_file}",
        f"vault  {desk.vault_file}  (not there yet)",
    ]
    assert json.loads(desk.types("path", "--json").out) == {
        "user": {"path": str(desk.user_file), "exists": True},
        "vault": {"path": str(desk.vault_file), "exists": False},
    }


def test_a_link_to_the_users_file_stays_a_link(desk: Desk) -> None:
    dotfile = desk.home / "dotfiles.toml"
    desk.user_file.parent.mkdir(parents=True)
    desk.user_file.symlink_to(dotfile)
    desk.types("set", "model", "quote")
    assert desk.user_file.is_symlink()
    assert dotfile.read_text() == 'model = "quote"\n'


def test_a_link_out_of_the_vault_is_not_written_through(desk: Desk) -> None:
    outside = desk.home / "outside.toml"
    desk.vault_file.symlink_to(outside)
    result = desk.types("set", "model", "quote", "--scope", "vault")
    assert result.code == ExitCode.CONFIG
    assert "it is a symbolic link" in result.err
    assert not outside.exists()


class TestTrust:
    ASKED = '[ollama]\nhost = "http://ours:1"\n'

    def test_a_yes_at_the_terminal_approves_what_was_shown(self, desk: Desk) -> None:
        desk.vault_file.write_text(self.ASKED)
        result = desk.types("trust", stdin=Terminal("y\n"))
        assert result.code == 0
        assert 'ollama.host = "http://ours:1"' in result.out
        assert desk.types("get", "ollama.host").out == "http://ours:1\n"

    def test_a_no_approves_nothing_and_can_be_changed(self, desk: Desk) -> None:
        desk.vault_file.write_text(self.ASKED)
        result = desk.types("trust", stdin=Terminal("\n"))
        assert (result.code, "It is not used." in result.err) == (0, True)
        assert desk.types("get", "ollama.host").out == "http://127.0.0.1:11434\n"
        assert "(declined)" in desk.types("trust", stdin=Terminal("y\n")).out
        assert desk.types("get", "ollama.host").out == "http://ours:1\n"

    def test_without_a_terminal_the_way_out_is_named(self, desk: Desk) -> None:
        desk.vault_file.write_text(self.ASKED)
        result = desk.types("trust", stdin=io.StringIO("y\n"))
        assert "zkchat trust --yes" in result.out
        assert desk.types("get", "ollama.host").out == "http://127.0.0.1:11434\n"

    def test_yes_can_be_said_beforehand(self, desk: Desk) -> None:
        desk.vault_file.write_text(self.ASKED)
        assert desk.types("trust", "--yes").code == 0
        assert "All of it is approved." in desk.types("trust").out

    def test_a_changed_value_is_asked_about_again(self, desk: Desk) -> None:
        desk.vault_file.write_text(self.ASKED)
        desk.types("trust", "--yes")
        desk.vault_file.write_text(self.ASKED.replace("ours", "theirs"))
        assert desk.types("get", "ollama.host").out == "http://127.0.0.1:11434\n"

    def test_a_vault_that_asks_for_nothing_needs_no_approval(self, desk: Desk) -> None:
        desk.vault_file.write_text('[ui]\ncolor = "never"\n')
        assert "need your approval" in desk.types("trust").out

    def test_what_the_user_sets_in_the_vaults_file_is_approved_by_that(self, desk: Desk) -> None:
        assert desk.types("set", "ollama.host", "http://h:1", "--scope", "vault").code == 0
        assert desk.types("set", "model", "quote", "--scope", "vault").code == 0
        assert desk.types("get", "ollama.host").out == "http://h:1\n"
        desk.types("unset", "model", "--scope", "vault")
        assert desk.types("get", "ollama.host").out == "http://h:1\n"

    def test_setting_something_approves_nothing_that_was_there_before(self, desk: Desk) -> None:
        desk.vault_file.write_text(self.ASKED)
        result = desk.types("set", "model", "quote", "--scope", "vault")
        assert "this counts after: zkchat trust" in result.err
        assert desk.types("get", "ollama.host").out == "http://127.0.0.1:11434\n"
        assert desk.types("get", "model").out == "\n"
        desk.types("unset", "model", "--scope", "vault")
        assert desk.types("get", "ollama.host").out == "http://127.0.0.1:11434\n"

    def test_what_a_vault_asks_for_cannot_write_to_the_terminal(self, desk: Desk) -> None:
        desk.vault_file.write_text('[ollama]\nhost = "http://a/\\u009b2J\\u001b]0;x"\n')
        assert {"\x1b", "\x9b"} & set(desk.types("trust").out) == set()


@pytest.mark.parametrize("arguments", [("set", "ui.color", "never"), ("unset", "ui.color"), ("show",), ("path",)])
def test_settings_that_are_a_link_to_itself_are_a_sentence(world: World, arguments: tuple[str, ...]) -> None:
    file = world.home / ".config" / "zkchat" / "config.toml"
    file.parent.mkdir(parents=True)
    file.symlink_to("config.toml")
    result = world.run("config", *arguments)
    assert result.code == (ExitCode.OK if arguments == ("path",) else ExitCode.CONFIG)
    assert file.is_symlink()
