import pytest

from zkchat.models.ollama import server_key as ollama_key
from zkchat.models.registry import ServerKey
from zkchat.models.registry import server_key as openai_key

KEY = "canary-key"


@pytest.mark.parametrize(
    ("host", "is_users_choice", "sent", "warned"),
    [
        ("https://ollama.com", False, True, False),
        ("https://api.ollama.com/v1", False, True, False),
        ("http://ollama.com", False, False, True),
        ("https://ollama.com.evil.org", False, False, False),
        ("https://ollama.com@evil.org", False, False, False),
        ("https://gpu.example.org", True, True, False),
        ("https://gpu.example.org", False, False, False),
        ("http://gpu.example.org:11434", True, False, True),
        ("http://127.0.0.1:11434", True, True, False),
        ("http://127.0.0.1:11434", False, False, False),
    ],
)
def test_ollamas_key_goes_to_ollama_and_to_servers_of_the_users_choice(
    host: str, is_users_choice: bool, sent: bool, warned: bool
) -> None:
    found = ollama_key(KEY, host, is_users_choice=is_users_choice)
    assert (found.value == KEY, bool(found.warning)) == (sent, warned)
    assert ollama_key("", host, is_users_choice=is_users_choice) == ServerKey()


@pytest.mark.parametrize(
    ("base_url", "warned"),
    [("", False), ("https://example.org/v1", False), ("http://example.org/v1", True), ("HTTP://10.0.0.1/v1", True)],
)
def test_a_key_that_goes_over_plain_http_to_another_machine_is_warned_of(base_url: str, warned: bool) -> None:
    found = openai_key(KEY, base_url, "MY_KEY")
    assert found.value == KEY
    assert ("MY_KEY" in found.warning) is warned
    assert openai_key("", base_url, "MY_KEY") == ServerKey()


def test_neither_a_warning_nor_what_python_prints_shows_a_secret() -> None:
    assert "secret" not in openai_key(KEY, "http://me:secret@example.org/v1", "MY_KEY").warning
    assert KEY not in repr(ServerKey(KEY))
