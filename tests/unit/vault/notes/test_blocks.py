import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat.notes.note_blocks import Block, blocks, without_cross_references

FRAMES = re.compile(r"\s*|#{1,6}( .*)?|---|\^[a-z]+")
"""Lines that are in no block: blank ones, headings, rulers, block ids."""
LINES = st.sampled_from(
    [
        "", "", "", "# One", "## Two", "---", "^id", "Plain text.", "Two. Sentences here.", "It leads to:",
        "**Bold**", "Is it so?", "**Why?**", "Q: Who?", "A: Me.", "- item", "  - nested", "  text of an item",
        "1. first", "2. second", "- [ ] task", "- item ^id", "- lead:", "| a | b |", "|---|---|", "| 1 | 2 |",
        "a | b", "> quoted.", "> [!note] Title", "> - in a quote", "> ", "```", "```sh", "~~~", "    indented", "\tx",
        "$$", "$$x$$", "Key:: value", "Term", ": meaning", "[^1]: Footnote.", "[r]: http://a.b", "See also [[X]].",
        "- [[X]]", "一句话。第二句！", "问：谁？", "答：我。", "…", "***x", "`", "ประโยค ยาว มาก",
        "•  dot", "3、三", "|", "||", ":",
        "?", "^", ">", "-", "\ud800", "a\x0bb\u2028c",
    ]
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=30).map("\n".join) | st.text(alphabet="ab .:?\n\r\t#-*>|`~^[]1$：？", max_size=120)


def texts(section: str) -> list[str]:
    return [block.text for block in blocks(section)]


def only(section: str) -> Block:
    (block,) = blocks(section)
    return block


@given(TEXTS)
def test_every_block_stands_in_the_section_word_for_word_on_the_line_that_it_names(section: str) -> None:
    for block in blocks(section):
        starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", section))]
        line = section[starts[block.first_line] :]
        assert block.text.strip()
        assert line.startswith(block.text) or line.lstrip().startswith(block.text)


@given(st.lists(LINES, max_size=30))
def test_every_line_that_is_no_frame_is_in_one_block(lines: list[str]) -> None:
    lines = ["Begin.", *lines]  # not with a frontmatter
    section = "\n".join(lines)
    covered = [
        number
        for block in blocks(section)
        for number in range(block.first_line, block.first_line + block.text.count("\n") + 1)
    ]
    assert len(covered) == len({*covered})
    missing = [lines[number] for number in {*range(len(lines))} - {*covered}]
    underlined = {lines[number - 1] for number, line in enumerate(lines) if line in {"---", "-"} and number}
    assert [line for line in missing if not FRAMES.fullmatch(line) and line not in underlined] == []


@given(TEXTS)
def test_the_units_of_a_block_are_in_order_and_lead_to_those_before_them(section: str) -> None:
    for block in blocks(section):
        place = 0
        assert block.sentences
        for number, unit in enumerate(block.sentences):
            assert place <= unit.start < unit.end <= len(block.text)
            assert block.text[unit.start : unit.end] == unit.text
            assert unit.parent is None or 0 <= unit.parent < number
            place = unit.end


@pytest.mark.parametrize(
    ("section", "kind", "units"),
    [
        ("Before you go:\n\n- shut it\n- water them", "list", ["Before you go:", "- shut it", "- water them"]),
        ("Sizes:\n\n| pot | l |\n|---|---|\n| S | 2 |", "table", ["Sizes:", "| pot | l |\n|---|---|", "| S | 2 |"]),
        ("**Is it safe?**\nYes. Quite.", "faq", ["**Is it safe?**", "Yes.", "Quite."]),
        ("**F:** Wo ist er? **A:** Hier.", "faq", ["**F:** Wo ist er?", "**A:** Hier."]),
        ("问：几点开门？\n答：九点。", "faq", ["问：几点开门？", "答：九点。"]),
        ("> [!tip] Water\n> At dawn.\n> - one can", "callout", ["> [!tip] Water", "> At dawn.", "> - one can"]),
        ("- one ^a\n- two ^b", "list", ["- one", "- two"]),
        ("Run:\n\n    make it. Now\n\n    go", "code", ["Run:", "    make it. Now\n\n    go"]),
    ],
)  # fmt: skip
def test_what_belongs_together_is_one_block(section: str, kind: str, units: list[str]) -> None:
    block = only(section)
    assert (block.kind, [unit.text for unit in block.sentences]) == (kind, units)


def test_of_code_nothing_is_taken_for_a_block_id() -> None:
    assert only("    a = b ^c").text == "    a = b ^c"


