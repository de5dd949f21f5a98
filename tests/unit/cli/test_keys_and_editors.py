"""Keys that are typed early, questions that one key answers, and the line at which the user's editor opens."""

from io import StringIO
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.world import World
from zkchat.cli.common import CommandIO
from zkchat.cli.editors import editor_of, file_arguments
from zkchat.cli.key_questions import KeyQuestions
from zkchat.cli.terminal import starts_prompt

DRAWN = {"TERM": "xterm"}


@pytest.mark.parametrize("arguments", [[], ["chat"], ["chat", "--model", "quote"], ["chat", "What is sleep?"]])
def test_keys_are_kept_for_a_chat_that_draws_its_prompt(arguments: list[str]) -> None:
    assert starts_prompt(arguments, DRAWN)
    assert not starts_prompt(arguments, {"TERM": "dumb"})
    assert not starts_prompt(arguments, DRAWN | {"CI": "1"})


@pytest.mark.parametrize(
    "arguments", [["chat", "--plain"], ["chat", "--help"], ["chat", "-h"], ["ask", "chat"], ["--help"]]
)
def test_other_commands_leave_the_terminal_alone(arguments: list[str]) -> None:
    assert not starts_prompt(arguments, DRAWN)


class Terminal(StringIO):
    """Lines that were typed, and then Ctrl-C."""

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        line = super().readline(-1 if size is None else size)
        if not line:
            raise KeyboardInterrupt
        return line

    def isatty(self) -> bool:
        return True


def questions(folder: Path, typed: str) -> KeyQuestions:
    environment = World(folder).environment(terminal=True)
    return KeyQuestions(CommandIO(replace(environment, stdin=Terminal(typed))), plain=True)


@pytest.mark.parametrize(
    ("typed", "is_yes"), [("y\n", True), ("Yes\n", True), ("\n", False), ("n\n", False), ("x\ny\n", True), ("", False)]
)
def test_only_a_yes_is_a_yes(tmp_path: Path, typed: str, is_yes: bool) -> None:
    assert questions(tmp_path, typed).confirm("Undo it?") is is_yes


def test_ctrl_c_leaves_also_where_lines_are_read(tmp_path: Path) -> None:
    asked = questions(tmp_path, "n\n")
    assert [asked.ask("Link it?", [("n", "no")]) for _ in range(2)] == ["n", "q"]
    assert asked.cancelled


@pytest.mark.parametrize(
    ("editor", "arguments"),
    [
        ("vim", ["+7", "/v/a b.md"]),
        ("/usr/bin/nvim", ["+7", "/v/a b.md"]),
        ("nano", ["+7", "/v/a b.md"]),
        ("emacsclient", ["+7", "/v/a b.md"]),
        ("micro", ["+7", "/v/a b.md"]),
        ("hx", ["/v/a b.md:7"]),
        ("Code.exe", ["--goto", "/v/a b.md:7"]),
        ("codium", ["--goto", "/v/a b.md:7"]),
        ("kate", ["--line", "7", "/v/a b.md"]),
        ("ed", ["/v/a b.md"]),
        ("my-own-script", ["/v/a b.md"]),
    ],
)
def test_each_editor_is_told_the_line_in_its_own_way(editor: str, arguments: list[str]) -> None:
    assert file_arguments(editor, "/v/a b.md", 7) == arguments
    assert file_arguments(editor, "/v/a b.md", None) == ["/v/a b.md"]


def test_the_visual_editor_goes_first() -> None:
    assert editor_of({"VISUAL": "code --wait", "EDITOR": "vi"}) == "code --wait"
    assert editor_of({"VISUAL": "", "EDITOR": "vi"}) == "vi"
    assert editor_of({}) == ""
