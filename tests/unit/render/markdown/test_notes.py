"""The text of a note on the screen."""

import pytest

from tests.support.screens import terminal, without_sequences
from tests.unit.render.markdown.test_wikilinks import Vault
from zkchat.render.markdown.notes import note_rows


def shown(text: str, width: int = 80) -> list[str]:
    vault = Vault()
    rows = note_rows(terminal(width), text, links=vault, source="a/Note.md")
    assert vault.sources <= {"a/Note.md"}  # relative links lead from there
    assert all(row.cells <= width for row in rows)
    return [without_sequences(row.text) for row in rows]


@pytest.mark.parametrize("end", ["---", "..."])
def test_frontmatter_is_left_out(end: str) -> None:
    assert shown(f"---\ntags: [a]\n\nx: '# no'\n{end}\n# Title\n") == ["Title"]
    assert shown(f"---\ntags: [a]\n{end}") == []


def test_a_rule_later_on_and_an_open_block_are_no_frontmatter() -> None:
    assert shown("Text\n\n---\na: b\n\n---\n") == ["Text", "", "─" * 40, "", "a: b", "", "─" * 40]
    assert shown("---\nnever closed\n")[-1] == "never closed"


def test_a_note_is_drawn_whole_with_its_links() -> None:
    assert shown("# A\n\nSee [[Sleep]] and [[Nowhere]].\n\n```\n" + "x" * 50 + "\n```\n", 40) == [
        "A",
        "",
        "See Sleep and Nowhere[?].",
        "",
        "```",
        "x" * 40,
        "x" * 10,
        "```",
    ]


def test_nothing_of_a_note_acts_on_the_terminal() -> None:
    text = "".join(row.text for row in note_rows(terminal(color="never"), "a\x1b[31mb [[x\x1b]8;;y|\x9b1m]] &#27;c"))
    assert "\x1b" not in text
    assert "\x9b" not in text
