import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.screens import in_chunks, on_screen, streamed, underlined
from zkchat.render.console import Matches


def shown(text: str, width: int = 80) -> list[str]:
    return on_screen(streamed([text], width), width)


def test_the_columns_of_a_narrow_table_keep_whole_words_while_they_fit() -> None:
    table = "| photosynthesis | a | b |\n|---|---|---|\n| x | one two three four five | six seven eight nine ten |\n"
    rows = shown(table, 40)
    assert rows[0] == "photosynthesis   a            b"
    assert max(map(len, rows)) <= 40
    assert shown(table, 16)[:2] == ["pho", "tos"]


def test_links_show_their_address_once_and_are_never_clickable() -> None:
    text = "[text](obsidian://open?append=x) <https://a.b/c> ![a picture](p.png) [ref][1]\n\n[1]: https://d.e\n"
    assert shown(text) == [
        "text (obsidian://open?append=x) https://a.b/c a picture (p.png) [ref][1]",
        "",
        "[1]: https://d.e",
    ]
    assert "\x1b]8" not in streamed([text])


@pytest.mark.parametrize(
    "text",
    [
        "\\[ [[]] [[ ]] [[|x]] [[unclosed",
        "1 == 2 and 3 == 4, 50 %% of 100 %",
        "$5 and $10, #1 and a#b",
        "snake ^2 and x^y",
        "<div>html</div> <think>",
        "[/INST] [link=file:///x]y[/link] :smile:",
        "&amp;",
    ],
)
def test_nothing_of_the_text_vanishes(text: str) -> None:
    assert shown(text) == [text.replace("\\[", "[").replace("&amp;", "&")]


def test_wikilinks_are_set_apart_and_code_is_left_alone() -> None:
    assert "\x1b[94mname\x1b[0m" in streamed(["see [[Note|name]]"])
    assert shown("`[[a|b]]`\n\n- x\n\n  ```\n  [[a|b]]\n  ```\n") == [
        "[[a|b]]",
        "",
        " • x",
        "   ```",
        "   [[a|b]]",
        "   ```",
    ]
    text = streamed(["para\n\n> quote\n\n```\ncode\n```\n\n| a | b |\n|--|--|\n| c | d |\n"], color="never")
    assert not [row for row in text.split("\n") if row.endswith(" ")], "there is nothing to copy behind the words"


@pytest.mark.parametrize("width", [1, 5])
def test_the_narrowest_screen_is_no_error(width: int) -> None:
    text = "# h\n\npara [[x]]\n\n- a\n  - b\n    - c\n\n> > q\n\n| a | b |\n|--|--|\n| c | d |\n\n```py\nx\n```\n"
    assert on_screen(streamed([text], width), width)


def words(*wanted: str) -> Matches:
    return lambda text: [found.span() for found in re.finditer("|".join(wanted), text)]


def marked(text: str, *wanted: str, color: str = "never") -> list[str]:
    """What is marked on the screen."""
    return underlined(streamed([text], matches=words(*wanted), color=color))


@pytest.mark.parametrize("color", ["never", "auto"])
def test_matching_words_are_marked_in_quotations_only(color: str) -> None:
    text = "The roof.\n\n> A roof of glass, no roof of tin.\n\n— [[Roof]] › The roof\n"
    assert marked(text, "roof", color=color) == ["roof", "roof"]
    assert on_screen(streamed([text], matches=words("roof"))) == on_screen(streamed([text]))


@pytest.mark.parametrize(
    ("quoted", "expected"),
    [
        ("> - a roof\n> - a door", ["roof"]),
        ("> | a roof | b |\n> |---|---|\n> | c | roofs |", ["roof", "roof"]),
        ("> > [!note] The roof", ["roof"]),
        ("> [[Glass roof|the roof]], [[The roof]] and `roof`", ["roof", "roof", "roof"]),
        ("> a ro**of** of *roof*s", ["roof", "roof"]),
        ("> ```\n> roof\n> ```", []),
        ("> a ro\n> of", []),
        ("> 屋顶是玻璃的", []),
    ],
)
def test_words_are_marked_in_all_that_is_read_and_code_stays_as_it_is(quoted: str, expected: list[str]) -> None:
    assert marked(f"{quoted}\n", "roof") == expected


@given(st.text(st.sampled_from("ab \n>-*_`[]|#1.~<&;:\\"), max_size=40), st.sampled_from(["a", "b", "a b", "ab*"]))
def test_marks_change_no_character_on_the_screen(text: str, wanted: str) -> None:
    quoted = "".join(f"> {line}\n" for line in text.split("\n"))
    assert on_screen(streamed([quoted], matches=words(wanted))) == on_screen(streamed([quoted]))


def test_who_said_it_stands_right_below_the_quotation() -> None:
    text = "> One\n>\n> Two\n\n— [[Sleep]] › Naps\n\n> Three\n\n- [[Beds]]\n\n— not said\n"
    expected = ["▌ One", "▌", "▌ Two", "— Sleep › Naps", "", "▌ Three", "", " • Beds", "", "— not said"]
    assert shown(text) == expected
    assert on_screen(streamed(in_chunks(text, 3))) == expected


WRAPPED = (
    "This is a small demo vault: the kind of garden one curious person might keep for a\n"
    "year. It exists so that zkchat has something to answer from on the first day. The\n"
    "*people and* the project in it are made up.\n"
)


def quoted_on_screen(text: str, width: int) -> list[str]:
    return shown("".join(f"> {line}\n" for line in text.splitlines()), width)


def test_lines_that_were_wrapped_in_the_note_flow_again() -> None:
    rows = quoted_on_screen(WRAPPED, 70)
    assert all(len(row) > 45 for row in rows[:-1])
    assert " ".join(row.removeprefix("▌ ") for row in rows) == " ".join(WRAPPED.replace("*", "").split())


@pytest.mark.parametrize(
    "text",
    [
        "Roses are red,\nviolets are blue,\nsugar is sweet.",
        "Q: How long does it take until the compost is ready in a cold winter like that one?\nA: Nine months.",
        "Anna Berger, who lends us the van on weekends, lives in the third house on the left\nTel. 123\nParis",
        "A line that ends here, in the middle of the sixty columns or so that it has<br>and one that",
    ],
)
def test_lines_that_end_for_another_reason_stay_lines(text: str) -> None:
    lines = text.replace("<br>", "\n").split("\n")
    assert quoted_on_screen(text, 120) == [f"▌ {line}" for line in lines]
