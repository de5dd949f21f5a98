import pytest

from zkchat.models.errors import Failure
from zkchat.models.transport import TransportPolicy


@pytest.fixture(autouse=True)
def _no_pause_before_a_request_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models whose server is not there are asked for often here."""
    delay = TransportPolicy.retry_delay

    def soon(policy: TransportPolicy, attempt: int, failure: Failure) -> float | None:
        return None if delay(policy, attempt, failure) is None else 0.0

    monkeypatch.setattr(TransportPolicy, "retry_delay", soon)
