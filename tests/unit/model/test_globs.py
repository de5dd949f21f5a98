"""Globs of a vault's own settings: what they mean, and that none of them takes long."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat.core.text import ANY_DEPTH, MAX_CHARS, Glob, NameGlobs

COMPONENTS = st.text("ab*?[]!-.", min_size=1, max_size=8)
NAMES = st.text("ab.-[!", min_size=1, max_size=6)
FOLDERS = st.lists(st.sampled_from(["a", "b", "ab", "*", "?", "a*", ANY_DEPTH]), min_size=1, max_size=5)
PATHS = st.lists(st.sampled_from(["a", "b", "ab", "ba"]), min_size=1, max_size=5)


@given(COMPONENTS, NAMES)
def test_a_component_means_what_it_means_everywhere_and_its_own_name(component: str, name: str) -> None:
    expected = component in (ANY_DEPTH, name) or fnmatchcase(name, component)
    assert Glob([component], whole=True).matches([name]) == expected


@given(COMPONENTS, NAMES, st.lists(NAMES, max_size=3))
def test_a_glob_without_a_slash_means_a_name_in_any_folder(glob: str, name: str, folders: list[str]) -> None:
    expected = name == glob or fnmatchcase(name, glob)
    assert NameGlobs([glob]).match("/".join([*folders, name])) == expected


def matches_by_definition(path: list[str], glob: list[str], *, whole: bool) -> bool:
    if not glob:
        return not path or not whole
    first, *rest = glob
    if first == ANY_DEPTH:
        return any(matches_by_definition(path[start:], rest, whole=whole) for start in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], first) and matches_by_definition(path[1:], rest, whole=whole)


@given(FOLDERS, PATHS, st.booleans())
def test_two_stars_stand_for_any_number_of_folders(glob: list[str], path: list[str], whole: bool) -> None:
    assert Glob(glob, whole=whole).matches(path) == matches_by_definition(path, glob, whole=whole)


@pytest.mark.parametrize(
    "glob",
    [
        "*a" * (MAX_CHARS // 2) + "b",
        "**/a/" * (MAX_CHARS // 5) + "b",
        "?" * MAX_CHARS,
        "[a-" * (MAX_CHARS // 3),
        "*" * MAX_CHARS,
    ],
)
def test_no_glob_explodes(glob: str) -> None:
    globs = NameGlobs([glob])
    assert [globs.match("a" * 255), globs.match("a/" * 100 + "a")] == [set(glob) == {"*"}] * 2


@pytest.mark.parametrize("glob", ["[z-a]", "[", "[]", "[!]", "a]b", "[a"])
def test_what_is_no_class_of_characters_means_a_file_of_that_very_name(glob: str) -> None:
    assert NameGlobs([glob]).match(f"folder/{glob}")
    assert not NameGlobs([glob]).match("folder/z")
