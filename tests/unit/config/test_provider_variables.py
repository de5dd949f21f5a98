"""`OPENAI_BASE_URL` and `OLLAMA_HOST` count where zkchat's own settings say nothing."""

from pathlib import Path

import pytest

from zkchat.config.load import Loaded, load
from zkchat.config.mistakes import Origin
from zkchat.config.value_types import ollama_url


def loaded(folder: Path, text: str = "", **variables: str) -> Loaded:
    file = folder / "config.toml"
    file.write_text(text)
    return load(file, None, variables, {}, lambda _: False)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("http://0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("[::]", "http://[::1]:11434"),
        ("[::]:8080", "http://[::1]:8080"),
        ("::1", "http://[::1]:11434"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("localhost:8080", "http://localhost:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("gpu", "http://gpu:11434"),
        ("gpu.example.org:443", "http://gpu.example.org:443"),
        ("http://gpu", "http://gpu"),
        ("https://gpu.example.org", "https://gpu.example.org"),
        ("https://gpu.example.org:8443/ollama/", "https://gpu.example.org:8443/ollama"),
        ("https://me:secret@gpu.example.org", "https://me:secret@gpu.example.org"),
    ],
)
def test_ollamas_variable_is_understood_as_ollama_does(tmp_path: Path, host: str, address: str) -> None:
    assert ollama_url(host) == address
    found = loaded(tmp_path, OLLAMA_HOST=f' "{host}" ')
    assert found.settings.ollama.host == address
    assert found.origins["ollama.host"] == Origin("variable", "OLLAMA_HOST")


def test_openais_variable_says_where_its_server_is(tmp_path: Path) -> None:
    found = loaded(tmp_path, OPENAI_BASE_URL="http://127.0.0.1:8000/v1")
    assert found.settings.openai.base_url == "http://127.0.0.1:8000/v1"
    assert found.origins["openai.base_url"] == Origin("variable", "OPENAI_BASE_URL")


def test_zkchats_own_settings_and_variables_win(tmp_path: Path) -> None:
    own = '[ollama]\nhost = "http://a"\n[openai]\nbase_url = "http://b"\n'
    variables = {"OLLAMA_HOST": "c", "OPENAI_BASE_URL": "http://d"}
    settings = loaded(tmp_path, own, **variables).settings
    assert (settings.ollama.host, settings.openai.base_url) == ("http://a", "http://b")
    settings = loaded(
        tmp_path, **variables, ZKCHAT_OLLAMA__HOST="http://e", ZKCHAT_OPENAI__BASE_URL="http://f"
    ).settings
    assert (settings.ollama.host, settings.openai.base_url) == ("http://e", "http://f")


@pytest.mark.parametrize("empty", ["", "  ", '""'])
def test_an_empty_variable_is_none(tmp_path: Path, empty: str) -> None:
    assert loaded(tmp_path, OLLAMA_HOST=empty, OPENAI_BASE_URL=empty).origins["ollama.host"].layer == "default"
