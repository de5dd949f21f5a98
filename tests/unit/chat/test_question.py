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
