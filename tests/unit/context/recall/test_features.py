"""The order of messages by what they say beside the words of the question."""

from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat.chat.message_ranking import GAP, asks_for_time, pack_features, reordered
from zkchat.core.session import MessageRow
from zkchat.index.search.method_vectors import packed
from zkchat.index.search.terms import query_terms, terms
from zkchat.models.static_vectors import installed

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
VECTORS = installed()


def row(text: str, *, speaker: str = "", at: datetime = NOON, vector: bytes = b"") -> MessageRow:
    return MessageRow("s", text, 0, 0, b"", b"", pack_features(text, terms(text), speaker, at), vector)


def order(question: str, rows: list[MessageRow], scores: list[float] | None = None) -> list[str]:
    """The texts of messages that share as many words with the question, unless scores are given."""
    places = [place for place, each in enumerate(rows) if each is not GAP]
    scored = np.array(scores or [0.5] * len(rows), dtype=np.float32)
    found = reordered(places, scored, rows, question, query_terms(question), VECTORS.embed([question])[0])
    return [rows[place].id for place in found]


def test_who_is_named_in_the_question_comes_first() -> None:
    said = [row("I moved to Bern", speaker=name) for name in ("Anna", "Benno Vogel", "Konrad")]
    assert order("Where does Vogel live?", [each._replace(id=str(n)) for n, each in enumerate(said)])[0] == "1"


def test_what_is_near_in_meaning_comes_first() -> None:
    texts = ["The invoice was paid", "My puppy barked", "The train was late"]
    rows = [row(text, vector=packed(vector[None])) for text, vector in zip(texts, VECTORS.embed(texts), strict=True)]
    assert order("dog", rows)[0] == "My puppy barked"


@pytest.mark.parametrize("asking", ["Where is the key?", "钥匙在抽屉里吗", "أين المفتاح؟", "Πού είναι το κλειδί;"])
def test_an_answer_comes_before_its_question_and_before_what_follows_no_question(asking: str) -> None:
    rows = [row("It is teatime."), row("No idea now."), row(asking), row("In a drawer.")]
    assert order("key", rows, [0.5, 0.5, 0.65, 0.5]) == ["In a drawer.", asking, "It is teatime.", "No idea now."]


@pytest.mark.parametrize("statement", ["Is it? I say yes.", "Ein Schlüssel; noch einer;", "静かな日。"])
def test_what_does_not_end_as_a_question_is_no_question(statement: str) -> None:
    rows = [row("It is teatime."), row(statement), row("In a drawer.")]
    assert order("key", rows, [0.5, 0.4, 0.5])[0] == "It is teatime."


def test_the_end_of_one_conversation_is_no_answer_to_another() -> None:
    rows = [row("In a drawer."), row("Tea again."), GAP, GAP, row("Where is the key?")]
    assert order("key", rows, [0.4, 0.4, 0.0, 0.0, 0.9])[1:] == ["In a drawer.", "Tea again."]


@pytest.mark.parametrize(
    ("question", "tells"),
    [
        ("When did the heron come?", "It came on Monday"),
        ("In what year did it come?", "It came in 2019"),
        ("苍鹭什么时候来的？", "它昨天来了"),
        ("サギはいつ来ましたか", "先週来ました"),
    ],
)
def test_where_a_time_is_asked_for_what_names_one_comes_first(question: str, tells: str) -> None:
    rows = [row("xx xx xx xx"), row(tells), row("xx xx xx xx")]
    assert order(question, rows)[0] == tells
    assert order("zebra", rows, [0.55, 0.5, 0.5])[0] == "xx xx xx xx"


@pytest.mark.parametrize("question", ["Where does Anna live?", "安娜住在哪里？", "Que disent mes notes ?"])
def test_other_questions_ask_for_no_time(question: str) -> None:
    assert not asks_for_time(question)


def test_who_says_more_comes_first_up_to_a_length() -> None:
    rows = [row("tea"), row("tea " * 20), row("tea " * 120), row("tea " * 3000)]
    assert [len(text) for text in order("zebra", rows)] == [480, 12_000, 80, 3]


def test_what_was_said_in_the_sitting_of_the_best_comes_first() -> None:
    days = (0, 1, 2)
    rows = [row(f"{text} {day}", at=NOON + timedelta(days=day)) for day in days for text in ("ab", "cd")]
    assert order("zebra", rows, [0.5, 0.5, 0.5, 0.9, 0.5, 0.5])[:2] == ["cd 1", "ab 1"]


@given(
    st.lists(st.tuples(st.text(max_size=30), st.sampled_from(["", "Anna", "Benno Vogel"]), st.integers(0, 10**6))),
    st.text(max_size=30),
    st.randoms(use_true_random=False),
)
def test_whatever_was_said_each_place_comes_once(
    said: list[tuple[str, str, int]], question: str, chance: Random
) -> None:
    rows = [row(text, speaker=name, at=NOON + timedelta(seconds=later)) for text, name, later in said]
    places = [place for place in range(len(rows)) if chance.random() < 0.7]
    scores = np.ones(len(rows), dtype=np.float32)
    assert sorted(reordered(places, scores, rows, question, query_terms(question), None)) == places
