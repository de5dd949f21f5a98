"""The bar below the prompt."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from tests.support.screens import a_usage
from zkchat.repl.prompt import Status, status_line

STATUS = Status(vault="garden", model="ollama:qwen3:8b", session="What is sleep?", usage=a_usage())


def test_it_shows_vault_model_session_context_and_what_goes_on() -> None:
    busy = Status(vault="garden", model="quote", activity="indexing 3 / 40", usage=a_usage(estimated=True))
    assert status_line(STATUS, 100) == "garden · ollama:qwen3:8b · What is sleep? · context 41 % of 8,192"
    assert status_line(busy, 100) == "garden · quote · new session · context ≈ 41 % of 8,192 · indexing 3 / 40"


def test_before_the_first_answer_nothing_is_said_of_the_context() -> None:
    assert status_line(Status(vault="garden", model="quote"), 80) == "garden · quote · new session"
    assert "context" not in status_line(Status(vault="v", model="m", usage=a_usage(window=0)), 80)


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (60, "ollama:qwen3:8b · What is sleep? · context 41 % of 8,192"),
        (50, "ollama:qwen3:8b · context 41 % of 8,192"),
        (30, "context 41 % of 8,192"),
        (12, "context 41…"),
        (0, ""),
    ],
)
def test_on_a_narrow_screen_what_matters_least_goes(width: int, line: str) -> None:
    assert status_line(STATUS, width) == line


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60), st.text(max_size=30), st.integers(0, 250))
def test_it_is_one_line_that_fits(vault: str, model: str, session: str, activity: str, width: int) -> None:
    status = Status(vault=vault, model=model, session=session, activity=activity, usage=a_usage())
    line = status_line(status, width)
    assert get_cwidth(line) <= width
    assert "\n" not in line
