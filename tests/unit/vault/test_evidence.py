import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.support.libraries import Located, library_of
from zkchat.model.message import Evidence, LineRange
from zkchat.model.note import Passage
from zkchat.vault.evidence import MAX_SENTENCES, find_evidence, rank
from zkchat.vault.library import Library

NOTES = {
    "Sleep.md": "# Sleep\n\nAdults need seven to nine hours. Dreams come late in the night.\n\n## Naps\n\n"
    "See also [[Coffee]].\nKeep them under twenty minutes, or you wake up groggy.\n",
    "Coffee.md": "---\ntags: [drink]\n---\n# Coffee\n\nCaffeine keeps half of its strength for six hours.\n"
    "A cup at four is still at work at ten.\n",
    "茶.md": "# 茶\n\n绿茶用八十度的水泡两分钟。红茶用开水。\n",
    "Copy.md": "Caffeine keeps half of its strength for six hours.\n",
}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with library_of(tmp_path, NOTES) as library:
        yield library


def found(library: Library, question: str, *linked: str) -> list[str]:
    return [each.text for each in find_evidence(library, question, [(path, "") for path in linked], limit=5).evidence]


def test_the_sentence_that_answers_comes_first_with_its_place(library: Library) -> None:
    best = find_evidence(library, "How long does caffeine keep its strength?", []).evidence[0]
    assert best.text == "Caffeine keeps half of its strength for six hours."
    assert (best.relative_path, best.wikilink, best.lines) == ("Coffee.md", "[[Coffee]]", LineRange(first=6, last=6))


def test_the_same_wording_is_quoted_once(library: Library) -> None:
    sentences = found(library, "How long does caffeine keep its strength?")
    assert len(sentences) == len(set(sentences))


def test_heading_and_title_count_for_a_sentence_that_does_not_repeat_them(library: Library) -> None:
    assert found(library, "How many minutes should naps be?")[0].startswith("Keep them under twenty minutes")


def test_a_sentence_that_only_points_elsewhere_answers_nothing(library: Library) -> None:
    assert "See also [[Coffee]]." not in found(library, "coffee naps")


def test_languages_without_spaces_are_understood(library: Library) -> None:
    assert found(library, "绿茶用多少度的水？")[0] == "绿茶用八十度的水泡两分钟。"


@pytest.mark.parametrize("question", ["Who won the chess championship?", "???", "[[Nowhere]]"])
def test_the_vault_is_silent_on_what_it_does_not_hold(library: Library, question: str) -> None:
    assert found(library, question) == []


def test_one_word_of_several_is_found_anywhere_and_answers_nothing(library: Library) -> None:
    assert found(library, "How long is the night on Mars?") == []
    assert found(library, "When do dreams come at night?") == ["Dreams come late in the night."]
    assert found(library, "Are naps good for a groggy dog?"), "a heading counts with the sentence below it"
    assert found(library, "How long is the night on Mars?", "Sleep.md"), "the user has said where it stands"


@pytest.mark.parametrize(
    "question", ["What do my notes say about caffeine?", "Tell me everything I know about caffeine"]
)
def test_a_question_about_one_thing_is_answered_by_what_is_said_of_it(library: Library, question: str) -> None:
    assert found(library, question) == ["Caffeine keeps half of its strength for six hours."]


@pytest.mark.parametrize(
    "question",
    ["What do my notes say about coffee?", "Coffee?", "What is the Coffee", "Was steht in meinen Notizen über Coffee?"],
)
def test_a_question_that_only_names_a_note_is_answered_by_how_it_begins(library: Library, question: str) -> None:
    assert found(library, question)[:2] == [
        "Caffeine keeps half of its strength for six hours.",
        "A cup at four is still at work at ten.",
    ]


def test_of_two_notes_with_the_name_both_are_heard(tmp_path: Path) -> None:
    notes = {
        "a/Tea.md": "Tea is a plant. It has leaves. It likes rain.\n",
        "b/Tea.md": "We drink it at five. Every day.\n",
    }
    with library_of(tmp_path, notes) as library:
        assert found(library, "What do I know about tea?") == ["Tea is a plant.", "We drink it at five."]


def test_of_a_note_that_is_gone_others_still_speak(tmp_path: Path) -> None:
    notes = {"Tea.md": "It likes rain.\n", "Garden.md": "There is tea behind the house.\n"}
    with library_of(tmp_path, notes) as library:
        next(tmp_path.rglob("Tea.md")).unlink()
        assert found(library, "What do I know about tea?") == ["There is tea behind the house."]


