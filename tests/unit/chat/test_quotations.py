"""Which parts of an answer are quoted from what the model was given."""

from pathlib import Path

import pytest

from tests.support.libraries import library_of
from tests.support.sessions import NOON
from zkchat.chat.context.formatting import format_document
from zkchat.chat.quotations import GivenText, find_quotations, given_texts, links_outside, sources_of
from zkchat.core.message import ChatMessage, Evidence, EvidencePart, FilePart, LineRange, TextPart, ToolResultPart
from zkchat.notes import link_catalog as wikilink

HEAP = "A heap needs air and water. Turn it every month, and read [[Worms]] first.\n\nSee [[Mulch]]."
TEA = "茶要用八十度的水。参见[[水]]。"
LIST = "These like shade:\n\n- [[Ferns]]\n- [[Hostas]]\n- [[Ivy]]"
TABLE = "| plant | month |\n|---|---|\n| [[Peas]] | March, in the open |\n| [[Garlic]] | October, in the bed |"
GIVEN = [GivenText("Heap.md", HEAP), GivenText("Tea.md", TEA), GivenText("Shade.md", LIST), GivenText("Sow.md", TABLE)]


def own_links(answer: str, given: list[GivenText] = GIVEN) -> list[str]:
    links = wikilink.scan(answer)
    return [link.text for link in links_outside(links, find_quotations(answer, links, given))]


def paths(answer: str) -> list[str]:
    return [quoted.path for quoted in find_quotations(answer, wikilink.scan(answer), GIVEN)]


@pytest.mark.parametrize(
    "answer",
    [
        "> Turn it every month, and read [[Worms]] first.",
        "> A heap needs air and water. Turn it every month, and read [[Worms]] first.\n>\n> See [[Mulch]].",
        "> turn it **every month**, and\n> read [[Worms]] first",
        "It says: “Turn it every month, and read [[Worms]] first.” So do I.",
        "> These like shade:\n> - [[Ferns]]\n> - [[Hostas]]\n> - [[Ivy]]",
        "> | plant | month |\n> |---|---|\n> | [[Garlic]] | October, in the bed |",
    ],
)
def test_the_links_of_a_quoted_passage_are_not_the_answers_own(answer: str) -> None:
    assert own_links(answer) == []


@pytest.mark.parametrize(
    ("answer", "own"),
    [
        ("> Turn it every month, and read [[Mulch]] first.", ["[[Mulch]]"]),
        ("> Turn it every month, and read [[Worms]] at once.", ["[[Worms]]"]),
        ("- [[Ferns]]\n- [[Hostas]]", ["[[Ferns]]", "[[Hostas]]"]),
        ("These like shade:\n\n- [[Ferns]]\n- [[Oaks]]\n- [[Ivy]]", ["[[Oaks]]", "[[Ivy]]"]),
        ("> Turn it every month, and read [[Worms]] first.\n>\n> — [[Heap]]", ["[[Heap]]"]),
    ],
)
def test_a_link_that_the_model_adds_is_its_own_also_between_quote_marks(answer: str, own: list[str]) -> None:
    assert own_links(answer) == own


def test_a_link_with_another_address_is_not_quoted() -> None:
    given = [GivenText("Who.md", "The best of all that I have seen is [Dr. Who](who.md), by far.")]
    assert own_links("The best of all that I have seen is [Dr. Who](who.md), by far.", given) == []
    assert own_links("The best of all that I have seen is [Dr. Who](foe.md), by far.", given) == ["[Dr. Who](foe.md)"]


def test_no_passage_reaches_over_the_end_of_a_text() -> None:
    given = [GivenText("A.md", "Water is good for the heap."), GivenText("B.md", "[[Worms]] too.")]
    assert own_links("Water is good for the heap. [[Worms]] too.", given) == []  # all of the second text
    assert own_links("Water is good for the heap. [[Worms]]", given) == ["[[Worms]]"]
    assert own_links("See [[Rest]].", [GivenText("A.md", "See [[Rest]]. More.")]) == ["[[Rest]]"]
    long = GivenText("Long.md", "x" * 100_000)  # only so much is compared
    assert own_links("Turn it every month, and read [[Worms]] first.", [long, *GIVEN]) == ["[[Worms]]"]


@pytest.mark.parametrize(("passage", "is_quoted"), [("Sieve finer", True), ("Sieve fine", False)])
def test_part_of_a_text_is_quoted_where_it_has_ten_letters(passage: str, is_quoted: bool) -> None:
    assert bool(find_quotations(f"{passage}.", [], [GivenText("A.md", f"{passage}. Rest a while.")])) is is_quoted


def test_a_quotation_tells_its_note() -> None:
    assert paths("> A heap needs air and water.\n\nAnd: 茶要用八十度的水。") == ["Heap.md", "Tea.md"]
    assert paths("Nothing of the kind stands there.") == []
    assert find_quotations("", [], GIVEN) == find_quotations("A heap needs air and water.", [], []) == []


def test_what_notes_say_stands_in_documents_evidence_and_tool_results() -> None:
    lines = LineRange(first=1, last=1)
    evidence = Evidence(text="Air.", relative_path="E.md", title="E", wikilink="[[E]]", lines=lines, score=1)
    result = f"{format_document('T&.md', 'Tools.')}\n\n{format_document('U.md', 'Used.')[:-14]}"
    message = ChatMessage(
        id="m",
        role="user",
        created_at=NOON,
        parts=(
            TextPart(text="What I say is no note."),
            FilePart(name="F.md#Part", text="Filed."),
            EvidencePart(evidence=(evidence,), nearest=(evidence,)),
            ToolResultPart(call_id="c", name="read", text=result),
        ),
    )
    assert [*given_texts([message])] == [
        ("F.md#Part", "Filed."),
        ("E.md", "Air."),
        ("T&.md", "Tools."),
        ("U.md", "Use"),
    ]


def test_the_passage_quoted_first_is_the_source(tmp_path: Path) -> None:
    passages = ["Water the beds early.", "Turn the heap every month."]
    with library_of(tmp_path, {"A.md": "# A\n"}) as library:
        assert sources_of("Turn the heap every month, water the beds early.", "", passages, library) == [1]
