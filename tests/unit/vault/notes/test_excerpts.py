import re

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.vault.notes.test_blocks import TEXTS
from zkchat.notes.note_blocks import blocks, excerpt

MARKS = re.compile(r"\| … \||(?:> )?…|\[…\]")


def squeezed(text: str) -> str:
    """Without what only aligns the columns of a table."""
    return re.sub("-{4,}", "---", re.sub(" {2,}", " ", text))


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
        written = squeezed(block.text)
        assert all(squeezed(line).strip() in written for piece in MARKS.split(found) for line in piece.splitlines())
        assert not found.rstrip().endswith((":", "：")) or block.sentences[-1].text.endswith((":", "："))


def cut(section: str, *chosen: int, limit: int = 60) -> str:
    (block,) = blocks(section)
    return excerpt(block, chosen, limit)


def test_a_paragraph_is_cut_at_its_sentences() -> None:
    said = "One is here. Two is long enough to fill a line. Three is short. Four is the last of all the sentences."
    assert cut(said, 2) == "… Three is short. Four is the last of all the sentences."
    assert cut(said, 0, 3, limit=70) == "One is here. […] Four is the last of all the sentences."


def test_a_list_keeps_its_lead_and_the_items_around_the_chosen_one() -> None:
    items = "\n".join(f"- number {number}" for number in range(9))
    assert cut(f"These:\n{items}", 5) == "These:\n…\n- number 3\n- number 4\n- number 5\n- number 6\n…"


def test_a_table_keeps_its_header_and_the_chosen_rows() -> None:
    rows = "\n".join(f"| {number} | row |" for number in range(9))
    assert cut(f"| n | what |\n|---|---|\n{rows}", 3, 7, limit=100) == (
        "| n | what |\n|---|---|\n| … |\n| 2 | row |\n| … |\n| 6 | row |\n| … |"
    )


def test_code_keeps_its_sentence_and_its_first_lines() -> None:
    code = "```sh\n" + "echo one line of many\n" * 20 + "```"
    kept = "```sh\n" + "echo one line of many\n" * 4 + "…\n```"
    assert cut(f"Run this:\n\n{code}", 1, limit=100) == f"Run this:\n\n{kept}"


def test_a_table_loses_what_only_aligns_its_columns_before_it_loses_rows() -> None:
    padded = "| n    | what      |\n| ---- | --------- |\n| 1    | beans     |\n| 2    | peas      |"
    assert cut(padded, 2) == "| n | what |\n| --- | --- |\n| 1 | beans |\n| 2 | peas |"
    assert cut(padded, 2, limit=45) == "| n | what |\n| --- | --- |\n| … |\n| 2 | peas |"


def test_the_title_of_a_callout_and_the_question_of_an_answer_keep_their_lines() -> None:
    said = "Nobody asked for this. It is here all the same. So it goes."
    found = cut(f"> [!tip] Title\n> {said}", 2, limit=60)
    assert found == "> [!tip] Title\n> […] It is here all the same. So it goes."
    assert cut(f"**Why?**\n{said}", 2, limit=56) == "**Why?**\n[…] It is here all the same. So it goes."
    assert cut(f"Why?\n\n{said}", 2, limit=56) == "Why?\n\n[…] It is here all the same. So it goes."


def test_a_sentence_that_is_too_long_is_cut_at_a_word_and_not_within_a_link() -> None:
    said = "This sentence goes on and on until it comes to [[A note with a long name]] and then still goes on."
    assert cut(said, 0) == "This sentence goes on and on until it comes to …"
    assert cut(f"{'word ' * 30}. Another.", 0, limit=26) == "word word word word word …"


def test_what_introduces_the_rest_does_not_stand_at_the_end() -> None:
    said = "Before the long way over the mountain take all of these:\n\n- bread\n- salt\n- matches"
    assert cut(said, 0, limit=58) == "Before the long way over the mountain take all of these:\n\n- bread\n…"
