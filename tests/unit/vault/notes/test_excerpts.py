import re

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.vault.notes.test_blocks import TEXTS
from zkchat.vault.notes.blocks import blocks
from zkchat.vault.notes.excerpts import excerpt

MARKS = re.compile(r"\| … \||(?:> )?…|\[…\]")


@given(TEXTS, st.lists(st.integers(0, 12), max_size=3), st.integers(1, 120))
def test_an_excerpt_holds_what_was_chosen_in_pieces_of_the_block_and_is_hardly_longer_than_its_limit(
    section: str, chosen: list[int], limit: int
) -> None:
    for block in blocks(section):
        found = excerpt(block, chosen, limit)
        if len(block.text) <= limit:
            assert found == block.text
            continue
        assert len(found) <= 2 * limit + 40
        first = next((number for number in chosen if number < len(block.sentences)), 0)
        if len(block.sentences[first].text) <= limit:
            assert block.sentences[first].text in found
        for piece in MARKS.split(found):
            assert all(line.strip() in block.text for line in piece.splitlines())
        assert not found.rstrip().endswith((":", "：")) or block.sentences[-1].text.endswith((":", "："))


def cut(section: str, *chosen: int, limit: int = 60) -> str:
    (block,) = blocks(section)
    return excerpt(block, chosen, limit)


def test_a_paragraph_is_cut_at_its_sentences() -> None:
    said = "One is here. Two is long enough to fill a line. Three is short. Four is the last of all the sentences."
    assert cut(said, 2) == "… Two is long enough to fill a line. Three is short. …"
    assert cut(said, 0, 3, limit=70) == "One is here. […] Four is the last of all the sentences."


def test_a_list_keeps_its_lead_and_the_items_around_the_chosen_one() -> None:
    items = "\n".join(f"- number {number}" for number in range(9))
    assert cut(f"These:\n{items}", 5) == "These:\n…\n- number 3\n- number 4\n- number 5\n…"


def test_a_nested_item_keeps_the_item_around_it() -> None:
    said = (
        "- fruit, of which there are many in this garden\n  - apples\n  - pears\n- vegetables that nobody wants to eat"
    )
    assert cut(said, 2, limit=70) == "- fruit, of which there are many in this garden\n…\n  - pears\n…"


def test_a_table_keeps_its_header_and_the_chosen_rows() -> None:
    rows = "\n".join(f"| {number} | row |" for number in range(9))
    assert cut(f"| n | what |\n|---|---|\n{rows}", 3, 7) == (
        "| n | what |\n|---|---|\n| … |\n| 2 | row |\n| … |\n| 6 | row |\n| … |"
    )


def test_code_keeps_its_sentence_and_its_first_lines() -> None:
    code = "```sh\n" + "echo one line of many\n" * 20 + "```"
    kept = "```sh\n" + "echo one line of many\n" * 4 + "…\n```"
    assert cut(f"Run this:\n\n{code}", 1, limit=100) == f"Run this:\n\n{kept}"
