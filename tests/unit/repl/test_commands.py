"""The table of slash commands: found by name, helped with, completed."""

import asyncio
from pathlib import Path

import pytest

from tests.support.desks import Workplace
from zkchat.repl.command_context import Leave, Nothing, Outcome, Send
from zkchat.repl.commands import COMMANDS, completions, run

NAMES = [command.name for command in COMMANDS]


@pytest.fixture
def place() -> Workplace:
    return Workplace()


def typed(place: Workplace, line: str) -> Outcome:
    return asyncio.run(run(place.desk, line))


@pytest.mark.parametrize("line", ["/quit", "/exit", "/q", "/QUIT", "  /quit  "])
def test_quit_leaves_by_each_of_its_names(place: Workplace, line: str) -> None:
    assert isinstance(typed(place, line), Leave)


def test_help_fits_a_screen_and_names_every_command(place: Workplace) -> None:
    assert isinstance(typed(place, "/help"), Nothing)
    lines = place.surface.text.splitlines()
    assert len(lines) <= 22
    assert max(map(len, lines)) < 80
    for command in COMMANDS:
        assert f"{command.usage} " in place.surface.text
        assert command.help in place.surface.text


def test_two_columns_of_help_never_run_into_each_other(place: Workplace) -> None:
    typed(place, "/help")
    for line in place.surface.text.splitlines()[1:-1]:
        assert line[38:40].strip() == "" or not line[40:].strip()


def test_help_on_a_narrow_screen_has_one_command_in_a_line(place: Workplace) -> None:
    place.surface.width = 40
    typed(place, "/help")
    assert sum(line.startswith("/") for line in place.surface.text.splitlines()) == len(COMMANDS) + 1


@pytest.mark.parametrize("name", ["save", "/save", "SAVE"])
def test_help_tells_more_about_one_command(place: Workplace, name: str) -> None:
    typed(place, f"/help {name}")
    assert place.surface.text.startswith("/save [NOTE]: answer as a new note. With its question")


def test_help_tells_other_names_of_a_command(place: Workplace) -> None:
    typed(place, "/help quit")
    assert place.surface.text == "/quit (also /exit, /q): leave, as Ctrl-D does."


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/hsitory", "There is no command /hsitory. Did you mean /history?"),
        ("/comp", "There is no command /comp. Did you mean /compact?"),
        ("/re", "There is no command /re. Did you mean /refs or /retry or /resume?"),
        ("/xyzzy", "There is no command /xyzzy. /help lists them all."),
        ("/", "There is no command /. /help lists them all."),
        ("/help xyzzy", "There is no command /xyzzy. /help lists them all."),
    ],
)
def test_an_unknown_command_is_answered_with_the_nearest(place: Workplace, line: str, told: str) -> None:
    assert isinstance(typed(place, line), Nothing)
    assert place.surface.text == told


def test_a_message_that_begins_with_a_path_is_sent(place: Workplace) -> None:
    assert typed(place, "/usr/bin/env: what is it?") == Send("/usr/bin/env: what is it?")


def test_an_argument_may_begin_on_the_next_line(place: Workplace) -> None:
    typed(place, "/help\nquit")
    assert place.surface.text.startswith("/quit")


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"help", "quit", "new", "model", "stats"}))
def test_a_command_before_the_first_message_says_why_it_can_do_nothing(place: Workplace, name: str) -> None:
    assert isinstance(typed(place, f"/{name}"), Nothing)
    (sentence,) = place.surface.lines
    assert sentence.endswith((".", "?"))


def test_names_of_commands_are_completed(place: Workplace) -> None:
    assert completions(place.desk, "/re") == ["/refs", "/retry", "/resume", "/remember"]
    assert len(completions(place.desk, "/")) == len(COMMANDS)
    assert completions(place.desk, "/help co") == ["copy", "context", "compact"]


@pytest.mark.parametrize("line", ["/xyzzy 1", "/save No", "/quit x"])
def test_where_nothing_is_known_nothing_is_completed(place: Workplace, line: str) -> None:
    assert completions(place.desk, line) == []


def test_names_and_other_names_are_used_once(place: Workplace) -> None:
    called = [name for command in COMMANDS for name in (command.name, *command.aliases)]
    assert len(called) == len(set(called))


def test_the_page_of_commands_lists_each_with_what_help_says() -> None:
    page = (Path(__file__).parents[3] / "docs" / "commands.md").read_text()
    for command in COMMANDS:
        assert f"| `{command.usage}` | {command.help} |" in page
