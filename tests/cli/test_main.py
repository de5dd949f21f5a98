import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.world import GARDEN, World
from zkchat.cli import ask
from zkchat.cli.common import CommandIO
from zkchat.core.errors import ExitCode
from zkchat.version import __version__


def test_the_version_is_printed(world: World) -> None:
    assert world.run("--version").out == f"zkchat {__version__}\n"
    fast = subprocess.run([sys.executable, "-m", "zkchat", "--version"], capture_output=True, text=True, check=True)
    assert fast.stdout == f"zkchat {__version__}\n"


def test_help_teaches_how_to_begin(world: World) -> None:
    text = world.run("--help").out
    for word in ("ask", "chat", "sessions", "config", "doctor", "Start a chat"):
        assert word in text


def test_an_agent_in_the_place_of_a_command_is_asked(world: World) -> None:
    world.note("Sleep.md", "# Sleep\n\nSeven hours are enough.\n")
    for arguments in (("@Research", "How long?"), ("ask", "--agent", "Research", "How long?")):
        asked = world.run(*arguments, "--model", world.script([{"text": "Seven."}]))
        assert (asked.code, asked.out) == (0, "Seven.\n")
        shown = world.run("context", "show", "--json").json
        assert shown["live"][-1]["request_context"]["agent"] == "research"
    assert "zkchat @research" in world.run("--help").out
    assert world.run("@research").err.startswith("zkchat: There is no question.")
    piped = world.run("@research", "--model", world.script([{"text": "Seven."}]), stdin="How long?")
    assert piped.out == "Seven.\n"


def test_a_question_alone_is_asked_and_a_command_may_follow_its_vault(world: World) -> None:
    world.note("Sleep.md", "# Sleep\n\nSeven hours are enough.\n")
    vault = ("--vault", str(world.vault))
    question, model = "How many hours are enough?", ("--model", "quote")
    for arguments in (
        (question, *vault, *model),
        (*vault, *model, question),
        (*vault, *model, "ask", question),
        (*model, "ask", question, *vault),
    ):
        assert world.run(*arguments).out.startswith("> Seven hours are enough.")
    assert "1 note" in world.run(*vault, "vault", "status").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("aks", "x"), "Did you mean 'ask'?\n"),
        (("ask", "--modle", "x"), "No such option: --modle. Did you mean --model?\n"),
        (("ask", "x", "--save"), "No such option: --save.\n"),
        (("Beech",), "To ask about it: zkchat ask Beech. All commands: zkchat --help\n"),
        (("sessions", "list", "last week"), "zkchat sessions search last week\n"),
        (("memory", "delete", "1"), "'delete'.\n        There is: zkchat memory forget\n"),
        (("note", "delete", "Sleep"), "There is: zkchat note trash\n"),
        (("config", "list"), "There is: zkchat config show\n"),
        (("models", "use", "quote"), "There is: zkchat config set model NAME"),
        (("open", "1"), "'open'.\n        There is: zkchat show NOTE --open, or /open in a chat\n"),
        (("save",), "'save'.\n        There is: zkchat ask \"QUESTION\" | zkchat note new TITLE - --answer --yes"),
        (("find", "tea"), "'find'.\n        There is: zkchat search\n"),
        (("history",), "There is: zkchat sessions list, or /history in a chat\n"),
        (("resume",), "There is: zkchat -r, or /resume in a chat\n"),
        (("sessions", "show"), "zkchat sessions show --help"),
        (("search", "a", "--limit", "0"), "'--limit': it must be 1 or more.\n"),
        (("brief", "--days", "400"), "'--days': it must be 366 or less.\n"),
        (("search", "a", "--limit", "1.5"), "'--limit': it must be a whole number"),
        (("agent", "run", "--minutes", "x"), "'--minutes': it must be a number"),
        (("search", "tea", "-milk"), "zkchat search 'tea -milk'\n"),
        (("search", "tea", "--milk"), "See: zkchat search --help\n"),
        (("completion",), "Missing argument 'SHELL'. Choose from: bash, zsh, fish."),
        (
            ("config", "set", "model", "\udcff"),
            "'VALUE': it is not UTF-8 text.\n        See: zkchat config set --help\n",
        ),
        (("rules", "new", "Tone", "Caf\udce9"), "it is not UTF-8 text.\n"),
        (("ask", "What", "is", "\udcff?", "--model", "quote"), "'question': it is not UTF-8 text.\n"),
        (("ask", "What?", "--model", "\udcff"), "'--model': it is not UTF-8 text.\n"),
    ],
)
def test_wrong_use_is_a_sentence_with_the_way_to_the_help(world: World, arguments: tuple[str, ...], said: str) -> None:
    result = world.run(*arguments)
    assert result.code == ExitCode.USAGE
    assert said in result.err
    assert "Traceback" not in result.err


