"""Images from the question to the server, as both protocols document them."""

import json
from base64 import b64decode, b64encode
from pathlib import Path

import pytest

from tests.providers.loopback import serving
from tests.support.images import SECRET, SeeingServer, first_pixel, images_in, picture, told
from tests.support.stored_text import files_holding
from tests.support.world import Result, World
from zkchat.core.errors import ExitCode
from zkchat.notes.images import encode_image

SETTINGS = """
[models.near]
provider = "openai"
id = "sees"
sees_images = true
context_limit = 16000

[models.unseen]
provider = "openai"
id = "sees"
sees_images = false
"""

server = serving(SeeingServer)


@pytest.fixture
def world(tmp_path: Path, server: SeeingServer) -> World:
    server.requests.clear()
    server.capabilities = ["completion", "vision"]
    world = World(
        tmp_path,
        variables={"ZKCHAT_OLLAMA__HOST": server.address, "ZKCHAT_OPENAI__BASE_URL": f"{server.address}/v1"},
    )
    world.configure(SETTINGS)
    world.note("Garden.md", "# Garden\n\nTomatoes.\n\n![[bed.png|the bed by the wall]]\n")
    world.note("bed.png", picture())
    return world


def ask(world: World, model: str, *question: str) -> Result:
    result = world.run("ask", *question, "--model", model)
    assert result.code == ExitCode.OK, result.err
    return result


def encoded(data: bytes, size: tuple[int, int] = (1344, 1344)) -> str:
    return b64encode(encode_image(data, size, "any").data).decode()


def test_ollama_gets_a_list_of_images_in_base_64_beside_the_text(world: World, server: SeeingServer) -> None:
    ask(world, "ollama:sees", "What is this? ![[bed.png|my bed]]")
    (body,) = server.chats
    assert body["messages"][1] == {
        "role": "user",
        "content": "What is this? ![[bed.png|my bed]]\n\nReferenced Documents:\n- ![[bed.png|my bed]] is bed.png: "
        'image, sent in 40 × 30 pixels\n\nImages that come with this message, in their order:\n- bed.png, "my bed"',
        "images": [encoded(picture())],
    }


def test_openai_gets_a_list_of_contents_with_a_data_url_and_a_detail(world: World, server: SeeingServer) -> None:
    ask(world, "near", "What is this? @bed.png")
    (body,) = server.chats
    text, image = body["messages"][1]["content"]
    assert text["type"] == "text"
    assert text["text"].endswith("\n\nImages that come with this message, in their order:\n- bed.png")
    url = f"data:image/png;base64,{encoded(picture())}"
    assert image == {"type": "image_url", "image_url": {"url": url, "detail": "high"}}


def test_an_image_that_the_user_names_goes_along_from_anywhere(world: World, server: SeeingServer) -> None:
    photo = world.root / "Photos" / "my photo.jpg"
    photo.parent.mkdir()
    photo.write_bytes(told("JPEG"))
    ask(world, "ollama:sees", "What is this?", "--image", str(photo), "--image", str(world.vault / "bed.png"))
    (body,) = server.chats
    first, second = body["messages"][-1]["images"]
    assert first_pixel(b64decode(first)) == first_pixel(b64decode(second)) == (256, 0, 0)
    assert SECRET not in b64decode(first)
    assert body["messages"][-1]["content"].endswith("in their order:\n- my photo.jpg\n- bed.png")
    assert str(world.root) not in json.dumps(body)  # where a photo lies is nobody's business


def test_a_file_that_is_no_image_is_refused_before_anything_is_asked(world: World, server: SeeingServer) -> None:
    (world.root / "note.txt").write_bytes(b"Text.")
    (world.root / "cut.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    for name, said in (("none.png", "There is no file"), ("note.txt", "is not an image"), ("cut.png", "broken")):
        result = world.run("ask", "What is this?", "--image", f"../{name}", "--model", "ollama:sees")
        assert (result.code, server.chats) == (ExitCode.USAGE, [])
        assert "--image: " in result.err
        assert said in result.err


def test_images_embedded_in_a_linked_note_go_along_with_their_alt_text(world: World, server: SeeingServer) -> None:
    world.note("Album.md", "".join(f"![a {number}](pic{number}.png)\n" for number in range(6)))
    for number in range(6):
        world.note(f"pic{number}.png", picture(size=(10 + number, 10)))
    result = ask(world, "ollama:sees", "What of [[Garden]] and [[Album]]?", "--panels")
    (body,) = server.chats
    assert len(body["messages"][-1]["images"]) == 1 + 4
    assert '- bed.png, "the bed by the wall", embedded in Garden.md' in body["messages"][-1]["content"]
    assert '- pic3.png, "a 3", embedded in Album.md' in body["messages"][-1]["content"]
    assert "embedded in a note you linked" in result.err + result.out


def test_a_model_that_does_not_see_reads_names_and_the_user_is_told(world: World, server: SeeingServer) -> None:
    server.capabilities = ["completion"]
    result = ask(world, "ollama:blind", "What is this? ![[bed.png|my bed]] and [[Garden]]", "--panels")
    asked = server.chats[-1]["messages"][-1]
    assert not asked.get("images")
    assert 'Images that you are not shown:\n- bed.png, "my bed" (the model does not see images)' in asked["content"]
    assert "Not sent: bed.png. ollama:blind does not see images." in result.err
    assert "not sent: the model does not see images" in " ".join((result.out + result.err).replace("│", " ").split())
    told_json = world.run("ask", "And @bed.png?", "--model", "unseen", "--json").json
    (reference,) = [each for each in told_json["references"] if each["relative_path"] == "bed.png"]
    assert (reference["unsent"], reference["included"]) == ("the model does not see images", False)


def test_a_later_turn_shows_the_image_again_unless_its_file_changed(world: World, server: SeeingServer) -> None:
    ask(world, "ollama:sees", "What is @bed.png?")
    ask(world, "ollama:sees", "And its colour?", "--continue")
    assert [len([*images_in(body["messages"])]) for body in server.chats] == [1, 1]
    assert not files_holding(world.home / ".local" / "share" / "zkchat", b64encode(picture())[:60].decode())
    world.note("bed.png", picture(colour="blue"))
    ask(world, "ollama:sees", "And now?", "--continue")
    (world.vault / "bed.png").unlink()
    ask(world, "ollama:sees", "And at last?", "--continue")
    changed, gone = server.chats[-2:]
    assert [*images_in(changed["messages"])] == [*images_in(gone["messages"])] == []
    assert "- bed.png (its file has changed since)" in json.dumps(changed)
    assert "- bed.png (its file is gone)" in json.dumps(gone)
    shown = world.run("context", "show", "--message", "2")
    assert "Images" in shown.out
    assert "The image bed.png no longer exists." in shown.err


def test_low_detail_and_no_images_are_settings(world: World, server: SeeingServer) -> None:
    world.note("large.png", picture(size=(2000, 1000)))
    world.variables["ZKCHAT_IMAGES__DETAIL"] = "low"
    ask(world, "near", "What is @large.png?")
    (part,) = [each for each in server.chats[-1]["messages"][-1]["content"] if each["type"] == "image_url"]
    assert part["image_url"]["detail"] == "low"
    world.variables["ZKCHAT_IMAGES__MAX_COUNT"] = "0"
    ask(world, "near", "What is @large.png?")
    assert isinstance(server.chats[-1]["messages"][-1]["content"], str)
