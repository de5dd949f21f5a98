"""The exit codes of docs/exit-codes.md, command by command."""

import pytest

from tests.support.world import World
from zkchat.core.errors import ExitCode

TABLE: dict[ExitCode, list[str]] = {
    ExitCode.OK: [
        "--version", "--help", "-h", "ask -h", "help", "help exit-codes", "help ask", "completion bash",
        "search sleep", "search zebra", "verify -", "links Sleep", "backlinks Sleep",
        "resolve [[Sleep]]", "show Sleep", "recent", "tags", "brief", "timeline Sleep",
        "vault status", "vault mentions Sleep", "index", "changes", "note append Sleep x --dry-run",
        "sessions list", "sessions search zebra", "memory search zebra",
        "context stats", "config get context.max_tokens", "agent show writer", "models", "doctor", "trust",
        "mcp", "mcp list", "mcp check", "mcp install cursor", "acp",
    ],
    ExitCode.USAGE: [
        "nonsense", "ask", "ask x --nonsense", "search",
        "search x --limit 0", "verify", "verify nothing.md", "links", "refs", "resolve", "resolve [[]]",
        "vault", "sessions x", "config", "help nonsense", "completion", "completion tcsh", "@nobody x", "agent new a/b",
        "memory show nothing", "memory import nothing.md", "context import nothing.json", "context show --message 99",
        "context compact --detail long",
        "models pull nothing", "chat --new --continue", "agent run", "agent run x --model quote",
        "note", "note trash No/ --yes", "note append Sleep", "note append Sleep x",
        "mcp add a/b -- x", "mcp add x", "mcp add x --url u -- y", "mcp add x --url foo",
        "mcp remove nothing", "mcp check nothing", "mcp import nothing.json", "mcp import cursor",
        "mcp install emacs", "mcp --port 1",
        "note set Sleep x", "undo", "undo --id 9", "undo 0", "changes --since soon",
    ],
    ExitCode.CONFIG: [
        "config get nothing", "config set nothing 1", "config set context.max_tokens many", "config unset nothing",
        "ask x --model nothing", "ask x --model nothing:x",
        "ask x --agent nobody", "agent show nobody", "rules show nothing", "mcp install cursor --yes",
    ],
    ExitCode.VAULT: [
        "search x --vault nowhere", "acp --vault nowhere", "lsp --vault nowhere",
        "links Nothing", "backlinks Nothing", "refs Nothing", "show Nothing", "daily", "timeline Nothing",
        "vault mentions Nothing", "vault neighbours Nothing", "resolve [[Nothing]]", "resolve [[Sleep#Nothing]]",
        "resolve [[Sleep]] --from Nothing", "note append Nothing x --yes", "note append Sleep x --section No --yes",
        "note new Sleep x --yes", "note rename Nothing x --yes", "note move No/ x --yes", "note trash Nothing --yes",
    ],
    ExitCode.SESSION: [
        "ask x --session nothing", "sessions show nothing", "sessions rename nothing x", "sessions pin nothing 1",
        "sessions delete nothing --yes", "context stats nothing", "context export nothing", "context compact nothing",
        "agent run --resume", "agent run --resume nothing",
    ],
    ExitCode.MODEL: ["ask x --model ollama:x", "ask x --model openai:x", "doctor --model ollama:x"],
    ExitCode.NO_ANSWER: ["ask zebra? --model quote", "verify Sleep.md"],
}  # fmt: skip

SHOWN_ELSEWHERE = {
    ExitCode.BUG: "tests/cli/test_main.py",
    ExitCode.STORAGE: "tests/cli/test_vault_commands.py",
    ExitCode.OUTPUT: "tests/faults/test_standard_streams.py",
    ExitCode.HUNG_UP: "tests/terminal/test_signals.py",
    ExitCode.INTERRUPTED: "tests/terminal/test_signals.py",
    ExitCode.TERMINATED: "tests/terminal/test_signals.py",
}


@pytest.mark.parametrize("code", TABLE, ids=lambda code: code.name)
def test_commands_end_with_the_code_that_the_page_promises(world: World, code: ExitCode) -> None:
    world.note("Sleep.md", "# Sleep\n\nSeven hours are enough.\n")
    assert world.run("ask", "How long?", "--model", world.script([{"text": "Seven."}])).code == ExitCode.OK
    results = {line: world.run(*line.split(), stdin="") for line in TABLE[code]}
    assert {line: result.code for line, result in results.items()} == dict.fromkeys(TABLE[code], code)
    for line, result in results.items():
        assert code == ExitCode.OK or result.err or result.out, f"{line} fails without a word"
        for word in ("Traceback", "Errno", "Value error", "Input should", "zkchat: Usage"):
            assert word not in result.err, line


def test_every_code_has_its_row() -> None:
    assert {*TABLE} | {*SHOWN_ELSEWHERE} == {*ExitCode}
