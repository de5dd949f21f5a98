"""An MCP server of a few lines with a tool that reads and one that does not, for pictures and examples."""

import json
import sys

TOOLS = [
    {
        "name": "forecast",
        "description": "The weather of a place on a day.",
        "inputSchema": {
            "type": "object",
            "properties": {"place": {"type": "string"}, "day": {"type": "string"}},
            "required": ["place"],
        },
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "add_event",
        "description": "Add an event to the calendar.",
        "inputSchema": {
            "type": "object",
            "properties": {"title": {"type": "string"}, "day": {"type": "string"}},
            "required": ["title", "day"],
        },
    },
]
SAID = {"forecast": "Frost in the night, -2 °C. Dry until Sunday.", "add_event": "Added."}


def answer(method: str, parameters: dict[str, str]) -> dict[str, object] | None:
    match method:
        case "initialize":
            server = {"name": "weather", "version": "1"}
            return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return {"content": [{"type": "text", "text": SAID[parameters["name"]]}]}
    return None


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            result = answer(message["method"], message.get("params", {}))
            outcome = {"result": result} if result else {"error": {"code": -32601, "message": "No such method"}}
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)  # noqa: T201
