"""What a model or a server says without a space for pages takes four times as long where it is four times as long."""

from collections.abc import Callable
from time import process_time

import pytest

from zkchat.chat.context.condensing import MARK
from zkchat.chat.privacy import _Sought
from zkchat.chat.quotations import find_quotations
from zkchat.chat.tools.server_tools import _PATH
from zkchat.index.graph import _ADDRESS

SIZE = 4_000
TIMES = 4
MOST_TIMES = 11
"""Between linear (4) and quadratic (16)."""
LEAST = 0.005
"""Seconds below which a clock says nothing; what is quadratic takes more."""

LONG_RUNS: dict[str, tuple[str, Callable[[str], object]]] = {
    "arguments of a call, compared with a local note": ("a", lambda text: _Sought(text, 5).shares_code(text)),
    "paths in the answer of a server": ("a.m", lambda text: [*_PATH.finditer(text)]),
    "marks of what was left out": (" ", lambda text: MARK.sub("", text)),
    "an answer that ends no sentence": (":", lambda text: find_quotations(f"one{text}two", (), ())),
    "addresses in a note": ("1", lambda text: _ADDRESS.sub("", text)),
}


def cpu(work: Callable[[str], object], text: str) -> float:
    started = process_time()
    work(text)
    return process_time() - started


@pytest.mark.no_cover
@pytest.mark.parametrize(("sign", "work"), LONG_RUNS.values(), ids=LONG_RUNS.keys())
def test_a_long_run_of_signs_takes_linear_time(sign: str, work: Callable[[str], object]) -> None:
    work(sign)  # the pattern is compiled with the first use
    small, large = (sign * (size // len(sign)) for size in (SIZE, TIMES * SIZE))
    # A busy machine may be slow once, but not each time.
    assert any(cpu(work, large) <= max(LEAST, MOST_TIMES * cpu(work, small)) for _ in range(5))


@pytest.mark.parametrize(
    ("sent", "known", "is_shared"),
    [
        ("the code is QX77-K21.", "QX77-K21.", True),
        ('{"q": "2026-03-01-Ottilie7"}', "2026-03-01-Ottilie7", True),
        ("meet on 2026-03-01", "It was 2026-03-01", False),
        ("a1b2c", "a1b2c", False),
    ],
)
def test_a_code_has_a_digit_and_is_more_than_a_day(sent: str, known: str, is_shared: bool) -> None:
    assert _Sought(sent, 5).shares_code(known) is is_shared
