"""The definitions of tools, which are sent with every request: what they say, and what they cost."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest

from benchmarks.context.tool_definitions import all_tools, all_write_tools
from zkchat.chat.context.assembly import tool_text
from zkchat.chat.context.tokens import load_encoding
from zkchat.chat.tools.registry import Arguments, Limit, Text, read_arguments, schema_of
from zkchat.core.changes import CHANGE_TOOLS
from zkchat.core.prompt import ToolSpec
from zkchat.mcp.tools import tools_for

SPECS = [tool.spec for tool in all_tools()]
WRITE_SPECS = [tool.spec for tool in all_write_tools()]
PINNED = Path(__file__).with_name("definitions.json")
MAX_TOKENS = 700
MAX_WRITE_TOKENS = 650


def values(schema: Any) -> Iterator[tuple[str, Any]]:
    for key, value in schema.items():
        yield key, value
        if isinstance(value, dict):
            yield from values(value)


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_the_definitions_of_all_tools_are_short(encoding: str) -> None:
    tokens = [len(load_encoding(encoding).encode(tool_text(spec))) for spec in SPECS]
    assert len(tokens) >= 12
    assert sum(tokens) / len(tokens) <= MAX_TOKENS / 12
    assert sum(len(load_encoding(encoding).encode(tool_text(spec))) for spec in WRITE_SPECS) <= MAX_WRITE_TOKENS


def test_each_tool_that_changes_notes_says_to_people_and_hosts_what_it_does() -> None:
    assert [spec.name for spec in WRITE_SPECS] == [*CHANGE_TOOLS]


@pytest.mark.parametrize("spec", [*SPECS, *WRITE_SPECS], ids=lambda spec: spec.name)
def test_a_definition_holds_types_and_descriptions_and_what_is_required(spec: ToolSpec) -> None:
    assert {*spec.parameters} <= {"type", "required", "properties"}
    for schema in spec.parameters["properties"].values():
        assert {*schema} <= {"type", "description"}
        assert schema["type"] in {"string", "integer", "boolean"}
    assert all(value not in ("", [], None) for _, value in values(spec.parameters))


def test_models_and_hosts_are_sent_the_definitions_that_they_know() -> None:
    """A definition that changes is another prompt: caches of servers miss, and models choose otherwise."""
    spec = ToolSpec(name="f", description="é", parameters={"type": "object"}, server="web")
    assert tool_text(spec) == (
        '{"type":"function","function":{"name":"f","description":"é","parameters":{"type":"object"}}}'
    )
    sent = {spec.name: spec.parameters for spec in (*SPECS, *WRITE_SPECS)}
    described = {name: tool.described().input_schema for name, tool in tools_for(may_write=True).items()}
    known = json.loads(PINNED.read_text())
    # As texts, since the order counts too; tools may be added.
    assert json.dumps({name: sent[name] for name in known["models"]}) == json.dumps(known["models"])
    assert json.dumps({name: described[name] for name in known["hosts"]}) == json.dumps(known["hosts"])


def test_a_schema_leaves_out_defaults_and_bounds() -> None:
    class Wanted(Arguments, frozen=True, kw_only=True):
        """Never sent."""

        name: Annotated[str, Text(min_length=1, description="A name")]
        since: str = ""
        limit: Limit = 5

    assert json.loads(json.dumps(schema_of(Wanted))) == {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "description": "A name"},
            "since": {"type": "string"},
            "limit": {"type": "integer"},
        },
    }
    assert read_arguments(Wanted, {"name": "x", "limit": 50}).limit == 20
