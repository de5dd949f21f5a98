from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.evidence import passage
from zkchat.core.message import Evidence, MessageExcerpt
from zkchat.core.prompt import TextChunk
from zkchat.core.reports import ELSEWHERE, excerpts, no_answer, quotations
from zkchat.render.markdown_parser import parse


def quoted(*passages: Evidence) -> str:
    return "".join(piece.text for piece in quotations(passages) if isinstance(piece, TextChunk))


def remarks(*passages: Evidence) -> list[int]:
    """After how many pieces of the text something is said of it."""
    return [place for place, piece in enumerate(quotations(passages)) if piece == ELSEWHERE]


def test_passages_of_a_note_stand_together_under_one_place() -> None:
    text = quoted(passage("Seven hours."), passage("Feathers.", note="Beds"), passage("Or eight."))
    assert text == "> Seven hours.\n\n> Or eight.\n\n— [[Sleep]]\n\n> Feathers.\n\n— [[Beds]]\n"


def test_linked_notes_come_first_and_the_others_are_said_to_be_others() -> None:
    found = [passage("Feathers.", note="Beds"), passage("Seven.", linked=True), passage("Oak.", note="Frames")]
    assert quoted(*found) == "> Seven.\n\n— [[Sleep]]\n\n> Feathers.\n\n— [[Beds]]\n\n> Oak.\n\n— [[Frames]]\n"
    assert remarks(*found) == [1]


@pytest.mark.parametrize(
    ("heading", "place"),
    [
        ("", "[[Sleep]]"),
        ("sleep", "[[Sleep]]"),
        ("Naps", "[[Sleep]] › Naps"),
        ("On [[Beds|soft beds]] and [[Naps]]", "[[Sleep]] › On soft beds and Naps"),
    ],
)
def test_the_place_names_the_heading_without_links_of_its_own(heading: str, place: str) -> None:
    assert quoted(passage("Seven.", heading=heading)).endswith(f"\n— {place}\n")


@given(st.lists(st.text(st.sampled_from("a1 \t\n>-*#|`~=_[]!:\r"), min_size=1), min_size=1, max_size=4))
def test_whatever_a_passage_holds_stays_inside_its_quotation(texts: list[str]) -> None:
    found = [passage(text, note=f"Note {number}") for number, text in enumerate(texts)]
    tokens = [token for token in parse(quoted(*found)) if token.level == 0]
    expected = ["blockquote_open", "blockquote_close", "paragraph_open", "paragraph_close"] * len(texts)
    assert [token.type for token in tokens] == expected


def test_where_there_is_nothing_the_words_that_were_looked_for_are_told() -> None:
    assert no_answer([], ["Gewächshaus", "kosten"]) == "Your notes say nothing about “Gewächshaus, kosten”.\n"
    assert len(no_answer([], ["word"] * 1000)) < 150


def excerpt(text: str, line: int) -> MessageExcerpt:
    return MessageExcerpt(text=text, first_line=line, last_line=line + text.count("\n"))


def test_excerpts_of_a_message_stand_as_they_were_written_with_their_lines() -> None:
    found = [excerpt("ERROR job_a", 7), excerpt("exit *1*", 8), excerpt("It ended.", 1_200)]
    assert "".join(piece.text for piece in excerpts(found)) == (
        "```\nERROR job_a\nexit *1*\n```\n\n— your text, lines 7–8\n\n> It ended.\n\n— your text, line 1,200\n"
    )


@given(st.lists(st.sampled_from(["```", "````", "a", "> b"]), min_size=1, max_size=4).map("\n".join))
def test_a_listing_of_an_excerpt_ends_where_it_should(text: str) -> None:
    (piece,) = excerpts([excerpt(text, 1)])
    assert [token.content for token in parse(piece.text) if token.type == "fence"] == [f"{text}\n"]


def test_dates_and_newer_notes_are_told_with_the_place() -> None:
    day = date(2024, 5, 2)
    old = replace(passage("640 euros.", note="Lease"), date=day, outdated_by="[[Meeting]]")
    assert quoted(old) == "> 640 euros.\n\n— [[Lease]] · 2024-05-02 · the newer [[Meeting]] says otherwise\n"
    of_log = passage("640 euros.", note="Log", heading="2024-05-02")
    of_log = replace(of_log, date=day, outdated_by="[[Log]]")
    assert quoted(of_log) == "> 640 euros.\n\n— [[Log]] › 2024-05-02 · a newer passage says otherwise\n"
    assert quoted(replace(passage("Rain.", note="2024-05-02"), date=day)) == "> Rain.\n\n— [[2024-05-02]]\n"
