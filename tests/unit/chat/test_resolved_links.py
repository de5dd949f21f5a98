"""Links of the user and embeds of notes, from a vault on disk to what the model is given."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.support.libraries import Located, library_of
from zkchat.chat.context.documents import DocumentRoom, include_documents
from zkchat.chat.context.tokens import Estimate
from zkchat.chat.question import Question, is_mentioned
from zkchat.chat.references import brought_along, embedded, resolve_links
from zkchat.core.message import DocumentReference
from zkchat.index.library import Library
from zkchat.notes.link_catalog import link_to

NOTES = {
    "Week.md": "---\ncover: '![[Never]]'\n---\n# Week\n\n![[Monday]]\n\n![[Sleep#Naps]] and ![[Sleep#^rule]]\n\n"
    "![[picture.png]] ![](https://example.org/x.png) ![[Nobody]] %% ![[Secret]] %% `![[Code]]` [[Coffee]]\n\n"
    "![[Monday]]\n",
    "Monday.md": "Planted beans. ![[Tuesday]] ![[Week]]\n",
    "Tuesday.md": "Rained.\n",
    "Sleep.md": "# Sleep\n\nSeven hours. ^rule\n\n## Naps\n\nTwenty minutes.\n\n## Dreams\n\nMany.\n",
    "Coffee.md": "Grind late.\n",
    "Secret.md": "secret",
    "Code.md": "code",
    "Never.md": "never",
    "a/Twin.md": "one",
    "b/Twin.md": "two",
    "Both.md": "![[Twin]]\n",
    "Loop.md": "![[Loop]] ![[#Part]]\n\n# Part\n\nOnce.\n",
    "Hub.md": "".join(f"![[Page {number}]]\n" for number in range(30)),
    **{f"Page {number}.md": "word " * 40 for number in range(30)},
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("notes")
    (folder / "vault").mkdir()
    (folder / "vault" / "picture.png").write_bytes(b"\x89PNG\0")
    with library_of(folder, NOTES) as library:
        yield library


Included = tuple[dict[str, str], list[DocumentReference]]


def included(library: Library, message: str, left: int = 10_000) -> Included:
    """The texts that a message brings along, by name, and its references."""

    def text_of(reference: DocumentReference) -> str:
        return library.section(reference.relative_path or "", reference.anchor if reference.anchor_found else "")

    parts, marked = include_documents(
        resolve_links(library, Question.parse(message).links),
        text_of,
        Estimate(),
        DocumentRoom(tokens=left, share=0.20, excerpts=False),
        partial(embedded, library),
    )
    assert len({part.name for part in parts}) == len(parts)
    return {part.name: part.text for part in parts}, marked


def test_an_included_note_brings_along_the_notes_sections_and_blocks_that_it_embeds(library: Library) -> None:
    texts, marked = included(library, "What of [[Week]]?")
    assert list(texts) == ["Week.md", "Monday.md", "Sleep.md#Naps", "Sleep.md#^rule"]
    assert texts["Monday.md"] == NOTES["Monday.md"]
    assert texts["Sleep.md#Naps"].strip() == "## Naps\n\nTwenty minutes."
    assert texts["Sleep.md#^rule"].strip() == "Seven hours. ^rule"
    assert [(row.relative_path, row.via, row.included) for row in marked] == [
        ("Week.md", "name", True),
        ("Monday.md", "embed", True),
        ("Sleep.md", "embed", True),
    ]


@pytest.mark.parametrize(
    ("message", "left", "names", "hits"),
    [
        ("[[Loop]]", 10_000, ["Loop.md"], [1]),
        ("[[Week]], [[Monday]]", 10_000, ["Week.md", "Monday.md", "Sleep.md#Naps", "Sleep.md#^rule", "Tuesday.md"], []),
        ("[[Sleep#Naps]] or [[Sleep#Dreams]]? [[Sleep#Naps]]!", 10_000, ["Sleep.md#Naps", "Sleep.md#Dreams"], [3]),
        ("[[Sleep]], and mostly [[Sleep#Naps]]", 10_000, ["Sleep.md"], [2]),
        ("[[Sleep]], and mostly [[Sleep#Naps]]", 60, ["Sleep.md#Naps"], [2]),
        ("![[Sleep#Naps]]", 10_000, ["Sleep.md#Naps"], [1]),
        ("[[Week]]", 10, [], [1]),
        ("[x](https://example.org) and [[Nobody at all]]", 10_000, [], [1]),
    ],
)
def test_each_text_is_there_once_as_far_as_there_is_room(
    library: Library, message: str, left: int, names: list[str], hits: list[int]
) -> None:
    texts, marked = included(library, message, left)
    assert list(texts) == names
    assert not hits or [row.hits for row in marked] == hits


def test_an_embed_that_could_mean_two_notes_says_so(library: Library) -> None:
    _, marked = included(library, "[[Both]]")
    assert (marked[1].relative_path, marked[1].status, marked[1].candidates) == (
        "a/Twin.md",
        "ambiguous",
        ("b/Twin.md",),
    )


def test_embeds_together_take_no_more_than_one_large_document(library: Library) -> None:
    left = 2000
    texts, marked = included(library, "[[Hub]]", left)
    tokens = [Estimate().count(text) for name, text in texts.items() if name != "Hub.md"]
    assert 1 < len(tokens) < 30
    assert sum(tokens) < left / 5
    assert len(marked) == 31
    assert sum(row.included for row in marked) == len(texts)


def test_a_hub_brings_each_note_that_it_links_to_once_and_not_itself(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    notes = {"Hub.md": "[[A]] %%[[B]]%% [[Hub]] [[A]] [[C]]", "A.md": "", "B.md": "", "C.md": ""}
    with library_of(tmp_path, notes) as library:
        (brought,) = brought_along(library, resolve_links(library, Question.parse("[[Hub]]+1").links), "")
        assert [each.relative_path for each in brought.notes] == ["A.md", "C.md"]


def test_a_mention_is_a_path_or_a_name_that_only_one_document_has(tmp_path: Path) -> None:
    notes = {"Sleep.md": "", "a/Twin.md": "", "b/Twin.md": "", "b/a/Twin.md": "", "Double.md": "", "c/Double.md": ""}
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "picture.png").write_bytes(b"")
    with library_of(tmp_path, notes) as library:
        for name in ("Sleep", "sleep.md", "picture.png", "a/Twin", "/a/Twin.md", "Double"):
            assert is_mentioned(library, link_to(name)), name
        for name in ("Twin", "Nobody", "https://example.org"):
            assert not is_mentioned(library, link_to(name)), name


def test_a_mention_of_a_note_that_the_model_may_not_see_is_one_as_a_link_is(tmp_path: Path) -> None:
    with library_of(tmp_path, {"Diary.md": "---\nzkchat: local\n---\nSecret.\n"}) as library:
        guarded = library.guarded_for(Located(on_this_machine=False))
        assert is_mentioned(guarded, link_to("Diary"))
        (row,) = resolve_links(guarded, [link_to("Diary")])
        assert (row.via, row.relative_path) == ("withheld", None)
