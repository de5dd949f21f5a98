"""Completion in real shells: Tab is pressed, the screen is read. Run by `make shells`, not with the other tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shells.shells import SHELLS, Shell, is_installed, write_program
from tests.support.world import World

NAMES = [
    "Evergreen notes", "$(touch run)", "`touch run`", "zz;touch run", "kk & touch run", "it's", "ff ends in '",
    'say "hi"', "日本語 ノート", "Ünïcode", "wow!really", "gg ends in!", "back\\slash", "star *", "#hash", "~tilde",
    "col: on: x", "eq=y z", "[bracket]", "{a,b}", "two  spaces", "(paren)", "<lt>", "per^c", "q?m", "%pct",
]  # fmt: skip
NEVER_OFFERED = ["new\nline", "hide\x1b]0;title\x07", "turn\u202etxt"]
ESCAPED_IN_QUOTES = {"bash": '"\\$`', "zsh": '"\\$`', "fish": '"\\$'}


@pytest.fixture(scope="module", params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    if not is_installed(request.param):
        pytest.fail(f"{request.param} is missing: apt install {request.param}")
    world = World(tmp_path_factory.mktemp(request.param))
    for name in (*NAMES, *NEVER_OFFERED):
        world.note(f"{name}.md", "x\n")
    world.note("Garden/Pruning roses.md", "# Pruning roses\n\n## When to prune\n\n## How to prune\n")
    world.note("Garden/Pruning vines.md", "# Pruning vines\n\n#pruning\n")
    assert world.run("index").code == 0
    assert world.run("ask", "$(touch run) what?", "--model", world.script([{"text": "No."}])).code == 0
    write_program(world.home / "bin")
    opened = Shell(request.param, world.vault, world.home)
    yield opened
    opened.close()
    assert {*world.vault.rglob("run")} == set(), "a name was run as a command"


def beginning(shell: Shell, name: str, quote: str) -> str:
    """The first two characters of a name, as somebody would type them."""
    text = name[:2]
    if quote == "'":
        return quote + (text.replace("'", "'\\''") if shell.name != "fish" else text)
    if quote == '"':
        return quote + "".join(f"\\{sign}" if sign in ESCAPED_IN_QUOTES[shell.name] else sign for sign in text)
    return "".join(sign if sign.isalnum() else f"\\{sign}" for sign in text)


@pytest.mark.parametrize("quote", ["", '"', "'"], ids=["bare", "double", "single"])
def test_names_of_notes_arrive_as_they_are_and_are_never_run(shell: Shell, quote: str) -> None:
    for name in NAMES:
        assert shell.run(f"links {beginning(shell, name, quote)}\t") == ["links", name]


def test_a_link_inside_a_question_is_closed(shell: Shell) -> None:
    end = '"' if shell.name == "zsh" else ""  # the others close the quotes themselves, though more may follow
    assert shell.run(f'ask "what of [[everg\t{end}') == ["ask", "what of [[Evergreen notes]]"]
    assert shell.run("ask \\[\\[日\t") == ["ask", "[[日本語 ノート]]"]
    assert shell.run('ask "[[Pruning roses#Wh\t') == ["ask", "[[Pruning roses#When to prune]]"]
    assert shell.run("ask '[[$(\t") == ["ask", "[[$(touch run)]]"]


def test_what_several_names_share_is_typed_and_the_names_are_shown(shell: Shell) -> None:
    # Bash shows them at the Tab after one that changed nothing.
    tabs = "\t" * (3 if shell.name == "bash" else 2)
    shell.type(f"zkchat links pru{tabs}")
    shell.wait_for("Pruning", "roses", "vines")
    shell.leave_line()


def test_names_that_act_on_a_terminal_are_not_offered(shell: Shell) -> None:
    for typed in ("new", "hide", "turn"):
        assert shell.run(f"links {typed}\t") == ["links", typed]


def test_commands_options_and_choices(shell: Shell) -> None:
    assert shell.run("backl\t") == ["backlinks"]
    assert shell.run("context exp\t") == ["context", "export"]
    assert shell.run("ask --str\t") == ["ask", "--strict"]
    assert shell.run("context export --format mark\t") == ["context", "export", "--format", "markdown"]
    assert shell.run("context export --format=mark\t") == ["context", "export", "--format=markdown"]
    assert shell.run("config get context.max\t") == ["config", "get", "context.max_tokens"]
    assert shell.run("config set ui.keys v\t") == ["config", "set", "ui.keys", "vi"]
    assert shell.run("ask --agent res\t") == ["ask", "--agent", "research"]
    assert shell.run("@res\t") == ["@research"]
    assert shell.run("ask --model quo\t") == ["ask", "--model", "quote"]
    assert shell.run("search tag:pru\t") == ["search", "tag:pruning"]


def test_sessions_are_completed_by_their_titles(shell: Shell) -> None:
    assert shell.run("sessions show \\$\\(\t") == ["sessions", "show", "$(touch run) what?"]
    assert shell.run("ask --session '$\t") == ["ask", "--session", "$(touch run) what?"]


def test_folders_and_files_are_left_to_the_shell(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a file.json").write_text("[]")
    assert shell.run(f"ask --vault {tmp_path}/a\\ fo\t")[2].rstrip("/") == f"{tmp_path}/a folder"
    assert shell.run(f"context import {tmp_path}/a\\ fi\t") == ["context", "import", f"{tmp_path}/a file.json"]


def test_the_vault_that_the_line_names_is_meant(shell: Shell, tmp_path: Path) -> None:
    assert shell.run(f"links --vault {tmp_path} Everg\t") == ["links", "--vault", str(tmp_path), "Everg"]
    assert shell.run(f"links --vault {shell.vault} Everg\t")[-1] == "Evergreen notes"
