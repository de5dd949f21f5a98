"""Settings of privacy and trust that change while a conversation is open count from its next turn on.

One conversation stays open; a server on loopback records what it gets before and after a change.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.providers.loopback import PROTOCOLS, Connection, Request, serving
from tests.support.egress import OVER_OLLAMA, Recorder, Scene, make_scene
from tests.support.embedding_server import EmbeddingServer
from tests.support.waiting import eventually
from zkchat.app.conversation import OpenConversation, open_conversation
from zkchat.app.conversation_core import ConversationOptions
from zkchat.app.trust import VaultTrust
from zkchat.app.workspace import load_workspace
from zkchat.config.files import read_vault_file
from zkchat.core.choices import database_item
from zkchat.core.errors import ProviderError
from zkchat.core.events import TurnFailed, Warned
from zkchat.core.message import ToolCallPart
from zkchat.index.library import Library

pytestmark = pytest.mark.no_cover
NOTE = "Diaries/Day.md"
NOTES = {NOTE: "# Day\n\nThe lighthouse password is Quollsecret.\n", "Other.md": "# Other\n"}
QUESTION = "What is the lighthouse password? [[Day]]"

server = serving(Recorder)


@pytest.fixture
def scene(tmp_path: Path, server: Recorder) -> Scene:
    server.requests.clear()
    server.call, server.says = None, "Fine."
    return make_scene(tmp_path, server, dict(NOTES))


class Talk:
    """An open conversation, and what came of its last question."""

    def __init__(self, opened: OpenConversation, server: Recorder) -> None:
        self.opened = opened
        self.server = server
        self.failure = ""
        self.warnings: list[str] = []

    def ask(self, text: str = QUESTION) -> str:
        self.failure, self.warnings = "", []
        if self.opened.conversation.messages:
            self.opened.conversation.branch(None)

        async def run() -> None:
            async for event in self.opened.conversation.say(text):
                if isinstance(event, TurnFailed):
                    self.failure = event.text
                elif isinstance(event, Warned):
                    self.warnings.append(event.text)

        asyncio.run(run())
        return self.server.received()


@contextmanager
def talk(scene: Scene, model: str) -> Iterator[Talk]:
    options = ConversationOptions(vault=scene.world.vault, model=model, bounded_refresh=True)
    with open_conversation(scene.world.environment(), options) as opened:
        yield Talk(opened, scene.server)


def user_file(scene: Scene) -> Path:
    return scene.world.settings_file


def vault_file(scene: Scene) -> Path:
    return scene.world.vault / ".zkchat" / "config.toml"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


LOCAL = '[privacy]\nlocal_only = ["Diaries"]\n'


@pytest.mark.parametrize("file", [user_file, vault_file])
@pytest.mark.parametrize("text", [LOCAL, '[vault]\nexclude = ["Diaries/**"]\n'], ids=["local", "excluded"])
def test_a_folder_that_is_taken_from_models_is_not_sent_with_the_next_question(
    scene: Scene, file: Callable[[Scene], Path], text: str
) -> None:
    write(file(scene), "")
    with talk(scene, OVER_OLLAMA.elsewhere) as talked:
        assert "quollsecret" in talked.ask()
        write(file(scene), text)
        received = talked.ask()
        assert received != "[]"
        assert "quollsecret" not in received
        write(file(scene), "")
        assert "quollsecret" in talked.ask(), "and it counts again once it is taken back"


def replace_by_link(file: Path) -> None:
    file.unlink()
    file.symlink_to("nowhere")


def replace_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


BROKEN: dict[str, Callable[[Path], object]] = {
    "no TOML": lambda file: file.write_text("[privacy"),
    "a value that it cannot have": lambda file: file.write_text("[privacy]\nlocal_only = 3\n"),
    "a setting that there is not": lambda file: file.write_text("[privacy]\nlocal_onyl = []\n"),
    "no text": lambda file: file.write_bytes(b"\xff\xfe\x00"),
    "a link to nothing": replace_by_link,
    "a folder": replace_by_folder,
    "gone": Path.unlink,
}


@pytest.mark.parametrize("file", [user_file, vault_file])
@pytest.mark.parametrize("spoil", BROKEN.values(), ids=BROKEN.keys())
def test_settings_that_cannot_be_used_any_more_let_nothing_leave(
    scene: Scene, file: Callable[[Scene], Path], spoil: Callable[[Path], object]
) -> None:
    write(file(scene), "[privacy]\nlocal_only = []\n")
    with talk(scene, OVER_OLLAMA.elsewhere) as elsewhere, talk(scene, OVER_OLLAMA.here) as here:
        assert "quollsecret" in elsewhere.ask()
        spoil(file(scene))
        assert elsewhere.ask() == "[]"
        assert "so nothing is sent to" in elsewhere.failure
        assert [each for each in elsewhere.warnings if "every note is treated as private" in each]
        assert "quollsecret" in here.ask(), "a model on this machine goes on"
        assert [each for each in here.warnings if "every note is treated as private" in each]
        here.ask()
        assert here.warnings == [], "that is said once"


def test_a_model_that_is_declared_to_run_elsewhere_gets_no_local_note_from_then_on(scene: Scene) -> None:
    write(user_file(scene), LOCAL)
    with talk(scene, OVER_OLLAMA.here) as talked:
        assert "quollsecret" in talked.ask()
        write(user_file(scene), f"{LOCAL}[ollama]\nlocal = false\n")
        received = talked.ask()
        assert received != "[]"
        assert "quollsecret" not in received


def test_what_the_terminal_looks_like_disturbs_nothing(scene: Scene) -> None:
    with talk(scene, OVER_OLLAMA.elsewhere) as talked:
        talked.ask()
        write(user_file(scene), '[ui]\ncolor = "never"\n' + user_file(scene).read_text())
        assert "quollsecret" in talked.ask()
        assert talked.warnings == []
        assert talked.opened.live.version == 0


def test_an_approval_that_is_taken_back_ends_what_is_sent(scene: Scene) -> None:
    write(vault_file(scene), "[context]\nreserve_tokens = 600\n")
    workspace = load_workspace(scene.world.environment(), scene.world.vault)
    trust = VaultTrust(workspace.paths)
    trust.approve([read_vault_file(workspace.paths.vault_config).item])
    with talk(scene, OVER_OLLAMA.here) as talked:
        assert "quollsecret" in talked.ask()
        trust.approve([database_item("index.db")])
        assert talked.ask() != "[]", "another approval disturbs nothing"
        trust.revoke()
        assert talked.ask() == "[]"
        assert talked.failure.startswith("You revoked an approval")
    with talk(scene, OVER_OLLAMA.here) as anew:
        assert anew.ask() != "[]"


def is_refused(library: Library) -> bool:
    """Whether embedding by a server fails; it does nothing while the background is at it."""
    try:
        library.embed_by_server()
    except ProviderError:
        return True
    return False


def test_a_server_for_vectors_is_sent_nothing_once_its_settings_change(scene: Scene) -> None:
    with EmbeddingServer() as vectors:
        own = f'[embeddings]\nmodel = "ollama:nomic"\nbase_url = "{vectors.host}"\n'
        write(user_file(scene), own)
        with talk(scene, OVER_OLLAMA.elsewhere) as talked:
            talked.ask("Who keeps the lighthouse?")
            eventually(lambda: vectors.embedded)  # in the background, as a chat does
            write(user_file(scene), f"{own}local = false\n")
            talked.ask()
            assert [each for each in talked.warnings if "The search model was changed" in each]
            before = len(vectors.embedded)
            scene.world.note("New.md", "# New\n\nAnother lighthouse.\n")
            talked.ask("Where is another lighthouse?")
            eventually(lambda: is_refused(talked.opened.library))
            assert len(vectors.embedded) == before


@contextmanager
def after_an_answer(server: Recorder, act: Callable[[], object]) -> Iterator[None]:
    """Do something each time that the server has answered."""
    respond = server.serve

    async def serve(request: Request, connection: Connection) -> None:
        await respond(request, connection)
        if request.path in PROTOCOLS:
            act()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "serve", serve)
        yield


def test_what_a_chat_saves_of_a_note_that_is_local_by_then_is_local_too(scene: Scene, server: Recorder) -> None:
    with after_an_answer(server, lambda: write(vault_file(scene), LOCAL)):
        scene.world.run("chat", "--plain", "--model", OVER_OLLAMA.elsewhere, stdin=f"{QUESTION}\n/save Saved.md\ny\n")
    assert "quollsecret" in server.received()
    assert "zkchat: local" in (scene.world.vault / "Saved.md").read_text()


def test_a_request_that_was_made_before_the_change_is_not_sent_after_it(scene: Scene, server: Recorder) -> None:
    server.call = ToolCallPart(call_id="c1", name="list_documents", arguments="{}")
    with talk(scene, OVER_OLLAMA.elsewhere) as talked:
        with after_an_answer(server, lambda: write(user_file(scene), LOCAL)):
            received = talked.ask()
        assert received.count('"model"') == 1, "the answer of the tool is not sent with the note of before"
        assert "changed during this answer" in talked.failure
        server.call = None
        assert "quollsecret" not in talked.ask()
