"""Every example of README.md, SECURITY.md and docs/ is run, or listed here with the reason why not.

An example that is neither run nor listed fails, and so does a row that no page needs any more.
"""

import io
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main
from rich.console import Console

from tests.providers.loopback import Loopback, serving
from tests.support.doc_examples import Block, Example, blocks_of, examples_of, pages, shows, shows_json, values_of
from tests.support.doc_shell import Shell, typed_and_printed
from tests.support.sessions import NOON
from tests.support.world import GARDEN, World
from zkchat.app import stores
from zkchat.cli.change_review import TerminalChangeReviewer
from zkchat.cli.command_table import EPILOG
from zkchat.cli.common import CommandIO
from zkchat.cli.main import app
from zkchat.config.loading import load
from zkchat.core.changes import ChangeSet, FileWrite
from zkchat.core.choices import ContextUsage
from zkchat.core.errors import ExitCode
from zkchat.core.message import ChatMessage, CompactionPart, DocumentReference
from zkchat.core.prompt import Finish, ModelChunk, TextChunk
from zkchat.core.session import MessageEntry
from zkchat.render.context import context_bar
from zkchat.render.phrases import compaction

NOT_RUN = {
    "make test": "runs this test",
    "pip install .": "installs packages",
    "pip install 'zkchat[acp]'": "installs packages",
    "pip install 'zkchat[anthropic]'": "installs packages",
    "pip install 'zkchat[local]'": "installs packages",
    "pip install 'zkchat[mcp]'": "installs packages",
    "zkchat serve --vault ~/notes": "serves until it is stopped",
    "pip install 'zkchat[pdf]'": "installs packages",
    "ollama serve &": "starts a server; here one on loopback answers",
    "ollama pull qwen3:8b": "fetches a model",
    "ollama pull nomic-embed-text": "fetches a model",
    "llama-server -m model.gguf --port 8080 &": "starts a server; here one on loopback answers",
    "pip install 'zkchat[meaning]'": "installs packages",
    "zkchat models pull all-minilm-l6-v2": "fetches a model; tests/unit/providers/test_weights.py fetches one",
    "zkchat models pull qwen2.5-coder-1.5b": "fetches a model; tests/unit/providers/test_weights.py fetches one",
    'zkchat ask "What do my notes say about sleep?" --model local:qwen2.5-coder-1.5b': (
        "needs that model; tests/live/contract_models.py asks it"
    ),
}
"""Commands without their comments, each with the reason why it is not run."""

NOT_CHECKED = {
    "docs/acp.md": "settings of editors",
    "docs/lsp.md": "settings of editors",
    "docs/architecture.md": "a drawing; tests/architecture/test_architecture_page.py compares it with the contracts",
}
"""Pages with blocks that are neither a command nor a file, each with the reason why they are not checked."""

RUN_ELSEWHERE = {"docs/python.md": "tests/docs/test_python_page.py"}
"""Pages of Python, which is run with what it prints by tests of their own."""

OWN_NOTES = ("docs/json.md", "docs/agents.md", "docs/attachments.md", "docs/memory.md")
"""Pages whose examples run over the notes that they show. All others run over a copy of vault-fixtures/garden."""

ANSWER: list[ModelChunk] = [TextChunk(text="Seven to nine hours, says [[Sleep]]."), Finish()]
MODELS = dict.fromkeys(("qwen3:8b", "gpt-5-mini", "gpt-5", "claude-sonnet-5", "any"), ANSWER)
"""What the servers answer."""

VARIABLES = {
    "docs/models.md": {"ZKCHAT_MODEL": ""},
    "docs/privacy.md": {"ZKCHAT_OPENAI__LOCAL": "false", "OPENAI_API_KEY": "sk-0123456789"},
}
"""What is set for a page besides `ZKCHAT_MODEL=quote`."""


def drawn_bar(_: World) -> str:
    usage = ContextUsage(
        system=196, memory=118, references=402, messages=1096, window=4096, reserve=512, estimated=True
    )
    console = Console(file=io.StringIO(), width=80, color_system=None)
    console.print(context_bar(usage, width=80))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def drawn_compaction(_: World) -> str:
    archived = tuple(map(str, range(18)))
    part = CompactionPart(number=1, summary="", archived=archived, tokens_before=2640, tokens_after=500)
    return f"── {compaction(ChatMessage(id='m', role='system', parts=(part,), created_at=NOON))}\n"


def proposed_fact(world: World) -> str:
    model = world.script([{"text": "Good."}])
    return world.run("chat", "--model", model, typed="I decided to write the thesis in English.\n/quit\nn\n").err


