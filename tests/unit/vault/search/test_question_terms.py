import pytest

from zkchat.index.search.terms import query_terms
from zkchat.index.search.weighted_question import (
    company_in,
    names_in,
    parts_of,
    synonyms_of,
    topic_of,
    topic_terms,
    wants_list,
    wants_number,
    wants_time,
    with_compounds,
    with_synonyms,
)
from zkchat.language.words import SYNONYMS


@pytest.mark.parametrize(
    ("question", "topic"),
    [("What do my notes say about sleep?", "sleep"), ("Tell me about Water for coffee!", "Water for coffee")],
)
def test_a_question_is_about_what_stands_between_the_words_that_only_ask(question: str, topic: str) -> None:
    assert names_in(question)[-1] == topic


def test_words_that_only_ask_may_be_part_of_a_name_but_are_none() -> None:
    found = names_in("What is in How to take smart notes?")
    assert "How to take smart notes" in found
    assert found == sorted(found, key=len, reverse=True)
    assert [names_in(question) for question in ("", "What is it?", "¿Qué dicen mis notas?")] == [[], [], []]


def test_however_long_a_message_is_few_names_are_looked_up() -> None:
    assert names_in("sleep and bread " * 1_000) == []
    assert len(names_in("what is " * 1_000 + "sleep" + " to me" * 1_000)) < 200


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What did we decide about the roof?", "decide roof"),
        ("Wie viele Karten hatte Luhmann?", "Karten hatte Luhmann"),
        ("Quand est-ce que le chœur répète ?", "chœur répète"),
        ("मसाला चाय में क्या डालते हैं?", "मसाला चाय डालते"),
        ("Obsidian 和 Notion 有什么区别?", "Obsidian Notion"),
        ("味噌汁の出汁はどうやって取りますか", "味噌汁の出汁は 取り"),
        ("จักรยานเก่าซื้อมาเท่าไหร่", "จักรยานเก่าซื้อมา"),
        ("a long sleep", "long sleep"),
        ("AI safety", "AI safety"),
        ("几何学是什么", "几何学"),
        ("Summarise", ""),
        ("总结一下", ""),
    ],
)
def test_words_that_only_ask_are_no_topic(question: str, topic: str) -> None:
    assert topic_of(question) == topic


def test_what_a_question_asks_for_is_known_in_many_languages() -> None:
    numbers = ["How many eggs?", "Wie viel kostet es?", "cuántos huevos", "ile jajek", "сколько", "多少钱", "いくつ"]
    times = ["When?", "Wann?", "quand", "cuándo", "когда", "什么时候", "いつ"]
    lists = ["How do I reset it?", "ingredients of the soup", "Welche Zutaten?", "步骤", "手順は"]
    asked = [*numbers, *times, *lists]
    assert [question for question in asked if wants_number(question)] == numbers
    assert [question for question in asked if wants_time(question)] == times
    assert [question for question in asked if wants_list(question)] == lists


def test_small_talk_has_no_topic() -> None:
    said = ["Danke schön!", "hallo, wie geht's?", "ありがとうございます", "xin chào", "¿Qué tal?", "你好吗", "สวัสดีครับ"]
    said += ["Привет, как дела?", "bom dia", "Hello! Thank you very much.", "what's up?", "नमस्ते", "مرحبا", "tack", ""]
    assert [each for each in said if topic_terms(each)] == []


@pytest.mark.parametrize(
    ("said", "term"),
    [
        ("What is a thumb tack?", "tack"),
        ("How is it going with the compost?", "compost"),
        ("Hello, what does [[Sleep]] say?", "sleep"),
        ("你好,堆肥怎么做?", "堆肥"),
        ("Thank you. " * 20 + "And the roof?", "roof"),
    ],
)
def test_a_question_beside_a_greeting_keeps_its_topic(said: str, term: str) -> None:
    assert term in topic_terms(said)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("difference between tea and coffee", ["difference between tea ", " coffee"]),
        ("Tea vs. coffee?", ["Tea ", " coffee?"]),
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


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("meeting with tomás about wood", ("tomás",)),
        ("meeting with Mara Okafor about the frame", ("Mara", "Okafor")),
        ("meeting with Mara and Tomás", ("Mara", "Tomás")),
        ("call with my sister yesterday", ("sister",)),
        ("Treffen mit dem Vermieter", ("Vermieter",)),
        ("和Ann的会议", ("Ann",)),
        ("田中さんとの会議", ("田中",)),
        ("what to do with", ()),
    ],
)
def test_whom_a_question_names_after_with_is_company(question: str, names: tuple[str, ...]) -> None:
    assert company_in(question) == names


@pytest.mark.parametrize(("asked", "said"), [("bikes", "bicycle"), ("ran", "running"), ("Beschluss", "entschieden")])
def test_a_word_has_its_synonyms_in_either_direction(asked: str, said: str) -> None:
    one, other = query_terms(asked)[0], query_terms(said)[0]
    assert other in synonyms_of(one)
    assert one in synonyms_of(other)


def test_a_topic_keeps_its_words_before_a_few_that_they_could_be_called() -> None:
    assert with_synonyms("zettelkasten slips") == "zettelkasten slips"
    topic, _, added = with_synonyms("kid zettelkasten").partition("kid zettelkasten")
    assert topic == ""
    assert {"child", "children"} <= {*added.split()}
    long = " ".join(word for group in SYNONYMS["english"].split("|") for word in group.split()[:1])
    assert len(with_synonyms(long).split()) == len(long.split()) + 24