def test_what_a_model_said_before_is_no_evidence_for_the_same_question(tmp_path: Path) -> None:
    saved = "---\nzkchat-note: answer\n---\nTea is made of stars, said the model.\n"
    with library_of(tmp_path, {"What is tea.md": saved, "Garden.md": "There is tea behind the house.\n"}) as library:
        assert found(library, "What is tea?") == ["There is tea behind the house."]


def test_a_name_that_is_looked_for_in_vain_lends_nothing_of_local_notes(tmp_path: Path) -> None:
    notes = {"Tea diary.md": "---\nzkchat: local\n---\nI hate it.\n", "Garden.md": "There is tea behind the house.\n"}
    with library_of(tmp_path, notes) as library:
        here = library.guarded_for(Located(True))
        assert found(here, "Tell me about my tea dairy") == []
        assert not here.disclosed
        assert found(here, "Tell me about my tea diary") == ["I hate it."]
        assert here.disclosed
        assert found(library.guarded_for(Located(False)), "Tell me about my tea diary") == []


def test_a_file_of_the_name_that_is_no_note_says_nothing(tmp_path: Path) -> None:
    with library_of(tmp_path, {"tea.txt": "green", "Garden.md": "There is tea behind the house.\n"}) as library:
        assert found(library, "tea.txt") == []


def test_words_that_only_ask_count_little(tmp_path: Path) -> None:
    notes = {
        "Known.md": "Everything that I know is in my notes.\n",
        "Tea.md": "Tea wants water.\n" * 3,
        "T.md": "Tea.\n",
    }
    with library_of(tmp_path, notes) as library:
        assert found(library, "What do I know about tea?") == ["Tea wants water."]
        assert found(library, "What do my notes know?") == ["Everything that I know is in my notes."]


def test_a_linked_note_is_searched_even_if_others_fit_better(library: Library) -> None:
    assert "Copy.md" in {
        each.relative_path for each in find_evidence(library, "caffeine strength", [("Copy.md", "")]).evidence
    }


def test_a_note_that_the_user_names_comes_before_one_that_says_the_same(library: Library) -> None:
    question = "How long does caffeine keep half its strength?"
    first = find_evidence(library, question, []).evidence[0]
    assert first.relative_path == "Coffee.md"
    assert find_evidence(library, question, [("Copy.md", "")]).evidence[0].relative_path == "Copy.md"


def test_a_question_that_is_only_links_is_answered_by_how_they_begin(library: Library) -> None:
    found = find_evidence(library, "  ?", [("Coffee.md", ""), ("Sleep.md", "Naps")]).evidence
    assert [(each.text, each.lines.first) for each in found] == [
        ("Caffeine keeps half of its strength for six hours.", 6),
        ("A cup at four is still at work at ten.", 7),
        ("Keep them under twenty minutes, or you wake up groggy.", 8),
    ]


def passage(path: str, text: str) -> Passage:
    return Passage(
        path=path, title=path, heading_path=(), text=text, first_line=1, last_line=9, score=1.0, snippet="", why="text"
    )


def test_the_order_of_passages_does_not_matter() -> None:
    passages = [
        passage(f"{n}.md", f"Bees number {n} sleep at night. Bees dance. Night falls on bees.") for n in range(9)
    ]
    shuffled = list(passages)
    Random(7).shuffle(shuffled)

    def equal(terms: object) -> dict[str, float]:
        return dict.fromkeys(terms, 1.0) if isinstance(terms, set) else {}

    first = rank("When do bees sleep?", passages, equal)
    assert [(each.sentence, each.passage.path) for each in first] == [
        (each.sentence, each.passage.path) for each in rank("When do bees sleep?", shuffled, equal)
    ]
    assert len(first) == MAX_SENTENCES


def test_evidence_of_sessions_that_an_older_version_stored_is_read() -> None:
    stored = '{"sentence":"A.","relative_path":"a.md","title":"a","wikilink":"[[a]]","lines":[1,1],"score":1.0}'
    whole = Evidence.model_validate({**json.loads(stored), "lines": {"first": 1, "last": 1}})
    assert whole.text == "A."
    assert Evidence.model_validate_json(whole.model_dump_json()) == whole
