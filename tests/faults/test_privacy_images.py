"""Images that are to stay on this machine, and a server that records what it gets by both protocols.

Each attempt is made with a model that runs here and sees the image, and with one that does not run here and must get
neither the image nor, where the user has not said it, its name.
"""

import json
from base64 import b64decode
from pathlib import Path

import pytest

from tests.providers.loopback import serving
from tests.support.images import SeeingServer, first_pixel, images_in, picture
from tests.support.world import World
from zkchat.core.errors import ExitCode

SETTINGS = """
[privacy]
local_only = ["Private"]

[models.far]
provider = "openai"
id = "tunnelled"
sees_images = true
local = false

[models.near]
provider = "openai"
id = "sees"
sees_images = true
"""
MODELS = {"ollama:far-cloud": "ollama:sees", "far": "near"}
"""Models elsewhere, and one that runs here for each."""
LOCAL = "---\nzkchat: local\n---\n"

server = serving(SeeingServer)


@pytest.fixture
def world(tmp_path: Path, server: SeeingServer) -> World:
    server.requests.clear()
    world = World(
        tmp_path,
        variables={"ZKCHAT_OLLAMA__HOST": server.address, "ZKCHAT_OPENAI__BASE_URL": f"{server.address}/v1"},
    )
    world.configure(SETTINGS)
    world.note("Open.md", "# Open\n\n![[quokka.png]]\n![[free.png]]\n")
    world.note("Diary.md", f"{LOCAL}# Diary\n\n![a day](img/wombat.png)\n![[quokka.png]]\n")
    world.note("free.png", picture(colour="red"))
    for path, colour in (("Private/numbat.png", "blue"), ("img/wombat.png", "lime"), ("quokka.png", "yellow")):
        world.note(path, picture(colour=colour))
    return world


def colours(world: World, server: SeeingServer, model: str, *question: str) -> set[tuple[int, ...]]:
    """Of the images that the server got for a question."""
    server.requests.clear()
    result = world.run("ask", *question, "--model", model)
    assert result.code == ExitCode.OK, result.err
    assert server.chats
    return {first_pixel(b64decode(image)) for body in server.chats for image in images_in(body["messages"])}


RED, BLUE, LIME, YELLOW = (256, 0, 0), (0, 0, 256), (0, 256, 0), (256, 256, 0)


@pytest.mark.parametrize("far", MODELS)
def test_images_of_local_folders_and_notes_reach_no_model_elsewhere(
    world: World, server: SeeingServer, far: str
) -> None:
    question = "What are @Private/numbat.png, ![[wombat.png]], [[quokka.png]] and @free.png, and what shows [[Open]]?"
    assert colours(world, server, far, question) == {RED}
    assert colours(world, server, MODELS[far], question) == {RED, BLUE, LIME, YELLOW}
    assert colours(world, server, far, "What does [[Open]] show?") == {RED}
    assert "in their order:\\n- free.png, embedded in Open.md" in json.dumps(server.chats)
    given = ("--image", str(world.vault / "Private" / "numbat.png"), "--image", "free.png")
    assert colours(world, server, far, "What are these?", *given) == {RED}
    assert "numbat" not in json.dumps(server.chats)


def test_an_image_is_not_sent_again_once_its_note_has_become_local(world: World, server: SeeingServer) -> None:
    far = "ollama:far-cloud"
    assert colours(world, server, far, "What is @free.png?") == {RED}
    assert colours(world, server, far, "And its colour?", "--continue") == {RED}
    world.note("Open.md", f"{LOCAL}# Open\n\n![[free.png]]\n")
    assert colours(world, server, far, "And now?", "--continue") == set()
    assert "free.png" not in json.dumps(server.chats)
    assert colours(world, server, MODELS[far], "And here?", "--continue") == {RED}


def test_what_a_model_here_was_shown_of_a_local_image_stays_here(world: World, server: SeeingServer) -> None:
    assert colours(world, server, "near", "What is @wombat.png?") == {LIME}
    assert colours(world, server, "far", "And its colour?", "--continue") == set()
    assert "wombat" not in json.dumps(server.chats)


def test_an_image_in_a_local_note_that_the_index_has_not_seen_yet_stays_here(
    world: World, server: SeeingServer
) -> None:
    assert colours(world, server, "far", "What is @free.png?") == {RED}
    chat = "What of @free.png?\n"
    world.note("Open.md", f"{LOCAL}# Open\n\n![[free.png]]\n")
    server.requests.clear()
    world.run("chat", "--plain", "--model", "far", stdin=chat)
    assert server.chats
    assert server.images() == []
