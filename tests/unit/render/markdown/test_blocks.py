"""Where an arriving text is cut."""

import pytest

from zkchat.render.markdown.blocks import FENCE_CHUNK_LINES, BlockSplitter, DrawableBlock


def words(pieces: list[DrawableBlock]) -> list[str]:
    """The texts of each piece, joined."""
    return [
        " ".join(text for token in piece.tokens for text in [token.content, *token.meta.get("code", [])] if text)
        for piece in pieces
    ]


def final_blocks(text: str) -> list[str]:
    blocks = BlockSplitter()
    blocks.add(text)
    return words(blocks.take_final())


def test_a_paragraph_is_final_after_the_blank_line_after_it() -> None:
    assert final_blocks("One\nmore") == []
    assert final_blocks("One\nmore\n") == []
    assert final_blocks("One\nmore\n\n") == ["One\nmore"]


def test_a_heading_is_final_after_its_own_line() -> None:
    assert final_blocks("# One") == []
    assert final_blocks("# One\n") == ["# One"[2:]]


def test_a_line_below_a_paragraph_may_still_make_it_a_heading() -> None:
    blocks = BlockSplitter()
    blocks.add("One\n")
    assert blocks.take_final() == []
    blocks.add("---\n")
    (heading,) = blocks.take_final()
    assert heading.tokens[0].type == "heading_open"


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


def test_another_kind_of_bullet_begins_another_list() -> None:
    blocks = BlockSplitter()
    blocks.add("- one\n- two\n* other\n* list\n")
    pieces = [*blocks.take_final(), *blocks.close()]
    assert words(pieces) == ["one", "two", "other", "list"]
    assert [piece.joined for piece in pieces] == [False, True, False, True]


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


def test_a_fence_ends_only_with_its_own_mark() -> None:
    assert final_blocks("~~~~ text\n```\n~~~\n    ~~~~\n~~~~ no\n  ~~~~~  \nAfter\n\n") == [
        "``` ~~~     ~~~~ ~~~~ no",
        "After",
    ]


def test_the_indent_of_a_fence_is_taken_from_its_code() -> None:
    assert final_blocks("  ```\n  a\n    b\n c\n  ```\n") == ["a   b c"]


def test_a_mark_that_is_arriving_is_not_taken_for_code() -> None:
    blocks = BlockSplitter()
    blocks.add("```\ncode\n``")
    blocks.take_final()
    assert words(blocks.tail()) == ["code"]


def test_the_rest_of_a_fence_that_never_ended_is_given_at_the_end() -> None:
    blocks = BlockSplitter()
    blocks.add("```\ncode\nmo")
    assert words(blocks.close()) == ["code mo"]


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


def test_nothing_comes_from_nothing() -> None:
    blocks = BlockSplitter()
    blocks.add("\n\n")
    assert [*blocks.take_final(), *blocks.tail(), *blocks.close()] == []
