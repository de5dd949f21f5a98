"""An MCP server over HTTP on loopback; the path of the address names its fault."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class HttpServer:
    """A server, what it was sent, and where it is."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.requests: list[tuple[str, str, str, dict[str, str]]] = []
        """Verb, path, method of the protocol and headers."""
        self.forgets = False
        """Whether it has forgotten its session."""
        self.is_over = threading.Event()
        self.tools = ["echo", "close", "big", "empty"]

    def url(self, path: str, host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}/{path}"

    def methods(self, path: str) -> list[str]:
        return [method for _, seen, method, _ in self.requests if seen == f"/{path}"]


@contextmanager
def serving() -> Iterator[HttpServer]:
    class Handler(_Handler):
        pass

    with _Listener(("127.0.0.1", 0), Handler) as server:
        state = Handler.state = HttpServer(server.server_port)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            state.is_over.set()
            server.shutdown()
            thread.join()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # all connect at once

    def handle_error(self, *_: object) -> None:
        """A client that went away is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    state: HttpServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""

    def do_GET(self) -> None:
        self._note("")
        self._reply(405, b"")

    def do_DELETE(self) -> None:
        self._note("")
        self._reply(200, b"")

    def do_POST(self) -> None:
        message: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self._note(message.get("method", ""))
        fault = self.path.strip("/")
        if fault.isdigit():
            self._reply(int(fault), b"secret-token-in-a-page", "text/html")
        elif fault == "elsewhere":
            self._reply(307, b"", location=self.state.url("ok?key=1", "localhost"))
        elif fault == "moved":
            self._reply(307, b"", location="/ok")
        elif fault == "html":
            self._reply(200, b"<html>", "text/html")
        elif fault == "echoes":
            error = {"code": -32001, "message": f"not allowed: {self.headers['authorization']}"}
            self._json({"jsonrpc": "2.0", "id": message.get("id"), "error": error})
        elif fault == "invalid":
            error = {"code": -32602, "message": "no such tenant"}
            body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "error": error}).encode()
            self._reply(400, body, "application/json")
        elif fault == "compressed":
            self._reply(200, b"x", encoding="gzip")
        elif fault == "hangs":
            self.state.is_over.wait(20)
        elif "id" not in message:
            self._reply(202, b"")
        else:
            self._answer(message)

    def _answer(self, message: dict[str, Any]) -> None:
        has_session = self.headers.get("mcp-session-id") == "s2" or not self.state.forgets
        match message["method"]:
            case "initialize":
                result: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
                result["serverInfo"] = {"name": "web", "version": "2"}
                session = "s2" if self.state.forgets else "s1"
                self._json({"jsonrpc": "2.0", "id": message["id"], "result": result}, session=session)
            case "server/discover":
                self._reply(400, b"")
            case _ if not has_session:
                self._reply(404, b"")
            case "tools/list":
                tools = [{"name": name, "inputSchema": {"type": "object"}} for name in self.state.tools]
                self._json({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": tools}})
            case _:
                self._call(message, message["params"]["name"])

    def _call(self, message: dict[str, Any], tool: str) -> None:
        content: list[dict[str, str]] = [{"type": "text", "text": "x" * 20_000_000 if tool == "big" else tool}]
        whole = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": content}}
        match tool:
            case "close":
                self.close_connection = True
                self.connection.close()
            case "deep" | "deep event":
                body = json.dumps(whole).replace('"deep', f'{"[" * 50_000}{"]" * 50_000}, "deep').encode()
                if tool == "deep":
                    self._reply(200, body, "application/json")
                else:
                    self._reply(200, b"data: " + body + b"\n\n", "text/event-stream")
            case "empty":
                self._reply(200, b"", "text/event-stream")
            case _:
                self._json(whole)

    def _json(self, value: object, *, session: str = "") -> None:
        self._reply(200, json.dumps(value).encode(), "application/json", session=session)

    def _reply(self, status: int, body: bytes, kind: str = "text/plain", **more: str) -> None:
        names = {"location": "Location", "session": "Mcp-Session-Id", "encoding": "Content-Encoding"}
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for key, value in more.items():
            if value:
                self.send_header(names[key], value)
        self.end_headers()
        self.wfile.write(body)

    def _note(self, method: str) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.state.requests.append((self.command, self.path.partition("?")[0], method, headers))