def reviewed_changes(world: World) -> str:
    before = b"# Sleep\n\nSeven hours are enough.\n"
    after = b"# Sleep\n\nEight hours are enough.\nNaps count, too.\n"
    curtain = FileWrite(path="Inbox/Curtain.md", before=None, after=b"A darker curtain helps [[Sleep]].\n")
    changes = ChangeSet(
        title="Edit Sleep.md, and 1 more", writes=(FileWrite(path="Sleep.md", before=before, after=after), curtain)
    )
    environment = world.environment(typed="n\n", terminal=True)
    TerminalChangeReviewer(CommandIO(environment), plain=True).review(changes, may_always=True)
    assert isinstance(environment.stderr, io.StringIO)
    return environment.stderr.getvalue()


ILLUSTRATIONS = {
    ("docs/writing.md", "▌ Ed"): reviewed_changes,
    ("docs/memory.md", "Reme"): proposed_fact,
    ("docs/context.md", "██▒▒"): drawn_bar,
    ("docs/context.md", "── C"): drawn_compaction,
}
"""Blocks that show a part of a screen, by their first four characters, with what draws it."""

server = serving(lambda: Loopback(MODELS, key=""))


def talk(world: World) -> None:
    """The conversation of two turns that docs/memory.md counts."""
    for note in ("Sleep", "Coffee"):
        world.note(f"{note}.md", f"# {note}\n")
    with stores.open_sessions(world.environment(), world.vault) as store:
        session = store.create("Nights")
        for number, paths in enumerate([["Sleep.md"], ["Sleep.md", "Coffee.md"]]):
            references = tuple(DocumentReference(wikilink=f"[[{path}]]", relative_path=path) for path in paths)
            message = ChatMessage(id=f"m{number}", role="user", references=references, created_at=NOON)
            store.append(session.id, [MessageEntry(message=message)])


def ask_twice(world: World) -> None:
    """The conversation that docs/context.md looks at."""
    world.run("ask", "How much sleep do adults need?")
    world.run("ask", "How long is a cycle of sleep?", "--continue")


def play(world: World) -> None:
    """The model that answers in docs/commands.md."""
    world.variables["ZKCHAT_MODEL"] = world.script([{"text": "Seven to nine hours, says [[Sleep]]."}])


PREPARED = {"docs/memory.md": talk, "docs/context.md": ask_twice, "docs/commands.md": play}
"""What has happened before the first example of a page."""


def without_comment(command: str) -> str:
    return command.partition("  #")[0].rstrip()


def check(shell: Shell, example: Example, expected_json: str) -> str:
    """Run an example; what is wrong with it, or nothing."""
    if without_comment(example.command) in NOT_RUN:
        return ""
    typed, shown = typed_and_printed(example.printed)
    result = shell.run(example.command, typed)
    printed = result.out + result.err
    codes = {0, ExitCode.NO_ANSWER} if "zkchat check -" in example.command else {0}  # which judges a text
    if (result.code not in codes) != shown.startswith("zkchat: "):
        return f"exit code {result.code}: {printed}"
    if shown and not shows(shown, result.out if typed else printed):
        return f"shown:\n{shown}\nprinted:\n{printed}"
    if expected_json and not shows_json(expected_json, result.out):
        return f"shown:\n{expected_json}\nprinted:\n{result.out}"
    return ""


def write_file(world: World, block: Block) -> None:
    """A file that the page shows; what already exists stays, as commands may have changed it."""
    if block.caption and not (world.vault / block.caption).exists():
        world.note(block.caption, block.text)


def run_console(shell: Shell, block: Block, following: Block | None) -> Iterator[str]:
    examples = examples_of(block)
    shown_after = following.text if following and following.follows_block and following.language == "json" else ""
    for example in examples:
        problem = check(shell, example, shown_after if example == examples[-1] else "")
        if problem:
            yield f"{example.place}: {example.command}\n{problem}"


@pytest.mark.outside  # there are servers on loopback
@pytest.mark.parametrize("page", [page for page in pages() if any(blocks_of(page))])
def test_the_examples_of_a_page_work_as_shown(page: str, world: World, server: Loopback) -> None:
    if page not in OWN_NOTES:
        shutil.copytree(GARDEN, world.vault, dirs_exist_ok=True)
    world.variables |= {"ZKCHAT_OLLAMA__HOST": server.address, "OPENAI_BASE_URL": f"{server.address}/v1"}
    world.variables["ANTHROPIC_BASE_URL"] = server.address
    world.variables |= {"ZKCHAT_MODEL": "quote", **VARIABLES.get(page, {})}
    if page in PREPARED:
        PREPARED[page](world)
    shell = Shell(world, {"http://127.0.0.1:8080": server.address, "~/notes": str(world.vault)})
    blocks = [*blocks_of(page)]
    problems: list[str] = []
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        match block.language:
            case "console":
                problems += run_console(shell, block, following)
            case "markdown" | "json":
                write_file(world, block)
            case _:
                pass
    assert not problems, "\n\n".join(problems)


