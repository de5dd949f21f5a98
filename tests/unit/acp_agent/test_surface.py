from typing import Any, cast

from zkchat.acp.session import MarkdownSurface
from zkchat.core.changes import ChangeSet, FileWrite


def surface() -> MarkdownSurface:
    return MarkdownSurface(cast("Any", None))


def test_lines_below_each_other_stay_so_and_a_single_one_is_a_sentence() -> None:
    shown = surface()
    shown.print("One sentence.")
    assert shown.take() == "One sentence."
    shown.print("a")
    shown.print_dimmed("b ``` c")
    shown.print_markdown("# Title\x1b[2J")
    assert shown.take() == "````text\na\nb ``` c\n````\n\n# Title␛[2J"
    assert shown.take() == ""


def test_changes_are_a_patch() -> None:
    shown = surface()
    shown.print_changes(ChangeSet(title="x", writes=(FileWrite(path="A.md", before=b"a\n", after=b"b\n"),)))
    text = shown.take()
    assert text.startswith("```diff\n")
    assert "-a\n+b\n```" in text
