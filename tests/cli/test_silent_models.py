"""Models that say nothing, or do nothing but call tools, over both wires: one sentence, and nothing is lost."""

import json
from collections.abc import Callable

import pytest

from tests.providers.loopback import KEY, PROTOCOLS, Connection, Loopback, Request, serving
from tests.support.world import Result, World
from zkchat.core.errors import ExitCode
from zkchat.core.message import ToolCallPart
from zkchat.core.prompt import Finish, ModelChunk, TextChunk, ThinkingChunk, ToolRequested
from zkchat.core.values import from_plain

pytestmark = pytest.mark.outside

QUESTION = "How much sleep do adults need?"
FIRST_LINES = {
    "empty": "answered nothing.",
    "blank": "answered nothing.",
    "thinks": "thought and then answered nothing.",
    "long-thought": "ran out of room before it answered.",
    "looks-first": "used its tools and then answered nothing.",
    "loops": "kept calling tools and answered nothing.",
    "searches-on": "kept calling tools and answered nothing.",
}
KEPT = {"thinks": "Hm.", "long-thought": "Hm.", "looks-first": "seven hours", "searches-on": "seven hours"}


def call(number: int, query: str) -> ToolRequested:
    arguments = json.dumps({"query": query})
    return ToolRequested(call=ToolCallPart(call_id=f"c{number}", name="find_excerpts", arguments=arguments))


class Recorder(Loopback):
    """A server whose models go wrong as their names say; it records what they are asked."""

    def asked(self) -> list[Request]:
        return [request for request in self.requests if request.path in PROTOCOLS]

    async def serve(self, request: Request, connection: Connection) -> None:
        protocol = PROTOCOLS.get(request.path)
        if protocol is None:
            listed = {"object": "list", "data": []}
            return await connection.reply(200, self.shown() if request.path == "/api/show" else listed)
        await connection.begin(protocol.content_type)
        for piece in protocol.answer(self._answer(request), request):
            await connection.piece(piece)
        return await connection.end(protocol.last)

    def shown(self) -> object:
        large = {"general.architecture": "llama", "llama.context_length": 32_768}
        return {"model_info": large, "capabilities": ["completion", "tools"]}

    def _answer(self, request: Request) -> list[ModelChunk]:
        number = len(self.asked())
        has_looked = request.body["messages"][-1]["role"] == "tool"
        calls: dict[str, list[ModelChunk]] = {
            "loops": [call(number, "sleep")],
            "searches-on": [call(number, f"sleep of adults {number}")],
            "gives-in": [call(number, f"sleep {number}")] if request.body.get("tools") else [TextChunk(text="Seven.")],
            "looks-first": [] if has_looked else [call(number, "sleep")],
        }
        said: dict[str, list[ModelChunk]] = {
            "empty": [],
            "blank": [TextChunk(text=" \n")],
            "thinks": [ThinkingChunk(text="Hm.")],
            "long-thought": [ThinkingChunk(text="Hm.")],
        }
        model = request.body["model"]
        chunks = (calls | said)[model]
        has_calls = any(isinstance(chunk, ToolRequested) for chunk in chunks)
        reason = "tool_calls" if has_calls else "length" if model == "long-thought" else "stop"
        return [*chunks, from_plain(Finish, {"reason": reason})]


server = serving(Recorder, scope="function")


@pytest.fixture
def wire(request: pytest.FixtureRequest, world: World, server: Recorder) -> str:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours of sleep.\n")
    world.variables |= {
        "ZKCHAT_OLLAMA__HOST": server.address,
        "ZKCHAT_OPENAI__BASE_URL": f"{server.address}/v1",
        "OPENAI_API_KEY": KEY,
        "ZKCHAT_CONTEXT__MAX_TOKENS": "32768",
    }
    return getattr(request, "param", "openai")


@pytest.fixture
def ask(world: World, wire: str) -> Callable[..., Result]:
    def ask(model: str, *more: str) -> Result:
        return world.run("ask", QUESTION, "--model", f"{wire}:{model}", *more)

    return ask


@pytest.fixture
def without_second_look(world: World) -> None:
    world.variables["ZKCHAT_REFERENCES__LOOK_AGAIN"] = "false"


def whole_session(world: World) -> str:
    (session,) = world.run("sessions", "list", "--all", "--json").json
    return world.run("sessions", "show", session["id"], "--json").out


@pytest.mark.usefixtures("without_second_look")
@pytest.mark.parametrize(
    ("wire", "model"), [*(("ollama", model) for model in FIRST_LINES), ("openai", "empty")], indirect=["wire"]
)
def test_an_answer_without_words_costs_one_sentence_and_the_exit_code_says_so(
    world: World, wire: str, ask: Callable[..., Result], model: str
) -> None:
    result = ask(model)
    assert (result.code, result.out.strip()) == (ExitCode.NO_ANSWER, "")
    sentence, hint = result.err.strip().splitlines()
    assert sentence.endswith(f"{wire}:{model} {FIRST_LINES[model]}")
    assert "choose another model" in hint or "context.reserve_tokens" in hint
    assert KEPT.get(model, QUESTION) in whole_session(world)


def test_a_model_that_never_stops_looking_is_asked_without_tools_at_last(
    server: Recorder, ask: Callable[..., Result]
) -> None:
    ask("searches-on")
    assert [bool(request.body.get("tools")) for request in server.asked()] == [True] * 8 + [False]


def test_an_answer_that_had_to_do_without_tools_is_an_answer_with_one_sentence(
    wire: str, ask: Callable[..., Result]
) -> None:
    result = ask("gives-in")
    assert (result.code, result.out) == (ExitCode.OK, "Seven.\n")
    assert f"{wire}:gives-in called tools 8 times in a row, so it had to answer without" in (
        " ".join(result.err.split())
    )
    assert len(ask("gives-in", "--json").json["warnings"]) == 1
