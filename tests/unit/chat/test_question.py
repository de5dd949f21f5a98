import pytest

from zkchat.chat.question import Question


def test_a_question_is_parsed_into_agent_links_and_prose() -> None:
    question = Question.parse("@writer shorten [[Sleep#Naps|this]], and see [Tea](Tea.md)!")
    assert question.text == "@writer shorten [[Sleep#Naps|this]], and see [Tea](Tea.md)!"
    assert question.agent == "writer"
    assert [(link.target, link.anchor) for link in question.links] == [("Sleep", "Naps"), ("Tea.md", "")]
    assert question.prose == "@writer shorten  , and see  !"


@pytest.mark.parametrize("text", ["", "What is sleep?", "Write to me@example.org", "`[[Code]]`"])
def test_a_text_without_any_of_them_is_prose(text: str) -> None:
    assert Question.parse(text) == Question(text=text, links=[], prose=text)


@pytest.mark.parametrize(
    ("question", "text", "marked"),
    [
        ("What did we decide about the roof?", "We decided: glass roofs. What about it?", ["decided", "roofs"]),
        ("What do my notes say about [[Sleep]] and naps?", "Notes say: sleep, and a nap.", ["nap"]),
        ("Wie lange dauert die Wanderung?", "Die Wanderung dauert lange.", ["Wanderung", "dauert", "lange"]),
        ("屋顶是什么做的?", "我们的屋顶是玻璃做的。", ["屋顶是", "做的"]),
        ("Сколько стоит крыша?", "Новая крыша стоит дорого.", ["крыша", "стоит"]),
        ("Wo ist das Café?", "Cafe am Markt.", ["Cafe"]),
        ("What is it?", "What is it? It is.", []),
        ("hello", "hello", []),
    ],
)
def test_words_that_matter_are_found_in_a_text(question: str, text: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in Question.parse(question).matches(text)] == marked
