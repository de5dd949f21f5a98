"""Embedding by a server: only what is new, only what may be sent, and searches that never wait for it."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from threading import Event
from threading import enumerate as enumerate_threads

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.embedders import RecordingEmbedder, StaticEmbedder, vectors_of
from tests.support.in_memory_files import MemoryFiles
from tests.support.libraries import Located
from tests.support.waiting import eventually
from zkchat.core.errors import ProviderError, TextRefused
from zkchat.core.index import OpenText
from zkchat.index.indexing import background, embedding
from zkchat.index.library import Library, LibraryOptions
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.search.vectors import VectorSearch

NOTES = {"a": "# A\n\napples", "b": "# B\n\nbread", "c": "# C\n\ncider"}


@pytest.fixture
def files() -> MemoryFiles:
    return MemoryFiles(**NOTES)


@pytest.fixture
def server() -> RecordingEmbedder:
    return RecordingEmbedder()


STATIC = StaticEmbedder()


def library(
    files: MemoryFiles,
    index: SqliteNoteIndex,
    embedder: RecordingEmbedder,
    *former: RecordingEmbedder,
    local_only: Sequence[str] = (),
    seconds: float = 20.0,
) -> Library:
    known = {each.name: each for each in former}
    vectors = VectorSearch(index.vectors, embedder, base=STATIC, former=known.get, query_seconds=seconds)
    made = Library.over(files, index, vectors, options=LibraryOptions(local_only=local_only))
    made.refresh()
    return made


def embed_all(made: Library) -> None:
    made.embed()
    made.embed_by_server()


def active_method(made: Library) -> str:
    progress = made.embedding_progress()
    assert progress
    return progress.active_method


def test_vectors_of_passages_that_are_gone_are_bounded(
    files: MemoryFiles, index: SqliteNoteIndex, server: RecordingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_MIN_GARBAGE", 10)
    made = library(files, index, server)
    for number in range(20):
        files.write("a.md", f"# A\n\napples {number}")
        made.refresh()
        embed_all(made)
        assert len(vectors_of(index, "server")) <= 3 + 10
    count = len(server.texts)
    files.write("a.md", "# A\n\napples 18")  # among the last ones
    made.refresh()
    embed_all(made)
    assert len(server.texts) == count


def test_of_many_former_models_the_last_two_are_kept(files: MemoryFiles, index: SqliteNoteIndex) -> None:
    for number in range(5):
        embed_all(library(files, index, RecordingEmbedder(f"model {number}")))
    assert {*index.vectors.methods()} == {"static", "model 2", "model 3", "model 4"}


@pytest.mark.parametrize("damage", ["changed", "cut", "gone", "empty"])
def test_damaged_vectors_leave_the_search_and_are_made_again(
    files: MemoryFiles, index: SqliteNoteIndex, tmp_path: Path, damage: str
) -> None:
    made = library(files, index, STATIC)
    made.embed()
    wanted = vectors_of(index, "static")
    (file,) = tmp_path.glob("*.vectors")
    content = file.read_bytes()
    made.search("apples")
    match damage:
        case "changed":
            file.write_bytes(content[:60] + bytes(len(content) - 60))
        case "cut":
            file.write_bytes(content[: len(content) // 2])
        case "gone":
            file.unlink()
        case _:
            file.write_bytes(b"")
    assert [passage.path for passage in made.search("apples")] == ["a.md"]
    made = library(files, index, STATIC)
    assert [passage.path for passage in made.search("apples")] == ["a.md"]
    made.embed()
    assert vectors_of(index, "static") == wanted
    assert [passage.path for passage in made.search("apples")][:1] == ["a.md"]


def test_a_text_that_the_model_refuses_keeps_no_other_from_its_vector(
    files: MemoryFiles, index: SqliteNoteIndex, server: RecordingEmbedder
) -> None:
    def refuse(texts: Sequence[str]) -> None:
        if any("bread" in text for text in texts):
            raise TextRefused("Too long.")

    server.before = refuse
    made = library(files, index, server)
    embed_all(made)
    assert active_method(made) == "server"
    embed_all(made)
    assert sorted(server.texts) == ["A\n# A\n\napples", "C\n# C\n\ncider"]
    assert sorted(map(any, vectors_of(index, "server").values())) == [False, True, True]


# --- privacy ---


LOCAL = "---\nzkchat: local\n---\n"


def test_passages_of_local_notes_go_to_no_server_elsewhere(files: MemoryFiles, index: SqliteNoteIndex) -> None:
    files.write("secret.md", f"{LOCAL}# Secret\n\ncrimson door")
    files.write("never.md", "---\nzkchat: never\n---\n# Never\n\ngrey door")
    files.write("Journal/day.md", "# Day\n\nblue door")
    files.write("0 local.md", f"{LOCAL}# A\n\napples")  # as in another note
    elsewhere, here = RecordingEmbedder("elsewhere", on_this_machine=False), RecordingEmbedder("here")
    made = library(files, index, elsewhere, local_only=["Journal"])
    embed_all(made)
    assert sorted(elsewhere.texts) == ["A\n# A\n\napples", "B\n# B\n\nbread", "C\n# C\n\ncider"]
    progress = made.embedding_progress()
    assert progress
    assert (progress.done, progress.total, progress.active_method) == (3, 3, "elsewhere")
    embed_all(library(files, index, here, local_only=["Journal"]))
    assert {"Secret\n# Secret\n\ncrimson door", "Day\n# Day\n\nblue door"} <= {*here.texts}
    assert not any("grey" in text for text in here.texts)


def test_a_note_that_became_local_since_it_was_indexed_is_not_sent(files: MemoryFiles, index: SqliteNoteIndex) -> None:
    elsewhere = RecordingEmbedder(on_this_machine=False, batch_size=1)
    made = library(files, index, elsewhere)

    def mark(_: Sequence[str]) -> None:
        files.write("c.md", f"{LOCAL}# C\n\ncider")

    elsewhere.before = mark
    embed_all(made)
    assert sorted(elsewhere.texts) == ["A\n# A\n\napples", "B\n# B\n\nbread"]


def test_a_note_that_became_local_keeps_its_vectors_and_is_not_sent_again(
    files: MemoryFiles, index: SqliteNoteIndex
) -> None:
    elsewhere = RecordingEmbedder(on_this_machine=False)
    made = library(files, index, elsewhere)
    embed_all(made)
    count, wanted = len(elsewhere.texts), vectors_of(index, "server")
    files.write("c.md", f"{LOCAL}# C\n\ncider and more")
    made.refresh()
    embed_all(made)
    assert len(elsewhere.texts) == count
    assert vectors_of(index, "server") == wanted
    assert active_method(made) == "server"


def test_a_former_model_elsewhere_gets_no_local_notes_either(files: MemoryFiles, index: SqliteNoteIndex) -> None:
    former = RecordingEmbedder("former", on_this_machine=False)
    embed_all(library(files, index, former))
    files.write("secret.md", f"{LOCAL}# Secret\n\ncrimson door")
    files.write("d.md", "# D\n\ndates")
    embed_all(library(files, index, RecordingEmbedder("new"), former))
    assert former.texts[3:] == ["D\n# D\n\ndates"]


def away(_: Sequence[str]) -> None:
    raise ProviderError("Nobody answers at the address.")


@pytest.mark.parametrize("has_local", [True, False])
def test_what_a_model_asks_that_may_have_read_local_notes_goes_to_no_server_elsewhere(
    files: MemoryFiles, index: SqliteNoteIndex, has_local: bool
) -> None:
    if has_local:
        files.write("secret.md", f"{LOCAL}# Secret\n\ncrimson door")
    elsewhere = RecordingEmbedder(on_this_machine=False)
    made = library(files, index, elsewhere)
    embed_all(made)
    made.guarded_for(Located(on_this_machine=True)).search(OpenText("crimson"))
    assert elsewhere.questions == ([] if has_local else ["crimson"])
    made.guarded_for(Located(on_this_machine=False)).search(OpenText("apples"))
    assert elsewhere.questions[-1:] == ["apples"]
    made.search("a title")
    assert elsewhere.questions[-1:] == ["apples"], "nobody said where it is from"
    here = RecordingEmbedder("here")
    made = library(files, index, here)
    embed_all(made)
    made.guarded_for(Located(on_this_machine=True)).search("crimson")
    assert here.questions == ["crimson"]


class Synonyms(StaticEmbedder):
    """To which a hue is a door, and a meal is bread."""

    def direction(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self.dimensions, dtype=np.float32)
        for place, words in enumerate((("hue", "door"), ("meal", "bread"))):
            vector[place] = any(word in text for word in words)
        return vector


def test_a_local_note_is_found_among_others_by_static_vectors(files: MemoryFiles, index: SqliteNoteIndex) -> None:
    files.write("secret.md", f"{LOCAL}# Secret\n\ncrimson door")
    elsewhere = RecordingEmbedder(on_this_machine=False)
    made = Library.over(files, index, VectorSearch(index.vectors, elsewhere, base=Synonyms(), query_seconds=20))
    made.refresh()
    embed_all(made)
    assert [(passage.path, passage.why) for passage in made.search("hue")] == [("secret.md", "meaning")]
    # Both kinds of vectors count, so that a note which only one kind finds is found.
    assert [(passage.path, passage.why) for passage in made.search("meal")] == [("b.md", "meaning")]
    elsewhere.before = away
    assert [(passage.path, passage.why) for passage in made.search("a meal")] == [("b.md", "meaning")]
    files.write("d.md", "# D\n\ndates")
    made.refresh()
    assert made.search("that meal") == [], "until all notes have such vectors, they tell of none"


# --- a server that is away ---


def test_a_question_does_not_wait_for_a_slow_server_and_its_vector_is_there_the_next_time(
    files: MemoryFiles, index: SqliteNoteIndex, server: RecordingEmbedder
) -> None:
    made = library(files, index, server, seconds=0.0)
    embed_all(made)
    answer = Event()
    server.before = lambda _: (answer.wait(20), None)[1]
    assert [passage.path for passage in made.search("apples")][:1] == ["a.md"]
    assert server.questions == []
    answer.set()
    eventually(lambda: server.questions == ["apples"])
    eventually(lambda: "zkchat-question" not in {thread.name for thread in enumerate_threads()})
    made.search("apples")
    assert server.questions == ["apples"]


def test_after_a_failure_no_question_waits_for_a_while(files: MemoryFiles, index: SqliteNoteIndex) -> None:
    server, now = RecordingEmbedder(), [0.0]
    vectors = VectorSearch(index.vectors, server, base=STATIC, query_seconds=20, clock=lambda: now[0])
    made = Library.over(files, index, vectors)
    made.refresh()
    embed_all(made)
    attempts: list[str] = []

    def fail(texts: Sequence[str]) -> None:
        attempts.extend(texts)
        raise ProviderError("Away.")

    server.before = fail
    made.search("apples")
    made.search("bread")
    assert attempts == ["apples"]
    assert "Away." in made.embedding_notice()
    now[0] = 16.0
    made.search("bread")
    assert attempts == ["apples", "bread"]


def test_in_the_background_a_server_that_comes_back_is_asked_again(
    files: MemoryFiles, index: SqliteNoteIndex, server: RecordingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "_FIRST_PAUSE", 0.01)
    server.before = away
    made = library(files, index, server)
    made.embed_in_background()
    eventually(made.embedding_notice)
    assert made.embedding_notice() == ""
    server.before = lambda _: None
    eventually(lambda: active_method(made) == "server")
    eventually(lambda: (found := made.embedding_progress()) and (found.done, found.problem) == (3, ""))
    made.close()


def test_in_the_background_a_model_of_this_process_rests_for_as_long_as_it_has_worked(
    files: MemoryFiles, index: SqliteNoteIndex, server: RecordingEmbedder
) -> None:
    now = 0.0
    worked = Event()

    def work(_: Sequence[str]) -> None:
        nonlocal now
        now += 10_000
        worked.set()

    server.before, server.batch_size, server.is_in_process = work, 1, True
    made = Library.over(files, index, VectorSearch(index.vectors, server, base=STATIC), clock=lambda: now)
    made.refresh()
    made.embed_in_background()
    assert worked.wait(20)
    made.close()
    assert len(server.texts) == 1


def test_closing_waits_for_no_server(files: MemoryFiles, index: SqliteNoteIndex, server: RecordingEmbedder) -> None:
    asked, answer = Event(), Event()

    def hang(_: Sequence[str]) -> None:
        asked.set()
        answer.wait(20)

    server.before = hang
    made = library(files, index, server)
    made.embed_in_background()
    assert asked.wait(20)
    made.close()
    assert "zkchat-vectors" not in {thread.name for thread in enumerate_threads()}
    answer.set()
    assert vectors_of(index, "server") == {}


def test_what_another_process_embeds_is_not_embedded_here(
    files: MemoryFiles, index: SqliteNoteIndex, server: RecordingEmbedder, tmp_path: Path
) -> None:
    made = library(files, index, server)
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as other, other.vectors.claim("server"):
        assert made.embed_by_server() == 0
    assert made.embed_by_server() == 3


def test_while_a_server_is_away_changed_notes_get_static_vectors(
    files: MemoryFiles, index: SqliteNoteIndex, server: RecordingEmbedder
) -> None:
    server.before = away
    made = library(files, index, server)
    made.embed_in_background()
    eventually(made.embedding_notice)
    files.write("d.md", "# D\n\ndates")
    made.refresh()
    made.embed_in_background()
    eventually(lambda: len(vectors_of(index, "static")) == 4)
    made.close()
