from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.in_memory_files import MemoryFiles
from zkchat.core.note import Passage
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.search.ranking import NAME_WEIGHT

FILLER = {f"filler {number}": f"# Filler {number}\n\nNothing to see in place {number}." for number in range(8)}


class Vault:
    def __init__(self, index: SqliteNoteIndex) -> None:
        self.files = MemoryFiles()
        self.library = Library.over(self.files, index)

    def holds(self, **notes: str) -> "Vault":
        for name, text in {**FILLER, **notes}.items():
            self.files.write(f"{name}.md", text)
        self.library.refresh()
        return self

    def find(self, query: str, **options: object) -> list[Passage]:
        return self.library.search(query, **options)  # type: ignore[arg-type]

    def paths(self, query: str, **options: object) -> list[str]:
        return [passage.path for passage in self.find(query, **options)]


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index:
        yield Vault(index)


def test_a_passage_is_found_with_its_place(vault: Vault) -> None:
    vault.holds(garden="intro\n\n# Compost\n\nWorms eat the peelings.\n\n## Heat\n\nA hot heap kills weeds.\n")
    (passage,) = vault.find("hot heap")
    assert passage.path == "garden.md"
    assert passage.title == "garden"
    assert passage.heading_path == ("Compost", "Heat")
    assert (passage.first_line, passage.last_line) == (7, 9)
    assert "A hot heap kills weeds." in passage.text
    assert passage.why == "text"
    assert passage.score > 0


def test_a_note_is_found_by_title_alias_heading_and_file_name_though_its_text_is_silent(vault: Vault) -> None:
    vault.holds(
        a="# Sourdough\n\nbread", b="---\naliases: [Leaven]\n---\nbread", c="bread\n\n## Starter\n\nwater", Rye=""
    )
    assert [(found.path, found.why) for word in ("sourdough", "leaven", "starter") for found in vault.find(word)] == [
        ("a.md", "title, heading, text"),
        ("b.md", "alias"),
        ("c.md", "heading, text"),
    ]
    assert vault.paths("rye") == ["Rye.md"]


def test_a_question_that_names_a_note_finds_that_note_first(vault: Vault) -> None:
    mentions = {f"m{number}": "Evergreen notes, evergreen notes and evergreen notes again." for number in range(5)}
    vault.holds(**mentions, Evergreen="# Evergreen notes\n\nWritten to grow.\n\n## Titles\n\nStatements.")
    assert vault.paths("what are evergreen notes", limit=2) == ["Evergreen.md", "Evergreen.md"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("私は東京に住んでいます", "東京"),
        ("ฉันชอบกินข้าวผัด", "ข้าวผัด"),
        ("한국어를 배우고 있습니다", "한국어"),
        ("Кошки любят молоко", "кошка"),
        ("Die Straße ist lang", "STRASSE straße"),
    ],
)
def test_every_script_is_searched(vault: Vault, text: str, query: str) -> None:
    vault.holds(a=text, b="別の話。", c="другое дело")
    assert vault.paths(query)[0] == "a.md"


def test_of_two_words_that_are_as_near_the_one_of_more_notes_is_meant(vault: Vault) -> None:
    vault.holds(a="Hartfeld", b="Hartfeld again", c="Hartfild")
    assert vault.library.spelled("hartfuld") == "hartfeld"


def test_a_phrase_must_stand_word_for_word(vault: Vault) -> None:
    vault.holds(
        a="the quick brown fox",
        b="brown and quick",
        c="quick *brown*\nbear",
        d="quick browns",
        e="# Quick brown\n\nwords",
        f="とても速い狐",
    )
    assert sorted(vault.paths('"quick brown"')) == ["a.md", "c.md", "e.md"]
    assert vault.paths('"quick brown fox"') == ["a.md"]
    assert vault.paths('"速い狐"') == ["f.md"]
    assert vault.paths('"狐速い"') == []


def test_a_phrase_is_looked_for_beyond_the_first_candidates(vault: Vault) -> None:
    decoys = {f"d{number:03}": "brown quick quick brown quick"[:17] for number in range(120)}
    vault.holds(**decoys, hit="here is some more text and then a quick brown thing, with a long tail of words")
    assert vault.paths('"quick brown thing"', limit=1) == ["hit.md"]
    assert vault.paths('"brown quick" -thing', limit=300) == sorted(f"{name}.md" for name in decoys)


def test_a_word_with_a_minus_is_kept_out_in_all_its_forms(vault: Vault) -> None:
    vault.holds(a="garden notes", b="garden drafts", c="garden, not this one", d="# Draft\n\ngarden")
    assert sorted(vault.paths("garden -draft")) == ["a.md", "c.md"]
    assert sorted(vault.paths('garden -"not this" -draft')) == ["a.md"]


def test_filters_alone_list_the_notes_that_fit_the_last_changed_first(vault: Vault) -> None:
    vault.holds(a="one #x\n\n# Two\n\ntext", b="three #x", c="four", d="---\ntags: x\n---\n")
    *found, blank = vault.find("tag:x")
    assert blank.path == "d.md", "what holds no text comes last"
    assert [(passage.path, passage.why, passage.score) for passage in found] == [
        ("b.md", "filter", 0.0),
        ("a.md", "filter", 0.0),
    ]
    assert found[1].snippet == "one #x"


