import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.libraries import library_of
from zkchat.core.index import KnownNote, StoredLink
from zkchat.core.note import Ambiguous, Missing, Resolved
from zkchat.index import graph
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.storage.vault_files import VaultFiles

NOTES = {
    "Hub.md": "# Hub\n\nSee [[Leaf]] and [[Leaf#Nowhere]], [[Twin]], [[Leef]].\n[[#Hub]] [x](https://example.org)\n",
    "Leaf.md": "# Leaf\n\nBack to [[Hub]].\n\n![[picture.png]]\n",
    "Far.md": "Only [[Leaf]] here.\n",
    "a/Twin.md": "One of two.\n",
    "b/Twin.md": "Another, [[../Far]].\n",
    "Alone.md": "[[Alone]] speaks of itself, of ![[picture.png]] and [[Nobody]].\n",
    "picture.png": "not really",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graph")


@pytest.fixture(scope="module")
def library(folder: Path) -> Iterator[Library]:
    with library_of(folder, NOTES) as library:
        yield library


def texts(followed: list[graph.Followed]) -> list[str]:
    return [each.link.text for each in followed]


def test_the_links_of_a_note_come_in_order_with_what_they_lead_to(library: Library) -> None:
    found = graph.links(library, "Hub.md")
    assert texts(found) == [
        "[[Leaf]]", "[[Leaf#Nowhere]]", "[[Twin]]", "[[Leef]]", "[[#Hub]]", "[x](https://example.org)"
    ]  # fmt: skip
    assert isinstance(found[0].found, Resolved)
    assert isinstance(found[2].found, Ambiguous)
    assert found[3].found == Missing(target="Leef", suggestions=("Leaf",))


def test_all_links_of_the_vault_come_note_by_note(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = [(each.source, each.link.text) for each in graph.all_links(library)]
    assert [source for source, _ in everything] == ["Alone.md"] * 3 + ["Far.md"] + ["Hub.md"] * 6 + [
        "Leaf.md", "Leaf.md", "b/Twin.md"
    ]  # fmt: skip
    monkeypatch.setattr(graph, "_BATCH_NOTES", 2)
    assert [(each.source, each.link.text) for each in graph.all_links(library)] == everything


class Halfway(SqliteNoteIndex):
    """Another process has stored the notes, and not yet what their links lead to."""

    def links_from(self, paths: Sequence[str]) -> list[StoredLink]:
        return [replace(stored, resolution=None) for stored in super().links_from(paths)]


def test_a_link_that_nobody_resolved_yet_is_resolved_when_it_is_asked_for(library: Library, folder: Path) -> None:
    (database,) = folder.rglob("index.db")
    with closing(Halfway(database)) as index:
        halfway = Library.over(VaultFiles(folder / "vault", exclude=(), max_note_bytes=1_000), index)
        assert graph.links(halfway, "Hub.md") == graph.links(library, "Hub.md")


def test_backlinks_come_with_the_line_they_stand_on(library: Library) -> None:
    found = graph.backlinks(library, "Leaf.md")
    assert [(each.source, each.link.line) for each in found] == [("Far.md", 1), ("Hub.md", 3), ("Hub.md", 3)]
    assert found[0].context == "Only [[Leaf]] here."


def test_of_a_long_line_what_is_around_the_link_is_shown_and_of_a_file_that_went_away_nothing(tmp_path: Path) -> None:
    line = f"{'before ' * 100}[[Target]]{' after' * 100}"
    with library_of(tmp_path, {"Gone.md": "[[Target]]", "Long.md": line, "Target.md": ""}) as library:
        (tmp_path / "vault" / "Gone.md").unlink()
        gone, found = graph.backlinks(library, "Target.md")
    assert (gone.source, gone.context) == ("Gone.md", "")
    assert "[[Target]]" in found.context
    assert len(found.context) < 210


def test_neighbours_are_reached_in_either_direction(library: Library) -> None:
    assert graph.neighbours(library, "Far.md") == {"Leaf.md": 1, "b/Twin.md": 1}
    assert graph.neighbours(library, "Hub.md", steps=2) == {"Leaf.md": 1, "a/Twin.md": 1, "Far.md": 2}


def test_broken_ambiguous_and_lost_links_are_told_apart(library: Library) -> None:
    found = graph.doubts(library)
    assert texts(found.broken) == ["[[Nobody]]", "[[Leef]]"]
    assert texts(found.ambiguous) == ["[[Twin]]"]
    assert texts(found.astray) == ["[[Leaf#Nowhere]]"]


def test_an_ambiguous_link_to_a_missing_heading_is_both_and_the_links_of_a_template_are_in_no_doubt(
    tmp_path: Path,
) -> None:
    notes = {"a/N.md": "", "b/N.md": "", "M.md": "[[N#Nope]] [[{{yesterday}}]] [[<% tp.date.now() %>]] [[Gone]]"}
    with library_of(tmp_path, notes) as library:
        found = graph.doubts(library)
    assert texts(found.ambiguous) == texts(found.astray) == ["[[N#Nope]]"]
    assert texts(found.broken) == ["[[Gone]]"]


def test_a_note_without_links_to_or_from_other_notes_is_an_orphan_unless_it_is_a_template(
    library: Library, tmp_path: Path
) -> None:
    assert graph.orphans(library) == ["Alone.md"]
    notes = {"Shapes/Day.md": "", "Alone.md": "", ".obsidian/templates.json": '{"folder": "Shapes"}'}
    with library_of(tmp_path, notes) as with_templates:
        assert graph.orphans(with_templates) == ["Alone.md"]


def test_notes_of_the_same_name_or_content_are_found_but_for_empty_ones(tmp_path: Path) -> None:
    notes = {"a/Café.md": "1", f"b/{unicodedata.normalize('NFD', 'CAFÉ')}.md": "2", "Other.md": "2", "c/Café.txt": "1"}
    with library_of(tmp_path, {**notes, "e.md": "", "f.md": ""}) as library:
        assert graph.namesakes(library) == [sorted(name for name in notes if name[0] in "ab")]
        assert graph.copies(library) == [sorted(name for name, text in notes.items() if text == "2")]


MENTIONS: dict[str, tuple[str, list[tuple[int, str]]]] = {
    "Compost": ("Turn the compost.\n\nCOMPOST!", [(1, "compost"), (3, "COMPOST")]),
    "Heap": ("heaped, préheap, heap_count [[Heap]] [heap](Heap.md) `heap` #heap https://a.b/heap", []),
    "Fence": ("---\ntitle: fence\n---\n```\nfence\n```\n$fence$ and\nfence", [(8, "fence")]),
    "Hose": ("# About hose\r\n\r\nhose, hose and hose", [(1, "hose"), (3, "hose")]),
    "Slow tea": ("a slow\ntea, a slow\n\ntea, slow  tea", [(1, "slow tea"), (4, "slow tea")]),
    "C++": ("C, C++ and c+", [(1, "C++")]),
    'Say "no"': ('They say "no" often.', [(1, 'say "no"')]),
    "Café": ("A cafe\u0301 in town, no CAFE", [(1, "cafe\u0301")]),
    "绿茶": ("我喜欢绿茶冲泡的方法。#绿茶", [(1, "绿茶")]),
    "zkchat": ("毎日zkchatを使う", [(1, "zkchat")]),
    "मसाला": ("मसाला चाय, मसालाें", [(1, "मसाला")]),
    "🌱": ("🌱", []),
}


def test_mentions_are_whole_names_in_prose(tmp_path: Path) -> None:
    notes = {f"{name}.md": "I am here." for name in MENTIONS}
    notes |= {f"on/{number}.md": text for number, (text, _) in enumerate(MENTIONS.values())}
    with library_of(tmp_path, notes) as library:
        for number, (name, (_, expected)) in enumerate(MENTIONS.items()):
            found = [each for each in graph.mentions(library, f"{name}.md") if each.path == f"on/{number}.md"]
            assert [(each.line, each.name) for each in found] == expected, name


def test_a_note_is_mentioned_by_its_title_and_its_aliases_too(tmp_path: Path) -> None:
    notes = {
        "20240115 x.md": "---\ntitle: Evergreen notes\naliases: [evergreens, evergreen]\n---\nEvergreen notes grow.",
        "b.md": "Evergreens\n\nwith [[20240115 x|evergreens]]\n\nare evergreen notes",
        "a.md": "Evergreens",
    }
    with library_of(tmp_path, notes) as library:
        found = graph.mentions(library, "20240115 x.md")
    assert [(each.path, each.line, each.name) for each in found] == [
        ("a.md", 1, "Evergreens"), ("b.md", 1, "Evergreens"), ("b.md", 5, "evergreen notes")
    ]  # fmt: skip
    assert found[2].context == "are evergreen notes"


class Renamed(SqliteNoteIndex):
    aliases: tuple[str, ...] = ()

    def known(self, path: str) -> KnownNote | None:
        known = super().known(path)
        return known and replace(known, aliases=self.aliases)


@settings(max_examples=25, deadline=None)
@given(aliases=st.lists(st.text(min_size=1, max_size=12), max_size=4))
def test_no_name_makes_the_search_for_mentions_fail(library: Library, folder: Path, aliases: list[str]) -> None:
    (database,) = folder.rglob("index.db")
    with closing(Renamed(database)) as index:
        index.aliases = ("only", *aliases)
        renamed = Library.over(VaultFiles(folder / "vault", exclude=(), max_note_bytes=1_000), index)
        found = graph.mentions(renamed, "Leaf.md")
    assert ("Far.md", 1) in {(each.path, each.line) for each in found}
    assert all(each.line > 0 and each.path != "Leaf.md" for each in found)
