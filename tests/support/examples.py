"""How many examples of each property are tried, and which, and how long the longest tests go on.

`make test` tries the same examples at each run, so that a run says something about the code alone; `make properties`
tries others each time, and many more.
"""

from collections.abc import Callable

import pytest
from hypothesis import settings

FEWEST_EXAMPLES = 5

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("random", deadline=None, print_blob=True)
settings.load_profile("same")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--examples",
        type=int,
        default=100,
        metavar="PERCENT",
        help="of the examples, turns and kills that tests ask for",
    )


def pytest_collection_finish(session: pytest.Session) -> None:
    percent = session.config.getoption("--examples")
    if percent != 100:
        for item in session.items:
            _scale(item, percent)


@pytest.fixture
def scaled(pytestconfig: pytest.Config) -> Callable[[int], int]:
    """How many of so many turns or kills a test is to make."""
    percent = min(100, pytestconfig.getoption("--examples"))
    return lambda number: max(FEWEST_EXAMPLES, number * percent // 100)


def _scale(item: pytest.Item, percent: int) -> None:
    """Each test sets its number of examples, which no profile changes: so this changes what it has set."""
    for owner, name in (
        (getattr(item, "function", None), "_hypothesis_internal_use_settings"),
        (getattr(item, "cls", None), "settings"),  # of a state machine
    ):
        chosen = getattr(owner, name, None)
        if isinstance(chosen, settings):
            examples = max(FEWEST_EXAMPLES, chosen.max_examples * percent // 100)
            setattr(owner, name, settings(chosen, max_examples=examples))
