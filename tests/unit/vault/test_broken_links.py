from pathlib import Path

import pytest

from tests.support.libraries import library_of
from zkchat.index.link_guesses import Repair, broken_links

NOTES = {
    "Garden/Compost heap.md": "# Compost heap\n\n## How to turn it\n\n## Costs\n\nA block. ^turning-point\n",
    "Garden/Café.md": "",
    "a/Twin.md": "",
    "b/Twin.md": "",
    "20240101120000 Worms.md": "",
    "pictures/heap.png": "",
    "Other.md": "Moved here. ^moved1\n",
}


WRONG = {
    "[[Old/Compost heap]]": ("Garden/Compost heap.md", "it is in Garden/ now"),
    "[x](old/Compost%20heap.md)": ("Garden/Compost heap.md", "it is in Garden/ now"),
    "[[Compost%20heap]]": ("Garden/Compost heap.md", "its name is written with %20 and the like"),
    "[[Compost heap.md.md]]": ("Garden/Compost heap.md", "its extension is doubled"),
    "[[Compost heap.markdown]]": ("Garden/Compost heap.md", "the file's name ends in .md"),
    r"[[Garden\Compost heap]]": ("Garden/Compost heap.md", "it has backslashes"),
    "![[img/heap.png]]": ("pictures/heap.png", "it is in pictures/ now"),
    "[[Sub/Other]]": ("Other.md", "it is at the top of the vault now"),
}
GUESSED = {
    "[[Compost-heap]]": ("Garden/Compost heap.md", "spelled differently"),
    "[[Cafe]]": ("Garden/Café.md", "spelled differently"),
    "[[Compost heaps]]": ("Garden/Compost heap.md", "has a similar name"),
    "[[Compost heaped]]": ("Garden/Compost heap.md", "has a similar name"),
    "[[Compostt heap]]": ("Garden/Compost heap.md", "has a similar name"),
    "[[Heap compost]]": ("Garden/Compost heap.md", "its words are in another order"),
    "[[c/Twin]]": ("a/Twin.md", "one of 2 files of that name"),
    "[[My 20240101120000 worm]]": ("20240101120000 Worms.md", "has the same id"),
}
PLACES = {
    "[[Compost heap#Prices#Costs]]": ("Costs", True),
    "[x](Compost%20heap.md#how-to-turn-it)": ("How to turn it", True),
    "[[Compost heap#How to turn it over]]": ("How to turn it", False),
    "[[Compost heap#Howtoturnit]]": ("How to turn it", False),
    "[[Compost heap#^turning-pont]]": ("^turning-point", False),
    "[[Compost heap#^moved1]]": ("^moved1", False),
}


@pytest.fixture(scope="module")
def first_repairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Repair]:
    source = "\n".join([*WRONG, *GUESSED, *PLACES])
    with library_of(tmp_path_factory.mktemp("vault"), {**NOTES, "Source.md": source}) as library:
        return {each.link.text: each.repairs[0] for each in broken_links(library)}


def test_what_is_wrong_for_sure_and_what_may_be_meant(first_repairs: dict[str, Repair]) -> None:
    found = {link: first_repairs[link] for link in (*WRONG, *GUESSED)}
    assert {link: (each.path, each.reason) for link, each in found.items()} == {**WRONG, **GUESSED}
    assert [link for link, each in found.items() if each.is_sure] == [*WRONG]


def test_headings_and_blocks(first_repairs: dict[str, Repair]) -> None:
    found = {link: first_repairs[link] for link in PLACES}
    assert {link: (each.anchor, each.is_sure) for link, each in found.items()} == PLACES
    assert {each.path for each in found.values()} == {"Garden/Compost heap.md", "Other.md"}


def test_a_note_that_was_renamed_is_found_by_its_old_name(tmp_path: Path) -> None:
    with library_of(tmp_path, {**NOTES, "Source.md": "[[Heap of rot]]"}) as library:
        (broken,) = broken_links(library, {"Garden/Heap of rot.md": "Garden/Compost heap.md"})
    assert broken.is_sure
    assert broken.repairs[0].reason == "it was renamed to Compost heap"


