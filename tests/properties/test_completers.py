"""Whatever tags and folders a vault has, and whatever is typed: what is offered matches it, and taking it is stable."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.repl.note_names import FolderNames, NamedNote, TagNames, normalize_name

words = st.text(alphabet="abÄé-_1 中", min_size=1, max_size=4).filter(str.strip)
tags = st.lists(words.map(str.strip), min_size=1, max_size=3).map("/".join)
paths = st.lists(words, min_size=1, max_size=4).map("/".join)


@settings(max_examples=50)
@given(
    vault=st.dictionaries(tags, st.sets(st.sampled_from(["a.md", "b.md", "c.md"]), min_size=1), max_size=8), typed=tags
)
def test_tags_that_are_offered_match_and_count_notes_once(vault: dict[str, set[str]], typed: str) -> None:
    names = TagNames(vault)
    found = names.find(typed)
    assert {tag for tag in vault if normalize_name(typed) in normalize_name(tag)} <= {tag for tag, _ in found}
    for tag, notes in found:
        below = [paths for name, paths in vault.items() if name == tag or name.startswith(f"{tag}/")]
        assert notes == len(set().union(*below))
        assert normalize_name(typed) in normalize_name(tag)
        alike = [other for other in names.find(tag) if normalize_name(other[0]) == normalize_name(tag)]
        assert (tag, notes) in alike, "what was taken is still offered"
    beginning = [normalize_name(tag).startswith(normalize_name(typed)) for tag, _ in found]
    assert beginning == sorted(beginning, reverse=True)


@settings(max_examples=50)
@given(files=st.lists(paths, max_size=8, unique=True), step=st.integers(0, 3))
def test_every_file_is_reached_from_its_folder_step_by_step(files: Sequence[str], step: int) -> None:
    folders = {"/".join(path.split("/")[:count]) + "/" for path in files for count in range(1, path.count("/") + 1)}
    names = FolderNames(NamedNote(path=path, title=path) for path in [*files, *folders])
    for path in files:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            inside = [match.note.path for match in names.find(f"{folder}/{parts[depth][:step]}")]
            wanted = path if depth == len(parts) - 1 else "/".join(parts[: depth + 1]) + "/"
            assert wanted in inside
            assert all(
                normalize_name(found.rstrip("/").rpartition("/")[0]) == normalize_name(folder) for found in inside
            )
    assert names.find("no slash") == []
