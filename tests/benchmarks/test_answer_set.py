"""The questions of the answer benchmark are sound: what is said to answer stands there, and links lead somewhere."""

from collections import Counter
from collections.abc import Iterator

import pytest

from benchmarks.retrieval.answer_set import (
    FRESH,
    FRESH_QUESTIONS,
    KINDS,
    VAULTS,
    all_questions,
    conversations,
    development_questions,
    fresh_questions,
    notes_of,
    write_vault,
)
from zkchat.chat.question import Question
from zkchat.chat.references import resolve_links
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.storage.vault_files import VaultFiles

QUESTIONS = all_questions()
FOR_DEVELOPMENT = development_questions()
UNSEEN = fresh_questions()
EVERY = (*QUESTIONS, *FOR_DEVELOPMENT, *UNSEEN, *conversations())
README = FRESH_QUESTIONS.parents[1] / "README.md"
LANGUAGES = {"en", "de", "fr", "es", "ru", "zh", "ja", "hi", "th", "it", "pt"}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Library]]:
    root = tmp_path_factory.mktemp("vaults")
    found = {}
    indexes = []
    for vault in VAULTS:
        write_vault(vault, root / vault)
        indexes.append(index := SqliteNoteIndex(root / f"{vault}.db"))
        found[vault] = Library.over(VaultFiles(root / vault, exclude=(), max_note_bytes=5_000_000), index)
        found[vault].refresh()
    yield found
    for index in indexes:
        index.close()


def test_there_are_enough_questions_of_each_kind_and_language() -> None:
    answerable = [each for each in QUESTIONS if each.answerable]
    unanswerable = [each for each in QUESTIONS if not each.answerable]

    assert len(answerable) >= 425
    assert len(unanswerable) >= 100
    assert {each.kind for each in EVERY} == {*KINDS}
    assert {each.language for each in QUESTIONS} >= LANGUAGES


def test_ids_and_questions_are_unique() -> None:
    assert max(Counter(each.id for each in EVERY).values()) == 1
    assert max(Counter((each.vault, each.before, each.text.casefold()) for each in EVERY).values()) == 1


@pytest.mark.parametrize("group", ["kind", "language", "vault"])
def test_the_fresh_questions_are_as_many_as_the_readme_says(group: str) -> None:
    found = Counter(getattr(each, group) for each in UNSEEN)
    counts = ", ".join(f"{name} {found[name]}" for name in sorted(found, key=lambda name: (-found[name], name)))

    assert f"- By {group}: {counts}\n" in README.read_text(encoding="utf-8")
    assert {each.half for each in UNSEEN} == {FRESH}


@pytest.mark.parametrize("vault", VAULTS)
def test_every_answer_stands_in_its_note(vault: str) -> None:
    notes = dict(notes_of(vault))

    for asked in EVERY:
        if asked.vault == vault:
            for place in (place for part in asked.parts for place in part):
                assert place.holds(place.path, notes[place.path]), (asked.id, place)


def test_every_link_of_a_question_leads_to_a_note_that_answers(libraries: dict[str, Library]) -> None:
    for asked in (*QUESTIONS, *UNSEEN):
        found = resolve_links(libraries[asked.vault], Question.parse(asked.text).links)
        assert all(each.status == "resolved" and (each.anchor_found or not each.anchor) for each in found), asked
        if asked.kind == "linked":
            assert {each.relative_path for each in found} == {part[0].path for part in asked.parts}, asked
