import signal
from pathlib import Path

import pytest

from tests.support.world import World

pytest_plugins = ("tests.support.examples", "tests.support.scratch")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def pytest_configure() -> None:
    """A runner in the background ignores Ctrl-C, and so would every terminal that the tests open."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes name no test: an archive made while tests are collected holds the time, and workers would disagree."""
    return argname if isinstance(val, bytes) else None
