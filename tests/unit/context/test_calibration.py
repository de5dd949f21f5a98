from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat.chat.context.tokens import Calibration, RequestSize, calibrate, features_of
from zkchat.core.choices import ContextUsage, TokenUsage
from zkchat.core.message import ChatMessage, RequestContext

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def answer(counted: int, reported: int, model: str = "small", **features: int) -> ChatMessage:
    return ChatMessage(
        id="x",
        role="assistant",
        created_at=NOON,
        provider="ollama",
        model=model,
        usage=TokenUsage(prompt_tokens=reported),
        request_context=RequestContext(usage=ContextUsage(counted=counted, token_features={"messages": 1, **features})),
    )


def counted(tokens: int, **features: int) -> RequestSize:
    return RequestSize(tokens, {"messages": 1, **features})


def test_without_a_report_the_prior_decides() -> None:
    assert calibrate([], "ollama:small", 1.2).expected(counted(1000)) == 1200
    assert calibrate([], "ollama:small", 1.2).expected(counted(1000, korean=1000)) == 1600
    assert calibrate([], "ollama:small").expected(counted(1000, korean=1000)) == 1000
    assert Calibration().expected(counted(1000)) == 1000


def test_the_next_request_starts_from_what_the_server_said_of_the_last() -> None:
    learned = calibrate([answer(1000, 1250), answer(800, 980)], "ollama:small")
    assert learned.samples == 2
    assert learned.ratio == pytest.approx(2230 / 1800)
    assert learned.expected(counted(1000)) == 1250
    assert learned.expected(counted(1100)) == pytest.approx(1250 + 100 * 2230 / 1800, abs=3)


def test_what_each_trait_adds_is_learned_apart() -> None:
    requests = [
        (2000, {"digits": 0, "latin": 0}),
        (2400, {"digits": 300, "latin": 100}),
        (2200, {"digits": 500, "latin": 0}),
        (2600, {"digits": 0, "latin": 700}),
        (2500, {"digits": 800, "latin": 500}),
    ]
    said = [
        answer(tokens, round(1.1 * tokens + 0.5 * features["digits"] + 0.2 * features["latin"]), "small", **features)
        for tokens, features in requests
    ]
    learned = calibrate(said, "ollama:small", 1.2)
    assert learned.weights["tokens"] == pytest.approx(1.1, abs=0.02)
    assert learned.weights["digits"] == pytest.approx(0.5, abs=0.05)
    assert learned.weights["latin"] == pytest.approx(0.2, abs=0.05)
    assert learned.expected(counted(2000, digits=1000)) == pytest.approx(2700, rel=0.02)


def test_a_prompt_that_shrank_much_is_not_expected_to_be_less_than_half() -> None:
    assert calibrate([answer(10_000, 12_000)], "ollama:small").expected(counted(100)) >= 50


def test_other_models_and_a_server_that_cut_the_prompt_or_counts_only_what_is_new_teach_nothing() -> None:
    for said in (answer(1000, 2000, "large"), answer(1000, 300), answer(1000, 0)):
        assert calibrate([said], "ollama:small").samples == 0


@pytest.mark.parametrize(
    ("text", "script", "more"),
    [
        ("naïve", "latin", 1),
        ("Привет", "greek and cyrillic", 6),
        ("שלום", "hebrew and arabic", 4),
        ("卡片盒", "east asia", 6),
        ("한글", "korean", 4),
        ("🌱", "emoji", 3),
    ],
)
def test_letters_beyond_ascii_count_with_their_script(text: str, script: str, more: int) -> None:
    assert features_of(text)[script] == more


def test_lines_in_another_language_are_foreign_and_those_around_them_are_not() -> None:
    german = "Der Zettelkasten ist nicht nur ein Archiv"
    assert features_of("Luhmann wrote 90000 cards, and he linked them.") == {"messages": 1, "digits": 5}
    assert features_of(f"This is what the note says:\n{german}\nand that is all of it")["foreign"] == len(german)


@given(st.text(st.characters(codec="utf-8")))
def test_every_byte_beyond_ascii_is_counted_once_at_most(text: str) -> None:
    features = features_of(text)
    scripts = {name: much for name, much in features.items() if name not in {"messages", "digits", "foreign"}}
    assert sum(scripts.values()) <= len(text.encode()) - len(text)