def test_the_examples_of_the_help_work(world: World) -> None:
    shutil.copytree(GARDEN, world.vault, dirs_exist_ok=True)
    world.note("About/me.md", "- I live in Lisbon.\n")
    (world.vault / "draft.txt").write_text("A cold heap is left alone and needs a year.\n")
    (world.vault / "questions.txt").write_text("How long does a cold heap need? => [[Compost]]\n")
    for file in (".config/Claude/claude_desktop_config.json", ".cursor/mcp.json", "project/.mcp.json"):
        (world.home / file).parent.mkdir(parents=True)
        (world.home / file).write_text('{"mcpServers": {}}')
    world.variables["ZKCHAT_MODEL"] = "quote"
    ask_twice(world)
    world.run("sessions", "rename", "How much sleep do adults need?", "Sleep and light")
    shell = Shell(world, {"~/notes": str(world.vault)})
    examples = [line for line in examples_of_help() if not CHANGING.search(line)]
    examples.sort(key=lambda line: "zkchat ask" in line or "context import" in line)  # these begin other sessions
    assert len(examples) > 20
    planner = world.script(*[[{"text": f"{number}. Step"}] for number in range(1, 9)])  # quote cannot reach a goal
    runnable = [f"{line} --model {planner}" if "--goal" in line else line for line in examples]
    assert [(line, result) for line in runnable if (result := shell.run(line)).code] == []


def test_the_examples_of_the_help_that_change_notes_work(world: World) -> None:
    """Each in the same vault: what it changed is undone before the next."""
    world.note(".obsidian/daily-notes.json", '{"template": "Day"}')
    for note in ("Inbox", "Old plan", "Compost heap", "Ideas/Soil"):
        world.note(f"{note}.md", "Text.\n")
    world.note("Compost.md", "---\ndue: 2026-01-01\n---\nText.\n")
    world.note("Garden.md", "## Visits\n\nNone.\n")
    world.note("Day.md", "## Log\n")
    for number in range(12):
        assert world.run("note", "append", "Inbox", f"Line {number}", "--yes").code == 0
    shell = Shell(world, {})
    examples = [line for line in examples_of_help() if CHANGING.search(line)]
    assert len(examples) > 12
    for line in reversed(examples):  # of changes, the one that is named before the last ones
        is_free = "rename" in line and (world.vault / "Compost.md").rename(world.root / "Compost.md")
        asks = not re.search(r"--yes|--dry-run|changes", line)
        result = shell.run(f"{line} --yes" if asks else line)
        assert result.code == 0, (line, result)
        if not re.search(r"undo|--dry-run|changes", line):
            assert world.run("undo", "--yes").code == 0, line
        if is_free:
            is_free.rename(world.vault / "Compost.md")


CHANGING = re.compile(r"zkchat (?:note (?!link)|undo|changes --id)")


def examples_of_help() -> list[str]:
    helps = [command.help or "" for command in every_command()]
    examples = [line for text in helps for line in re.findall(r"^(?:[\w -]+ \| )?zkchat .*", text, re.MULTILINE)]
    return [*dict.fromkeys(examples), *re.findall(r"zkchat .*", EPILOG)]


def every_command() -> Iterator[Any]:
    """The command line with all commands below it."""
    commands = [typer.main.get_command(app)]
    while commands:
        command = commands.pop(0)
        commands[:0] = getattr(command, "commands", {}).values()
        yield command


def test_no_list_of_commands_breaks_off_a_sentence(world: World) -> None:
    for group in [command.name for command in every_command() if hasattr(command, "commands")]:
        shown = world.run(*([] if group == "zkchat" else [group]), "--help").out
        assert [line for line in shown.splitlines()[1:] if line.endswith("...")] == []


@pytest.mark.parametrize("page", pages())
def test_every_block_of_a_page_is_checked_or_listed(page: str, world: World) -> None:
    for block in blocks_of(page):
        match block.language:
            case "console":
                assert examples_of(block), f"{block.place}: no command"
                assert "".join(f"$ {each.command}\n{each.printed}" for each in examples_of(block)) == block.text
            case "json":
                assert block.caption or block.follows_block, f"{block.place}: what is this JSON?"
                assert values_of(block.text), block.place
            case "toml":
                load(world.note("config.toml", block.text), None, {}, {}, lambda _: False)
            case "markdown":
                assert block.caption, f"{block.place}: say which file this is"
            case "python" | "text":
                assert page in RUN_ELSEWHERE, block.place
            case _:
                draw = ILLUSTRATIONS.get((page, block.text[:4]))
                assert draw or page in NOT_CHECKED, f"{block.place}: a block that nothing checks"
                assert not draw or block.text.strip() in draw(world), block.place


def test_no_row_is_left_of_an_example_that_is_gone() -> None:
    blocks = [block for page in pages() for block in blocks_of(page)]
    commands = {
        without_comment(example.command)
        for block in blocks
        if block.language == "console"
        for example in examples_of(block)
    }
    assert set(NOT_RUN) <= commands
    assert {*NOT_CHECKED, *RUN_ELSEWHERE, *OWN_NOTES} <= {block.page for block in blocks}
    assert set(ILLUSTRATIONS) <= {(block.page, block.text[:4]) for block in blocks}
