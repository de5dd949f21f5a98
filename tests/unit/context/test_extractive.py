from datetime import UTC, datetime, timedelta

import pytest

from zkchat.chat.context.extractive import OPEN_QUESTIONS, excerpt, summarise
from zkchat.chat.context.tokens import Estimate
from zkchat.chat.context.unit_ranking import content_terms
from zkchat.core.choices import Role
from zkchat.core.message import ChatMessage, TextPart

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
count = Estimate().count


def said(text: str, *, role: Role = "user", day: int = 0, name: str = "") -> ChatMessage:
    return ChatMessage(
        id=str(hash(text)), role=role, name=name, parts=(TextPart(text=text),), created_at=NOON + timedelta(days=day)
    )


def chatter(length: int) -> list[ChatMessage]:
    return [
        said(f"It is nice to talk about the weather and the garden again, and so on, day {n}.") for n in range(length)
    ]


def test_what_fits_is_grouped_under_days_and_speakers() -> None:
    talk = [
        said("We decided to use PostgreSQL.", name="Anna"),
        said("Noted: PostgreSQL it is.", role="assistant"),
        said("The budget is 4,000 euros.", day=2),
    ]
    assert summarise(talk, 500, count).splitlines() == [
        "2026-03-01",
        "- Anna: We decided to use PostgreSQL.",
        "- assistant: Noted: PostgreSQL it is.",
        "2026-03-03",
        "- user: The budget is 4,000 euros.",
    ]


GARDEN = [
    ("How do I start a compost heap? We have 4 square metres.", "Begin the compost heap with twigs."),
    ("How long does it take?", "Compost takes nine months."),
    ("How long does rye bread rise?", "Rye bread rises for a night."),
    ("My bread tin is called Otto.", "Noted, Otto it is."),
    ("Can worms live in the compost?", "The worm Eisenia does."),
    ("I am allergic to walnuts.", "I will keep that in mind."),
]


def turns(*exchanges: tuple[str, str]) -> list[ChatMessage]:
    return [message for asked, told in exchanges for message in (said(asked), said(told, role="assistant"))]


def test_a_conversation_about_several_things_is_told_by_topic() -> None:
    lines = summarise(turns(*GARDEN), 500, count).splitlines()
    assert [line for line in lines if not line.startswith("- ")] == ["2026-03-01", "Compost:", "Bread:"]
    heap, bread = lines.index("Compost:"), lines.index("Bread:")
    assert any("walnuts" in line for line in lines[:heap])  # what is told once is no topic
    assert any("4 square metres" in line for line in lines[heap:bread])
    assert any("Eisenia" in line for line in lines[heap:bread])
    assert any("Otto" in line for line in lines[bread:])


def test_a_topic_goes_on_after_a_summary() -> None:
    earlier = summarise(turns(*GARDEN), 500, count)
    later = [said("Is the compost done when it smells of earth?"), said("Yes, it is ripe.", role="assistant")]
    lines = summarise(later, 500, count, earlier=earlier).splitlines()
    assert [line for line in lines if line.endswith(":")] == ["Compost:", "Bread:"]
    assert any("ripe" in line for line in lines[lines.index("Compost:") : lines.index("Bread:")])


def test_facts_and_decisions_outlive_chatter() -> None:
    talk = chatter(60)
    talk[20] = said("We agreed that the deadline for Marta's thesis is the 14th of April.")
    talk[40] = said("I am allergic to walnuts.")
    summary = summarise(talk, 100, count)
    assert "14th of April" in summary
    assert "walnuts" in summary
    small = summarise([*chatter(10), said("Marta is allergic to walnuts since 2019.")], 20, count)
    assert ("2026-03" in small, "walnuts" in small) == (False, True), "a small budget goes to the words alone"


def test_the_focus_decides_what_is_kept() -> None:
    talk = [said(f"I decided that Captain Ko{n}ra buys {n} barrels of ti{n}ka.") for n in range(40)]
    talk[20] = said("Some of them were of the opinion that such a thing could also be said of bees, more or less.")
    assert "bees" not in summarise(talk, 40, count)
    assert "bees" in summarise(talk, 40, count, focus="what we said about bees")


def test_a_question_that_nobody_took_up_stays_open() -> None:
    talk = [
        said("Which colour should the shutters have? And how long does the mortar dry?"),
        said("Mortar dries for two days.", role="assistant"),
    ]
    head, question = summarise(talk, 500, count).splitlines()[-2:]
    assert (head, question) == (OPEN_QUESTIONS, "- Which colour should the shutters have?")


