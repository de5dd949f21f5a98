"""Addresses of servers, in settings, and in the variables of other programs where settings say nothing."""

from pathlib import Path

import pytest

from zkchat.config.loading import Loaded, Origin, load
from zkchat.config.sections import ollama_url, validate_http_url


def loaded(folder: Path, text: str = "", **variables: str) -> Loaded:
    file = folder / "config.toml"
    file.write_text(text)
    return load(file, None, variables, {}, lambda _: False)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("[::]", "http://[::1]:11434"),
        ("::1", "http://[::1]:11434"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("localhost:8080", "http://localhost:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("gpu", "http://gpu:11434"),
        ("https://gpu.example.org:8443/ollama/", "https://gpu.example.org:8443/ollama"),
        ("https://me:secret@gpu.example.org", "https://me:secret@gpu.example.org"),
    ],
)
def test_ollamas_variable_is_understood_as_ollama_does(tmp_path: Path, host: str, address: str) -> None:
    assert ollama_url(host) == address
    found = loaded(tmp_path, OLLAMA_HOST=f' "{host}" ')
    assert found.settings.ollama.host == address
    assert found.origins["ollama.host"] == Origin("variable", "OLLAMA_HOST")


def test_zkchats_own_settings_and_variables_win(tmp_path: Path) -> None:
    own = '[ollama]\nhost = "http://a"\n[openai]\nbase_url = "http://b"\n'
    variables = {"OLLAMA_HOST": "c", "OPENAI_BASE_URL": "http://d"}
    settings = loaded(tmp_path, own, **variables).settings
    assert (settings.ollama.host, settings.openai.base_url) == ("http://a", "http://b")
    settings = loaded(
        tmp_path, **variables, ZKCHAT_OLLAMA__HOST="http://e", ZKCHAT_OPENAI__BASE_URL="http://f"
    ).settings
    assert (settings.ollama.host, settings.openai.base_url) == ("http://e", "http://f")


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


def test_an_address_that_can_be_called_stays_as_it_is_and_an_odd_one_is_refused() -> None:
    assert [*map(validate_http_url, GOOD)] == GOOD
    for address in ODD:
        with pytest.raises(ValueError, match=r"."):
            validate_http_url(address)
