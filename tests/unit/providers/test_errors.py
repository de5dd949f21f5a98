import json
import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import ModuleType

import httpx
import pytest

from zkchat.models.errors import BadReply, Endpoint, map_error

ENDPOINT = Endpoint(
    server="http://example.org/v1",
    model="m-1",
    if_unreachable="Start it.",
    if_key_refused="Set KEY.",
    if_model_missing="Pull it.",
    key="sk-canary",
)


def exceptions_of(*modules: ModuleType) -> list[type[Exception]]:
    """Every exception that a library shows, and every one of that library derived from those."""
    shown = [kind for module in modules for kind in list(vars(module).values())]
    waiting = [kind for kind in shown if type(kind) is type and issubclass(kind, Exception)]
    libraries = {module.__name__ for module in modules}
    found: set[type[Exception]] = set()
    while waiting:
        kind = waiting.pop()
        if kind in found or kind.__module__.partition(".")[0] not in libraries or issubclass(kind, Warning):
            continue
        found.add(kind)
        waiting.extend(kind.__subclasses__())
    return sorted(found, key=lambda kind: f"{kind.__module__}.{kind.__qualname__}")


def test_every_exception_of_the_libraries_has_its_sentence() -> None:
    for kind in exceptions_of(httpx, json):
        failure = map_error(kind.__new__(kind), ENDPOINT)
        assert kind.__name__ not in failure.text
        assert "\n" not in failure.text
        assert ENDPOINT.server in failure.text
        assert failure.hint


def test_what_lies_behind_an_exception_counts() -> None:
    error = httpx.ConnectError("no")
    error.__cause__ = ssl.SSLCertVerificationError("self-signed")
    assert "certificate" in map_error(error, ENDPOINT).text


@pytest.mark.parametrize("text", ["exceeds the available context size", "maximum context length is 8192"])
def test_a_prompt_that_is_too_long_is_called_so_whatever_the_status(text: str) -> None:
    for status in (400, 413, 500, 0):
        failure = map_error(BadReply(status, text), ENDPOINT)
        assert failure.text.startswith("The prompt is longer")
        assert not failure.transient


def test_the_words_of_a_server_are_quoted_in_part_and_without_the_key() -> None:
    failure = map_error(BadReply(500, "bad\nkey  sk-canary!"), ENDPOINT)
    assert failure.text == "http://example.org/v1 (m-1) failed (500): bad key …!"
    assert "sk-canary" not in repr(ENDPOINT)
    assert map_error(BadReply(500, "x" * 10_000), ENDPOINT).text.endswith(f" {'x' * 300}")


@pytest.mark.parametrize(
    ("header", "wait"), [("7", 7.0), ("0", 0.0), ("", None), ("soon", None), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0)]
)
def test_retry_after_is_read(header: str, wait: float | None) -> None:
    assert map_error(BadReply(429, "", header), ENDPOINT).retry_after == wait
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    assert 3000 < (map_error(BadReply(503, "", later), ENDPOINT).retry_after or 0) <= 3600
