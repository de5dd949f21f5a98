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


def test_a_cited_document_is_marked_without_counting_as_another_hit() -> None:
    references = ReferenceList([found("a.md", 0.5), found("b.md", 0.4)])
    references.cite(found("a.md", 0.0))
    references.cite(DocumentReference(wikilink="[[Invented]]", status="missing", via="answer"))
    references.cite(DocumentReference(wikilink="[[invented]]", status="missing", via="answer"))
    assert [(row.cited, row.hits) for row in references.as_tuple()][:2] == [(True, 1), (False, 1)]
    assert [(row.wikilink, row.cited) for row in references.as_tuple()][2:] == [("[[Invented]]", True)]


def test_the_strongest_reason_is_kept_whatever_came_first() -> None:
    answered = linked("a.md", reference_type="search", via="answer", unverified=True)
    by_strength = [
        answered,
        linked("a.md", reference_type="search", via="list_documents"),
        found("a.md", 0.5, included=True),
        linked("a.md", reference_type="search", via="read_document", included=True),
        linked("a.md", via="name"),
    ]
    for weak, strong in pairwise(by_strength):
        for order in ([weak, strong], [strong, weak]):
            (row,) = ReferenceList(order).as_tuple()
            assert row.via == strong.via
            assert row.hits == 2
            assert not row.unverified
