from pathlib import Path
from threading import enumerate as enumerate_threads

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.embedders import RecordingEmbedder, StaticEmbedder
from tests.support.waiting import eventually
from zkchat.core.index import PassageDigests, SimilarityTraits
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.search.vectors import VectorSearch
from zkchat.models.static_vectors import installed
from zkchat.storage.vault_files import VaultFiles

SUBJECTS = ("cat kitten", "car engine", "bread oven")


class BySubject(StaticEmbedder):
    """An embedder that knows three subjects by their words, and nothing else."""

    traits = SimilarityTraits(min_cosine=0.3)

    def __init__(self, name: str = "by subject") -> None:
        super().__init__(name)
        self.dimensions = 3

    def direction(self, text: str) -> NDArray[np.float32]:
        return np.array([any(word in text.lower() for word in each.split()) for each in SUBJECTS], dtype=np.float32)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Pets.md").write_text("# Pets\n\nA kitten sleeps all day.\n")
    (folder / "Garage.md").write_text("# Garage\n\nThe engine needs oil.\n")
    return folder


def library(vault: Path, index: SqliteNoteIndex, embedder: BySubject | None = None) -> Library:
    files = VaultFiles(vault, exclude=(), max_note_bytes=1_000_000)
    made = Library.over(files, index, VectorSearch(index.vectors, embedder or BySubject()))
    made.refresh()
    return made


def found(made: Library, query: str) -> list[tuple[str, str]]:
    return [(passage.path, passage.why) for passage in made.search(query)]


def test_what_is_said_in_other_words_is_found_once_sections_have_vectors(vault: Path, index: SqliteNoteIndex) -> None:
    made = library(vault, index)
    assert found(made, "cat") == []
    assert made.embed() == 2
    assert found(made, "cat") == [("Pets.md", "meaning")]
    assert made.search("cat", words_only=True) == []
    other = library(vault, index)
    assert found(other, "cat") == [("Pets.md", "meaning")]
    (vault / "Pets.md").rename(vault / "Zoo.md")
    made.rebuild()
    made.embed()
    other.refresh()
    assert found(made, "cat") == found(other, "cat") == [("Zoo.md", "meaning")]


def test_in_the_background_vectors_come_by_themselves_and_end_with_the_library(
    vault: Path, index: SqliteNoteIndex
) -> None:
    made = library(vault, index)
    made.embed_in_background()
    made.embed_in_background()
    eventually(lambda: (progress := made.embedding_progress()) and progress.is_complete)
    made.close()
    assert found(made, "cat") == [("Pets.md", "meaning")]
    assert "zkchat-vectors" not in {thread.name for thread in enumerate_threads()}


def test_in_the_background_nothing_is_looked_at_again_until_a_note_changes(
    vault: Path, index: SqliteNoteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    passages = index.vectors.passages

    def counted(after: int = 0) -> PassageDigests:
        looks.append(after)
        return passages(after)

    monkeypatch.setattr(index.vectors, "passages", counted)
    made = library(vault, index)

    def soon() -> None:
        made.embed_in_background()
        eventually(lambda: "zkchat-vectors" not in {thread.name for thread in enumerate_threads()})

    soon()
    before = len(looks)
    soon()
    assert len(looks) == before
    (vault / "Kitchen.md").write_text("The oven is hot.")
    made.refresh()
    soon()
    assert found(made, "bread") == [("Kitchen.md", "meaning")]


def test_what_is_near_is_found_where_a_filter_keeps_all_else_out(vault: Path, index: SqliteNoteIndex) -> None:
    for subject in ("kitten", "engine", "oven"):
        (vault / f"All on {subject}.md").write_text("".join(f"## {part}\n\n{subject}\n\n" for part in range(150)))
    made = library(vault, index)
    made.embed()
    assert found(made, "cat path:Pets") == [("Pets.md", "meaning")]
    assert found(made, "cat path:Garage") == []


def test_the_shipped_vectors_find_a_synonym(tmp_path: Path, index: SqliteNoteIndex) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    for name, text in {
        "Vehicles": "The automobile was parked outside the garage.",
        "Cooking": "Boil the pasta in salted water.",
        "Music": "She plays the violin in an orchestra.",
    }.items():
        (folder / f"{name}.md").write_text(text)
    files = VaultFiles(folder, exclude=(), max_note_bytes=1_000_000)
    made = Library.over(files, index, VectorSearch(index.vectors, installed()))
    made.refresh()
    made.embed()
    assert made.search("driving cars")[0].path == "Vehicles.md"
    assert made.search("zzzzqqq") == []


class Server(BySubject):
    """The model of a server, to which cars are bread."""

    traits = SimilarityTraits(min_cosine=0.3, weight=2.0)
    needs_server = True

    def direction(self, text: str) -> NDArray[np.float32]:
        return super().direction(text.replace("engine", "oven").replace("car", "bread"))


def test_what_the_vectors_of_a_server_and_the_shipped_ones_find_counts_by_both(
    vault: Path, index: SqliteNoteIndex
) -> None:
    (vault / "Kitchen.md").write_text("# Kitchen\n\nThe oven is warm.\n")
    files = VaultFiles(vault, exclude=(), max_note_bytes=1_000_000)
    made = Library.over(files, index, VectorSearch(index.vectors, Server("server:model"), base=BySubject()))
    made.refresh()
    made.embed()
    made.embed_by_server()
    (vault / "Bakery.md").write_text("# Bakery\n\nAn oven, of which the server does not know yet.\n")
    made.refresh()
    made.embed()
    scores = {passage.path: passage.score for passage in made.search("bread")}
    assert scores["Garage.md"] == pytest.approx(0.3 * 2)  # by the server alone
    assert scores["Kitchen.md"] == scores["Bakery.md"] == pytest.approx(0.3 * (2 + 1))
    assert "Pets.md" not in scores


def test_a_question_in_a_language_that_the_model_does_not_know_is_not_sent_to_it(
    vault: Path, index: SqliteNoteIndex
) -> None:
    server = RecordingEmbedder()
    server.traits = SimilarityTraits(languages=frozenset({"en"}))
    files = VaultFiles(vault, exclude=(), max_note_bytes=1_000_000)
    made = Library.over(files, index, VectorSearch(index.vectors, server, base=BySubject()))
    made.refresh()
    made.embed()
    made.embed_by_server()
    for question in ("¿Qué es lo que come el gato?", "猫は何を食べますか", "what does the cat eat?", "cat food"):
        made.search(question)
    assert server.questions == ["what does the cat eat?", "cat food"]
