import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
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


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with library_of(tmp_path, NOTES) as library:
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


def test_a_broken_link_of_a_note_comes_with_the_closest_names(library: Library) -> None:
    (broken,) = [each for each in graph.links(library, "Hub.md") if isinstance(each.found, Missing)]
    assert broken.found == Missing(target="Leef", suggestions=("Leaf",))


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


def test_a_link_that_nobody_resolved_yet_is_resolved_when_it_is_asked_for(library: Library, tmp_path: Path) -> None:
    (database,) = tmp_path.rglob("index.db")
    with closing(Halfway(database)) as index:
        halfway = Library.over(VaultFiles(tmp_path / "vault", exclude=(), max_note_bytes=1_000), index)
        assert graph.links(halfway, "Hub.md") == graph.links(library, "Hub.md")


def test_backlinks_come_with_the_line_they_stand_on(library: Library) -> None:
    found = graph.backlinks(library, "Leaf.md")
    assert [(each.source, each.link.line) for each in found] == [("Far.md", 1), ("Hub.md", 3), ("Hub.md", 3)]
    assert found[0].context == "Only [[Leaf]] here."


def test_of_a_long_line_what_is_around_the_link_is_shown(tmp_path: Path) -> None:
    line = f"{'before ' * 100}[[Target]]{' after' * 100}"
    with library_of(tmp_path, {"Long.md": line, "Target.md": ""}) as library:
        (found,) = graph.backlinks(library, "Target.md")
    assert "[[Target]]" in found.context
    assert len(found.context) < 210


def test_a_backlink_of_a_file_that_went_away_is_still_listed(tmp_path: Path) -> None:
    with library_of(tmp_path, {"Gone.md": "[[Target]]", "Target.md": ""}) as library:
        (tmp_path / "vault" / "Gone.md").unlink()
        (found,) = graph.backlinks(library, "Target.md")
    assert (found.source, found.context) == ("Gone.md", "")


def test_neighbours_are_reached_in_either_direction(library: Library) -> None:
    assert graph.neighbours(library, "Far.md") == {"Leaf.md": 1, "b/Twin.md": 1}


def test_neighbours_of_neighbours_are_two_steps_away_and_nobody_is_ones_own_neighbour(library: Library) -> None:
    assert graph.neighbours(library, "Hub.md", steps=2) == {"Leaf.md": 1, "a/Twin.md": 1, "Far.md": 2}


def test_a_note_without_links_to_or_from_other_notes_is_an_orphan(library: Library) -> None:
    assert graph.orphans(library) == ["Alone.md"]


def test_broken_ambiguous_and_lost_links_are_told_apart(library: Library) -> None:
    found = graph.doubts(library)
    assert texts(found.broken) == ["[[Nobody]]", "[[Leef]]"]
    assert texts(found.ambiguous) == ["[[Twin]]"]
    assert texts(found.astray) == ["[[Leaf#Nowhere]]"]


def test_an_ambiguous_link_to_a_missing_heading_is_both(tmp_path: Path) -> None:
    with library_of(tmp_path, {"a/N.md": "", "b/N.md": "", "M.md": "[[N#Nope]]"}) as library:
        found = graph.doubts(library)
    assert texts(found.ambiguous) == texts(found.astray) == ["[[N#Nope]]"]


def test_the_links_of_a_template_are_in_no_doubt(tmp_path: Path) -> None:
    with library_of(tmp_path, {"Day.md": "[[{{yesterday}}]] [[<% tp.date.now() %>]] [[Gone]]"}) as library:
        assert texts(graph.doubts(library).broken) == ["[[Gone]]"]


def test_a_template_is_no_orphan(tmp_path: Path) -> None:
    notes = {"Shapes/Day.md": "", "Alone.md": "", ".obsidian/templates.json": '{"folder": "Shapes"}'}
    with library_of(tmp_path, notes) as library:
        assert graph.orphans(library) == ["Alone.md"]


