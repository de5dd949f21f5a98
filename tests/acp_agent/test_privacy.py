"""What a model elsewhere gets of a local note by way of an editor: nothing, whatever the editor sends along."""

from collections.abc import Iterator
from typing import Any

import pytest
from acp.helpers import embedded_text_resource, resource_block, resource_link_block

from tests.providers.loopback import serving
from tests.support.acp_client import Acp, started_acp
from tests.support.egress import FILE, ID, OVER_OPENAI, SECRET, Recorder, leaked, make_scene
from zkchat.core.message import ToolCallPart

pytestmark = pytest.mark.outside
LINK = f"[[{FILE.rpartition('/')[2].removesuffix('.md')}]]"

server = serving(lambda: Recorder({}))


@pytest.fixture(scope="module")
def acp(tmp_path_factory: pytest.TempPathFactory, server: Recorder) -> Iterator[Acp]:
    world = make_scene(tmp_path_factory.mktemp("acp-egress"), server).world
    world.variables["OPENAI_API_KEY"] = "sk-0123456789"
    (world.vault / "shortcut.md").symlink_to(world.vault / FILE)
    (world.root / "copy.md").write_text(SECRET)
    world.variables["ZKCHAT_PRIVACY__LOCAL_ONLY"] = "Kept"
    (world.vault / "Other name.md").hardlink_to(world.note("Kept/Unmarked.md", SECRET.replace("zkchat: local\n", "")))
    world.note("Huge.md", SECRET + "x" * 5_000_000)
    world.note(".trash/Old.md", SECRET)
    with started_acp(world) as started:
        yield started


def attempts(acp: Acp) -> dict[str, list[Any]]:
    uri = (acp.world.vault / FILE).as_uri()
    part = "The lighthouse password is Quollsecret. ^bettongblock"

    def embedded(address: str, text: str) -> list[Any]:
        return ["What is this? ", resource_block(embedded_text_resource(address, text))]

    return {
        "embedded whole": embedded(uri, SECRET),
        "selected": embedded(f"{uri}#L11:11", part),
        "edited, and not marked any more": embedded(uri, SECRET.replace("zkchat: local\n", "")),
        "by a link": embedded((acp.world.vault / "shortcut.md").as_uri(), part),
        "by another name of its file": embedded((acp.world.vault / "Other name.md").as_uri(), part),
        "by its path": embedded(str(acp.world.vault / FILE), part),
        "by a path with dots": embedded(f"file://{acp.world.vault}/Diaries/../{FILE}".replace(" ", "%20"), part),
        "by an address of a remote editor": embedded(f"vscode-remote://wsl{uri.removeprefix('file://')}", part),
        "by an address with a host": embedded(uri.replace("file://", "file://127.0.0.1"), part),
        "by its path in the vault": embedded(FILE, part),
        "of a note that is too large": embedded((acp.world.vault / "Huge.md").as_uri(), part),
        "of a note in the trash": embedded((acp.world.vault / ".trash" / "Old.md").as_uri(), part),
        "marked in a buffer": embedded("untitled:1", SECRET),
        "a copy elsewhere": embedded((acp.world.root / "copy.md").as_uri(), SECRET),
        "an open note that is marked now": embedded(
            (acp.world.vault / "Lighthouse.md").as_uri(), f"---\nzkchat: local\n---\n{part}"
        ),
        "shown by a command": [f"/show [[{ID}]]"],
        "found by a command": ["/search lighthouse password"],
        "mentioned": ["Tell me of ", resource_link_block("Quokkafile", uri)],
    }


def test_nothing_of_a_local_note_reaches_a_model_elsewhere(acp: Acp, server: Recorder) -> None:
    session = acp.new(OVER_OPENAI.elsewhere)
    for how, blocks in attempts(acp).items():
        acp.ask(session, *blocks)
        acp.ask(session, "And now?")
        assert leaked(server.received(), LINK if how == "mentioned" else "") == set(), how
    server.call = ToolCallPart(call_id="c1", name="read_document", arguments=f'{{"path": "{FILE}"}}')
    acp.ask(session, "Go on.")
    server.call = None
    assert leaked(server.received(), FILE) == set()
    assert "not sent" in acp.text(session)
    assert "is private, so it was not sent." in acp.text(session)


def test_a_folder_that_is_made_local_while_an_editor_is_connected_stays_here(acp: Acp, server: Recorder) -> None:
    path = acp.world.note("Plans/Trip.md", "# Trip\n\nBy ferry to Quollsecret.\n")
    session = acp.new(OVER_OPENAI.elsewhere)
    blocks = ["Where to? ", resource_block(embedded_text_resource(path.as_uri(), path.read_text()))]
    acp.ask(session, *blocks)
    assert "quollsecret" in server.received()
    settings = acp.world.note(".zkchat/config.toml", '[privacy]\nlocal_only = ["Plans"]\n')
    acp.ask(session, *blocks)
    acp.ask(session, "And what is in [[Trip]]?")
    settings.write_text("")
    received = server.received()
    assert received != "[]"
    assert leaked(received) == set(), "neither the note nor what was said of it before"


def test_a_model_here_gets_the_note_that_is_embedded(acp: Acp, server: Recorder) -> None:
    session = acp.new(OVER_OPENAI.here)
    acp.ask(session, *attempts(acp)["embedded whole"])
    assert "quollsecret" in server.received()
    assert acp.choose(session, "model", OVER_OPENAI.elsewhere)
    acp.ask(session, "And now?")
    assert leaked(server.received()) == set(), "what was said with the note stays here"
