"""Definitions of MCP servers: what is read of a table, and the sentence for what cannot be used."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from zkchat.config.servers import parse_server, parse_servers, server_table
from zkchat.core.tool_server import ServerDefinition

RUN = {"command": "uvx", "args": ["mcp-server-time"]}


def problem(name: str, entry: object) -> str:
    """The only problem of a table with one server."""
    parsed = parse_servers({name: entry}, "user")
    assert not parsed.definitions
    (found,) = parsed.problems
    return found.sentence


def test_every_key_is_read() -> None:
    entry = {
        **RUN,
        "env": {"TZ": "UTC"},
        "cwd": "~/work",
        "local": True,
        "timeout": 5,
        "disabled": True,
        "type": "stdio",
    }
    assert parse_server("time", entry, "user") == ServerDefinition(
        name="time",
        command="uvx",
        args=("mcp-server-time",),
        env={"TZ": "UTC"},
        cwd="~/work",
        is_local=True,
        is_enabled=False,
        call_seconds=5,
    )
    reached = parse_server("a", {"type": "http", "url": "https://a.example/mcp", "headers": {"X-Key": "k"}}, "user")
    assert (reached.url, reached.headers) == ("https://a.example/mcp", {"X-Key": "k"})
    of_vault = parse_server("time", {**RUN, "local": True}, "vault")
    assert (of_vault.is_local, of_vault.origin) == (False, "vault")


@pytest.mark.parametrize(
    "name", ["", "a b", "a/b", "-a", ".a", "a" * 65, "é", "a\n", "a\x1b[2J", "a\0", "a$(b)", "\u202ea"]
)
def test_names_that_cannot_be(name: str) -> None:
    assert "has a name that cannot be used" in problem(name, RUN)
    for usable in ("a", "my.server_2-x", "_", "9", "a" * 64):
        assert parse_server(usable, RUN, "user").name == usable


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("uvx", "needs a command or a url"),
        ({}, "has neither a command nor a url"),
        ({"command": 1}, "has a value in 'command' that is not text"),
        ({"command": "a\0b"}, "with an invalid character"),
        ({"command": "\ud800"}, "with an invalid character"),
        ({"command": "a", "url": "https://a.example"}, "has both a command and a url"),
        ({"command": "a", "args": "b c"}, "that are not a list of texts"),
        ({"command": "a", "args": ["b", 3]}, "has a value in 'args' that is not text"),
        ({"command": "a", "args": ["b"] * 4_000}, "more than 4,000 characters in its command"),
        ({"command": "a", "env": ["A=b"]}, "has a 'env' that is not a table"),
        ({"command": "a", "env": {"A": 1}}, "has a value in 'env.A' that is not text"),
        ({"command": "a", "env": {"A=B": "c"}}, "has an invalid name in 'env'"),
        ({"command": "a", "env": {"A": "x" * 4_000}}, "more than 4,000 characters in its env"),
        ({"url": "https://a.example", "headers": {"A: b\r\nC": "d"}}, "has an invalid name in 'headers'"),
        ({"command": "a", "disabled": "no"}, "that is neither true nor false"),
        ({"command": "a", "timeout": "60"}, "has a 'timeout' that is not a number"),
        ({"command": "a", "timeout": 3_600_001}, "is not between 0 and 3,600 seconds"),
        ({"command": "a", "timeout": 0}, "is not between 0 and 3,600 seconds"),
        ({"command": "a", "timeout": float("nan")}, "is not between 0 and 3,600 seconds"),
        ({"command": "a", "timeout": 10**400}, "is not between 0 and 3,600 seconds"),
        ({"type": "sse", "url": "https://a.example/sse"}, "uses HTTP+SSE"),
        ({"type": "http", "command": "a"}, "does not fit its command"),
        ({"type": "stdio", "url": "https://a.example"}, "does not fit its url"),
    ],
)
def test_what_cannot_be_used_is_told_in_a_sentence(entry: object, said: str) -> None:
    sentence = problem("time", entry)
    assert sentence.startswith("The server 'time' ")
    assert said in sentence


def test_only_so_many_are_read() -> None:
    parsed = parse_servers({f"s{number}": RUN for number in range(52)}, "vault")
    assert (len(parsed.definitions), len(parsed.problems)) == (50, 2)


@pytest.mark.parametrize(("written", "seconds"), [(5, 5), (0.5, 0.5), (999, 999), (1000, 1), (600_000, 600)])
def test_a_time_out_of_1000_or_more_is_in_milliseconds(written: float, seconds: float) -> None:
    assert parse_server("time", {**RUN, "timeout": written}, "user").call_seconds == seconds
    assert parse_server("time", RUN, "user").call_seconds == 60


def test_keys_of_other_programs_are_passed_over_and_misspelled_ones_told() -> None:
    parsed = parse_servers({"time": {**RUN, "autoApprove": ["x"], "envs": {}}}, "user")
    assert parsed.warnings == ("The server 'time' has a key 'envs', which zkchat does not know. Did you mean 'env'?",)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
VARIABLES = st.dictionaries(st.from_regex(r"[A-Z_][A-Z0-9_]{0,9}", fullmatch=True), TEXTS, max_size=3)


@settings(max_examples=50)
@given(TEXTS.filter(bool), st.lists(TEXTS, max_size=4), VARIABLES, st.booleans(), st.floats(0.001, 3600))
@example("run", [], {}, True, 1000.0)
def test_what_is_written_is_read_back(
    command: str, args: list[str], env: dict[str, str], is_enabled: bool, seconds: float
) -> None:
    definition = ServerDefinition(
        name="x", command=command, args=tuple(args), env=env, is_enabled=is_enabled, call_seconds=seconds
    )
    read = parse_server("x", server_table(definition), "user")
    assert read.call_seconds == pytest.approx(seconds)
    assert replace(read, call_seconds=seconds) == definition


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ENTRIES = st.dictionaries(
    st.sampled_from(["command", "args", "env", "cwd", "url", "type", "headers", "disabled", "local", "timeout", "x"]),
    JSON,
    max_size=5,
)


@settings(max_examples=50)
@given(st.dictionaries(st.text(max_size=70), JSON | ENTRIES, max_size=4))
def test_whatever_a_table_holds_each_server_is_read_or_told(table: dict[str, Any]) -> None:
    parsed = parse_servers(table, "vault")
    assert len(parsed.definitions) + len(parsed.problems) == len(table)
