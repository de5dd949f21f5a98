import socket
from pathlib import Path

import pytest

from zkchat.errors import ConfigError
from zkchat.providers.reach import answers
from zkchat.providers.registry import Servers, create

SERVERS = Servers(ollama_host="http://127.0.0.1:11434", openai_key="sk-canary")


def test_quote_and_scripted_are_found_by_name(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"model": "demo", "answers": []}')
    assert create("quote", folder=tmp_path, servers=SERVERS).info.name == "quote"
    assert create("scripted:p.json", folder=tmp_path, servers=SERVERS).info.name == "scripted:demo"


def test_servers_are_found_by_name_and_their_keys_are_not_shown(tmp_path: Path) -> None:
    assert create("ollama:qwen3:8b", folder=tmp_path, servers=SERVERS).info.id == "qwen3:8b"
    assert create("openai:gpt-5-mini", folder=tmp_path, servers=SERVERS).info.name == "openai:gpt-5-mini"
    assert "sk-canary" not in repr(SERVERS)


@pytest.mark.parametrize("name", ["gpt", "quote:x", "scripted:", "ollama:", ""])
def test_an_unknown_model_is_refused_with_those_there_are(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="There is no model") as caught:
        create(name, folder=tmp_path, servers=SERVERS)
    assert "quote" in caught.value.hint


def test_a_server_is_there_or_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert answers(f"http://{address}/v1")
        assert answers(address)
    assert not answers(f"http://{address}")
    assert not answers("http://127.0.0.1:not-a-port")
