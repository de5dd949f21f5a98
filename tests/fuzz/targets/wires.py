"""Both protocols: whatever a server sends, the turn ends as documented, and the question is in its session."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from tests.fuzz import mutation
from tests.fuzz.case import Case, Folders, Target, require
from tests.fuzz.worlds import FuzzWorld, Worlds
from tests.providers.loopback import PROTOCOLS, Connection, Loopback, Request, WireProtocol
from zkchat.core.message import ToolCallPart
from zkchat.core.prompt import Finish, ModelChunk, TextChunk, ThinkingChunk, ToolRequested
from zkchat.core.values import to_json, to_plain

QUESTION = "How long do adults sleep?"
KEY = "sk-canary-of-the-fuzzer"
TOOLS = (
    "find_excerpts",
    "read_document",
    "list_documents",
    "search_conversation",
    "remember",
    "read_attachment",
    "nonsense",
    "",
)
MUTATED_ANSWERS = 3
"""After so many the server behaves, so that no case waits through all retries."""
HEADS = (
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 404 Not Found\r\nRetry-After: nan\r\n\r\n",
    b"HTTP/1.1 400 Bad\r\nRetry-After: -1\r\nContent-Type: application/json\r\n\r\n",
    b"HTTP/9.9 200\r\n\r\n",
    b"HTTP/1.1 200 \xff\xfe\r\nX: \x80\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\n\r\n",
    b"",
)


def chunks(rng: Random) -> Iterator[ModelChunk]:
    for _ in range(rng.randrange(6)):
        match rng.randrange(5):
            case 0:
                yield ThinkingChunk(text=mutation.text(rng, 2_000))
            case 1:
                arguments = {"query": mutation.line(rng), "limit": rng.choice(mutation.NUMBERS)}
                text = mutation.json_text(rng, arguments)
                name = rng.choice(TOOLS)
                yield ToolRequested(call=ToolCallPart(call_id=mutation.line(rng)[:30], name=name, arguments=text))
            case _:
                yield TextChunk(text=mutation.text(rng, 3_000))
    yield Finish(reason=rng.choice(("stop", "stop", "length")))


def garbled(rng: Random, protocol: WireProtocol, piece: bytes) -> bytes:
    """One piece of an answer, changed in its JSON or in its bytes."""
    if rng.random() < 0.3:
        return mutation.mutated_bytes(rng, piece)
    try:
        value = json.loads(piece.removeprefix(b"data: "))
    except ValueError:
        return mutation.mutated_bytes(rng, piece)
    written = mutation.json_text(rng, mutation.mutated_json(rng, value, 0.12))
    return protocol.garbled(written.encode(errors="replace"))


def answer(rng: Random, protocol: WireProtocol, request: Request) -> list[bytes]:
    encodable = [chunk for chunk in chunks(rng) if _can_be_sent(chunk)]
    pieces = [*protocol.answer(encodable, request), protocol.last]
    done: list[bytes] = []
    kinds = rng.choice((12, 30, 90))
    for piece in pieces:
        match rng.randrange(kinds):
            case 0 | 1:
                done.append(garbled(rng, protocol, piece))
            case 2:
                done += [piece, piece]
            case 3:
                pass
            case 4:
                done += [mutation.soup(rng, 3).encode(errors="replace"), piece]
            case _:
                done.append(piece)
    return done


def _can_be_sent(chunk: ModelChunk) -> bool:
    try:
        repr(chunk).encode()
        to_json(to_plain(chunk))
    except ValueError:
        return False
    return True


@dataclass
class MutatingServer(Loopback):
    """Each answer is a function of the case, the path and how often that path was asked for."""

    case: str = ""
    counts: Counter[str] = field(default_factory=Counter)

    def begin_case(self, case: Case) -> None:
        self.case = f"{case.seed}/{case.number}"
        self.counts.clear()
        self.requests.clear()

    async def serve(self, request: Request, connection: Connection) -> None:
        count = self.counts[request.path]
        self.counts[request.path] += 1
        rng = Random(f"{self.case}/{request.path}/{count}")
        protocol = PROTOCOLS.get(request.path)
        if protocol is None:
            about = self.shown() if request.path == "/api/show" else {"object": "list", "data": [], "models": []}
            status, share = (200, 0.0) if rng.random() < 0.6 else (rng.choice((200, 200, 404, 500)), 0.05)
            return await connection.reply(status, mutation.mutated_json(rng, about, share))
        if count >= MUTATED_ANSWERS:
            await connection.begin(protocol.content_type)
            for piece in protocol.answer([TextChunk(text="Seven hours."), Finish()], request):
                await connection.piece(piece)
            return await connection.end(protocol.last)
        return await self._mutated(rng, protocol, request, connection)

    async def _mutated(self, rng: Random, protocol: WireProtocol, request: Request, connection: Connection) -> None:
        pieces = answer(rng, protocol, request)
        if rng.random() < 0.05:
            await connection.write(rng.choice(HEADS))
            return await connection.write(b"".join(pieces))
        await connection.begin(protocol.content_type)
        for piece in pieces:
            if piece and rng.random() < 0.02:
                await connection.write(mutation.mutated_bytes(rng, f"{len(piece):x}\r\n".encode() + piece))
            elif piece:
                await connection.piece(piece)
        if rng.random() < 0.9:
            await connection.end()
        return None


class BothWires:
    def __init__(self, folders: Folders) -> None:
        self._worlds = Worlds(folders)
        self._server = MutatingServer().__enter__()

    def run(self, case: Case) -> None:
        world = self._worlds.fresh(case)
        address = self._server.address
        world.variables |= {
            "ZKCHAT_OLLAMA__HOST": address,
            "ZKCHAT_OPENAI__BASE_URL": f"{address}/v1",
            "OPENAI_API_KEY": KEY,
            "OLLAMA_API_KEY": KEY,
        }
        self._server.begin_case(case)
        model = case.rng.choice(("ollama:x", "openai:x"))
        more = case.rng.choice(((), ("--json",), ("--panels",), ("--continue",)))
        result = world.checked("ask", QUESTION, "--model", model, *more, terminal=case.rng.random() < 0.3)
        require(KEY not in result.out + result.err, "no key is shown", result.out + result.err)
        _session_is_readable(world)


def _session_is_readable(world: FuzzWorld) -> None:
    listed = world.checked("sessions", "list", "--all", "--json")
    require(listed.code == 0, "the sessions can be listed after any turn", listed.err)
    shown = world.checked("sessions", "show", listed.json[0]["id"], "--json")
    require(shown.code == 0, "the session can be shown after any turn", shown.err)
    require(QUESTION in shown.out, "the question is in its session after any turn", shown.out)
    world.checked("sessions", "show", listed.json[0]["id"])


def make(folders: Folders) -> Target:
    return BothWires(folders)
