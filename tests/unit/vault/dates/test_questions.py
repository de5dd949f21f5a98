"""Which time a question asks for, and which questions ask for none."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.retrieval.time_vault import rows
from zkchat.core.note import Calendar
from zkchat.notes.dates.expressions import period_text
from zkchat.notes.dates.questions import TimeInQuestion, asks_for_own_writing, missing_day, time_in_question

MONDAY = Calendar(datetime(2026, 11, 16, 12, tzinfo=UTC))


def asked(text: str) -> TimeInQuestion | None:
    return time_in_question(text, MONDAY, lambda name: name.lower() == "monday routine")


@pytest.mark.parametrize(
    ("text", "period", "topic"),
    [
        ("What did I write on 8 March?", "2026-03-08", ""),
        ("What did I note about the compost on 8 March?", "2026-03-08", "compost"),
        ("Who repaired the pump in March?", "2026-03-01 to 2026-03-31", "repaired pump"),
        ("What did we decide in spring 2025?", "2025-03-01 to 2025-05-31", "decide"),
        ("What did I do on Friday and on Saturday?", "2026-11-13 to 2026-11-14", ""),
        ("What did I write on the 8th, 9th and 10th?", "2026-11-08 to 2026-11-10", ""),
        ("Was habe ich seit Montag über Kompost geschrieben?", "since 2026-11-09", "Kompost"),
        ("¿Qué hice con la masa el martes pasado?", "2026-11-10", "masa"),
        ("wczorajsze spotkanie", "2026-11-15", "spotkanie"),
        ("Wat heb ik gisteren over compost geschreven?", "2026-11-15", "compost"),
        ("Что я писал вчера о компосте?", "2026-11-15", "компосте"),
        ("Что я записала в марте 2026 года?", "2026-03-01 to 2026-03-31", ""),
        ("Что я писал весной?", "2026-03-01 to 2026-05-31", ""),
        ("O que escrevi esta semana?", "2026-11-16 to 2026-11-22", ""),
        ("¿Qué escribí en 2024?", "2024-01-01 to 2024-12-31", ""),
        ("Was habe ich Ende März geschrieben?", "2026-03-21 to 2026-03-31", ""),
        ("上周我写了关于堆肥的什么？", "2026-11-09 to 2026-11-15", "关于堆肥的 ？"),
        ('compost on:"8 March"', "2026-03-08", "compost"),
        ("10月最后一周我写了什么", "2026-10-25 to 2026-10-31", ""),
        ("上周日记", "2026-11-09 to 2026-11-15", ""),
    ],
)
def test_a_question_asks_for_a_period(text: str, period: str, topic: str) -> None:
    found = asked(text)
    assert found
    assert found.period
    assert (period_text(found.period), found.topic.rstrip("?")) == (period, topic)


@pytest.mark.parametrize(
    ("text", "order", "asks_when"),
    [
        ("last meeting with Ann", "newest", False),
        ("When did I last write about compost?", "newest", True),
        ("What was decided at our first meeting?", "oldest", False),
        ("¿Cuándo escribí por última vez sobre el huerto?", "newest", True),
        ("Когда я последний раз писал о компосте?", "newest", True),
        ("我上次什么时候写了关于堆肥的笔记？", "newest", True),
        ("最後に会議したのはいつですか", "newest", True),
        ("最近的会议", "newest", False),
    ],
)
def test_a_question_asks_for_the_newest_or_the_oldest(text: str, order: str, asks_when: bool) -> None:
    found = asked(text)
    assert found
    assert (found.period, found.order, found.asks_when) == (None, order, asks_when)


@pytest.mark.parametrize(
    "text",
    [
        "What is in my last diary entry?",
        "show my latest daily note",
        "Was steht in meinem letzten Tagebucheintrag?",
        "Que contient ma dernière entrée de journal ?",
        "Co jest w moim ostatnim wpisie w dzienniku?",
    ],
)
def test_the_last_entry_of_a_diary_is_the_newest_note_whatever_it_is_about(text: str) -> None:
    found = asked(text)
    assert found
    assert (found.order, found.topic) == ("newest", "")


@pytest.mark.parametrize("text", [text for half, _, text in rows("time_words.tsv") if half == "dev"])
def test_a_time_that_is_the_subject_is_none(text: str) -> None:
    assert asked(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "", "the last of the Mohicans", 'What did I say about "last week"?',
        "lamb's lettuce outdoors 20 August", "What comes on my Monday routine?",
        "Compare what I wrote in March and in May", "What did I do in March and May?", "on:breakfast",
        "section 8.3. of the contract", "What did I find on the 2nd floor?", "What did I write in the 8th note?",
        "我坐8号线去了哪里", "What did I do in the last week of my holidays?",
        "Co trzeba siać w marcu?", "Jaka jest pogoda w marcu?", "Wat moet ik in maart zaaien?",
        "Что нужно сеять в марте?",
    ],
)  # fmt: skip
def test_what_asks_for_no_time_is_left_alone(text: str) -> None:
    assert asked(text) is None


def test_what_is_longer_than_a_question_tells_a_story() -> None:
    text = "What did I write yesterday about ".ljust(400, "x")
    assert asked(text)
    assert asked(f"{text}x") is None


def test_of_the_world_it_is_not_certain_that_notes_are_meant() -> None:
    world, own = asked("Who won the cup in March 2025?"), asked("What did I win in March 2025?")
    assert world
    assert own
    assert (world.is_certain, own.is_certain) == (False, True)


WORDS = "what did I write on 8 March last week since Monday 2026 三月 上周 写了 meeting about of the ' \" ?"
texts = st.text(max_size=60) | st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)


@settings(max_examples=50)
@given(texts)
def test_no_question_breaks_it(text: str) -> None:
    found = asked(text)
    if found:
        assert found.period or found.order
        assert found.period is None or found.period.first or found.period.end
        assert len(found.rest) <= len(text) + 1


@pytest.mark.parametrize(
    "text", ["《今日简史》是谁写的?", "今日简史是谁写的?", "最後の章は何だった?", "〈去年〉讲了什么?"]
)
def test_a_time_in_a_title_or_in_the_name_of_a_note_is_none(text: str) -> None:
    assert time_in_question(text, MONDAY, lambda name: name == "今日简史") is None
    assert time_in_question("今日写了什么?", MONDAY, lambda name: name == "今日简史")


@pytest.mark.parametrize(
    ("text", "words", "topic"),
    [
        ("What did I write on 30 February?", "30 February", ""),
        ("What did I write on 2026-02-30?", "2026-02-30", ""),
        ("2月30日写了什么", "2月30日", ""),
    ],
)
def test_a_day_that_does_not_exist_is_noticed(text: str, words: str, topic: str) -> None:
    found = missing_day(text, MONDAY)
    assert found
    assert (found.words, found.topic.rstrip("?")) == (words, topic)


@pytest.mark.parametrize(
    "text",
    [
        "What did I write on 29 February?",
        "Who said “see you on 30 February” in my notes?",
        "What is 30 February?",
        "What did I write on March 31, April 2?",
    ],
)
def test_other_days_exist(text: str) -> None:
    assert missing_day(text, MONDAY) is None


@pytest.mark.parametrize(
    ("text", "is_own"),
    [
        ("When did I last write about the pump?", True),
        ("Was habe ich über die Pumpe geschrieben?", True),
        ("关于水泵我写了什么", True),
        ("Who wrote the manual of the pump?", False),
        ("谁写了这本书?", False),
    ],
)
def test_what_the_user_wrote_is_asked_for(text: str, is_own: bool) -> None:
    assert asks_for_own_writing(text) is is_own
