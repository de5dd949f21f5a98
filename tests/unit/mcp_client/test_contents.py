"""What a server sends, as values that can be stored and sent on."""

import json
from typing import Any

import mcp_types as types
import pytest

from zkchat.mcp_client.contents import tools_of


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), float("-inf")])
def test_a_schema_holds_no_number_that_json_has_not(odd: float) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"q": {"type": "number", "maximum": odd, "minimum": 0.5}}}
    (tool,) = tools_of("web", [types.Tool(name="ask", input_schema=schema)])
    assert json.loads(json.dumps(tool.parameters, allow_nan=False))["properties"]["q"] == {
        "type": "number",
        "maximum": None,
        "minimum": 0.5,
    }
