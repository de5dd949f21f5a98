from collections.abc import Iterator
from datetime import date

import pytest

from tests.support.changeable_files import FilesInMemory
from tests.support.libraries import Located, library_of
from zkchat.core.errors import NoteNotFound
from zkchat.core.index import NotesOfDays
from zkchat.core.note import Ambiguous, DayRange, Link, Missing, Resolved
from zkchat.index.library import Library
from zkchat.index.listings import notes_by_day
from zkchat.writing.staging import StagedChanges

NOTES = {
    "Coffee.md": "---\naliases: [Bean]\n---\n# Coffee\n",
    "Work/Plan.md": "# Plan\n",
    "Tea.md": "# Tea\n",
    "Secret.md": "---\nzkchat: local\n---\n# Secret\n",
}


@pytest.fixture
def staged() -> StagedChanges:
    return StagedChanges(FilesInMemory(NOTES))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with library_of(tmp_path_factory.mktemp("overlay"), NOTES) as library:
        yield library


@pytest.fixture
def library(plain: Library, staged: StagedChanges) -> Library:
    return plain.overlaid(staged)


def target(library: Library, name: str) -> str:
    found = library.resolve(Link(text=f"[[{name}]]", target=name))
    assert isinstance(found, Resolved), found
    return found.path


def test_a_new_or_changed_note_is_found_and_read_as_it_will_be(
    library: Library, plain: Library, staged: StagedChanges
) -> None:
    assert library.files() == plain.files()
    staged.write("Tea.md", "\ufeff# Tea\n\nGreen.\n", made_from="# Tea\n", title="Edit")
    assert library.read("Tea.md") == library.section("Tea.md", "Tea") == "# Tea\n\nGreen.\n"
    assert library.on_disk is plain
    staged.create("Inbox/Milk.md", "# Milk\n", title="Create")
    for name in ("Milk", "Inbox/Milk", "/Inbox/Milk.md", "milk.md"):
        assert target(library, name) == "Inbox/Milk.md"
    assert library.read("Inbox/Milk.md") == "# Milk\n"
    assert "Inbox/Milk.md" in {row.path for row in library.files()}


def test_a_moved_note_is_found_by_its_old_and_new_names(library: Library, staged: StagedChanges) -> None:
    staged.move("Work", "Job", title="Move")
    assert target(library, "Job/Plan") == target(library, "Work/Plan") == "Job/Plan.md"
    assert {row.path for row in library.notes()} == {"Coffee.md", "Job/Plan.md", "Tea.md", "Secret.md"}
    staged.move("Coffee.md", "Drinks/Mocha.md", title="Move")
    for name in ("Mocha", "Coffee", "Bean", "Drinks/Mocha"):
        assert target(library, name) == "Drinks/Mocha.md"
    assert library.read("Drinks/Mocha.md") == NOTES["Coffee.md"]
    with pytest.raises(NoteNotFound):
        library.read("Coffee.md")
    staged.create("Coffee.md", "another", title="Create")
    assert target(library, "Coffee") == "Coffee.md"


def test_a_new_note_beside_one_of_the_same_name_is_ambiguous(library: Library, staged: StagedChanges) -> None:
    staged.create("Inbox/Tea.md", "x", title="Create")
    found = library.resolve(Link(text="[[Tea]]", target="Tea"))
    assert isinstance(found, Ambiguous)
    assert {found.path, *found.others} == {"Tea.md", "Inbox/Tea.md"}


def test_a_note_that_goes_to_the_trash_is_gone(library: Library, staged: StagedChanges) -> None:
    staged.trash("Tea.md", title="Trash")
    assert isinstance(library.resolve(Link(text="[[Tea]]", target="Tea")), Missing)
    assert not library.has_text("Tea.md")
    staged.clear()
    assert target(library, "Tea") == "Tea.md"


def test_a_model_elsewhere_sees_no_private_note_under_any_name(library: Library, staged: StagedChanges) -> None:
    elsewhere = library.guarded_for(Located(on_this_machine=False))
    staged.move("Secret.md", "Open.md", title="Move")
    staged.create("New.md", "---\nzkchat: local\n---\nx", title="Create")
    for name in ("Secret", "Open", "Open.md", "New"):
        assert isinstance(elsewhere.resolve(Link(text=name, target=name)), Missing)
        assert not elsewhere.has_text(name)
    assert "Open.md" not in {row.path for row in elsewhere.files()}
    staged.move("Tea.md", "Green tea.md", title="Move")
    assert elsewhere.confirmed(["Tea.md"]) == []
    staged.clear()
    assert elsewhere.confirmed(["Tea.md"]) == ["Tea.md"]


def test_a_moved_note_is_dated_by_its_new_name(library: Library, staged: StagedChanges) -> None:
    staged.move("Tea.md", "2026-03-08.md", title="Move")
    staged.create("2026-03-09.md", "new", title="Create")
    assert set(library.dates()) == {"Coffee.md", "Work/Plan.md", "Secret.md", "2026-03-08.md"}
    dates = library.dates(["2026-03-08.md", "Tea.md", "2026-03-09.md"])
    assert {path: str(each.written) for path, each in dates.items()} == {"2026-03-08.md": "2026-03-08"}
    of_day = NotesOfDays(days=DayRange(date(2026, 3, 8), date(2026, 3, 9)), most=1)
    assert [*notes_by_day(library, of_day)] == ["2026-03-08.md"]
