"""Where an arriving text is cut."""

from zkchat.render.markdown_parser import FENCE_CHUNK_LINES, BlockSplitter


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
