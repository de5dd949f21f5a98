import pytest
from msgspec.structs import replace

from zkchat.chat.context.documents import MAX_DOCUMENT_SHARE, DocumentRoom, include_documents
from zkchat.chat.context.selection import wants_evidence
from zkchat.chat.context.tokens import Estimate
from zkchat.core.message import DocumentReference
from zkchat.core.prompt import ModelInfo


def reference(path: str | None, **more: str) -> DocumentReference:
    return replace(DocumentReference(wikilink=f"[[{path}]]", relative_path=path), **more)


def test_a_small_document_is_included_whole_and_a_large_one_in_part() -> None:
    texts = {"small.md": "word " * 10, "large.md": "A word or two. " * 400}
    parts, marked = include_documents(
        [reference("small.md"), reference("large.md")],
        lambda r: texts[r.relative_path or ""],
        Estimate(),
        DocumentRoom(tokens=1000, share=MAX_DOCUMENT_SHARE),
    )
    assert [(part.name, bool(part.extent)) for part in parts] == [("small.md", False), ("large.md", True)]
    assert [(r.included, bool(r.extent)) for r in marked] == [(True, False), (True, True)]
    assert 100 < Estimate().count(parts[1].text) <= 200


def test_without_excerpts_a_large_document_stays_out() -> None:
    parts, marked = include_documents(
        [reference("large.md")],
        lambda _: "A word or two. " * 400,
        Estimate(),
        DocumentRoom(tokens=1000, share=MAX_DOCUMENT_SHARE, excerpts=False),
    )
    assert parts == []
    assert not marked[0].included


def test_each_document_takes_from_what_is_left_for_the_next() -> None:
    parts, _ = include_documents(
        [reference(f"{n}.md") for n in range(50)],
        lambda _: "1234567" * 95,
        Estimate(),
        DocumentRoom(tokens=1000, share=MAX_DOCUMENT_SHARE, excerpts=False),
    )
    # 190 of 1,000 fit under the fifth, 190 of 810 do not.
    assert [part.name for part in parts] == ["0.md"]


def test_several_documents_share_the_room_of_a_model_that_cannot_read_on() -> None:
    texts = {"a.md": "One sentence of a. " * 300, "b.md": "Short b.", "c.md": "One sentence of c. " * 300}
    parts, _ = include_documents(
        [reference(name) for name in texts],
        lambda r: texts[r.relative_path or ""],
        Estimate(),
        DocumentRoom(tokens=1000),
    )
    sizes = {part.name: Estimate().count(part.text) for part in parts}
    assert sizes["b.md"] == Estimate().count("Short b.")
    assert all(sizes[name] > 400 for name in ("a.md", "c.md"))
    assert sum(sizes.values()) <= 1000


def test_a_broken_link_is_never_read() -> None:
    def refuse(_: DocumentReference) -> str:
        raise AssertionError("read")

    parts, marked = include_documents(
        [reference(None)], refuse, Estimate(), DocumentRoom(tokens=1000, share=MAX_DOCUMENT_SHARE)
    )
    assert parts == []
    assert not marked[0].included


def test_a_section_is_named_with_its_heading() -> None:
    parts, _ = include_documents(
        [reference("a.md", anchor="Titles")],
        lambda _: "text",
        Estimate(),
        DocumentRoom(tokens=1000, share=MAX_DOCUMENT_SHARE),
    )
    assert parts[0].name == "a.md#Titles"


@pytest.mark.parametrize(
    ("limit", "can_read", "window", "wants"),
    [
        (40_960, False, 32_768, True),
        (8192, True, 8192, True),
        (40_960, True, 4096, True),
        (40_960, True, 32_768, False),
        (None, True, 8192, False),
    ],
)
def test_evidence_is_for_models_that_cannot_search_or_are_known_to_be_small(
    limit: int | None, can_read: bool, window: int, wants: bool
) -> None:
    info = ModelInfo(provider="ollama", id="x", context_limit=limit, calls_tools=True)
    assert wants_evidence(info, window, can_read=can_read) is wants


def test_evidence_is_for_a_model_that_is_asked_nothing_without_it_whatever_its_window() -> None:
    info = ModelInfo(provider="ollama", id="x", context_limit=40_960, calls_tools=True, needs_evidence=True)
    assert wants_evidence(info, 32_768, can_read=True)
