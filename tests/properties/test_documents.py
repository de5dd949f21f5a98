"""Whatever is linked and embeds whatever: nothing is included twice, and nothing beyond its share."""

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.chat.context.documents import MAX_DOCUMENT_SHARE, DocumentRoom, include_documents
from zkchat.chat.context.tokens import Estimate
from zkchat.core.choices import ReferenceVia
from zkchat.core.message import DocumentReference

PATHS = st.sampled_from(["a.md", "b.md", "c.md", "d.md"])
ANCHORS = st.sampled_from(["", "", "One", "Two"])


def to(path: str, anchor: str, via: ReferenceVia) -> DocumentReference:
    return DocumentReference(wikilink=f"[[{path}#{anchor}]]", relative_path=path, anchor=anchor, via=via)


@given(
    linked=st.lists(PATHS, unique=True),
    embeds=st.dictionaries(PATHS, st.lists(st.tuples(PATHS, ANCHORS), max_size=6)),
    sizes=st.fixed_dictionaries({path: st.integers(0, 800) for path in ("a.md", "b.md", "c.md", "d.md")}),
    left=st.integers(0, 3000),
)
@settings(max_examples=150, deadline=None)
def test_documents_and_their_embeds_stay_within_their_shares(
    linked: list[str], embeds: dict[str, list[tuple[str, str]]], sizes: dict[str, int], left: int
) -> None:
    def text_of(reference: DocumentReference) -> str:
        return "word " * sizes[reference.relative_path or ""]

    def embeds_of(reference: DocumentReference, _text: str) -> list[DocumentReference]:
        return [to(path, anchor, "embed") for path, anchor in embeds.get(reference.relative_path or "", [])]

    count = Estimate().count
    parts, rows = include_documents(
        [to(path, "", "name") for path in linked],
        text_of,
        Estimate(),
        DocumentRoom(tokens=left, share=MAX_DOCUMENT_SHARE, excerpts=False),
        embeds_of,
    )
    assert len({part.name for part in parts}) == len(parts)
    assert [row.relative_path for row in rows][: len(linked)] == linked
    assert len({row.relative_path for row in rows}) == len(rows)
    assert {row.relative_path for row in rows if row.included} == {part.name.partition("#")[0] for part in parts}
    assert all(count(part.text) <= MAX_DOCUMENT_SHARE * left for part in parts)
    assert all(row.via == "name" for row in rows[: len(linked)])
    assert sum([count(part.text) for part in parts if part.name not in linked]) <= MAX_DOCUMENT_SHARE * left