def test_notes_of_the_same_name_are_found_whatever_their_case_and_normal_form(tmp_path: Path) -> None:
    notes = {"a/Café.md": "1", f"b/{unicodedata.normalize('NFD', 'CAFÉ')}.md": "2", "Other.md": "3", "c/Café.txt": "4"}
    with library_of(tmp_path, notes) as library:
        assert graph.namesakes(library) == [sorted(name for name in notes if name[0] in "ab")]


def test_copies_are_found_and_empty_notes_are_none(tmp_path: Path) -> None:
    notes = {"c.md": "same", "d.md": "same", "a.md": "other", "b.md": "other", "e.md": "", "f.md": "", "g.md": "g"}
    with library_of(tmp_path, notes) as library:
        assert graph.copies(library) == [["a.md", "b.md"], ["c.md", "d.md"]]


def mentioned(folder: Path, name: str, text: str, **more: str) -> list[tuple[int, str]]:
    """Lines of a note with this text that mention a note of this name."""
    notes = {f"{name}.md": "I am here.", "other/text.md": text, **{f"{path}.md": other for path, other in more.items()}}
    with library_of(folder, notes) as library:
        found = graph.mentions(library, f"{name}.md")
    return [(each.line, each.name) for each in found if each.path == "other/text.md"]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Compost", "Turn the compost.\n\nCOMPOST!", [(1, "compost"), (3, "COMPOST")]),
        ("Compost", "composted, précompost, compost_heap", []),
        ("Compost", "[[Compost]] [compost](Compost.md) `compost` #compost https://a.b/compost", []),
        ("Compost", "```\ncompost\n```\n$compost$ and\ncompost", [(5, "compost")]),
        ("Compost", "---\ntitle: compost\n---\nmore compost", [(4, "compost")]),
        ("Compost", "%%\nhidden\n%%\ncompost", [(4, "compost")]),
        ("Compost", "# About compost\r\n\r\ncompost, compost and compost", [(1, "compost"), (3, "compost")]),
        ("Slow tea", "a slow\ntea, a slow\n\ntea, slow  tea", [(1, "slow tea"), (4, "slow tea")]),
        ("C++", "C, C++ and c+", [(1, "C++")]),
        ('Say "no"', 'They say "no" often.', [(1, 'say "no"')]),
        ("Café", "A cafe\u0301 in town, no CAFE", [(1, "cafe\u0301")]),
        ("cafe", "A cafe\u0301 in town", []),
        ("绿茶", "我喜欢绿茶冲泡的方法。#绿茶", [(1, "绿茶")]),
        ("zkchat", "毎日zkchatを使う", [(1, "zkchat")]),
        ("水", "水やりと山", [(1, "水")]),
        ("मसाला", "मसाला चाय, मसालाें", [(1, "मसाला")]),
        ("🌱", "🌱", []),
    ],
)
def test_mentions_are_whole_names_in_prose(
    tmp_path: Path, name: str, text: str, expected: list[tuple[int, str]]
) -> None:
    assert mentioned(tmp_path, name, text) == expected


def test_a_note_is_mentioned_by_its_title_and_its_aliases_too(tmp_path: Path) -> None:
    notes = {
        "20240115 x.md": "---\ntitle: Evergreen notes\naliases: [evergreens]\n---\nEvergreen notes grow.",
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


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(aliases=st.lists(st.text(min_size=1, max_size=12), max_size=4))
def test_no_name_makes_the_search_for_mentions_fail(library: Library, tmp_path: Path, aliases: list[str]) -> None:
    with closing(Renamed(tmp_path / "index.db")) as index:
        index.aliases = tuple(aliases)
        renamed = Library.over(VaultFiles(tmp_path / "vault", exclude=(), max_note_bytes=1_000), index)
        found = graph.mentions(renamed, "Leaf.md")
    assert all(each.line > 0 and each.path != "Leaf.md" for each in found)
