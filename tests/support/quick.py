"""The plug-in of `make quick`: a tenth of the examples of each property, and nothing from outside of this process."""

import sys

import pytest
from hypothesis import settings

OUTSIDE = {
    "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn", "socket.bind",
    "socket.connect", "subprocess.Popen",
}  # fmt: skip
"""Audit events, https://docs.python.org/3/library/audit_events.html"""
FEWEST_EXAMPLES = 5


def _refuse(event: str, _arguments: tuple[object, ...]) -> None:
    if event in OUTSIDE:
        raise PermissionError(f"{event}: not in `make quick`; mark the test with @pytest.mark.outside")


def pytest_collection_finish(session: pytest.Session) -> None:
    for item in session.items:
        _shorten(item)
    if hasattr(session.config, "workerinput"):  # in a process that runs tests, not in the one that starts it
        sys.addaudithook(_refuse)


def _shorten(item: pytest.Item) -> None:
    """Each test sets its number of examples, which no profile changes: so this changes what it has set."""
    for owner, name in (
        (getattr(item, "function", None), "_hypothesis_internal_use_settings"),
        (getattr(item, "cls", None), "settings"),  # of a state machine
    ):
        chosen = getattr(owner, name, None)
        if isinstance(chosen, settings):
            setattr(owner, name, settings(chosen, max_examples=max(FEWEST_EXAMPLES, chosen.max_examples // 10)))