def test_an_open_question_is_carried_on_until_it_is_taken_up() -> None:
    earlier = f"2026-02-01\n- user: heron called Konrad.\n{OPEN_QUESTIONS}\n- Which colour should the shutters have?"
    still_open = summarise([said("The mortar is dry.")], 500, count, earlier=earlier)
    assert still_open.splitlines()[-2:] == [OPEN_QUESTIONS, "- Which colour should the shutters have?"]
    assert OPEN_QUESTIONS not in summarise([said("The shutters are green.")], 500, count, earlier=earlier)
    talk = [said("The shutters hang on the old wall."), said("Which colour should the shutters have?")]
    assert OPEN_QUESTIONS in summarise(talk, 500, count), "though its words were said before"


def test_open_questions_leave_room_for_the_rest() -> None:
    talk = [said(f"Why is zig{number}o so zag{number}a?") for number in range(40)]
    talk[3] = said("The budget is 4,000 euros.")
    summary = summarise(talk, 80, count)
    assert "4,000" in summary
    assert 0 < count(summary.partition(OPEN_QUESTIONS)[2]) <= 80 // 5


def noted(*facts: str) -> list[ChatMessage]:
    """Each fact with the reply to it."""
    return [message for fact in facts for message in (said(fact), said("Noted.", role="assistant"))]


@pytest.mark.parametrize(
    ("facts", "kept"),
    [
        (["my dog is called Rex", "the budget is 4000 euros"], ["dog is called Rex", "4000 euros"]),
        (["# Facts\n- The dog is Rex\n* Budget: 4000 euros\n1. Buy slate"], ["dog is Rex", "4000 euros", "Buy slate"]),
        (["我的狗叫旺财", "会议改到下周四", "预算是四千欧元，由李雷负责"], ["旺财", "下周四", "四千欧元", "李雷"]),
        (["我的狗叫旺财，" + "，".join(f"第{n}号设备检查完毕" for n in range(200)) + "，预算是四千欧元"], ["旺财"]),
        (["Wir haben beschlossen, das Büro nach Leipzig zu verlegen."], ["beschlossen, das Büro nach Leipzig"]),
        (["نحن قررنا شراء المنزل في القاهرة."], ["القاهرة"]),
        (["```python\ndef retry(limit=7):\n" + "    value = 1\n" * 40 + "```"], ["def retry(limit=7):"]),
        (["The heron ate " + "word " * 5000], ["heron ate"]),
    ],
)
def test_what_has_no_full_stops_is_summarised_too(facts: list[str], kept: list[str]) -> None:
    summary = summarise(noted(*facts), 100, count)
    assert [each for each in kept if each not in summary] == []
    assert count(summary) <= 100
    assert summarise([], 100, count) == ""


def test_of_a_log_that_came_with_a_question_the_question_and_a_few_lines_are_kept() -> None:
    log = [f"12:{n % 60:02} INFO step {n} is done" for n in range(300)]
    log[150] = "ERROR deploy-docs: exit code 1"
    talk = [said("Which job failed?\n\n" + "\n".join(log)), said("It was deploy-docs.", role="assistant")]
    summary = summarise([*talk, said("The heron ate Marta's fish.")], 120, count)
    assert "Which job failed?" in summary
    assert "deploy-docs: exit code 1" in summary
    assert "heron ate Marta's fish" in summary


def test_statements_without_an_end_of_their_own_are_told_apart_again_in_the_next_summary() -> None:
    first = summarise([said("my dog is called Rex"), said("we meet Tuesdays"), said("Fine.")], 200, count)
    assert first.splitlines()[1] == "- user: my dog is called Rex; we meet Tuesdays; Fine."
    talk = [said(f"The ship number {n} has left the harbour of Oslo.") for n in range(50)]
    assert "dog is called Rex" in summarise(talk, 40, count, focus="the dog", earlier=first)


def test_an_excerpt_is_the_sentences_that_hold_a_term() -> None:
    text = "It rained. The heron ate.\n\nNobody saw it. Herons fly. We left."
    assert excerpt(text, content_terms("a heron")) == "[…] The heron ate. […] Herons fly. […]"
    assert excerpt(text, content_terms("a badger")) == text
    assert excerpt("# Herons\n\nThe heron ate.", content_terms("heron")) == "# Herons\n\nThe heron ate."
