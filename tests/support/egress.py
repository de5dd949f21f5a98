"""A vault with one note that is to stay on this machine, and a server on loopback that records what it gets."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.providers.loopback import PROTOCOLS, Connection, Loopback, Request
from tests.support.embedding_server import EmbeddingServer
from tests.support.world import World
from zkchat.app import conversation, stores
from zkchat.app.conversation_core import ConversationOptions
from zkchat.app.workspace import UserInterface
from zkchat.chat.context.assembly import SUMMARY
from zkchat.chat.conversation import Conversation
from zkchat.core.events import Event, TurnFailed, Warned
from zkchat.core.message import ToolCallPart
from zkchat.core.prompt import Finish, ModelChunk, TextChunk, ToolRequested
from zkchat.core.session_history import History

ID = "20260102030405"
FILE = f"Diaries/{ID} Quokkafile.md"
CANARIES = (
    "quokkafile",
    "wombattitle",
    "numbatalias",
    "bilbytag",
    "potoroovalue",
    "dunnartheading",
    "quollsecret",
    "bettongblock",
)
SECRET = """---
zkchat: local
title: Wombattitle
aliases: [Numbatalias]
tags: [bilbytag]
mood: Potoroovalue
---
# Wombattitle

## Dunnartheading

The lighthouse password is Quollsecret. ^bettongblock

It grew in the [[Open garden]].
"""
OPEN = {
    "Open garden.md": f"# Open garden\n\nTomatoes and beans, as in [[{ID}]].\n\n![[{ID}]]\n",
    "Middle.md": "# Middle\n\n![[Open garden]]\n",
    "Lighthouse.md": "# Lighthouse\n\nThe white lighthouse stands on the cape and has a keeper.\n",
}


class Agreeing(UserInterface):
    """A user who lets everything be remembered."""

    def may_remember(self, _text: str) -> bool:
        return True


class Models(NamedTuple):
    """Two names of one server: of a model that it runs itself, and of one that it forwards."""

    here: str
    elsewhere: str


OVER_OLLAMA = Models("ollama:here", "ollama:far-cloud")
OVER_OPENAI = Models("openai:here", "openai:alias")
ELSEWHERE = (
    "ollama:far-cloud",
    "ollama:far-CLOUD",
    "ollama:far:Cloud",
    "ollama:alias",
    "openai:gpt-oss:120b-cloud",
    "openai:FAR-CLOUD",
    "openai:alias",
    "tunnel",
)
"""Every kind of model that a server on loopback does not run itself."""
QUOTING = "The answer is Quollsecret, says Wombattitle."


@dataclass
class Recorder(Loopback):
    """Makes the call that was prepared, if one was, and then says what was prepared."""

    call: ToolCallPart | None = None
    says: str = "Fine."

    async def serve(self, request: Request, connection: Connection) -> None:
        protocol = PROTOCOLS.get(request.path)
        if request.path == "/v1/models":
            return await connection.reply(200, {"object": "list", "data": []})
        if request.body is None:
            return await connection.reply(404, {"error": "not found"})
        if protocol is None:
            tools = [] if request.body["model"].startswith("plain") else ["tools"]
            remote = {"remote_host": "https://ollama.com:443"} if request.body["model"] == "alias" else {}
            return await connection.reply(200, {**self._known(), **remote, "capabilities": ["completion", *tools]})
        await connection.begin(protocol.content_type)
        for piece in protocol.answer(self._chunks(request.body["messages"]), request):
            await connection.piece(piece)
        return await connection.end(protocol.last)

    def _known(self) -> dict[str, object]:
        shown = self.shown()
        assert isinstance(shown, dict)
        return {**shown, "model_info": {"general.architecture": "llama", "llama.context_length": 32768}}

    def _chunks(self, messages: list[dict[str, str]]) -> list[ModelChunk]:
        if messages[0]["content"] == SUMMARY:
            return [TextChunk(text=f"They spoke of it. {self.says}"), Finish()]
        if self.call and messages[-1]["role"] == "user":
            return [ToolRequested(call=self.call), Finish(reason="tool_calls")]
        return [TextChunk(text=self.says), Finish()]

    def received(self) -> str:
        """All that was asked since the last time, in small letters."""
        bodies = [request.body for request in self.requests if request.path in PROTOCOLS]
        self.requests.clear()
        return json.dumps(bodies, ensure_ascii=False).lower()


@dataclass
class Scene:
    world: World
    server: Recorder
    models: Models = OVER_OLLAMA
    warnings: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def here(self) -> str:
        return self.models.here

    @property
    def elsewhere(self) -> str:
        return self.models.elsewhere

    def talk(
        self, model: str, act: Callable[[Conversation], AsyncGenerator[Event, None]], *, go_on: bool = False
    ) -> str:
        """What the server got while that was done in a new conversation, or in the last one."""
        options = ConversationOptions(
            vault=self.world.vault, model=model, continue_last=go_on, user_interface=Agreeing()
        )
        with conversation.open_conversation(self.world.environment(), options) as opened:

            async def run() -> None:
                async for event in act(opened.conversation):
                    if isinstance(event, Warned):
                        self.warnings.append(event.text)
                    elif isinstance(event, TurnFailed):
                        self.failures.append(event.text)

            asyncio.run(run())
        return self.server.received()

    def ask(self, model: str, *texts: str, go_on: bool = False) -> str:
        async def say(conversation: Conversation) -> AsyncGenerator[Event, None]:
            for text in texts:
                async for event in conversation.say(text):
                    yield event

        received = self.talk(model, say, go_on=go_on)
        assert received != "[]"
        return received

    def history(self) -> History:
        with stores.open_sessions(self.world.environment(), self.world.vault) as store:
            return History(store.entries(store.sessions()[0].id))


def make_scene(
    folder: Path, server: Recorder, notes: dict[str, str] | None = None, models: Models = OVER_OLLAMA
) -> Scene:
    world = World(
        folder, variables={"ZKCHAT_OLLAMA__HOST": server.address, "ZKCHAT_OPENAI__BASE_URL": f"{server.address}/v1"}
    )
    world.configure('[models.tunnel]\nprovider = "openai"\nid = "tunnelled"\nlocal = false\n')
    for path, text in ({FILE: SECRET, **OPEN} if notes is None else notes).items():
        world.note(path, text)
    return Scene(world, server, models)


def embed_elsewhere(world: World, embedder: EmbeddingServer) -> None:
    """Have the open notes embedded by a server that is declared to be elsewhere."""
    world.variables |= {
        "ZKCHAT_EMBEDDINGS__MODEL": "ollama:any",
        "ZKCHAT_EMBEDDINGS__BASE_URL": embedder.host,
        "ZKCHAT_EMBEDDINGS__LOCAL": "false",
    }
    assert world.run("index").code == 0
    assert "tomatoes and beans" in str(embedder.embedded).lower()
    assert leaked(str(embedder.embedded).lower()) == set()


def leaked(received: str, *known: str) -> set[str]:
    """What a server got of the note, beside what it was told by whoever asked."""
    said = " ".join(known).lower()
    return {canary for canary in CANARIES if canary in received and canary not in said}
