import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import to_plain_text

from tests.support.libraries import library_of
from tests.support.screens import an_answer
from zkchat.core.errors import StorageError
from zkchat.core.message import DocumentReference
from zkchat.index.library import Library
from zkchat.repl.completion import MenuCompleter
from zkchat.repl.note_names import NameCache

NOTES = {
    "Ideas/Sleep.md": "---\naliases: [Slumber]\n---\n"
    "# Sleep\n\n## Phases\n\n### REM sleep\n\nDreams. ^dreams\n\nSee [[Naps]].\n",
    "Ideas/Naps.md": "# Naps\n",
    "Old/Sleep log.md": "x" * 400,
    "A/Twin.md": "a",
    "B/Twin.md": "b",
    "Long.md": f"# {'Very ' * 30}long\n",
    "Work/Plan.md": "---\ntags: [Work/Plans, café]\n---\n",
    "Work/Ärger/Café.md": "About #work and #work/plans, also #reading-list.\n",
    "Work/Ärger/Deep/Well.md": "#homework\n",
    "Work/Zen.md": "x",
}
FILES = {"Old/prices.csv": "a,b\n", "Old/photo.png": "", "My tools/build.py": "", "My tools/b/c.txt": ""}
COMMANDS = {"/help": "this list", "/history": "all messages"}


class Source:
    """Implements `CompletionSource`."""

    def __init__(self, library: Library, agents: Sequence[str] = ()) -> None:
        self.library = library
        self.agent_names = agents
        self.resources: list[tuple[str, str]] = []

    def complete_command(self, line: str) -> list[tuple[str, str]]:
        if " " in line:
            return [("argument", "")]
        return [(name, about) for name, about in COMMANDS.items() if name.startswith(line)]


class SourceWithoutIndex(Source):
    def __init__(self) -> None:
        self.agent_names = ()
        self.resources: list[tuple[str, str]] = []

    @property
    def library(self) -> Library:  # type: ignore[override]
        raise StorageError("The index is gone.")


def menu_of(library: Library, agents: Sequence[str] = ()) -> MenuCompleter:
    name_cache = NameCache()
    name_cache.refresh(library, [])
    return MenuCompleter(name_cache, Source(library, agents))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("completion")
    with library_of(folder, NOTES | FILES) as library:
        os.utime(folder / "vault/Work/Zen.md", (2_000_000_000, 2_000_000_000))
        library.refresh()
        yield library


@pytest.fixture(scope="module")
def menu(library: Library) -> MenuCompleter:
    return menu_of(library, ["poet", "critic"])


def completed(menu: MenuCompleter, before: str, after: str = "") -> list[str]:
    """The whole text with each row of the menu taken."""
    rows = menu.get_completions(Document(before + after, len(before)), CompleteEvent())
    return [before[: len(before) + row.start_position] + row.text + after for row in rows]


def rows(menu: MenuCompleter, before: str) -> list[tuple[str, str]]:
    offered = menu.get_completions(Document(before), CompleteEvent())
    return [(to_plain_text(row.display), to_plain_text(row.display_meta)) for row in offered]


def test_a_long_title_leaves_room_for_where_the_note_is(menu: MenuCompleter) -> None:
    ((name, about),) = rows(menu, "[[very very")
    assert name == f"{'Very ' * 8}Ver…"
    assert about.endswith("Long.md")


def test_a_note_is_completed_to_a_closed_link_under_its_name_its_alias_or_its_path(menu: MenuCompleter) -> None:
    assert completed(menu, "See [[naps") == ["See [[Naps]]"]
    assert completed(menu, "See [[naps", "]] please") == ["See [[Naps]] please"]
    assert completed(menu, "[[slumb") == ["[[Sleep|Slumber]]"]
    assert rows(menu, "[[slumb")[0][0] == "Slumber → Sleep"
    assert sorted(completed(menu, "[[twin")) == ["[[A/Twin]]", "[[B/Twin]]"]
    assert rows(menu, "[[sleep log") == [("Sleep log", "≈ 100 tokens Old/Sleep log.md")]


def test_headings_and_blocks_of_a_note_are_offered(menu: MenuCompleter) -> None:
    assert rows(menu, "[[sleep#") == [("Sleep", "#"), ("Phases", "##"), ("REM sleep", "###")]
    assert completed(menu, "[[Sleep#rem") == ["[[Sleep#REM sleep]]"]
    assert completed(menu, "[[Sleep#Phases#re") == ["[[Sleep#Phases#REM sleep]]"]
    assert completed(menu, "[[Sleep#^") == ["[[Sleep#^dreams]]"]
    assert rows(menu, "[[Sleep#^dr") == [("^dreams", "line 10")]
    assert completed(menu, "[[No such note#") == []


def test_commands_are_offered_with_what_they_do_and_then_their_arguments(menu: MenuCompleter) -> None:
    assert rows(menu, "/h") == [("/help", "this list"), ("/history", "all messages")]
    assert completed(menu, "/hel") == ["/help"]
    assert completed(menu, "/resume  arg") == ["/resume  argument"]
    assert completed(menu, "Is and/or") == []
    assert completed(menu, "/save\n/h") == []