def test_a_model_that_is_not_there_is_told_with_the_setting_that_names_it(world: World) -> None:
    world.note("Sleep.md", "# Sleep\n")
    world.run("config", "set", "model", "llama3")
    assert "There is no model 'llama3'. It is the setting 'model' in /" in world.run("ask", "Why?").err
    assert "There is no model 'llama4'.\n" in world.run("ask", "Why?", "--model", "llama4").err


def test_a_command_that_stands_elsewhere_is_told_with_its_place(world: World) -> None:
    there = "zkchat sessions rename, zkchat note rename, /rename in a chat"
    assert world.run("rename").err == f"zkchat: No such command 'rename'.\n        There is: {there}\n"
    assert "There is: /sources in a chat\n" in world.run("sources").err
    there = "zkchat context export, zkchat memory export, /export in a chat"
    assert f"There is: {there}\n" in world.run("sessions", "export").err
    assert "To search your conversations for it: zkchat sessions search roof\n" in world.run("sessions", "roof").err


def test_sessions_alone_lists_them(world: World) -> None:
    world.run("ask", "Sleep?", "--model", "quote")
    assert world.run("sessions").out == world.run("sessions", "list").out
    assert len(world.run("sessions", "--all", "--json").json) == 1
    assert "Commands:" in world.run("sessions", "--help").out


def test_one_word_is_a_question_where_it_ends_as_one(world: World) -> None:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours of sleep.\n")
    assert "seven hours" in world.run("Sleep?", "--model", "quote").out


def test_a_folder_and_a_file_may_have_names_that_are_no_text(world: World) -> None:
    vault = world.root / "notes \udcff"
    vault.mkdir()
    (vault / "Sleep.md").write_text("# Sleep\n")
    world.confirm(vault)
    assert "Sleep.md" in world.run("search", "sleep", "--vault", str(vault)).out
    assert world.run("search", "sleep", "--vault", f"{vault} \udcfe").code == ExitCode.VAULT
    assert world.run("config", "set", "ui.panel", "off", "--scope", "vault", "--vault", str(vault)).code == ExitCode.OK
    assert world.run("rules", "new", "Tone", "Be kind.", "--scope", "vault", "--vault", str(vault)).code == ExitCode.OK
    assert "approved" in world.run("trust", "--vault", str(vault)).out
    world.run("ask", "Sleep?", "--model", "quote", "--vault", str(vault))
    exported = str(world.root / "talk \udcff.json")
    assert world.run("context", "export", "--output", exported, "--vault", str(vault)).code == ExitCode.OK
    assert world.run("context", "import", exported).code == ExitCode.OK


def test_a_bug_is_told_in_a_sentence_and_kept_in_a_private_file(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        key = "sk-canary"
        raise RuntimeError(f"lost {len(key)}")

    monkeypatch.setattr(ask, "_question", broken)
    result = world.run("ask", "x")
    assert result.code == ExitCode.BUG
    assert "This is a bug: RuntimeError: lost 9" in result.err
    (report,) = world.home.rglob("crash.txt")
    assert "RuntimeError" in report.read_text()
    assert "sk-canary" not in report.read_text().replace('key = "sk-canary"', "")
    assert report.stat().st_mode & 0o077 == 0


def test_a_bug_is_told_also_where_nothing_can_be_written(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise RuntimeError("lost")

    monkeypatch.setattr(ask, "_question", broken)
    (world.home / ".cache").write_text("a file where a folder should be")
    result = world.run("ask", "x")
    assert result.code == ExitCode.BUG
    assert "could not be written" in result.err


def test_ctrl_c_has_its_own_exit_code(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(ask, "_question", stopped)
    assert world.run("ask", "x").code == ExitCode.INTERRUPTED


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path)}
    command = f'{sys.executable} -m zkchat config show --vault "{GARDEN}" | head -1; exit ${{PIPESTATUS[0]}}'
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_question_is_asked_only_on_a_terminal(world: World) -> None:
    assert not CommandIO(world.environment(stdin="y\n")).confirm("Sure?")
    environment = world.environment(terminal=True)
    environment.stdin.write("Yes\n")
    environment.stdin.seek(0)
    assert CommandIO(environment).confirm("Sure?")
    assert isinstance(environment.stderr, io.StringIO)
    assert environment.stderr.getvalue() == "Sure? [y/N] "


def test_options_without_a_command_are_those_of_the_chat(world: World) -> None:
    world.note("Tea.md", "# Tea\n\nGreen tea steeps for two minutes.\n")
    chat = world.run("--plain", "--model", "quote", stdin="How long does green tea steep?\n")
    assert chat.code == ExitCode.OK
    assert "Green tea steeps for two minutes." in chat.out
    wrong = world.run("--bogus")
    assert (wrong.code, "See: zkchat chat --help" in wrong.err) == (ExitCode.USAGE, True)
