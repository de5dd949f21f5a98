"""`zkchat context show --request` against a server that recorded what it got: many turns with all there is."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.providers.loopback import KEY, PROTOCOLS, Connection, Loopback, Request, serving
from tests.support.world import World
from zkchat.app import conversation, stores
from zkchat.app.conversation_core import ConversationOptions
from zkchat.chat.context.assembly import SUMMARY, request_from
from zkchat.core.events import TurnFailed
from zkchat.core.message import ToolCallPart
from zkchat.core.prompt import Finish, ModelChunk, ModelRequest, TextChunk, ToolRequested
from zkchat.core.session_history import History
from zkchat.core.values import from_plain
from zkchat.models.completions import message_param

TURNS = 100
SUBJECTS = ("bees", "the harbour", "chess", "sourdough", "glaciers")


class Recorder(Loopback):
    """A model that looks something up every third time, and knows something about everything."""

    async def serve(self, request: Request, connection: Connection) -> None:
        if not request.path.endswith("/chat/completions"):
            return await super().serve(request, connection)
        protocol = PROTOCOLS["/v1/chat/completions"]
        await connection.begin(protocol.content_type)
        for piece in protocol.answer(self._chunks(request.body["messages"]), request):
            await connection.piece(piece)
        return await connection.end(protocol.last)

    def _chunks(self, messages: list[dict[str, Any]]) -> list[ModelChunk]:
        last = messages[-1]
        if messages[0]["content"] == SUMMARY:
            return [TextChunk(text="They spoke about bees, chess and the harbour."), Finish()]
        if last["role"] == "user" and "look up" in last["content"]:
            call = ToolCallPart(call_id=f"c{len(self.requests)}", name="find_excerpts", arguments='{"query": "honey"}')
            return [ToolRequested(call=call), Finish(reason="tool_calls")]
        words = f"Answer {len(self.requests)}: it is known that they like it, says [[Bees]]. " * 6
        return [TextChunk(text=words), Finish()]


server = serving(Recorder, scope="function")


def prepared(tmp_path: Path, server: Recorder) -> World:
    world = World(tmp_path, variables={"OPENAI_API_KEY": KEY})
    world.note("Bees.md", "# Bees\n\nBees make honey.\n")
    world.note("ZKCHAT.md", "I keep bees.\n")
    world.note(".zkchat/rules/Brief.md", "---\ninclude: always\n---\nBe brief.\n")
    world.note(
        ".zkchat/rules/Chess.md", "---\ninclude: agent\ndescription: chess openings and moves\n---\nName moves.\n"
    )
    world.configure(
        'model = "here"\n[models.here]\nprovider = "openai"\nid = "any"\ncontext_limit = 5000\ncalls_tools = true\n'
        f'[openai]\nbase_url = "{server.address}/v1"\n'
    )
    assert world.run("trust", "--yes").code == 0
    assert world.run("memory", "add", "My favourite opening in chess is the Sicilian.").code == 0
    return world


def talk(world: World, turns: int) -> None:
    with conversation.open_conversation(world.environment(), ConversationOptions(vault=world.vault)) as opened:

        async def run() -> None:
            for number in range(turns):
                look = "Please look up" if number % 3 == 0 else "What about"
                async for event in opened.conversation.say(
                    f"{look} {SUBJECTS[number % 5]} and [[Bees]], turn {number}?"
                ):
                    assert not isinstance(event, TurnFailed), event

        asyncio.run(run())


def sent(request: ModelRequest) -> str:
    messages = [message_param(message) for message in request.messages]
    return json.dumps([messages, [spec.definition for spec in request.tools]], sort_keys=True)


@pytest.mark.slow
def test_every_request_is_rebuilt_byte_for_byte(tmp_path: Path, server: Recorder, scaled: Callable[[int], int]) -> None:
    world = prepared(tmp_path, server)
    turns = scaled(TURNS)
    talk(world, turns)
    bodies = [request.body for request in server.requests if request.path.endswith("/chat/completions")]
    received = [
        json.dumps([body["messages"], body.get("tools", [])], sort_keys=True)
        for body in bodies
        if body["messages"][0]["content"] != SUMMARY
    ]
    with stores.open_sessions(world.environment(), world.vault) as store:
        (session,) = store.sessions()
        history = History(store.entries(session.id))
    answers = {n: message for n, message in enumerate(history.thread, start=1) if message.request_context}
    rebuilt = [
        sent(request_from(message.request_context, history.messages, history.contents))
        for message in answers.values()
        if message.request_context
    ]
    assert len(rebuilt) == len(received) > turns
    assert rebuilt == received

    for number in [*answers][::25]:
        shown = world.run("context", "show", "--message", str(number), "--request", "--json").json
        assert sent(from_plain(ModelRequest, shown)) == received[[*answers].index(number)]
    records = [message.request_context for message in answers.values() if message.request_context]
    kinds = {item.type for record in records for item in record.items}
    assert kinds >= {"system", "rule", "tool", "memory", "summary", "recall", "message", "reference"}