def test_agents_are_offered_at_the_beginning_before_files_and_only_files_elsewhere(menu: MenuCompleter) -> None:
    assert completed(menu, "@po")[0] == "@poet "
    assert completed(menu, "@")[:2] == ["@poet ", "@critic "]
    assert "[[Ideas/Naps.md]] " in completed(menu, "@")
    assert completed(menu, "@naps") == ["[[Ideas/Naps.md]] "]
    assert completed(menu, "Compare @naps") == ["Compare [[Ideas/Naps.md]] "]
    assert completed(menu, "me@naps") == []
    assert completed(menu, "Ask @poet") == completed(menu, '@"poet') == []


def test_files_with_text_and_folders_are_offered_with_what_they_are(menu: MenuCompleter) -> None:
    assert rows(menu, "See @prices") == [("Old/prices.csv", "file")]
    assert completed(menu, "See @prices") == ["See [[Old/prices.csv]] "]
    assert completed(menu, "See @ol")[0] == "See @Old/"
    assert rows(menu, "See @ol")[0] == ("Old/", "folder")
    assert {name for name, _ in rows(menu, "See @Old/")} == {"Old/Sleep log.md", "Old/prices.csv"}
    assert completed(menu, "See @my")[0] == 'See @"My tools/"'
    assert rows(menu, 'See @"My tools/') == [("My tools/b/", "folder"), ("My tools/build.py", "file")]
    assert completed(menu, 'See @"My tools/bui') == ["See [[My tools/build.py]] "]
    assert {"Old/", "My tools/", "My tools/build.py"} < {name for name, _ in rows(menu, "See @")}
    assert not [name for name, _ in rows(menu, "See @photo") if "photo" in name]
    assert "prices" not in str(rows(menu, "See [[prices"))


def test_folders_are_completed_step_by_step(menu: MenuCompleter) -> None:
    assert [name for name, _ in rows(menu, "@work/")] == ["Work/Ärger/", "Work/Plan.md", "Work/Zen.md"]
    assert completed(menu, "@Work/ar") == ["@Work/Ärger/"]
    assert completed(menu, "@Work/Ärger/") == ["@Work/Ärger/Deep/", "[[Work/Ärger/Café.md]] "]
    assert completed(menu, "@work/arger/caf") == ["[[Work/Ärger/Café.md]] "]
    assert completed(menu, "@arger/caf") == ["[[Work/Ärger/Café.md]] "], "a part of a path is found as before"
    assert completed(menu, "@Work/nothing of that name") == []


def test_tags_are_offered_with_how_many_notes_have_them(menu: MenuCompleter) -> None:
    assert rows(menu, "What of #wor") == [("#work", "2 notes"), ("#work/plans", "2 notes"), ("#homework", "1 note")]
    assert completed(menu, "What of #plan") == ["What of #work/plans"]
    assert completed(menu, "#work/") == ["#work/plans"]
    assert completed(menu, "#CAFE") == ["#café"]
    assert completed(menu, "/search #home") == ["/search #homework"]
    assert [name for name, _ in rows(menu, "#")][:2] == ["#work", "#work/plans"]
    for text in ("C#", "a#work", "## work", "# ", "(#work", "[[One#work", "#nothing-like-it", "#reading l"):
        assert completed(menu, text) == [], text


def test_elsewhere_nothing_is_offered(menu: MenuCompleter) -> None:
    for text in ("", "Just words", "[[Sleep]] and", "[[Sleep|my ", "[single"):
        assert completed(menu, text) == [], text


def test_notes_of_the_conversation_those_they_link_to_and_the_last_changed_come_first(library: Library) -> None:
    name_cache = NameCache()
    reference = DocumentReference(wikilink="[[Sleep]]", relative_path="Ideas/Sleep.md")
    broken = DocumentReference(wikilink="[[Nowhere]]", status="missing")
    name_cache.refresh(library, [an_answer("", reference, broken)])
    found = [match.note.path for match in name_cache.find("")]
    assert found[:3] == ["Ideas/Sleep.md", "Ideas/Naps.md", "Work/Zen.md"]


def test_an_error_of_the_index_means_no_menu_and_nothing_else() -> None:
    assert completed(MenuCompleter(NameCache(), SourceWithoutIndex()), "[[Sleep#") == []


def test_canvases_and_their_headings_are_offered_as_notes_are(tmp_path: Path) -> None:
    place = {"x": 0, "y": 0, "width": 9, "height": 9}
    nodes = [{"id": "a", "type": "group", "label": "Risks", **place}, {"id": "b", "type": "text", "text": "x", **place}]
    with library_of(tmp_path, {"Boards/Launch.canvas": json.dumps({"nodes": nodes}), "list.csv": "a"}) as library:
        menu = menu_of(library)
        assert completed(menu, "[[lau") == ["[[Launch.canvas]]"]
        assert completed(menu, "[[Launch.canvas#") == ["[[Launch.canvas#Risks]]"]
        assert completed(menu, "@lau") == ["[[Boards/Launch.canvas]] "]
        assert completed(menu, "@list") == ["[[list.csv]] "]
        (row,) = menu.get_completions(Document("[[lau", 5), CompleteEvent())
        assert "canvas" in row.display_meta_text
        assert "tokens" not in row.display_meta_text
