"""Callouts, tasks, comments, formulas, highlights, tags and footnotes on the screen."""

import pytest

from tests.support.screens import in_chunks, on_screen, streamed, terminal, what_acts_on_a_terminal, without_sequences
from tests.unit.render.markdown.test_wikilinks import Vault
from zkchat.render.markdown import note_rows


def shown(text: str, width: int = 80) -> list[str]:
    """What is on the screen, which must be the same however the text arrives."""
    whole = on_screen(streamed([text], width), width)
    for size in (1, 7):
        assert on_screen(streamed(in_chunks(text, size), width), width) == whole
    return whole


@pytest.mark.parametrize(
    ("first", "title"),
    [
        ("[!NOTE]", "NOTE"),
        ("[!warning]- Folded *title*", "Warning: Folded title"),
        ("[!my-own_kind] Title", "My own kind: Title"),
        ("[!info|wide] [[Sleep|Open]]", "Info: Open"),
        ("[!tip] Tip", "Tip"),
        ("[!tip] TIP", "Tip"),
    ],
)
def test_a_callout_has_its_kind_and_title_above_its_text(first: str, title: str) -> None:
    assert shown(f"> {first}\n> The text\n> of it.\n") == [f"▌ {title}", "▌ The text", "▌ of it."]
    assert shown(f"> {first}\n") == [f"▌ {title}"]


@pytest.mark.parametrize("first", ["[!note]Title", "[! ]x", "not [!note] first", "[note] x", r"\[!note] x"])
def test_other_quotations_are_no_callouts(first: str) -> None:
    assert shown(f"> {first}\n") == [f"▌ {first.lstrip(chr(92))}"]


def test_other_brackets_are_no_boxes() -> None:
    assert "☐" not in "".join(shown("[ ] no list\n\n- [link](a)\n- [ab] c\n- `[ ]` code\n"))


def test_the_state_of_a_task_is_no_escape_sequence() -> None:
    assert what_acts_on_a_terminal(streamed(["- [&#x202e;] x\n"])) == set()
    assert shown("- [&#x202e;] x\n") == [" • [<U+202E>] x"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a %%hidden%% b", ["a b"]),
        ("a %%hid\nden%% b", ["a b"]),
        ("one\n\n%% hidden %%\n\ntwo", ["one", "", "two"]),
        ("one\n\n%%\nhidden\n\n- hidden\n%%\n\ntwo", ["one", "", "two"]),
        ("> a\n>\n> %%\n> hidden\n> %%", ["▌ a"]),
        ("a <!-- hidden --> b", ["a  b"]),
        ("`%%a%%` b", ["%%a%% b"]),
        ("```\n%%a%%\n```", ["```", "%%a%%", "```"]),
        ("50 %% of it", ["50 %% of it"]),
        ("one\n\n%%\nnever closed\n\ntwo", ["one", "", "%%", "never closed", "", "two"]),
        ("%% a %% b %% c %%", ["b"]),
    ],
)
def test_comments_are_hidden_if_they_are_closed(text: str, expected: list[str]) -> None:
    assert shown(text) == expected


def test_a_comment_that_is_too_long_is_text() -> None:
    within = "%%\n" + "x\n\n" * 99 + "x\n%%\n"
    beyond = "%%\n" + "x\n\n" * 100 + "%%\n"
    assert on_screen(streamed([within])) == []
    assert on_screen(streamed([beyond]))[:2] == ["%%", "x"]
    assert on_screen(streamed(in_chunks(beyond, 90))) == on_screen(streamed([beyond]))


@pytest.mark.parametrize("text", ["$a_1 * b_2 * c$ and $[[x]]$", "$$a_1 * b_2$$", "$$\na_1 * b * c\n\n- d\n# e\n$$"])
def test_formulas_stay_as_they_are_written(text: str) -> None:
    assert shown(text) == text.split("\n")


def test_highlights_tags_and_footnotes_are_set_apart() -> None:
    text = "==a **b** c== #tag/sub, (#two) x[^1] #123\n\n[^1]: The [[Sleep|note]].\n"
    assert shown(text) == ["a b c #tag/sub, (#two) x[1] #123", "", "[1]: The note."]
    output = streamed([text])
    assert "\x1b[7;33ma " in output
    assert "\x1b[35m#tag/sub" in output
    assert "\x1b[35m#two" in output
    assert "\x1b[35m#123" not in output
    assert "\x1b[7ma " in streamed([text], color="never")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```a|\n---\nc\n", ["```a", "c"]),
        ("# a | b |\n|---|---|\nc\n", ["# a   b", "c"]),
        ("1. one\n1. two\n   more\n1. three\n\nEnd\n", [" 1. one", " 2. two", "    more", " 3. three", "", "End"]),
        ("```\ncode\n``", ["```", "code", "``"]),
        ("| x |\n|---|\n| a |\n\n- item\n", ["x", "a", "", " • item"]),
        ("A paragraph\n- an item", ["A paragraph", "", " • an item"]),
    ],
)
def test_what_a_line_makes_of_those_above_it_is_known_before_they_are_drawn(text: str, expected: list[str]) -> None:
    assert [row for row in shown(text) if set(row) != {"─"}] == expected


def test_ids_of_blocks_are_hidden() -> None:
    text = "# Title ^top\n\nText. ^block-1\n\n- item ^b2\n\n> quoted\n>\n> ^q1\n\n^alone\n\nend\n"
    assert shown(text) == ["Title", "", "Text.", "", " • item", "", "▌ quoted", "", "end"]


def note_shown(text: str, width: int = 80) -> list[str]:
    vault = Vault()
    rows = note_rows(terminal(width), text, links=vault, source="a/Note.md")
    assert vault.sources <= {"a/Note.md"}  # relative links lead from there
    assert all(row.cells <= width for row in rows)
    return [without_sequences(row.text) for row in rows]


@pytest.mark.parametrize("end", ["---", "..."])
def test_frontmatter_is_left_out(end: str) -> None:
    assert note_shown(f"---\ntags: [a]\n\nx: '# no'\n{end}\n# Title\n") == ["Title"]
    assert note_shown(f"---\ntags: [a]\n{end}") == []


def test_a_rule_later_on_and_an_open_block_are_no_frontmatter() -> None:
    assert note_shown("Text\n\n---\na: b\n\n---\n") == ["Text", "", "─" * 40, "", "a: b", "", "─" * 40]
    assert note_shown("---\nnever closed\n")[-1] == "never closed"
