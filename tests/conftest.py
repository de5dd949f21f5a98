import signal
from pathlib import Path

import pytest

from tests.support.world import World

HERE = Path(__file__).parent

pytest_plugins = ("tests.support.examples", "tests.support.scratch")


IN_CHECK_ALONE = {"benchmarks", "faults", "fuzz", "hostile", "providers"}
"""Folders whose tests break, fuzz or measure zkchat, or load a model: minutes, which `make check` has."""
MEASURED = {"acp_agent", "cli", "lsp", "mcp_server", "unit", "web"}
"""Folders whose tests show what is covered, which doubles their time. Others, and what is long, run the same lines."""


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture(autouse=True)
def _time_to_look_at_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn and a command wait for notes that changed: on a busy machine they would go on without them."""
    monkeypatch.setattr("zkchat.app.library.MAX_REFRESH_SECONDS", 60.0)
    monkeypatch.setattr("zkchat.repl.surface._MAX_REFRESH_SECONDS", 60.0)


def pytest_configure() -> None:
    """A runner in the background ignores Ctrl-C, one under `nohup` a hang-up, and so would all that the tests start.

    What a process handles, it does not hand on to those it starts: they begin with the system's own behaviour.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda _number, _frame: None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        folder = item.path.relative_to(HERE).parts[0]
        if folder in IN_CHECK_ALONE:
            item.add_marker(pytest.mark.slow)
        is_long = item.get_closest_marker("slow") or hasattr(getattr(item, "obj", None), "hypothesis")
        if is_long or folder not in MEASURED:
            item.add_marker(pytest.mark.no_cover)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes name no test: an archive made while tests are collected holds the time, and workers would disagree."""
    return argname if isinstance(val, bytes) else None
