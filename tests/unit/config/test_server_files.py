"""`.mcp.json` of a vault and the files of other programs, hostile ones too."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.config.servers import parse_object, read_vault_servers, server_item, server_of, without_comments
from zkchat.core.errors import ConfigError

RUN: dict[str, object] = {"command": "uvx", "args": ["mcp-server-time"]}


def written(vault: Path, content: object) -> Path:
    text = content if isinstance(content, str) else json.dumps(content)
    (vault / ".mcp.json").write_text(text, encoding="utf-8")
    return vault


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is broken at line 1"),
        ('{"mcpServers": {}} // no comment', "is broken at line 1"),
        ("[]", "is not a JSON object"),
        ('{"mcpServers": []}', "has a 'mcpServers' that is not a JSON object"),
        ('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "'a' is there twice"),
        ('{"mcpServers": {"a": {"command": "x", "command": "y"}}}', "'command' is there twice"),
        ("[" * 100_000, "is nested too deeply"),
        ('{"a": ' + "9" * 5_000 + "}", "cannot be used"),
        ('{"a": "' + "x" * 300_000 + '"}', "it is larger than 256,000 bytes"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_a_sentence(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_vault_servers(written(tmp_path, content))
    assert said in raised.value.message


def test_no_link_pipe_or_folder_in_its_place_is_read(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    written(tmp_path, {"mcpServers": {"time": RUN}})
    (vault / ".mcp.json").symlink_to(tmp_path / ".mcp.json")
    with pytest.raises(ConfigError, match="symbolic link"):
        read_vault_servers(vault)
    (vault / ".mcp.json").unlink()
    os.mkfifo(vault / ".mcp.json")
    with pytest.raises(ConfigError, match="not a regular file"):
        read_vault_servers(vault)


def test_an_item_holds_all_that_counts_and_nothing_else(tmp_path: Path) -> None:
    def item(entry: dict[str, object]) -> str:
        (definition,) = read_vault_servers(written(tmp_path, {"mcpServers": {"time": entry}})).definitions
        assert server_of(server_item(definition)) == definition
        return server_item(definition).digest

    base = item(RUN)
    assert item({**RUN, "autoApprove": True}) == base
    assert item(dict(reversed(RUN.items()))) == base
    changes: list[dict[str, object]] = [
        {"command": "uvx2"},
        {"args": ["mcp-server-time", "-v"]},
        {"args": ["mcp-server-time "]},
        {"env": {"A": "b"}},
        {"cwd": "x"},
        {"timeout": 5},
        {"disabled": True},
    ]
    assert base not in {item({**RUN, **change}) for change in changes}


def test_comments_and_last_commas_are_passed_over(tmp_path: Path) -> None:
    text = """{ // servers
      "servers": { /* one
        */ "a": {"command": "x", "args": ["//no", "/* no */", "\\", // no", ",]"],},
      },
    }"""
    expected = {"servers": {"a": {"command": "x", "args": ["//no", "/* no */", '", // no', ",]"]}}}
    assert parse_object(tmp_path / "mcp.json", text, has_comments=True) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab"\\/*,]}{[ \n', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('ab"\\/*,', max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=50)
@given(JSON, st.sampled_from([None, 2]))
def test_plain_json_stays_as_it_is(value: object, indent: int | None) -> None:
    assert without_comments(json.dumps(value, indent=indent)) == json.dumps(value, indent=indent)
