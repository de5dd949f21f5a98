"""The table of slash commands: found by name, helped with, completed."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.support.command_harness import CommandHarness
from zkchat.repl.command_context import Leave, Nothing, Outcome, Send
from zkchat.repl.commands.table import COMMANDS, completions, run

NAMES = [command.name for command in COMMANDS]


@pytest.fixture
def harness() -> CommandHarness:
    return CommandHarness()


def typed(harness: CommandHarness, line: str) -> Outcome:
    return asyncio.run(run(harness.context, line))


@pytest.mark.parametrize("line", ["/quit", "/exit", "/q", "/QUIT", "  /quit  "])
def test_quit_leaves_by_each_of_its_names(harness: CommandHarness, line: str) -> None:
    assert isinstance(typed(harness, line), Leave)


def test_help_fits_a_screen_and_names_every_command(harness: CommandHarness) -> None:
    assert isinstance(typed(harness, "/help"), Nothing)
    lines = harness.surface.text.splitlines()
    assert len(lines) <= 22
    assert max(map(len, lines)) < 80
    for command in COMMANDS:
        named = f"/{command.name}" if command.is_minor else command.usage
        assert re.search(rf"{re.escape(named)}[ ,.]", harness.surface.text)
        assert command.is_minor or command.help in harness.surface.text


def test_help_lists_the_other_words_for_a_command(harness: CommandHarness) -> None:
    typed(harness, "/help")
    assert re.search(r"^.*/new, /clear +begin a new session", harness.surface.text, re.MULTILINE)
    assert "/q " not in harness.surface.text


def test_two_columns_of_help_never_run_into_each_other(harness: CommandHarness) -> None:
    typed(harness, "/help")
    columns, _, _ = harness.surface.text.partition("\nAlso ")
    for line in columns.splitlines()[1:]:
        assert line[38:40].strip() == "" or not line[40:].strip()


def test_help_on_a_narrow_screen_has_one_command_in_a_line(harness: CommandHarness) -> None:
    harness.surface.width = 40
    typed(harness, "/help")
    assert sum(line.startswith("/") for line in harness.surface.text.splitlines()) == len(COMMANDS)


@pytest.mark.parametrize("name", ["save", "/save", "SAVE"])
def test_help_shows_more_about_one_command(harness: CommandHarness, name: str) -> None:
    typed(harness, f"/help {name}")
    assert harness.surface.text.startswith("/save [NOTE]: answer as a new note. With its question")


def test_help_shows_other_names_of_a_command(harness: CommandHarness) -> None:
    typed(harness, "/help quit")
    assert harness.surface.text == "/quit (also /exit, /q): leave, as Ctrl-D does."


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/hsitory", "There is no command /hsitory. Did you mean /history?"),
        ("/comp", "There is no command /comp. Did you mean /compact?"),
        ("/re", "There is no command /re. Did you mean /refs or /recent or /retry?"),
        ("/xyzzy", "There is no command /xyzzy. /help lists them all."),
        ("/", "There is no command /. /help lists them all."),
        ("/help xyzzy", "There is no command /xyzzy. /help lists them all."),
    ],
)
def test_an_unknown_command_is_answered_with_the_nearest(harness: CommandHarness, line: str, told: str) -> None:
    assert isinstance(typed(harness, line), Nothing)
    assert harness.surface.text == told


def test_a_message_that_begins_with_a_path_is_sent(harness: CommandHarness) -> None:
    assert typed(harness, "/usr/bin/env: what is it?") == Send("/usr/bin/env: what is it?")


def test_an_argument_may_begin_on_the_next_line(harness: CommandHarness) -> None:
    typed(harness, "/help\nquit")
    assert harness.surface.text.startswith("/quit")


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"help", "quit", "new", "model", "stats"}))
def test_a_command_before_the_first_message_says_why_it_can_do_nothing(harness: CommandHarness, name: str) -> None:
    assert isinstance(typed(harness, f"/{name}"), Nothing)
    (sentence,) = harness.surface.lines
    assert sentence.endswith((".", "?"))


def test_names_of_commands_are_completed(harness: CommandHarness) -> None:
    assert completions(harness.context, "/re") == ["/refs", "/recent", "/retry", "/resume", "/remember"]
    assert len(completions(harness.context, "/")) == len(COMMANDS)
    assert completions(harness.context, "/help co") == ["copy", "context", "compact"]


@pytest.mark.parametrize("line", ["/xyzzy 1", "/save No", "/quit x"])
def test_where_nothing_is_known_nothing_is_completed(harness: CommandHarness, line: str) -> None:
    assert completions(harness.context, line) == []


def test_names_and_other_names_are_used_once(harness: CommandHarness) -> None:
    called = [name for command in COMMANDS for name in (command.name, *command.aliases)]
    assert len(called) == len(set(called))


def test_the_page_of_commands_lists_each_with_what_help_says() -> None:
    page = (Path(__file__).parents[4] / "docs" / "commands.md").read_text()
    rows = [f"| `{command.usage}` | {command.help} |" for command in COMMANDS]
    missing = [row for row in rows if row not in page]
    assert not missing, "Add to the table in docs/commands.md:\n" + "\n".join(missing)
