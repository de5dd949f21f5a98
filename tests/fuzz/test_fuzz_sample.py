"""A small sample of what `make fuzz` runs for ten minutes: the first cases of each target, in one child process."""

from collections.abc import Iterator

import pytest

from tests.fuzz.__main__ import SEED, TARGETS
from tests.fuzz.runner import Child

CASES = {
    "parsers": 200,
    "rendering": 60,
    "tools": 100,
    "vaults": 12,
    "wires": 8,
    "settings": 25,
    "stores": 12,
    "imports": 15,
    "commands": 25,
    "chats": 12,
}


@pytest.fixture(scope="module")
def children() -> Iterator[list[Child]]:
    started: list[Child] = []
    yield started
    for child in started:
        child.stop()


@pytest.fixture
def child(children: list[Child], tmp_path_factory: pytest.TempPathFactory) -> Child:
    """One for all targets, as long as it lives: most of the time of a small sample is that of its start."""
    if not children or not children[-1].is_alive:
        children.append(Child(SEED, tmp_path_factory.mktemp("fuzz")))
    return children[-1]


@pytest.mark.parametrize("target", TARGETS)
def test_no_case_of_the_sample_fails(child: Child, target: str) -> None:
    for number in range(CASES[target]):
        assert child.run(target, number) is None
