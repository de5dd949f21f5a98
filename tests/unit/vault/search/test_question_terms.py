import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat.index.search.weighted_question import (
    names_in,
    parts_of,
    topic_of,
    topic_terms,
    wants_list,
    wants_number,
    wants_time,
    with_compounds,
)


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What do my notes say about sleep?", "sleep"),
        ("How does compost work?", "compost"),
        ("Tell me about Water for coffee!", "Water for coffee"),
        ("Wer ist Tomás Rivas?", "Tomás Rivas"),
    ],
)
def test_a_question_is_about_what_stands_between_the_words_that_only_ask(question: str, topic: str) -> None:
    assert names_in(question)[-1] == topic


def test_words_that_only_ask_may_be_part_of_a_name() -> None:
    found = names_in("What is in How to take smart notes?")
    assert "How to take smart notes" in found
    assert found == sorted(found, key=len, reverse=True)


@pytest.mark.parametrize("question", ["", "What is it?", "¿Qué dicen mis notas?"])
def test_a_question_of_words_that_only_ask_is_about_nothing(question: str) -> None:
    assert names_in(question) == []


def test_however_long_a_message_is_few_names_are_looked_up() -> None:
    assert names_in("sleep and bread " * 1_000) == []
    assert len(names_in("what is " * 1_000 + "sleep" + " to me" * 1_000)) < 200


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What did we decide about the roof?", "decide roof"),
        ("Wie viele Karten hatte Luhmann?", "Karten hatte Luhmann"),
        ("¿Cuánto tiempo se fríe la tortilla?", "fríe tortilla"),
        ("Quand est-ce que le chœur répète ?", "chœur répète"),
        ("Quando foi o jantar com a Ana?", "jantar Ana"),
        ("Co mówią moje notatki o dachu szklarni?", "dachu szklarni"),
        ("Сколько стоит билет на поезд?", "билет поезд"),
        ("मसाला चाय में क्या डालते हैं?", "मसाला चाय डालते"),
        ("Obsidian 和 Notion 有什么区别?", "Obsidian Notion"),
        ("味噌汁の出汁はどうやって取りますか", "味噌汁の出汁は 取り"),
        ("จักรยานเก่าซื้อมาเท่าไหร่", "จักรยานเก่าซื้อมา"),
        ("How long do adults sleep?", "adults sleep"),
        ("a long sleep", "long sleep"),
        ("AI safety", "AI safety"),
        ("AI résume", "AI résume"),
        ("Kim's art", "Kim art"),
        ("几何学是什么", "几何学"),
        ("Résume", ""),
        ("Summarise", ""),
        ("fasse zusammen", ""),
        ("总结一下", ""),
    ],
)
def test_words_that_only_ask_are_no_topic(question: str, topic: str) -> None:
    assert topic_of(question) == topic


@given(st.text(max_size=200))
def test_a_topic_is_made_of_words_of_the_question(question: str) -> None:
    assert all(word in question for word in topic_of(question).split())


@pytest.mark.parametrize(
    "question", ["How many eggs?", "Wie viel kostet es?", "cuántos huevos", "ile jajek", "сколько", "多少钱", "いくつ"]
)
def test_a_question_for_a_number_is_known_in_many_languages(question: str) -> None:
    assert wants_number(question)
    assert not wants_time(question)


@pytest.mark.parametrize("question", ["When?", "Wann?", "quand", "cuándo", "когда", "什么时候", "いつ"])
def test_a_question_for_a_time_is_known_in_many_languages(question: str) -> None:
    assert wants_time(question)
    assert not wants_number(question)


@pytest.mark.parametrize(
    "said",
    ["Danke schön!", "hallo, wie geht's?", "ありがとうございます", "xin chào", "¿Qué tal?", "你好吗", "สวัสดีครับ",
     "Привет, как дела?", "bom dia", "Hello! Thank you very much.", "what's up?",
     "nice one", "नमस्ते", "مرحبا", "tack", ""],
)  # fmt: skip
def test_small_talk_has_no_topic(said: str) -> None:
    assert topic_terms(said) == frozenset()


@pytest.mark.parametrize(
    ("said", "term"),
    [
        ("What is a thumb tack?", "tack"),
        ("Who is Una?", "una"),
        ("How is it going with the compost?", "compost"),
        ("Hello, what does [[Sleep]] say?", "sleep"),
        ("你好,堆肥怎么做?", "堆肥"),
        ("Thank you. " * 20 + "And the roof?", "roof"),
    ],
)
def test_a_question_beside_a_greeting_keeps_its_topic(said: str, term: str) -> None:
    assert term in topic_terms(said)


@pytest.mark.parametrize(
    "question", ["How do I reset it?", "ingredients of the soup", "Welche Zutaten?", "步骤", "手順は"]
)
def test_a_question_for_a_list_is_known_in_many_languages(question: str) -> None:
    assert wants_list(question)
    assert not wants_list("When did we decide that?")


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("difference between tea and coffee", ["difference between tea ", " coffee"]),
        ("Tea vs. coffee?", ["Tea ", " coffee?"]),
        ("Unterschied zwischen Brot und Kuchen", ["Unterschied zwischen Brot ", " Kuchen"]),
        ("绿茶和咖啡有什么区别?", ["绿茶", "咖啡有什么区别?"]),
        ("What is tea?", ["What is tea?"]),
        ("and or", []),
    ],
)
def test_a_question_is_cut_where_it_joins_things(question: str, parts: list[str]) -> None:
    assert parts_of(question) == parts


@pytest.mark.parametrize(
    ("question", "written"),
    [
        ("how do I back up my vault", "how do I backup my vault"),
        ("the fork lift and a green house", "the forklift and a greenhouse"),
        ("why is the red drop on", "why is the red drop on"),
        ("back  up, back-up", "back  up, back-up"),
        ("", ""),
    ],
)
def test_two_words_that_the_notes_write_as_one_are_joined(question: str, written: str) -> None:
    assert with_compounds(question, lambda _: {"backup", "forklift", "greenhous", "there"}) == written


@given(st.text(alphabet="abc de\n的", max_size=60))
def test_joining_words_loses_nothing_but_spaces(question: str) -> None:
    written = with_compounds(question, set)
    assert written.replace(" ", "") == question.replace(" ", "")
    assert with_compounds(question, lambda _: ()) == question
