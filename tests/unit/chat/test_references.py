from itertools import pairwise

from zkchat.chat.references import ReferenceList
from zkchat.core.message import DocumentReference, LineRange
from zkchat.core.values import from_plain


def linked(path: str | None, **more: object) -> DocumentReference:
    return from_plain(DocumentReference, {"wikilink": f"[[{path}]]", "relative_path": path, **more})


def found(path: str, score: float, **more: object) -> DocumentReference:
    return linked(path, reference_type="search", via="find_excerpts", score=score, **more)


def test_a_document_has_one_row_however_often_it_comes_up() -> None:
    references = ReferenceList([found("a.md", 0.2), found("b.md", 0.9), found("a.md", 0.5)])
    assert [(row.relative_path, row.hits, row.score) for row in references.as_tuple()] == [
        ("a.md", 2, 0.5),
        ("b.md", 1, 0.9),
    ]


def test_the_place_of_the_best_hit_is_kept() -> None:
    weak = found("a.md", 0.2, snippet="weak", lines=LineRange(first=1, last=2))
    strong = found("a.md", 0.5, snippet="strong", lines=LineRange(first=8, last=9))
    (row,) = ReferenceList([weak, strong]).as_tuple()
    assert (row.snippet, row.lines) == ("strong", LineRange(first=8, last=9))


def test_what_the_user_linked_outweighs_what_was_found() -> None:
    for order in ([linked("a.md"), found("a.md", 0.5)], [found("a.md", 0.5), linked("a.md")]):
        (row,) = ReferenceList(order).as_tuple()
        assert (row.reference_type, row.via, row.score) == ("direct", "", 0.5)


def test_broken_links_have_rows_of_their_own() -> None:
    first = DocumentReference(wikilink="[[Gone]]", status="missing")
    other = DocumentReference(wikilink="[[Lost]]", status="missing")
    assert len(ReferenceList([first, other, first]).as_tuple()) == 2


def test_a_cited_document_is_marked_without_counting_as_another_hit() -> None:
    references = ReferenceList([found("a.md", 0.5), found("b.md", 0.4)])
    references.cite(found("a.md", 0.0))
    assert [(row.cited, row.hits) for row in references.as_tuple()] == [(True, 1), (False, 1)]


def test_a_document_that_only_the_answer_names_is_added() -> None:
    references = ReferenceList()
    references.cite(DocumentReference(wikilink="[[Invented]]", status="missing", via="answer"))
    assert [(row.wikilink, row.cited) for row in references.as_tuple()] == [("[[Invented]]", True)]


def listed(path: str, via: str = "list_documents") -> DocumentReference:
    return linked(path, reference_type="search", via=via)


def read(path: str) -> DocumentReference:
    return linked(path, reference_type="search", via="read_document", included=True)


def test_the_strongest_reason_is_kept_whatever_came_first() -> None:
    answered = linked("a.md", reference_type="search", via="answer", unverified=True)
    by_strength = [
        answered,
        listed("a.md"),
        found("a.md", 0.5, included=True),
        read("a.md"),
        linked("a.md", via="name"),
    ]
    for weak, strong in pairwise(by_strength):
        for order in ([weak, strong], [strong, weak]):
            (row,) = ReferenceList(order).as_tuple()
            assert row.via == strong.via
            assert row.hits == 2
            assert not row.unverified


def test_of_equal_reasons_the_first_is_kept() -> None:
    (row,) = ReferenceList([listed("a.md", "find_backlinks"), listed("a.md", "list_documents")]).as_tuple()
    assert row.via == "find_backlinks"


def test_a_ledger_knows_what_it_holds() -> None:
    references = ReferenceList([linked("a.md"), DocumentReference(wikilink="[[Gone]]", status="missing")])
    assert references.holds(found("a.md", 0.1))
    assert references.holds(DocumentReference(wikilink="[[gone]]", status="missing"))
    assert not references.holds(linked("b.md"))
