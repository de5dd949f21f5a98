"""The plug-in of `make quick`: nothing from outside of this process."""

import sys

import pytest

OUTSIDE = {
    "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn", "socket.bind",
    "socket.connect", "subprocess.Popen",
}  # fmt: skip
"""Audit events, https://docs.python.org/3/library/audit_events.html"""


def _refuse(event: str, _arguments: tuple[object, ...]) -> None:
    if event in OUTSIDE:
        raise PermissionError(f"{event}: not in `make quick`; mark the test with @pytest.mark.outside")


def pytest_collection_finish(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput"):  # in a process that runs tests, not in the one that starts it
        sys.addaudithook(_refuse)
