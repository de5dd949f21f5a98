"""`${VAR}` and `${VAR:-default}` in definitions of MCP servers."""

from pathlib import Path

import pytest

from zkchat.config.servers import ExpansionError, MissingVariable, expand
from zkchat.core.tool_server import ServerDefinition
from zkchat.core.values import from_plain

VARIABLES = {"A": "one", "B": "two words; $(x)", "EMPTY": "", "REF": "${A}", "URL": "https://a.example", "NL": "a\r\nb"}
VAULT, HOME = Path("/vault"), Path("/home/me")


def expanded(**fields: object) -> ServerDefinition:
    definition = from_plain(ServerDefinition, {"name": "x", "command": "run", **fields})
    return expand(definition, VARIABLES, VAULT, HOME)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x${A}y${A}", "xoneyone"),
        ("${B}", "two words; $(x)"),
        ("${A:-other}", "one"),
        ("${NO:-other}", "other"),
        ("${EMPTY:-other}", "other"),
        ("${NO:-https://a.example/x?y=z}", "https://a.example/x?y=z"),
        ("${REF}", "${A}"),
        ("$A", "$A"),
        ("`A`", "`A`"),
        ("${1A}", "${1A}"),
        ("${A", "${A"),
        ("$${A}", "$one"),
    ],
)
def test_expansion(text: str, value: str) -> None:
    assert expanded(args=(text,)).args == (value,)
    assert expanded(env={"E": text}).env == {"E": value}


def test_missing_variables_are_named_and_no_value_is() -> None:
    reached = expanded(command="", url="${URL}/mcp", headers={"Authorization": "Bearer ${A}"})
    assert (reached.url, reached.headers) == ("https://a.example/mcp", {"Authorization": "Bearer one"})
    with pytest.raises(MissingVariable) as raised:
        expanded(args=("${NO}", "${A}", "${EMPTY}"), env={"E": "${NO}"})
    assert raised.value.message == "The server 'x' needs the variables EMPTY, NO, which are not set."
    with pytest.raises(MissingVariable, match="needs the variable NO, which is not set"):
        expanded(command="${NO}")


@pytest.mark.parametrize(
    "fields",
    [
        {"command": "", "url": "${A}"},
        {"command": "", "url": "file:///etc/passwd"},
        {"command": "", "url": "https://a.example/${B}"},
        {"command": "", "url": "https://a.example:99999/"},
        {"command": "", "url": "https://a.example", "headers": {"X": "${NL}"}},
        {"command": "", "url": "https://a.example", "headers": {"X": "é"}},
        {"command": "${NO:-}"},
    ],
)
def test_what_becomes_unusable_is_told_without_values(fields: dict[str, object]) -> None:
    with pytest.raises(ExpansionError) as raised:
        expanded(**fields)
    assert "'x'" in raised.value.message
    assert not any(value in raised.value.message for value in VARIABLES.values() if value)


@pytest.mark.parametrize(
    ("fields", "command", "cwd"),
    [
        ({}, "run", "/vault"),
        ({"command": "./run"}, "/vault/run", "/vault"),
        ({"command": "bin/run", "cwd": "tools"}, "/vault/tools/bin/run", "/vault/tools"),
        ({"command": "${A}", "cwd": "/x/${A}"}, "one", "/x/one"),
        ({"command": "~/run", "cwd": "~/x"}, "/home/me/run", "/home/me/x"),
    ],
)
def test_a_path_is_one_from_the_folder_of_the_server(fields: dict[str, object], command: str, cwd: str) -> None:
    found = expanded(**fields)
    assert (found.command, found.cwd) == (command, cwd)
