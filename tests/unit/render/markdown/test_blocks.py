"""Where an arriving text is cut."""

import pytest

from zkchat.render.markdown_parser import FENCE_CHUNK_LINES, BlockSplitter, DrawableBlock


def words(pieces: list[DrawableBlock]) -> list[str]:
    """The texts of each piece, joined."""
    return [
        " ".join(text for token in piece.tokens for text in [token.content, *token.meta.get("code", [])] if text)
        for piece in pieces
    ]


@pytest.mark.parametrize(("head", "below"), [("```a|", "---"), ("# a | b |", "|---|---|"), ("- a | b", "---|---")])
def test_a_line_below_another_block_may_still_make_it_a_table(head: str, below: str) -> None:
    blocks = BlockSplitter()
    blocks.add(f"{head}\n")
    assert blocks.take_final() == []
    blocks.add(f"{below}\nc\n\n")
    (table,) = blocks.take_final()
    assert table.tokens[0].type == "table_open"


def test_an_item_is_final_after_the_next_one_and_goes_on_the_list() -> None:
    blocks = BlockSplitter()
    blocks.add("1. one\n1. two\n   more\n1. thr")
    pieces = blocks.take_final()
    assert words(pieces) == ["one"]
    blocks.add("ee\n\nEnd\n\n")
    pieces += blocks.take_final()
    assert words(pieces) == ["one", "two\nmore", "three", "End"]
    assert [piece.tokens[0].attrs.get("start") for piece in pieces] == [1, 2, 3, None]
    assert [piece.joined for piece in pieces] == [False, True, True, False]


def test_code_becomes_final_in_chunks_with_what_stands_above_them() -> None:
    lines = [f"line {number}" for number in range(FENCE_CHUNK_LINES + 3)]
    blocks = BlockSplitter()
    blocks.add("```python\n" + "\n".join(lines))
    (stretch,) = blocks.take_final()
    assert stretch.tokens[0].meta == {"context": [], "code": lines[:FENCE_CHUNK_LINES], "begun": False, "ended": False}
    blocks.add("\n```\n")
    (rest,) = blocks.take_final()
    assert rest.joined
    assert rest.tokens[0].meta["context"] == lines[:FENCE_CHUNK_LINES]
    assert rest.tokens[0].meta["code"] == lines[FENCE_CHUNK_LINES:]
    assert rest.tokens[0].meta["ended"]


def test_a_mark_that_is_arriving_is_not_taken_for_code() -> None:
    blocks = BlockSplitter()
    blocks.add("```\ncode\n``")
    blocks.take_final()
    assert words(blocks.tail()) == ["code"]


def test_a_table_is_final_when_it_ends_and_what_follows_is_a_block_of_its_own() -> None:
    blocks = BlockSplitter()
    blocks.add("| x | y |\n|---|---|\n" + "| a | b |\n" * 30)
    assert blocks.take_final() == []
    blocks.add("\n- item\n")
    pieces = [*blocks.take_final(), *blocks.close()]
    assert words(pieces)[-1] == "item"
    assert [piece.joined for piece in pieces] == [False, False]


def test_a_line_of_marks_only_waits_until_it_is_known_what_it_is() -> None:
    blocks = BlockSplitter()
    blocks.add("A paragraph\n-")
    assert [piece.tokens[0].type for piece in blocks.tail()] == ["paragraph_open"]
    blocks.add(" an item")
    assert [piece.tokens[0].type for piece in blocks.tail()] == ["paragraph_open", "bullet_list_open"]
