"""The user's editor is told the line to open a file at in its own way."""

import pytest

from zkchat.cli.editors import editor_of, file_arguments


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
