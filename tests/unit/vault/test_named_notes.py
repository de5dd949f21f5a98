"""A note that a user names: by path, with a line, by title, alias or link, with a place in it."""

from pathlib import Path

import pytest

from tests.support.libraries import library_of
from zkchat.core.errors import NoteNotFound
from zkchat.index.library import Library
from zkchat.index.listings import NamedNote, find_named_note, read_note

NOTES = {
    "Body/Sleep.md": "---\naliases: [rest]\n---\n# Sleep\n\n## Phases\n\nDeep. ^deep\n",
    "C# notes.md": "# About C\n",
    "a/Index.md": "x",
    "b/Index.md": "x",
    "12:30.md": "A time.\n",
}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Body/Sleep.md:8", NamedNote(path="Body/Sleep.md", line=8)),
        ("Body/Sleep.md:0", None),
        ("12:30.md", NamedNote(path="12:30.md")),
        ("C# notes.md", NamedNote(path="C# notes.md")),
        ("sleep", NamedNote(path="Body/Sleep.md")),
        ("[[rest]]", NamedNote(path="Body/Sleep.md")),
        ("[[Sleep#Phases]]", NamedNote(path="Body/Sleep.md", anchor="Phases", line=6)),
        ("[[Sleep#Dreams]]", NamedNote(path="Body/Sleep.md", missing_anchor="Dreams")),
        ("[[Index]]", NamedNote(path="a/Index.md", others=("b/Index.md",))),
    ],
)
def test_a_note_is_found_by_any_of_its_names(library: Library, name: str, found: NamedNote | None) -> None:
    if found:
        assert find_named_note(library, name, search="/search") == found
    else:
        with pytest.raises(NoteNotFound):
            find_named_note(library, name, search="/search")


def test_paths_go_before_names(library: Library) -> None:
    assert find_named_note(library, "Index.md", ["b/Index.md"], search="/search").path == "b/Index.md"


def test_a_name_that_leads_nowhere_is_answered_with_the_closest(library: Library) -> None:
    with pytest.raises(NoteNotFound) as caught:
        find_named_note(library, "Slep", search="/search")
    assert (caught.value.message, caught.value.hint) == ("There is no note 'Slep' in the vault.", "Closest: [[Sleep]].")
    with pytest.raises(NoteNotFound) as caught:
        find_named_note(library, "Xyzzyx", search="/search")
    assert caught.value.hint == "To search for it: /search WORDS"


def test_a_title_below_other_text_stays_in_the_body(tmp_path: Path) -> None:
    with library_of(tmp_path, {"Tea.md": "Intro.\n\n# Tea\n\nHot.\n"}) as library:
        assert read_note(library, "Tea.md").body == "Intro.\n\n# Tea\n\nHot.\n"
