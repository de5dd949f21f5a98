"""Every tool that there is, called by a model on this machine and by one elsewhere.

A new tool is found here by itself, and fails until `EXAMPLES` says how it is called so that it would give away a local
note, a local fact or a local turn.
"""

import ast
import json
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

import zkchat.chat.tools
from tests.providers.loopback import serving
from tests.support.egress import ID, QUOTING, Recorder, Scene, embed_elsewhere, leaked, make_scene
from tests.support.embedding_server import EmbeddingServer
from zkchat.chat.conversation import Conversation
from zkchat.core.events import Event
from zkchat.core.message import ToolCallPart

EXAMPLES: dict[str, dict[str, object]] = {
    "read_document": {"relative_path": ID},
    "find_excerpts": {"query": "lighthouse password"},
    "find_documents": {"query": "lighthouse password"},
    "resolve_wikilink": {"wikilink": f"[[{ID}]]"},
    "find_backlinks": {"relative_path": "Open garden"},
    "find_forward_links": {"relative_path": ID},
    "find_related": {"relative_path": "Open garden"},
    "list_documents": {},
    "get_current_datetime": {},
    "search_conversation": {"query": "lighthouse answer"},
    "recall": {"query": "lighthouse password"},
    "remember": {"information": "My lighthouse password is 1234."},
    "read_attachment": {"query": "lighthouse answer"},
}
SAY_NOTHING_PRIVATE = {"get_current_datetime", "remember", "read_attachment"}
"""Whatever they are asked in this scene: the rest must show something here, or else the attempt proves nothing.

For `read_attachment` there is no message that was shortened; it has a test of its own.
"""


def registered() -> set[str]:
    """The names of all tools that the package makes: functions of keyword arguments alone, with an outcome."""
    return {
        function.name
        for file in Path(zkchat.chat.tools.__file__).parent.glob("*.py")
        for function in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef) and not function.name.startswith("_")
        if function.returns and ast.unparse(function.returns) == "ToolOutcome"
        if {each.arg for each in function.args.args} <= {"self"}
    }


embedder = serving(EmbeddingServer, name="embedder")


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, embedder: EmbeddingServer) -> Iterator[Scene]:
    """A conversation with local turns, some of them archived, and a local fact; with an embedding server elsewhere."""
    with Recorder() as server:
        scene = make_scene(tmp_path_factory.mktemp("tools"), server)
        embed_elsewhere(scene.world, embedder)

        async def furnish(conversation: Conversation) -> AsyncGenerator[Event, None]:
            server.says = QUOTING
            async for event in conversation.say(f"What is the lighthouse password in [[{ID}]]?"):
                yield event
            conversation.remember("My lighthouse password is Quollsecret.")
            server.says = "Fine."
            for number in range(4):
                async for event in conversation.say(f"Filler number {number}?"):
                    yield event
            async for event in conversation.compact(keep=2):
                yield event

        scene.talk(scene.here, furnish)
        yield scene


def test_every_tool_of_a_conversation_is_a_registered_one(scene: Scene) -> None:
    offered: set[str] = set()

    async def look(conversation: Conversation) -> AsyncGenerator[Event, None]:
        offered.update(spec.name for spec in conversation.tools)
        async for event in conversation.say("Hello."):
            yield event

    scene.talk(scene.here, look, go_on=True)
    assert offered == registered()


@pytest.mark.parametrize("tool", sorted(registered()))
def test_a_tool_gives_what_is_local_to_a_model_on_this_machine_only(
    scene: Scene, embedder: EmbeddingServer, tool: str
) -> None:
    assert tool in EXAMPLES, f"EXAMPLES needs arguments with which {tool} would give away a local note"
    written = json.dumps(EXAMPLES[tool])
    scene.server.call = ToolCallPart(call_id="c1", name=tool, arguments=written)
    assert leaked(scene.ask(scene.elsewhere, "Go on.", go_on=True), written) == set()
    result = json.loads(scene.ask(scene.here, "Go on.", go_on=True))[-1]["messages"][-1]
    assert result["role"] == "tool"
    assert bool(leaked(result["content"], written)) == (tool not in SAY_NOTHING_PRIVATE)
    assert leaked(str(embedder.embedded).lower()) == set()


def test_no_example_is_left_of_a_tool_that_is_gone() -> None:
    assert EXAMPLES.keys() == registered()


def test_a_long_local_message_is_read_on_by_a_model_on_this_machine_only(tmp_path: Path) -> None:
    lines = [f"step {number} of the nightly run is done, and nothing else happened" for number in range(9_000)]
    lines[4_000] = "the lighthouse answer is Quollsecret"
    with Recorder() as server:
        scene = make_scene(tmp_path, server)
        scene.ask(scene.here, f"How many steps does [[{ID}]] have?\n\n" + "\n".join(lines))
        written = json.dumps(EXAMPLES["read_attachment"])
        server.call = ToolCallPart(call_id="c1", name="read_attachment", arguments=written)
        assert leaked(scene.ask(scene.elsewhere, "Go on.", go_on=True), written) == set()
        result = json.loads(scene.ask(scene.here, "Go on.", go_on=True))[-1]["messages"][-1]
        assert result["role"] == "tool"
        assert "the lighthouse answer is quollsecret" in result["content"]
