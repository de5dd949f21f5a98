"""`/paste`: the image on the clipboard goes along with a question."""

import pytest

from tests.support.images import picture
from tests.support.world import World

PROGRAMS = {
    "wl-paste": '#!/bin/sh\n/bin/cat "$IMAGE"\n',
    "osascript": "#!/bin/sh\nprintf '\\302\\253data PNGf'\n"
    "/usr/bin/od -An -v -tx1 \"$IMAGE\" | /usr/bin/tr -d ' \\n'\nprintf '\\302\\273\\n'\n",
}


@pytest.fixture
def chat(world: World) -> World:
    world.note("Top.md", "# Top\n")
    (world.root / "bin").mkdir()
    world.variables |= {"PATH": str(world.root / "bin"), "IMAGE": str(world.root / "image.png")}
    return world


def install(world: World, name: str, image: bytes) -> None:
    (world.root / "image.png").write_bytes(image)
    program = world.root / "bin" / name
    program.write_text(PROGRAMS[name])
    program.chmod(0o755)


def paste(world: World, line: str) -> str:
    model = world.script([{"text": "A red square.\n"}], sees_images=True)
    said = world.run("chat", "--model", model, "--plain", typed=f"{line}\n/quit\n", terminal=True)
    return said.out + said.err


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_image_on_the_clipboard_goes_along(chat: World, name: str) -> None:
    install(chat, name, picture(size=(40, 30)))
    assert "A red square." in paste(chat, "/paste What is it?")
    session = chat.run("sessions", "list", "--json").json[0]["id"]
    question = chat.run("sessions", "show", session, "--json").json["messages"][0]
    image = next(part for part in question["parts"] if part["kind"] == "image")
    assert (image["name"], image["width"], image["height"]) == ("clipboard.png", 40, 30)
    assert image["data"]
    assert "What is it?" in str(question["parts"])


def test_without_an_image_a_program_or_a_question_a_sentence_says_so(chat: World) -> None:
    said = paste(chat, "/paste What is it?")
    assert "No program that reads the clipboard is installed." in said
    assert "wl-paste" in said
    install(chat, "wl-paste", b"no image")
    said = paste(chat, "/paste What is it?")
    assert "There is no image on the clipboard." in said
    assert "A red square." not in said
    assert "Ask a question about the image." in paste(chat, "/paste")
