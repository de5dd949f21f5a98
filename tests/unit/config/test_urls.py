import pytest

from zkchat.config.value_types import validate_http_url

GOOD = [
    "http://127.0.0.1:11434", "https://api.example.org/v1", "http://localhost", "http://[::1]:8080/v1",
    "http://bücher.example:1", "http://user:secret@host:80/", "http://127.0.0.1:", "http://host.:65535",
]  # fmt: skip
ODD = [
    "http://[::1", "http://::1]", "http://[v1.x]:9", "http://[zz]", "http://127.0.0.1:99999", "http://127.0.0.1:0",
    "http://127.0.0.1:-1", "http://127.0.0.1:abc", "http://:80", "http://user@", "http://user@:80", "http://a b",
    "http://", "http:///x", "http:host", "ftp://host", "host:80", "//host", "http://..", "http://a..b", "http://.a",
    f"http://{'a' * 64}", "http://127.0.0.1:9\\@evil", "http://host?x", "http://host#x", "http://host\x00", "http://ho\nst",
    "http://host\u00a0", "javascript://host", "file:///etc/passwd",
]  # fmt: skip


@pytest.mark.parametrize("address", GOOD)
def test_an_address_that_can_be_called_stays_as_it_is(address: str) -> None:
    assert validate_http_url(address) == address


@pytest.mark.parametrize("address", ODD)
def test_an_odd_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        validate_http_url(address)
