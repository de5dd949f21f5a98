from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.support.in_memory_files import MemoryFiles
from zkchat.core.index import NoteFilter
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.search.ranking import NAME_WEIGHT, Match, Scores, TextRanking
from zkchat.index.search.terms import query_terms


class Notes:
    """Notes of one section, each in a segment of its own."""

    def __init__(self, index: SqliteNoteIndex) -> None:
        self._index = index
        self._files = MemoryFiles()
        self._sections: dict[int, str] = {}
        self._gone: list[int] = []

    def hold(self, **texts: str) -> "Notes":
        library = Library.over(self._files, self._index)
        for name, text in texts.items():
            self._files.write(f"{name}.md", text)
            library.refresh()
            ((first, _),) = self._index.section_ranges(NoteFilter(within=frozenset({f"{name}.md"})))
            self._sections[first] = name
        return self

    def lose(self, name: str) -> "Notes":
        """It is still in its segment."""
        self._gone += [section for section, held in self._sections.items() if held == name]
        return self

    def scores(self, question: str) -> dict[str, float]:
        index, matches = self._matched(question)
        return self._by_name(index, index.section_scores(index.signals(matches)))

    def note_scores(self, question: str) -> dict[str, float]:
        index, matches = self._matched(question)
        nothing = np.zeros(len(index.sections), dtype=np.float32)
        return self._by_name(index, index.note_scores(matches, index.signals(matches), nothing, index.alive))

    def said_by_names(self, question: str) -> dict[str, float]:
        index, matches = self._matched(question)
        said = index.name_scores(matches)
        return {name: share for name, share in self._by_name(index, said).items() if share}

    def _matched(self, question: str) -> tuple[TextRanking, list[Match]]:
        asked = Counter(query_terms(question))
        lookup = self._index.look_up(set(asked), None)
        index = TextRanking(lookup.segments or (), self._gone)
        return index, index.matches(asked, lookup.postings)

    def _by_name(self, index: TextRanking, scores: Scores) -> dict[str, float]:
        return {self._sections[number]: score for number, score in zip(index.sections, scores.tolist(), strict=True)}


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index:
        yield Notes(index)


def test_a_name_that_is_the_question_counts_beside_the_text(notes: Notes) -> None:
    notes.hold(**{"a": "nothing", "b": "nothing either", "red kite": "a bird"})
    assert notes.scores("red kite") == {"a": 0, "b": 0, "red kite": pytest.approx(1 + NAME_WEIGHT)}
    assert notes.note_scores("red kite") == {"a": 0, "b": 0, "red kite": pytest.approx(1 + NAME_WEIGHT)}


def test_a_name_says_the_less_the_more_of_it_was_not_asked_for(notes: Notes) -> None:
    notes.hold(**{"b": "nothing", "kite": "one", "paper kite": "two", "tail of a paper kite": "three"})
    said = notes.said_by_names("kite")
    assert said == {"kite": 1, "paper kite": pytest.approx(1 / 8), "tail of a paper kite": pytest.approx(1 / 27)}


def test_a_section_that_is_gone_has_no_score_by_its_text_or_by_its_name(notes: Notes) -> None:
    notes.hold(kite="a kite", b="another kite", c="nothing")
    assert notes.scores("kite")["kite"] > 1
    assert notes.lose("kite").scores("kite") == {"kite": 0, "b": pytest.approx(1), "c": 0}
    assert notes.note_scores("kite") == {"kite": 0, "b": pytest.approx(1), "c": 0}
