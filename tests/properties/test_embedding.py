"""Whatever happens to notes, models and processes: every passage has the vector of its text, and is embedded once."""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.embedders import RecordingEmbedder, StaticEmbedder, vectors_of
from tests.support.in_memory_files import MemoryFiles
from zkchat.core.index import embedded_text, passage_digest
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.search.method_vectors import packed
from zkchat.index.search.vectors import VectorSearch

PATHS = ("a.md", "b.md", "deep/c.md")
LOCAL = "---\nzkchat: local\n---\n"
TEXTS = (
    "# One\n\napples",
    "# Two\n\nbread\n\n## Deep\n\ncider",
    "no heading",
    f"{LOCAL}# One\n\napples",
    f"{LOCAL}# Secret\n\ncrimson",
)
MODELS = ("one", "two", "static")

paths, texts = st.sampled_from(PATHS), st.sampled_from(TEXTS)
steps = st.one_of(
    st.tuples(st.just("write"), paths, texts),
    st.tuples(st.just("move"), paths, paths),
    st.tuples(st.just("remove"), paths),
    st.tuples(st.just("switch"), st.sampled_from(MODELS)),
    st.tuples(st.just("kill"), st.integers(0, 3), st.integers(0, 200)),
    st.tuples(st.just("rebuild")),
    st.tuples(st.just("embed")),
)


class Killed(BaseException):
    """The process is gone in the middle of its work."""


class Machine:
    """A vault, the models, and the process that embeds, which may be killed and begun again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = MemoryFiles()
        self.models = {"one": RecordingEmbedder("one", batch_size=1), "two": RecordingEmbedder("two", batch_size=2)}
        self.models["one"].is_on_this_machine = False
        self.static = StaticEmbedder()
        self.models["static"] = self.static
        self.wanted = "one"
        self.in_flight: Counter[tuple[str, str]] = Counter()
        """What was embedded by a process that was killed before it could store it."""

    def apply(self, index: SqliteNoteIndex, step: tuple[object, ...]) -> None:
        match step:
            case ("write", str(path), str(text)):
                self.files.write(path, text)
            case ("move", str(path), str(other)) if path in self.files.notes:
                self.files.rename(path, other)
            case ("remove", str(path)) if path in self.files.notes:
                self.files.remove(path)
            case ("switch", str(model)):
                self.wanted = model
            case ("kill", int(batches), int(torn)):
                self.kill(index, batches, torn)
            case ("rebuild",):
                index.reset()
            case ("embed",):
                self.embed(index)

    def library(self, index: SqliteNoteIndex) -> Library:
        vectors = VectorSearch(index.vectors, self.models[self.wanted], base=self.static, former=self.models.get)
        made = Library.over(self.files, index, vectors)
        made.refresh()
        return made

    def embed(self, index: SqliteNoteIndex) -> None:
        made = self.library(index)
        made.embed()
        made.embed_by_server()
        self.check(index, made)

    def kill(self, index: SqliteNoteIndex, batches: int, torn: int) -> None:
        """After so many batches; of the last one so many bytes have been written."""
        model, left = self.models[self.wanted], [batches]

        def die(some: Sequence[str]) -> None:
            left[0] -= 1
            if left[0] < 0:
                self.in_flight.update((model.name, text) for text in some)
                model.texts.extend(some)
                raise Killed

        made = self.library(index)
        model.before = die
        with suppress(Killed):
            made.embed()
            made.embed_by_server()
        model.before = lambda _: None
        for file in self.folder.glob("*.vectors"):
            if model.name.encode() in file.read_bytes()[:48]:
                with file.open("ab") as opened:
                    opened.write((b"zblk" + bytes([2, 0, 0, 0]) + bytes(200))[:torn])

    def check(self, index: SqliteNoteIndex, made: Library) -> None:
        """All that may have a vector has it: of the wanted method, and of static ones."""
        progress = made.embedding_progress()
        assert progress
        assert progress.active_method == self.wanted
        assert progress.is_complete
        numbers = [
            number for note in index.vectors.passages().notes for number in range(note[0], note[0] + len(note[1]) // 16)
        ]
        sections = index.sections(numbers)
        for model in {self.wanted, "static"}:
            stored = vectors_of(index, model)
            for section in sections:
                text, digest = embedded_text(section.title, section.text), passage_digest(section.title, section.text)
                if digest in stored or self.models[model].is_on_this_machine or not self.is_local(section.path):
                    assert stored[digest] == packed(self.models[model].direction(text)[None])

    def is_local(self, path: str) -> bool:
        return "zkchat: local" in self.files.notes[path]


@given(st.lists(steps, max_size=14))
@settings(max_examples=40)
def test_every_passage_has_the_vector_of_its_text_and_is_embedded_once(taken: list[tuple[object, ...]]) -> None:
    with TemporaryDirectory() as name:
        machine = Machine(Path(name))
        for step in [("write", "a.md", TEXTS[0]), *taken, ("embed",)]:
            with closing(SqliteNoteIndex(Path(name) / "index.db")) as index:
                machine.apply(index, step)
        for model in machine.models.values():
            embedded = Counter((model.name, text) for text in model.texts)
            assert {text: count for text, count in embedded.items() if count > 1 + machine.in_flight[text]} == {}
        assert not any("crimson" in text for text in machine.models["one"].texts)