def test_a_note_is_found_by_its_name_before_one_that_has_a_heading_of_that_name(vault: Vault) -> None:
    vault.holds(compost="Peelings and leaves.", diary="# Diary\n\n## Compost\n\nCompost, compost and compost again.")
    assert [found.path for found in vault.library.documents("compost")] == ["compost.md", "diary.md"]
    vault.holds(**{"kite": "one", "paper kite": "two", "tail of a paper kite": "three"})
    assert vault.paths("kite") == ["kite.md", "paper kite.md", "tail of a paper kite.md"]
    assert vault.find("kite")[0].score == pytest.approx(1 + NAME_WEIGHT)


def test_a_section_counts_by_the_name_of_its_note_and_by_its_heading(vault: Vault) -> None:
    text = "Slates were ordered, and they came in the spring."
    vault.holds(
        greenhouse=f"## Door\n\n{text}\n\n## Roof\n\n{text}",
        barn=f"## Roof of the greenhouse over there and so on\n\n{text}\n\n## Roof\n\n{text}",
    )
    first = vault.find("greenhouse roof")[0]
    assert (first.path, first.heading_path) == ("greenhouse.md", ("Roof",))


def test_a_note_that_says_it_in_several_sections_comes_before_one_that_says_it_once(vault: Vault) -> None:
    filling = "Other words stand here, so that the section is about as long."
    vault.holds(
        a=f"## One\n\nA zebra. {filling}\n\n## Two\n\nNothing. {filling}\n\n## Three\n\nNothing. {filling}",
        b=f"## One\n\nA zebra. {filling}\n\n## Two\n\nA zebra. {filling}\n\n## Three\n\nA zebra. {filling}",
    )
    assert [found.path for found in vault.library.documents("zebra")] == ["b.md", "a.md"]
    assert vault.find("zebra")[0].score == vault.find("zebra")[3].score


def test_of_a_note_the_best_section_that_holds_the_phrase_is_shown(vault: Vault) -> None:
    vault.holds(
        a="## Hot\n\nheap hot heap hot heap hot\n\n## Heap\n\nIn spring the hot heap is turned.", b="the hot heap"
    )
    found = vault.library.documents('"the hot heap"')
    assert {each.path: each.heading_path for each in found} == {"a.md": ("Heap",), "b.md": ()}
    assert [each.path for each in vault.library.documents("hot -spring")] == ["a.md", "b.md"]
    assert vault.library.documents("hot -spring")[0].heading_path == ("Hot",)
    assert vault.library.documents('"no such heap"') == []


def test_notes_that_answer_alike_come_in_the_order_of_their_paths(vault: Vault) -> None:
    vault.holds(**dict.fromkeys("cabdfe", "A zebra."))
    assert [found.path for found in vault.library.documents("zebra")] == [f"{name}.md" for name in "abcdef"]
    assert len(vault.library.documents("zebra", limit=2)) == 2
    assert [found.path for found in vault.library.documents("zebra path:d.m")] == ["d.md"]


def test_a_snippet_shows_the_words_around_the_match(vault: Vault) -> None:
    vault.holds(a="word " * 200 + "then a zebra crosses the quiet street " + "tail " * 100)
    (found,) = vault.find("zebra street", limit=1)
    assert "a zebra crosses the quiet street" in found.snippet
    assert found.snippet.startswith("… ")
    assert found.snippet.endswith(" …")
    assert len(found.snippet) <= 204
    vault.holds(a="あ" * 300 + "東京" + "い" * 90)
    (found,) = vault.find("東京", limit=1)
    assert "東京" in found.snippet
    assert len(found.snippet) <= 204


def test_inflected_forms_and_compounds_are_found_in_languages_that_the_stemmer_does_not_know(vault: Vault) -> None:
    vault.holds(
        a="Die Gewächshausdächer sind dicht.", b="Mantarlarımız ormanda büyür.", c="Gewohnheiten ändern sich langsam."
    )
    (found,) = vault.find("Was ist mit dem Gewächshausdach los?")
    assert (found.path, found.why) == ("a.md", "text")
    assert "Gewächshausdächer" in found.snippet
    assert vault.paths("mantarların nerede büyüdü") == ["b.md"]


def test_a_term_itself_counts_more_than_its_variants(vault: Vault) -> None:
    vault.holds(
        a="Ein Gewächshausdach fehlt noch.", b="Ein Gewächshaus fehlt noch.", c="Viele Gewächshäuser fehlen noch."
    )
    assert vault.paths("Wo ist das Gewächshaus und wer hat es gebaut?")[0] == "b.md"
    assert {*vault.paths("Wo ist das Gewächshaus und wer hat es gebaut?")} == {"a.md", "b.md", "c.md"}
    assert vault.paths("fehlt -Gewächshaus") == ["a.md"]
    assert vault.paths('"Gewächshaus"') == ["b.md"]
    vault.holds(a="All internationalists met.", b="The internationale was sung.")
    assert vault.paths("internationale") == ["b.md"], "in English, words that only begin alike are others"
