"""What an answer cites, and what it only claims to know."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.support.in_memory_files import MemoryFiles
from tests.support.sessions import NOON
from zkchat.chat.quotations import GivenText
from zkchat.chat.references import ReferenceList, cite, given_before, is_named
from zkchat.core.errors import StorageError
from zkchat.core.message import ChatMessage, DocumentReference
from zkchat.core.values import from_plain
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex

NOTES = {
    "Sleep.md": "Seven hours.",
    "Sleep debt.md": "---\naliases: [Tired on Monday]\n---\nIt adds up.",
    "Coffee.md": "Grind late.",
    "a/Compost.md": "Ideas.",
    "b/Compost.md": "Leaves.",
    "メモの取り方.md": "よい。",
    "journal/Monday.md": "Tired, see [why](../health/Rest.md#Stages), [[#Later]] and [that](Plan.md).\n\n# Later\n",
    "journal/Plan.md": "Go to bed.",
    "health/Rest.md": "# Stages\n\nFour.",
    "a/Plan.md": "Another.",
}


def found(path: str, **more: object) -> DocumentReference:
    return from_plain(
        DocumentReference,
        {
            "wikilink": f"[[{path}]]",
            "relative_path": path,
            "reference_type": "search",
            "via": "find_excerpts",
            "score": 0.5,
            "included": True,
            **more,
        },
    )


def rows(library: Library, answer: str, *given: str, before: tuple[str, ...] = ()) -> list[tuple[str, bool, bool]]:
    """Each document with whether it is cited, and whether that is unverified."""
    references = ReferenceList(map(found, given))
    cite(references, answer, library, before)
    return [(row.relative_path or row.wikilink, row.cited, row.unverified) for row in references.as_tuple()]


def test_what_an_earlier_message_gave_may_be_cited(library: Library) -> None:
    def answered(reference: DocumentReference) -> ChatMessage:
        return ChatMessage(id="m1", role="assistant", created_at=NOON, references=(reference,))

    before = given_before(
        [
            answered(found("Sleep.md")),
            answered(found("Coffee.md", unverified=True, via="answer")),
            answered(found("Coffee.md", included=False, via="evidence")),
            answered(DocumentReference(wikilink="[[Gone]]", status="missing")),
        ]
    )
    assert before == {"Sleep.md"}
    assert rows(library, "Still [[Sleep]] and [[Coffee]].", before=tuple(before)) == [
        ("Sleep.md", True, False),
        ("Coffee.md", True, True),
    ]


def test_a_link_that_fits_two_notes_means_the_one_that_was_given(library: Library) -> None:
    assert rows(library, "Leaves, says [[Compost]].", "b/Compost.md") == [("b/Compost.md", True, False)]
    assert rows(library, "Leaves, says [[Compost]].") == [("a/Compost.md", True, True)]


def test_a_link_in_quoted_text_leads_where_it_leads_from_its_note(library: Library) -> None:
    quote = "> Tired, see [why](../health/Rest.md#Stages), [[#Later]] and [that](Plan.md)."
    after = [("journal/Monday.md", True, False), ("health/Rest.md", True, True), ("journal/Plan.md", True, True)]
    assert rows(library, quote, "journal/Monday.md") == after
    assert rows(library, quote, before=("journal/Monday.md",))[0] == ("health/Rest.md", True, True)


def test_a_note_that_is_quoted_is_cited_and_a_name_in_the_quoted_passage_is_no_citation(library: Library) -> None:
    references = ReferenceList(map(found, ("Coffee.md", "Sleep debt.md")))
    given = [GivenText("Coffee.md", "It hides your sleep debt for some hours.")]
    cite(references, "> It hides your sleep debt for some hours.", library, given=given)
    assert [row.cited for row in references.as_tuple()] == [True, False]


@pytest.mark.parametrize(
    "answer",
    [
        "Your note on sleep debt says so.",
        "As “Sleep\ndebt” has it.",
        "It is in Sleep debt.md.",
        "You wrote of being tired on Monday.",
    ],
)
def test_a_note_that_is_named_without_a_link_is_cited(library: Library, answer: str) -> None:
    assert rows(library, answer, "Sleep debt.md") == [("Sleep debt.md", True, False)]


@pytest.mark.parametrize("answer", ["Sleeping debt.", "Sleep. Debtors.", "[[Sleep debt of others|x]]", "Nothing."])
def test_what_only_looks_like_a_name_is_no_citation(library: Library, answer: str) -> None:
    assert ("Sleep debt.md", False, False) in rows(library, answer, "Sleep debt.md")


@pytest.mark.parametrize(
    ("answer", "name", "named"),
    [
        ("Sleep matters.", "Sleep", False),
        ('The note "Sleep" says so.', "Sleep", True),
        ("In Sleep.md.", "Sleep", True),
        ("“Sleepless”", "Sleep", False),
        ("それはメモの取り方にある。", "メモの取り方", True),
        ("それはメモにある。", "メモの取り方", False),
        ("No word at all!!", "!!", False),
        ("See x/Rest.md.", "", True),
    ],
)
def test_one_word_is_a_name_only_where_it_is_marked_as_one(answer: str, name: str, named: bool) -> None:
    assert is_named(answer, "x/Rest.md", [name]) is named


def test_where_the_index_does_not_answer_nothing_is_marked(tmp_path: Path) -> None:
    class LockedIndex(SqliteNoteIndex):
        def generation(self) -> int:
            raise StorageError("The index is locked.")

    with closing(LockedIndex(tmp_path / "locked.db")) as index:
        assert rows(Library.over(MemoryFiles(), index), "[[Sleep]]", "Sleep.md") == [("Sleep.md", False, False)]
