"""An MCP server of a few lines, which needs no SDK: it has one tool, and tells its variables on standard error."""

import json
import os
import sys

ANSWERS = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "small", "version": "1\u001b[2J"},
    },
    "tools/list": {"tools": [{"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object"}}]},
}

if __name__ == "__main__":
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w") as witness:  # noqa: PTH123 - as quick to start as it can be
            json.dump({"cwd": os.getcwd(), "argv": sys.argv[1:], "env": dict(os.environ)}, witness)  # noqa: PTH109
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer = ANSWERS.get(message["method"])
            outcome = (
                {"result": answer} if answer else {"error": {"code": -32601, "message": "There is no such method"}}
            )
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)  # noqa: T201
