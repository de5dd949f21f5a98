"""An MCP server in plain JSON lines, with every fault that a test asks for. It imports little, so that it starts fast.

The first argument names how it behaves at the start, the tool that is called how it behaves then. A stubborn server has
a child, ends neither with its input nor when it is asked to, and writes both numbers to the file that is named next.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
TOOLS = ["die", "slow", "noise", "wrong id", "invalid json", "wrong schema", "flood", "long line", "error", "fails"]
TOOLS += ["image", "structured", "links", "embedded", "odd text", "ask", "change", "process", "child", "stderr", "echo"]
DESCRIPTIONS: dict[str, str] = json.loads(sys.argv[2]) if MODE == "tools" else {}
"""Of the tools that it offers in the place of these, by name."""
TOOLS = [*DESCRIPTIONS] or TOOLS


def send(message: object) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        time.sleep(1000 if MODE == "stubborn" else 0)
        sys.exit()
    message: dict[str, Any] = json.loads(line)
    return message


def answer(request: dict[str, Any], result: object) -> None:
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def notify(method: str) -> None:
    send({"jsonrpc": "2.0", "method": method})


def say(request: dict[str, Any], *content: object, **more: object) -> None:
    answer(request, {"content": [{"type": "text", "text": part} if isinstance(part, str) else part for part in content],
                     **more})  # fmt: skip


def start_child() -> int:
    return os.spawnl(os.P_NOWAIT, sys.executable, "python", "-S", "-c", "import time; time.sleep(1000)")


def begin() -> None:
    if MODE == "exit":
        os.write(2, b"no database\n")
        sys.exit(3)
    if MODE == "mute":
        time.sleep(1000)
    if MODE == "noisy":
        sys.stdout.write("Welcome!\n[]\n\n{}\n\xff\n")
        sys.stdout.flush()
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = start_child()
        with open(sys.argv[2], "w") as file:  # noqa: PTH123
            file.write(f"{os.getpid()} {child}")


def handle(request: dict[str, Any]) -> None:
    match request["method"]:
        case "server/discover" if MODE == "new":
            discover(request)
        case "server/discover" if MODE == "ends on discovery":
            sys.exit(1)
        case "server/discover" if MODE == "silent on discovery":
            pass
        case "initialize":
            initialize(request)
        case "tools/list":
            list_tools(request)
        case "resources/list" | "resources/read" | "prompts/list" | "prompts/get":
            offer(request)
        case "tools/call":
            call(request, request["params"]["name"], request["params"].get("arguments", {}))
        case "subscriptions/listen":
            meta = {"io.modelcontextprotocol/subscriptionId": request["id"]}
            params: dict[str, Any] = {"_meta": meta, "notifications": {"toolsListChanged": True}}
            send({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})
            TOOLS.append("told")
            send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": meta}})
        case _ if "id" in request:
            send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32000, "message": "not initialized"}})


def initialize(request: dict[str, Any]) -> None:
    if MODE == "chatters":
        while True:
            notify("notifications/message")
    capabilities = 7 if MODE == "wrong initialize" else {"tools": {"listChanged": True}, "resources": {}, "prompts": {}}
    info = {"name": "plain", "version": "1\x00.5"}
    version = "1999-01-01" if MODE == "wrong version" else "2025-11-25"
    answer(request, {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info})


def offer(request: dict[str, Any]) -> None:
    params = request.get("params") or {}
    match request["method"]:
        case "resources/list" if MODE == "no resources":
            send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32603, "message": "no database"}})
        case "resources/list":
            answer(request, {"resources": [{"uri": "memo://a", "name": "A memo", "mimeType": "text/plain"}]})
        case "resources/read":
            contents = [{"text": "a memo"}, {"mimeType": "application/pdf", "blob": "QUJD"}]
            answer(request, {"contents": [{"uri": params["uri"], **content} for content in contents]})
        case "prompts/list":
            argument = {"name": "topic", "description": "of the talk", "required": True}
            answer(request, {"prompts": [{"name": "talk", "description": "A talk", "arguments": [argument]}]})
        case _:
            said = (("user", f"Talk about {params['arguments']['topic']}."), ("assistant", "Gladly."))
            messages = [{"role": role, "content": {"type": "text", "text": text}} for role, text in said]
            answer(request, {"messages": messages})


def discover(request: dict[str, Any]) -> None:
    capabilities = {"tools": {"listChanged": True}}
    answer(request, {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
                     "ttlMs": 0, "cacheScope": "public"})  # fmt: skip


def list_tools(request: dict[str, Any]) -> None:
    tools: list[dict[str, Any]] = [
        {"name": name, "description": DESCRIPTIONS.get(name, f"Does {name}."), "inputSchema": {"type": "object"}}
        for name in TOOLS
    ]
    tools[0]["annotations"] = {"readOnlyHint": True}
    more: dict[str, Any] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"} if MODE == "new" else {}
    if MODE == "wrong tools":
        tools = [{"name": "a"}]
    if MODE == "endless tools":
        page = int((request.get("params") or {}).get("cursor", "0"))
        tools = [{"name": f"t{page}.{number}", "inputSchema": {"type": "object"}} for number in range(100)]
        more = {"nextCursor": str(page + 1)}
    if MODE == "odd tools":
        odd = [{"name": "a", "inputSchema": {"type": "object", "x": "y" * 100_000}}]
        odd += [{"name": name, "inputSchema": {"type": "object"}} for name in ("", "a\x1b", "long" * 100)]
        tools = [*odd, {"name": "good", "description": "z" * 100_000, "inputSchema": {"type": "object"}}]
    answer(request, {"tools": tools, **more})


def call(request: dict[str, Any], tool: str, arguments: dict[str, Any]) -> None:
    match tool:
        case "die":
            os._exit(5)
        case "slow":
            time.sleep(1000)
        case "noise":
            os.write(1, b"working on it\n")
            say(request, "done")
        case "wrong id":
            send({"jsonrpc": "2.0", "id": 4711, "result": {}})
        case "invalid json":
            os.write(1, b'{"jsonrpc": "2.0", "id": %d, "result": {]}\n' % request["id"])
        case "deep":
            deep = b"[" * 50_000 + b"]" * 50_000
            os.write(1, b'{"jsonrpc": "2.0", "id": %d, "result": {"content": [], "x": %s}}\n' % (request["id"], deep))
        case "wrong schema":
            answer(request, {"content": "text"})
        case "flood":
            for _ in range(2_500):
                notify("notifications/tools/list_changed")
            say(request, "flooded")
        case "long line":
            for _ in range(100):
                os.write(1, b"x" * 1_000_000)
        case "error":
            send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32000, "message": f"no: {arguments}"}})
        case "fails":
            say(request, "there is no such file", isError=True)
        case _:
            call_well(request, tool, arguments)


def call_well(request: dict[str, Any], tool: str, arguments: dict[str, Any]) -> None:
    match tool:
        case "mismatch" if "listed again" not in TOOLS:
            TOOLS.append("listed again")
            send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32020, "message": "headers"}})
        case "input":
            answer(request, {"resultType": "input_required", "requestState": "x"})
        case "image":
            image = {"type": "image", "data": "QUJD", "mimeType": "image/png"}
            say(request, "a picture", image, {"type": "audio", "data": "QUJD", "mimeType": "audio/wav"})
        case "structured":
            say(request, structuredContent={"number": 7})
        case "links":
            say(request, "two", *({"type": "resource_link", "uri": f"memo://{name}", "name": name} for name in "aab"))
        case "embedded":
            say(request, {"type": "resource", "resource": {"uri": "memo://c", "text": "what it says"}})
        case "odd text":
            os.write(1, b'{"jsonrpc": "2.0", "id": %d, "result": {"content": [{"type": "text", "text": '
                        b'"a\\u0000b\\ud800c\\u001b[31m"}]}}\n' % request["id"])  # fmt: skip
        case "ask":
            said = []
            for method in ("sampling/createMessage", "roots/list", "elicitation/create"):
                params = {"messages": [], "maxTokens": 1, "message": "?", "requestedSchema": {"type": "object"}}
                send({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
                said.append("error" in receive())
            say(request, f"declined {said}, capabilities {CLIENT['params']['capabilities']}")
        case "change":
            TOOLS.append("fresh")
            notify("notifications/tools/list_changed")
            say(request, "changed")
        case "process":
            folder = os.getcwd()  # noqa: PTH109
            state = {"variables": dict(os.environ), "folder": folder, "leads": os.getpgid(0) == os.getpid()}
            say(request, json.dumps({**state, "session": os.getsid(0) == os.getpid(), "pid": os.getpid()}))
        case "child":
            say(request, f"{os.getpid()} {start_child()}")
        case "stderr":
            os.write(2, b"x" * arguments.get("size", 0) + b"a warning\n")
            say(request, "warned")
        case _:
            result = {"resultType": "complete"} if MODE == "new" else {}
            say(request, json.dumps(arguments), **result)


CLIENT: dict[str, Any] = {}

if __name__ == "__main__":
    begin()
    while True:
        received = receive()
        if received.get("method") == "initialize":
            CLIENT.update(received)
        if "method" in received:
            handle(received)
