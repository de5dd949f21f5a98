"""Vectors of a server, from the settings to the search, against one on this machine that keeps what it gets."""

from collections.abc import Sequence
from threading import Event
from typing import TYPE_CHECKING, cast

import pytest

from tests.providers.loopback import serving
from tests.support.embedding_server import EMBEDDING_PATHS, EmbeddingServer, Received, Sent
from tests.support.world import World
from zkchat.cli.note_lookup import VectorActivity
from zkchat.core.errors import ExitCode, StorageError
from zkchat.core.index import EmbeddingProgress
from zkchat.models.embeddings import ServerEmbedder

if TYPE_CHECKING:
    from zkchat.index.library import Library

SECRET = "Aunt Vera sleeps in the violet room"


server = serving(EmbeddingServer, scope="function")


@pytest.fixture
def notes(world: World, server: EmbeddingServer) -> World:
    """A user with a few notes, whose embedding model runs on this machine."""
    world.note("Tea.md", "# Tea\n\nGreen tea wants water of eighty degrees.\n")
    world.note("Rain.md", "# Rain\n\nIt rains in autumn.\n")
    world.note("Diary.md", f"---\nzkchat: local\n---\n# Diary\n\n{SECRET}.\n")
    world.variables |= {
        "ZKCHAT_EMBEDDINGS__MODEL": "ollama:nomic-embed-text",
        "ZKCHAT_OLLAMA__HOST": server.host,
        "ZKCHAT_MODEL": "quote",
    }
    return world


def test_index_embeds_every_passage_once(notes: World, server: EmbeddingServer) -> None:
    result = notes.run("index")
    assert result.code == ExitCode.OK
    assert "ready for search: 3 of 3 passages (nomic-embed-text)" in result.out
    assert sorted(text.splitlines()[0] for text in server.embedded) == [
        f"search_document: {title}" for title in ("Diary", "Rain", "Tea")
    ]
    server.received.clear()
    (notes.vault / "Tea.md").rename(notes.vault / "Drinks.md")
    notes.note("Rain.md", "# Rain\n\nIt rains in autumn, and in spring.\n")
    record = notes.run("index", "--json").json["vectors"]
    assert (record["done"], record["total"], record["problem"]) == (3, 3, "")
    assert record["method"] == record["in_use"]
    assert record["method"].startswith("ollama:nomic-embed-text#")
    assert [text for text in server.embedded if "Rain" not in text] == []


def test_a_server_that_is_away_costs_a_word(notes: World) -> None:
    notes.variables["ZKCHAT_OLLAMA__HOST"] = "http://127.0.0.1:9"
    result = notes.run("index")
    assert result.code == ExitCode.OK
    assert "cannot be reached" in " ".join(result.err.split())
    assert "ready for search: 0 of" in result.out
    assert "until then zkchat uses the built-in model" in result.out
    found = notes.run("search", "eighty degrees", "--json")
    assert (found.code, found.json[0]["path"]) == (ExitCode.OK, "Tea.md")
    assert "ready for search: 0 of" in notes.run("vault", "status").out
    assert notes.run("vault", "status", "--json").json["vectors"]["done"] == 0


@pytest.mark.parametrize("how", ["forwarded", "declared"])
def test_local_notes_go_to_no_server_elsewhere(notes: World, server: EmbeddingServer, how: str) -> None:
    if how == "forwarded":
        server.remote_host = "https://ollama.com:443"
    else:
        notes.variables["ZKCHAT_EMBEDDINGS__LOCAL"] = "false"
    assert notes.run("index", "--json").json["vectors"]["done"] == 2
    assert notes.run("search", "violet room", "--json").json[0]["path"] == "Diary.md"
    assert "Green tea" in "".join(server.embedded)
    assert "Vera" not in str(server.received)
    assert "Diary" not in str(server.received)


def test_a_vaults_own_file_chooses_no_server_unasked(notes: World, server: EmbeddingServer) -> None:
    for name in ("ZKCHAT_EMBEDDINGS__MODEL", "ZKCHAT_OLLAMA__HOST"):
        del notes.variables[name]
    settings = f'[embeddings]\nmodel = "openai:any"\nbase_url = "{server.host}/v1"\napi_key_env = "SECRET_TOKEN"\n'
    notes.note(".zkchat/config.toml", settings)
    notes.variables["SECRET_TOKEN"] = "canary-token"
    result = notes.run("index")
    assert result.code == ExitCode.OK
    assert "embeddings.model" in result.err
    assert server.received == []
    assert notes.run("trust", "--yes").code == ExitCode.OK
    assert "ready for search: 3 of 3 passages (any)" in notes.run("index").out
    assert len(server.embedded) == 3


