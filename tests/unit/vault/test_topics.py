import pytest

from zkchat.vault.evidence import topics


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
    assert topics(question)[-1] == topic


def test_words_that_only_ask_may_be_part_of_a_name() -> None:
    found = topics("What is in How to take smart notes?")
    assert "How to take smart notes" in found
    assert found == sorted(found, key=len, reverse=True)


@pytest.mark.parametrize("question", ["", "What is it?", "¿Qué dicen mis notas?"])
def test_a_question_of_words_that_only_ask_is_about_nothing(question: str) -> None:
    assert topics(question) == []


def test_however_long_a_message_is_few_names_are_looked_up() -> None:
    assert topics("sleep and bread " * 1_000) == []
    assert len(topics("what is " * 1_000 + "sleep" + " to me" * 1_000)) < 200