@pytest.mark.parametrize(
    ("section", "found"),
    [
        ("Q: Who?\nA: Me.\nQ: When?\nA: Now.", ["Q: Who?\nA: Me.", "Q: When?\nA: Now."]),
        ("[^1]: First.\n[^2]: Second.", ["[^1]: First.", "[^2]: Second."]),
        ("Hoe\n: A tool.\nRake\n: Another.", ["Hoe\n: A tool.", "Rake\n: Another."]),
        ("- a\n- b\nNext steps:\n- c", ["- a\n- b", "Next steps:\n- c"]),
        ("- a\n  - b\n\n  more of a\n\n- c\n\nEnd.", ["- a\n  - b\n\n  more of a\n\n- c", "End."]),
        ("It is so.\n| a | b |\nMore.", ["It is so.", "| a | b |", "More."]),
        ("in the shed\n```\n\nAfter it.", ["in the shed\n```", "After it."]),
        ("---\ntitle: X\ntags: [y]\n---\n# X\nBody.", ["Body."]),
        ("Is it?\n\nWas it?\n\nYes.", ["Is it?", "Was it?\n\nYes."]),
        ("需要准备：\n- 两个水壶\n\n问：喝多少？\n答：两升。", ["需要准备：\n- 两个水壶", "问：喝多少？\n答：两升。"]),
        (f"{'A long text ' * 20}\n---\nMore.", [("A long text " * 20).rstrip(), "More."]),
        ("- a\n  ```\n  x\n\ny\n  ```\n- b", ["- a\n  ```\n  x\n\ny\n  ```\n- b"]),
    ],
)
def test_what_does_not_belong_together_is_apart(section: str, found: list[str]) -> None:
    assert texts(section) == found


@pytest.mark.parametrize(
    ("section", "is_pointer"),
    [
        ("Before you go:", True),
        ("See also [[Compost]].", True),
        ("Related:\n\n- [[A]]\n- [[B]]", True),
        ("Author:: [[Ann Lee]]", False),
        ("Compost is in [[Shed]] behind the house.", False),
    ],
)
def test_a_block_that_says_nothing_alone_is_marked(section: str, is_pointer: bool) -> None:
    assert only(section).is_pointer == is_pointer


def test_a_block_knows_the_headings_above_it() -> None:
    found = blocks("Top.\n# A\n## B\nIn B.\n# C #\nIn C.\n\nSetext\n===\nBelow.")
    assert [(block.text, block.heading_path) for block in found] == [
        ("Top.", ()),
        ("In B.", ("A", "B")),
        ("In C.", ("C",)),
        ("Below.", ("Setext",)),
    ]


def test_a_long_line_is_no_name_of_a_field_and_no_heading() -> None:
    assert [len(blocks(f"{'k' * length}:: one\nOne.")) for length in (60, 61)] == [2, 1]
    assert [len(blocks(f"{'k' * length}\n---\nOne.")) for length in (120, 121)] == [1, 2]


def test_each_unit_names_the_one_that_it_needs() -> None:
    block = only("Is it ready?\n\nAlmost. Missing:\n\n- roof\n  - tiles\n- door")
    assert [unit.parent for unit in block.sentences] == [None, 0, 0, 2, 3, 2]


def test_a_long_item_is_cut_into_sentences_that_belong_to_its_first() -> None:
    long = "It goes on and on, and nobody knows why it does. " * 6
    block = only(f"- First. {long}\n- second")
    assert [unit.parent for unit in block.sentences] == [None, *[0] * 6, None]
    assert block.sentences[0].text == "- First."
    assert [len(only(f"- One. {'X' * more}").sentences) for more in (233, 234)] == [1, 2]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("For ideas see [[Ideas/Compost]]. This is the real one.", ". This is the real one."),
        ("It is hot (see [[Sleep|bed]]) at night.", "It is hot ( ) at night."),
        ("Allgemeines steht in [[Schlaf]].", "."),
        ("参见 [[睡眠]]。", "。"),
        ("The kettle stands by the [[Stove]].", "The kettle stands by the [[Stove]]."),
        ("The rest goes onto the heap described in [[A]].", "The rest goes onto the heap described in [[A]]."),
        ("It is described in the book.", "It is described in the book."),
    ],
)
def test_of_a_text_what_only_refers_is_left_out_and_what_tells_something_stays(text: str, rest: str) -> None:
    assert without_cross_references(text).replace("  ", " ").strip() == rest
