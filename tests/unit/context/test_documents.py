import pytest
from msgspec.structs import replace

from zkchat.chat.context.documents import DocumentRoom, excerpt_document, include_documents
from zkchat.chat.context.selection import wants_evidence
from zkchat.chat.context.tokens import Estimate
from zkchat.core.message import DocumentReference, FilePart
from zkchat.core.prompt import ModelInfo


def test_a_part_of_a_document_has_a_least_size() -> None:
    text = "A word or two. " * 400
    assert [bool(excerpt_document(text, size, Estimate().count, "")[0]) for size in (23, 24)] == [False, True]


def included(texts: dict[str, str], *, excerpts: bool = True, share: float = 0.20) -> dict[str, FilePart]:
    """What goes along of these documents into a thousand tokens, by name; `gone.md` is a broken link."""

    def text_of(each: DocumentReference) -> str:
        assert each.relative_path, "a broken link is never read"
        return texts[each.relative_path]

    references = [DocumentReference(wikilink=f"[[{path}]]", relative_path=path) for path in texts]
    gone = DocumentReference(wikilink="[[gone]]", relative_path=None)
    room = DocumentRoom(tokens=1000, share=share, excerpts=excerpts)
    parts, marked = include_documents([*references, gone], text_of, Estimate(), room)
    found = {part.name: part for part in parts}
    assert [bool(each.included) for each in marked] == [*(path in found for path in texts), False]
    return found


def test_a_small_document_is_included_whole_and_a_large_one_in_part() -> None:
    parts = included({"small.md": "word " * 10, "large.md": "A word or two. " * 400})
    assert [(part.name, bool(part.extent)) for part in parts.values()] == [("small.md", False), ("large.md", True)]
    assert 100 < Estimate().count(parts["large.md"].text) <= 200


def test_without_excerpts_a_large_document_stays_out_and_each_takes_from_what_is_left_for_the_next() -> None:
    assert included({"large.md": "A word or two. " * 400}, excerpts=False) == {}
    # 190 of 1,000 fit under the fifth, 190 of 810 do not.
    assert [*included({f"{n}.md": "1234567" * 95 for n in range(50)}, excerpts=False)] == ["0.md"]


def test_several_documents_share_the_room_of_a_model_that_cannot_read_on() -> None:
    texts = {"a.md": "One sentence of a. " * 300, "b.md": "Short b.", "c.md": "One sentence of c. " * 300}
    sizes = {
        name: Estimate().count(part.text) for name, part in included(texts, share=DocumentRoom(tokens=1).share).items()
    }
    assert sizes["b.md"] == Estimate().count("Short b.")
    assert all(sizes[name] > 400 for name in ("a.md", "c.md"))
    assert sum(sizes.values()) <= 1000


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
    assert wants_evidence(replace(info, needs_evidence=True), window, can_read=can_read)
