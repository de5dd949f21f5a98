"""Adds the token of `zkchat serve mcp --http` to requests of a program that cannot be told one.

    ZKCHAT_MCP_TOKEN=… python -m tests.protocols.token_proxy --port 7718 --to 7717

Headers and answers pass as they are. Only a Host or Origin that names the proxy's port then names the server's.
"""

import argparse
import os
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ADDRESS = "127.0.0.1"
_OF_CONNECTION = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length"})


class TokenProxy(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, server_port: int, token: str) -> None:
        super().__init__((ADDRESS, port), _Handler)
        self.server_port_behind = server_port
        self.token = token


class _Handler(BaseHTTPRequestHandler):
    server: TokenProxy

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        own, behind = f":{self.server.server_address[1]}", f":{self.server.server_port_behind}"
        connection = HTTPConnection(ADDRESS, self.server.server_port_behind, timeout=120)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in _OF_CONNECTION:
                connection.putheader(name, value.replace(own, behind) if name.lower() in {"host", "origin"} else value)
        connection.putheader("Authorization", f"Bearer {self.server.token}")
        connection.putheader("Content-Length", str(len(body)))
        try:
            connection.endheaders(body)
            answer = connection.getresponse()
        except OSError:
            self.send_error(502, "The server does not answer")
            return
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in {*_OF_CONNECTION, "date"}:
                self.send_header(name, value)
        self.end_headers()
        try:
            while piece := answer.read1(65_536):
                self.wfile.write(piece)
                self.wfile.flush()
        except (OSError, HTTPException):  # the program has read enough, or the server has ended
            pass
        finally:
            connection.close()

    do_GET = do_POST = do_DELETE = do_OPTIONS = do_PUT = _pass_on

    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--to", type=int, required=True)
    options = parser.parse_args()
    TokenProxy(options.port, options.to, os.environ["ZKCHAT_MCP_TOKEN"]).serve_forever()


if __name__ == "__main__":
    main()