def test_links_to_what_is_not_written_yet_have_no_repair(tmp_path: Path) -> None:
    with library_of(tmp_path, {**NOTES, "Source.md": "[[Quantum gravity]] [[Compost heap#Recipes]]"}) as library:
        assert [each.repairs for each in broken_links(library)] == [(), ()]


@pytest.mark.parametrize(
    ("name", "links"),
    [
        ("2024-05-21", ["2024-05-20", "2024-21-05", "2024-5-21"]),
        ("Supervised learning", ["Unsupervised learning", "Supervised learnings 2"]),
        ("Compost turning", ["Compost burning", "Compost turner", "Compost turning dates", "Turning"]),
        ("Plan of beds.png", ["Plan of beds", "Plans of beds", "Plan of beds.md"]),
        ("C++ tricks", ["C tricks"]),
        ("卡片盒笔记法", ["卡片盒笔记", "卡片盒日记法"]),
    ],
)
def test_what_differs_in_what_matters_is_not_proposed(tmp_path: Path, name: str, links: list[str]) -> None:
    path = name if name.endswith(".png") else f"{name}.md"
    with library_of(tmp_path, {path: "", "Source.md": " ".join(f"[[{link}]]" for link in links)}) as library:
        assert [(each.link.target, each.repairs) for each in broken_links(library) if each.repairs] == []


@pytest.mark.parametrize("place", ["^b7", "^moved", "How not to turn it", "How to burn it"])
def test_another_place_is_not_proposed_nor_one_of_several_notes(tmp_path: Path, place: str) -> None:
    heap = "# Compost heap\n\n## How to turn it\n\nA block. ^b9\n"
    notes = {"Compost heap.md": heap, "One.md": "A. ^moved\n", "Two.md": "B. ^moved\n"}
    with library_of(tmp_path, {**notes, "Source.md": f"[[Compost heap#{place}]]"}) as library:
        assert [each.repairs for each in broken_links(library)] == [()]


@pytest.mark.parametrize(("other", "proposed"), [("Nothing.", ["Continent.md"]), ("A contingent.", [])])
def test_a_word_that_stands_elsewhere_too_is_no_slip(tmp_path: Path, other: str, proposed: list[str]) -> None:
    with library_of(tmp_path, {"Continent.md": "", "Other.md": other, "Source.md": "[[Contingent]]"}) as library:
        (broken,) = broken_links(library)
    assert [each.path for each in broken.repairs] == proposed


def test_a_name_that_many_notes_have_is_none_of_them(tmp_path: Path) -> None:
    notes = {f"{folder}/First step.md": "" for folder in "abcd"}
    with library_of(tmp_path, {**notes, "Source.md": "[[First-step]] [[e/First step]] [[first steps/]]"}) as library:
        assert [each.repairs for each in broken_links(library)] == [(), (), ()]


def test_a_form_of_a_word_that_is_only_an_alias_is_not_proposed(tmp_path: Path) -> None:
    aliased = "---\naliases: [Mirror, Glass mirror]\n---\n"
    with library_of(tmp_path, {"Copies.md": aliased, "Source.md": "[[Mirrors]] [[Glass mirrors]]"}) as library:
        assert [(each.link.target, len(each.repairs)) for each in broken_links(library)] == [
            ("Glass mirrors", 1), ("Mirrors", 0)
        ]  # fmt: skip


def test_sure_repairs_come_first_and_equal_links_of_a_note_once(tmp_path: Path) -> None:
    source = "[[Nowhere to go]]\n[[Compost heaps]]\n[[Old/Other]]\n[[Compost heaps]]\n"
    with library_of(tmp_path, {**NOTES, "Source.md": source}) as library:
        assert [(each.link.text, each.lines) for each in broken_links(library)] == [
            ("[[Old/Other]]", (3,)), ("[[Compost heaps]]", (2, 4)), ("[[Nowhere to go]]", (1,))
        ]  # fmt: skip


def test_templates_are_left_out(tmp_path: Path) -> None:
    notes = {**NOTES, ".obsidian/templates.json": '{"folder": "T"}', "T/x.md": "[[Old/Other]] [[{{title}}]]"}
    with library_of(tmp_path, notes) as library:
        assert broken_links(library) == []
