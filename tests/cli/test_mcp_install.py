"""`zkchat serve mcp install`: the entry that other programs need, shown or written into their files."""

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import World

CURSOR = ".cursor/mcp.json"
DESKTOP = ".config/Claude/claude_desktop_config.json"
PROGRAM = str(Path(sys.executable).with_name("zkchat"))


@pytest.fixture
def world(world: World) -> World:
    world.note("Tea.md", "# Tea\n")
    return world


def settings(world: World, path: str, text: str | bytes | None = None) -> Path:
    """The file of a program, with that text; without, only its folder."""
    file = world.home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if text is not None:
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def entry_of(world: World, *options: str) -> dict[str, Any]:
    return {"command": PROGRAM, "args": ["mcp", "--vault", str(world.vault), *options]}


@pytest.mark.parametrize(
    ("program", "path", "table", "more"),
    [
        ("claude-desktop", DESKTOP, "mcpServers", {}),
        ("claude-code", ".claude.json", "mcpServers", {"type": "stdio"}),
        ("cursor", CURSOR, "mcpServers", {}),
        ("vscode", ".config/Code/User/mcp.json", "servers", {"type": "stdio"}),
        ("zed", ".config/zed/settings.json", "context_servers", {}),
        ("windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers", {}),
        ("gemini", ".gemini/settings.json", "mcpServers", {}),
        ("lm-studio", ".lmstudio/mcp.json", "mcpServers", {}),
    ],
)
def test_an_entry_is_written_where_a_program_looks_for_it(
    world: World, program: str, path: str, table: str, more: dict[str, str]
) -> None:
    file = settings(world, path, "{}")
    result = world.run("mcp", "install", program, "--yes")
    assert result.code == 0
    assert json.loads(result.out) == json.loads(file.read_text()) == {table: {"zkchat": {**more, **entry_of(world)}}}
    assert "already in the settings" in world.run("mcp", "install", program, "--yes").err


def test_all_else_in_a_file_stays(world: World) -> None:
    before = {
        "theme": "dünkel",
        "big": 12345678901234567890,
        "mcpServers": {"other": {"command": "x", "odd": None}, "zkchat": {"command": "old"}},
        "x": [1.5, True],
    }
    text = json.dumps(before, indent="\t", ensure_ascii=False)
    file = settings(world, DESKTOP, text)
    file.chmod(0o640)
    result = world.run("mcp", "install", "claude-desktop", "--yes")
    assert "another entry of that name" in result.err
    written = file.read_text()
    servers = {**before["mcpServers"], "zkchat": entry_of(world)}  # type: ignore[dict-item]
    assert json.loads(written) == {**before, "mcpServers": servers}
    assert [*json.loads(written)] == [*before]
    assert '\n\t"theme": "dünkel",\n' in written
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    backup = file.with_name(f"{file.name}.before-zkchat")
    assert backup.read_text() == text
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert str(backup) in result.err


def test_no_copy_takes_the_place_of_an_earlier_one(world: World) -> None:
    file = settings(world, CURSOR, "{}")
    texts = []
    for options in ((), ("--write",), ("--local",)):
        texts.append(file.read_text())
        assert world.run("mcp", "install", "cursor", "--yes", *options).code == 0
        assert [each for each in ("--local", "--write") if each in file.read_text()] == [*options]
    copies = [file.with_name(f"{file.name}.before-zkchat{number}") for number in ("", "-2", "-3")]
    assert [copy.read_text() for copy in copies] == texts


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links")
def test_a_link_to_the_file_stays_a_link(world: World) -> None:
    real = settings(world, "dotfiles/cursor.json", "{}")
    link = settings(world, CURSOR)
    link.symlink_to(real)
    assert world.run("mcp", "install", "cursor", "--yes").code == 0
    assert link.is_symlink()
    assert "zkchat" in real.read_text()


def test_without_a_yes_nothing_is_written(world: World) -> None:
    file = settings(world, CURSOR, "{}")
    piped = world.run("mcp", "install", "cursor", stdin="")
    assert json.loads(piped.out) == {"mcpServers": {"zkchat": entry_of(world)}}
    assert "--yes" in piped.err
    assert "Nothing was written." in world.run("mcp", "install", "cursor", typed="n\n").err
    assert world.run("mcp", "install", "cursor", "--yes", "--dry-run").code == 0
    assert file.read_text() == "{}"
    assert "Written." in world.run("mcp", "install", "cursor", typed="y\n").err
    assert "zkchat" in file.read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "a": 2}', "'a' is there twice"),
        ("{", "is broken at line 1"),
        ("[]", "is not a JSON object"),
        ('{"mcpServers": []}', "has a 'mcpServers' that is not a JSON object"),
        (b"\xff\xfe{", "is not UTF-8 text"),
        ('{"x": NaN}', "zkchat cannot add to it without altering the rest"),
        ('{"é": "\\ud800"}', "zkchat cannot add to it without altering the rest"),
    ],
)
def test_a_file_that_cannot_be_kept_as_it_is_stays(world: World, text: str | bytes, said: str) -> None:
    file = settings(world, CURSOR, text)
    result = world.run("mcp", "install", "cursor", "--yes")
    assert result.code == 3
    assert said in result.err
    assert file.read_bytes() == (text.encode() if isinstance(text, str) else text)
    assert [each.name for each in file.parent.iterdir()] == ["mcp.json"]


def test_comments_are_not_lost(world: World) -> None:
    text = '{\n  // mine\n  "servers": {},\n}'
    file = settings(world, ".config/Code/User/mcp.json", text)
    result = world.run("mcp", "install", "vscode", "--yes")
    assert (result.code, file.read_text()) == (3, text)
    assert "Nothing was written for VS Code: the file has comments" in result.err
    assert json.loads(result.out)["servers"]["zkchat"]["type"] == "stdio"


def test_for_a_program_that_is_not_here_the_entry_is_shown(world: World) -> None:
    shown = world.run("mcp", "install", "claude-code")
    refused = world.run("mcp", "install", "claude-code", "--yes")
    assert (shown.code, refused.code) == (0, 3)
    assert shown.out == refused.out
    assert "it has no settings yet. Start Claude Code once" in shown.err
    assert "Nothing was written for Claude Code: it has no settings yet" in refused.err
    assert world.run("mcp", "install", "claude-code", "--yes", "--dry-run").code == 0
    scripted = world.run("mcp", "install", "claude-code", "--yes", "--json")
    assert (scripted.code, scripted.json["state"], scripted.json["written"]) == (3, "absent", False)
    assert not (world.home / ".claude.json").exists()


def test_scripts_get_the_entry_and_what_was_done(world: World) -> None:
    file = settings(world, CURSOR, "{}")
    shown = world.run("mcp", "install", "cursor", "--json").json
    assert shown == {
        "program": "cursor",
        "file": str(file),
        "table": "mcpServers",
        "name": "zkchat",
        "entry": entry_of(world),
        "state": "new",
        "written": False,
        "backup": None,
    }
    written = world.run("mcp", "install", "cursor", "--json", "--yes").json
    assert written == {**shown, "written": True, "backup": f"{file}.before-zkchat"}
