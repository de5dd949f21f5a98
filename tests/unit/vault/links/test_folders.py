import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.core.index import CatalogRow
from zkchat.notes.privacy import Folders, describe_folder, folders_of, listed_paths, rows_in

PATHS = ["Top.md", "Projects/Roof.md", "Projects/Meetings/One.md", "Old/Meetings/x.txt", "Über/a b/c.md"]


def test_the_folders_are_those_that_hold_a_file_at_any_depth() -> None:
    assert folders_of(PATHS) == {"Projects/", "Projects/Meetings/", "Old/", "Old/Meetings/", "Über/", "Über/a b/"}


@pytest.mark.parametrize(
    ("wanted", "folder"),
    [
        ("Projects/", "Projects/"), ("/Projects/Meetings/", "Projects/Meetings/"), ("Meetings/", ""),
        ("a b/", "Über/a b/"), ("u\u0308ber/", "Über/"), ("Nowhere/", ""), ("/", ""), ("jects/", ""),
    ],
)  # fmt: skip
def test_a_folder_is_meant_by_its_path_or_by_an_end_that_only_one_has(wanted: str, folder: str) -> None:
    assert Folders(PATHS).find(wanted) == folder


def test_the_nearest_folders_are_named() -> None:
    assert Folders(PATHS).nearest("Projcts/") == ["Projects/"]
    assert Folders(PATHS).nearest("Work/Meeting/") == ["Old/Meetings/", "Projects/Meetings/"]
    assert Folders(PATHS).nearest("qqqq/") == []


def test_a_list_has_notes_first_with_titles_that_the_name_does_not_say() -> None:
    rows = [
        CatalogRow(path="P/z.csv"),
        CatalogRow(path="P/Roof.md", title="Roof"),
        CatalogRow(path="P/1.md", title="One\nline"),
        CatalogRow(path="Px/no.md", title="No"),
        CatalogRow(path="P/bad\nname.md", title="Bad"),
    ]
    found = rows_in("P/", rows)
    assert describe_folder("P/", found[:2], len(found)) == (
        "The folder P/ holds 3 files:\n- P/1.md | One line\n- P/Roof.md\n(and 1 more)\n"
    )
    assert "\n- P/z.csv\n" in describe_folder("P/", found, 3)


@given(st.lists(st.tuples(st.text("ab |-.é", min_size=1), st.text("ab |-\n"))))
@settings(max_examples=200, deadline=None)
def test_every_path_of_a_list_can_be_read_back(names: list[tuple[str, str]]) -> None:
    rows = rows_in("F/", [CatalogRow(path=f"F/{name}.md", title=title) for name, title in names])
    assert {row.path for row in rows} <= {*listed_paths(describe_folder("F/", rows, len(rows) + 1))}
