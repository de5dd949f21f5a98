"""Questions that one key answers, at a terminal that gives lines."""

from io import StringIO
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.world import World
from zkchat.cli.common import CommandIO
from zkchat.cli.key_questions import KeyQuestions


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
