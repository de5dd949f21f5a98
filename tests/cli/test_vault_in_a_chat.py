"""What the commands over the vault show in a chat stays between the user and the vault: no model gets any of it."""

import json

from tests.providers.loopback import Loopback, serving
from tests.support.world import World
from zkchat.core.prompt import Finish, TextChunk

WORDS = ("canary", "Hideout", "crimson", "whisper", "Plan")
"""Of notes that stay on this machine, and of one that does not."""
COMMANDS = (
    "/search crimson",
    "/show 1",
    "/search tag:whisper",
    "/links 1",
    "/backlinks Hideout",
    "/show 1",
    "/recent",
    "/tags",
    "/show Plan",
    "/daily",
)


server = serving(lambda: Loopback({"m": [TextChunk(text="Hello."), Finish()]}, key=""), scope="function")


def test_nothing_that_is_shown_of_the_vault_reaches_a_model(world: World, server: Loopback) -> None:
    world.note("Hideout.md", "---\nzkchat: local\n---\n# Hideout\n\nThe crimson canary. #whisper [[Plan]]\n")
    world.note("Plan.md", "# Plan\n\nSee [[Hideout]].\n")
    world.variables |= {"ZKCHAT_OPENAI__BASE_URL": f"{server.address}/v1", "ZKCHAT_OPENAI__LOCAL": "false"}
    lines = ("Good morning!", *COMMANDS, "And a good evening!")
    result = world.run("chat", "--plain", "--model", "openai:m", stdin="".join(f"{line}\n" for line in lines))
    assert result.code == 0, result.err
    assert all(word in result.out for word in WORDS)
    asked = [json.dumps(request.body) for request in server.requests if request.body]
    assert "And a good evening!" in asked[-1]
    assert not [word for word in WORDS for request in asked if word in request]
    kept = world.run("context", "export").json
    assert [message["content"] for message in kept["messages"]] == [lines[0], "Hello.", lines[-1], "Hello."]
    assert not [word for word in WORDS if word in json.dumps(kept)]
