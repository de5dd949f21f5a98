"""What a note is about, in a line of its own words."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.libraries import library_of
from zkchat.chat.context.documents import add_summaries, summarize
from zkchat.core.message import DocumentReference
from zkchat.core.values import from_plain
from zkchat.index.library import Library

SAID = "Adults need seven hours of sleep."
LONG = "This sentence is one of many that say the same thing again. "


@pytest.mark.parametrize(
    "above",
    [
        "---\ntitle: About the night\ntags: [sleep]\n---\n",
        "# A heading of four words\n",
        "![[a picture of the night.png]]\n\n",
        "%% a comment\n\nof several paragraphs that nobody shall see %%\n",
        "<!-- a comment that nobody shall see -->\n\n",
        "- [[One note]]\n- [[Another note]]\n- [[A third note]]\n\n",
        "[[Up]] | [[Next]] | [[Previous]]\n\n",
        "```python\nprint('code says nothing here')\n```\n\n",
        "> [!note] A callout of some words\n\n",
        "| a table | of many cells |\n|---|---|\n| and | more |\n\n",
        "Two words\n\n",
    ],
)
def test_the_first_paragraph_that_says_something_is_the_summary(above: str) -> None:
    assert summarize(f"{above}{SAID}\n\nAnother paragraph of words.\n") == SAID


def test_three_words_say_something() -> None:
    assert summarize(f"Salt comes last.\n\n{SAID}\n") == "Salt comes last."


@pytest.mark.parametrize(
    ("paragraph", "read"),
    [
        ("It is **very** `short`, _they_ say.", "It is very short, they say."),
        ("See [[Notes/Sleep|the night]] and [[Coffee#Late]] first.", "See the night and Coffee first."),
        ("A line\nand the next one. ^block-1", "A line and the next one."),
        ("Three things count:\n- one\n- two", "Three things count:"),
        ("卡片盒笔记法来自德国社会学家卢曼。", "卡片盒笔记法来自德国社会学家卢曼。"),
    ],
)
def test_a_summary_reads_without_marks(paragraph: str, read: str) -> None:
    assert summarize(f"# Title\n\n{paragraph}\n") == read


def test_of_a_long_paragraph_the_first_sentences_are_taken_and_a_long_sentence_is_cut_between_words() -> None:
    assert summarize(LONG * 20) == (LONG * 3).strip()
    summary = summarize("word " * 100)
    assert len(summary) <= 200
    assert summary.endswith("word…")
    assert [summarize(text) for text in ("", "# Only a heading here\n", "---\na: b\n---\n", "[[a]] [[b]]")] == [""] * 4


def test_a_note_of_nothing_but_a_list_is_summed_up_by_its_items() -> None:
    items = "- [[Country loaf]]\n- Rye bread takes two days.\n- Salt is [[Salt|added]] last.\n"
    assert summarize(f"---\na: b c d\n---\n# Bread\n\n{items}") == "Rye bread takes two days. Salt is added last."


@given(st.text(alphabet=st.sampled_from("ab .\n#-*|>%`[]!=$^<\0卡。") | st.characters(), max_size=400))
@settings(max_examples=100, deadline=None)
def test_any_text_has_a_summary_of_one_short_line(text: str) -> None:
    summary = summarize(text)
    assert len(summary) <= 200
    assert "\n" not in summary
    assert "\0" not in summary


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "x.png").write_bytes(b"\0")
    with library_of(tmp_path, {"Sleep.md": f"# Sleep\n\n{SAID}\n\n## Naps\n\nTwenty minutes at most.\n"}) as library:
        yield library


def test_references_get_the_summary_of_what_they_lead_to(library: Library) -> None:
    def of(**more: object) -> str:
        reference = from_plain(DocumentReference, {"wikilink": "[[x]]", "relative_path": "Sleep.md", **more})
        return add_summaries(library, [reference])[0].summary

    assert of() == SAID
    assert of(anchor="Naps") == "Twenty minutes at most."
    assert of(anchor="Nope", anchor_found=False) == SAID
    assert of(summary="Written by hand.") == "Written by hand."
    assert of(relative_path=None) == ""
    assert of(relative_path="Gone.md") == ""
    assert of(relative_path="x.png") == ""
    reference = DocumentReference(wikilink="[[Sleep]]", relative_path="Sleep.md")
    summaries = [each.summary for each in add_summaries(library, [reference] * 25)]
    assert summaries == [SAID] * 20 + [""] * 5