@pytest.mark.parametrize(
    ("variables", "expected"),
    [({}, None), ({"ZKCHAT_EMBEDDINGS__API_KEY_ENV": "OTHER_KEY", "OTHER_KEY": "canary-other"}, "Bearer canary-other")],
)
def test_a_key_goes_to_the_server_that_it_is_for(
    notes: World, server: EmbeddingServer, variables: dict[str, str], expected: str | None
) -> None:
    notes.variables |= {
        "ZKCHAT_EMBEDDINGS__MODEL": "openai:any",
        "ZKCHAT_EMBEDDINGS__BASE_URL": f"{server.host}/v1",
        "OPENAI_API_KEY": "canary-openai",
        **variables,
    }
    assert notes.run("index").code == ExitCode.OK
    assert {request.headers.get("authorization") for request in server.received} == {expected}


def test_doctor_asks_for_one_vector(notes: World, server: EmbeddingServer) -> None:
    said = " ".join(notes.run("doctor").out.split())
    assert "✓ embeddings ollama:nomic-embed-text (ready, on this machine)" in said
    assert [request.path for request in server.received if request.path in EMBEDDING_PATHS] == ["/api/embed"]
    server.always = lambda _: Sent(404, {"error": 'model "nomic-embed-text" not found, try pulling it first'})
    result = notes.run("doctor")
    said = " ".join(result.out.split())
    assert result.code == ExitCode.MODEL
    assert "✗ embeddings" in said
    assert "ollama pull nomic-embed-text" in said


def test_while_it_is_unknown_what_is_private_nothing_goes_to_another_machine_that_is_called_local(notes: World) -> None:
    own = {"MODEL": "openai:any", "BASE_URL": "http://192.0.2.1:9/v1", "LOCAL": "true", "TIMEOUT": "1"}
    notes.variables |= {f"ZKCHAT_EMBEDDINGS__{name}": value for name, value in own.items()}
    notes.note(".zkchat/config.toml", "broken")
    assert "So no notes are sent to openai:any." in " ".join(notes.run("doctor").out.split())


def test_ctrl_c_keeps_what_is_there(notes: World, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    notes.variables["ZKCHAT_EMBEDDINGS__BATCH_SIZE"] = "1"
    embed = ServerEmbedder.embed

    def interrupted(self: ServerEmbedder, texts: Sequence[str]) -> object:
        if len(server.embedded) == 2:
            raise KeyboardInterrupt
        return embed(self, texts)

    monkeypatch.setattr(ServerEmbedder, "embed", interrupted)
    result = notes.run("index")
    assert result.code == ExitCode.INTERRUPTED
    assert "2 of 3 passages are ready for the search; the next zkchat index continues." in result.err
    monkeypatch.undo()
    assert "ready for search: 3 of 3 passages" in notes.run("index").out
    assert len(server.embedded) == 3


def test_the_bar_of_a_chat_hears_of_every_step() -> None:
    steps = iter([*(_progress(done) for done in (1, 1, 2, 3)), None])
    heard: list[str] = []
    done = Event()

    class Vault:
        def embedding_progress(self) -> EmbeddingProgress:
            if (step := next(steps)) is None:
                done.set()
                raise StorageError("It is gone.", hint="")
            return step

    activity = VectorActivity(cast("Library", Vault()), lambda: heard.append(activity.text), poll_seconds=0.001)
    activity.start()
    assert done.wait(5)
    activity.close()
    assert heard == ["ready for search: 1 of 3 passages (m)", "ready for search: 2 of 3 passages (m)", ""]


def _progress(done: int) -> EmbeddingProgress:
    return EmbeddingProgress(done=done, total=3, method="ollama:m", active_method="static")


def test_the_former_model_is_used_until_the_new_one_is_complete(notes: World, server: EmbeddingServer) -> None:
    notes.run("index")
    notes.variables["ZKCHAT_EMBEDDINGS__MODEL"] = "ollama:mxbai-embed-large"
    server.always = lambda request: Sent(503, {"error": "busy"}, {"Retry-After": "3600"}) if _is_new(request) else None
    result = notes.run("index")
    assert (
        "ready for search: 0 of 3 passages (mxbai-embed-large); until then zkchat uses nomic-embed-text" in result.out
    )
    server.received.clear()
    assert notes.run("search", "eighty degrees", "--json").json[0]["path"] == "Tea.md"
    assert server.embedded == ["search_query: eighty degrees"]
    server.always = None
    assert "ready for search: 3 of 3 passages (mxbai-embed-large)" in notes.run("index").out
    server.received.clear()
    notes.run("search", "eighty degrees")
    assert server.embedded == ["Represent this sentence for searching relevant passages: eighty degrees"]


def _is_new(request: Received) -> bool:
    return bool(request.body["model"] == "mxbai-embed-large")
