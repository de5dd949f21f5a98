"""A server on this machine that embeds texts over both wires, keeps what it gets, and fails as it is told to."""

import hashlib
import json
import re
import threading
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import numpy as np

DIMENSIONS = 32
EMBEDDING_PATHS = ("/api/embed", "/v1/embeddings")


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Sent:
    """A reply. Bytes go as they are, anything else as JSON."""

    status: int = 200
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)


Replies = Callable[[Received], Sent | None]


class EmbeddingServer:
    """Texts with words in common get vectors near each other.

    `faults` are taken one after the other for requests that embed; None among them means a right answer.
    """

    def __init__(self, *, dimensions: int = DIMENSIONS, remote_host: str = "", packed: bool = False) -> None:
        self.dimensions = dimensions
        self.remote_host = remote_host
        self.show_status = 200
        self.packed = packed
        self.faults: list[Replies | None] = []
        self.always: Replies | None = None
        """What answers whenever `faults` are used up, if it answers at all."""
        self.received: list[Received] = []
        self.released = threading.Event()
        """What `hang` waits for."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._thread = threading.Thread(target=partial(self._server.serve_forever, 0.01), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def host(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def embedded(self) -> list[str]:
        """Every text that came in, in order."""
        bodies = [each.body for each in self.received if each.path in EMBEDDING_PATHS]
        return [text for body in bodies for text in body["input"]]

    def answer(self, request: Received) -> Sent:
        self.received.append(request)
        if request.path == "/api/show":
            return Sent(self.show_status, {"capabilities": ["embedding"], "remote_host": self.remote_host})
        if request.path not in EMBEDDING_PATHS:
            return Sent(404, {"error": "not found"})
        fault = self.faults.pop(0) if self.faults else self.always
        return (fault and fault(request)) or self.right(request)

    def right(self, request: Received) -> Sent:
        dimensions = request.body.get("dimensions") or self.dimensions
        rows = [vector_of(text, dimensions) for text in request.body["input"]]
        return Sent(body=wrapped(request, rows, packed=self.packed))

    def hang(self, _request: Received) -> Sent | None:
        self.released.wait(10)
        return None


def wrapped(request: Received, rows: Sequence[Sequence[float]], *, packed: bool = False) -> object:
    """Rows as the wire of the request carries them."""
    if request.path == "/api/embed":
        return {"model": request.body["model"], "embeddings": rows, "total_duration": 1, "prompt_eval_count": 1}
    sent = [b64encode(np.array(row, dtype="<f4").tobytes()).decode() if packed else row for row in rows]
    data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(sent)]
    return {"object": "list", "data": data[::-1], "model": request.body["model"], "usage": {"prompt_tokens": 1}}


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Counts of words, each at the place of its digest."""
    vector = [0.0] * dimensions
    for word in re.findall(r"\w+", text.casefold()):
        vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % dimensions] += 1
    return vector


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, server: EmbeddingServer, *arguments: Any) -> None:
        self._owner = server
        super().__init__(*arguments)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        sent = self._owner.answer(Received(self.path, headers, body))
        data = sent.body if isinstance(sent.body, bytes) else json.dumps(sent.body).encode()
        with suppress(ConnectionError):  # who asked may be gone
            self.send_response(sent.status)
            for name, value in {"Content-Length": str(len(data)), **sent.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
