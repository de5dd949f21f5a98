"""The table of slash commands: found by name, helped with, completed."""

import re
from pathlib import Path

import pytest

from tests.support.command_harness import CommandHarness
from zkchat.cli.command_table import PLACES
from zkchat.repl.command_context import Leave, Send
from zkchat.repl.commands.table import COMMANDS, MEANT, completions, find_command

NAMES = [command.name for command in COMMANDS]
LISTED = [command.name for command in COMMANDS if not command.is_minor]


@pytest.fixture
def harness() -> CommandHarness:
    return CommandHarness()


@pytest.mark.parametrize("line", ["/exit", "/q", "  /QUIT  "])
def test_quit_leaves_by_each_of_its_names(harness: CommandHarness, line: str) -> None:
    assert isinstance(harness.outcome(line), Leave)


def test_help_lists_few_commands_and_help_all_every_one_with_its_other_names(harness: CommandHarness) -> None:
    harness.typed("/help")
    shown = harness.surface.text
    assert len(shown.splitlines()) <= 12
    assert max(map(len, shown.splitlines())) < 80
    assert len(LISTED) <= 20
    for command in COMMANDS:
        is_listed = re.search(rf"{re.escape(command.usage)} +{re.escape(command.help)}", shown) is not None
        assert is_listed == (not command.is_minor), command.name
    harness.typed("/help all")
    everything = harness.surface.text.removeprefix(shown)
    for width, columns in ((80, 2), (79, 1)):
        harness.surface.width = width
        assert sum(line.count(" /") + 1 for line in harness.typed("/help").splitlines()[:2]) == 2 * columns
    harness.surface.width = 40
    assert sum(line.startswith("/") for line in harness.typed("/help").splitlines()) == len(LISTED)
    assert [line.split()[0].rstrip(",") for line in everything.split("\n") if line] == [f"/{name}" for name in NAMES]
    assert "/sources [N], /refs" in everything


def test_help_shows_more_about_one_command(harness: CommandHarness) -> None:
    for name in ("save", "/SAVE"):
        assert harness.typed(f"/help {name}").startswith("/save [NOTE]: answer as a new note. Saves the last answer")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/hsitory", "There is no command /hsitory. Did you mean /history?"),
        ("/comp", "There is no command /comp. Did you mean /compact?"),
        ("/re", "There is no command /re. Did you mean /resume or /recent or /rename?"),
        ("/find sleep", "There is no command /find. Did you mean /search?"),
        ("/move A B", "There is no command /move. Did you mean `zkchat note move NOTE FOLDER` in a shell?"),
        ("/xyzzy", "There is no command /xyzzy. /help all lists them."),
        ("/help xyzzy", "There is no command /xyzzy. /help all lists them."),
    ],
)
def test_an_unknown_command_is_answered_with_the_nearest(harness: CommandHarness, line: str, told: str) -> None:
    assert harness.typed(line) == told


def test_names_are_used_once_and_what_a_guess_is_answered_with_is_there() -> None:
    called = [name for command in COMMANDS for name in (command.name, *command.aliases)]
    assert len(called) == len(set(called))
    assert not set(MEANT) & set(called)
    for meant in MEANT.values():
        if meant.startswith("/"):
            find_command(meant.split()[0].removeprefix("/"))
        else:
            assert meant.split()[1].strip("`") in PLACES


def test_a_message_that_begins_with_a_path_is_sent(harness: CommandHarness) -> None:
    assert harness.outcome("/usr/bin/env: what is it?") == Send("/usr/bin/env: what is it?")


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"help", "quit", "new", "model", "stats"}))
def test_a_command_before_the_first_message_says_why_it_can_do_nothing(harness: CommandHarness, name: str) -> None:
    harness.typed(f"/{name}")
    (sentence,) = harness.surface.lines
    assert sentence.endswith((".", "?"))


def test_names_of_commands_are_completed_those_that_help_leaves_out_where_no_other_begins_so(
    harness: CommandHarness,
) -> None:
    assert completions(harness.context, "/re") == ["/resume"]
    assert completions(harness.context, "/") == [f"/{name}" for name in LISTED]
    assert completions(harness.context, "/rem") == ["/remember"]
    assert completions(harness.context, "/ref") == ["/refs"]
    assert completions(harness.context, "/help co") == ["copy", "context", "compact"]
    for line in ("/xyzzy 1", "/save No", "/quit x"):
        assert completions(harness.context, line) == []


def test_the_page_of_commands_lists_each_with_what_help_says() -> None:
    page = (Path(__file__).parents[4] / "docs" / "commands.md").read_text()
    rows = [f"| `{command.usage}` | {command.help} |" for command in COMMANDS]
    missing = [row for row in rows if row not in page]
    assert not missing, "Add to the table in docs/commands.md:\n" + "\n".join(missing)
