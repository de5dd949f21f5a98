import socket
from pathlib import Path

import pytest

from zkchat.errors import ConfigError
from zkchat.providers.reach import answers
from zkchat.providers.registry import create


def test_quote_and_scripted_are_found_by_name(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"model": "demo", "answers": []}')
    assert create("quote", folder=tmp_path).info.name == "quote"
    assert create("scripted:p.json", folder=tmp_path).info.name == "scripted:demo"


@pytest.mark.parametrize("name", ["gpt", "quote:x", "scripted:", ""])
def test_an_unknown_model_is_refused_with_those_there_are(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="There is no model") as caught:
        create(name, folder=tmp_path)
    assert "quote" in caught.value.hint


def test_a_server_is_there_or_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert answers(f"http://{address}/v1")
        assert answers(address)
    assert not answers(f"http://{address}")
    assert not answers("http://127.0.0.1:not-a-port")
