"""Whatever is staged, the change set makes of the disk what the staged files looked like."""

from collections.abc import Callable
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.changeable_files import FilesInMemory
from zkchat.core.errors import VaultError
from zkchat.writing.staging import StagedChanges

FOLDERS = ("a", "b", "a/c", "b/a")
FILES = tuple(f"{folder}/{name}".lstrip("/") for folder in ("", *FOLDERS) for name in ("x.md", "y.md"))
START = {"x.md": b"1", "a/x.md": b"2", "a/y.md": b"3", "a/c/x.md": b"4", "b/x.md": b"5"}

file_paths = st.sampled_from(FILES)
paths = st.sampled_from((*FILES, *FOLDERS))
texts = st.sampled_from(["1", "2", "new", "newer", ""])
Operation = Callable[[StagedChanges, dict[str, bytes]], None]


def _create(path: str, text: str) -> Operation:
    def act(staged: StagedChanges, model: dict[str, bytes]) -> None:
        staged.create(path, text, title="Create")
        assert path not in model
        model[path] = text.encode()

    return act


def _write(path: str, text: str) -> Operation:
    def act(staged: StagedChanges, model: dict[str, bytes]) -> None:
        before = staged.read(path)
        if before is None:
            return
        staged.write(path, text, made_from=before, title="Write")
        assert path in model
        model[path] = text.encode()

    return act


def _move(source: str, target: str) -> Operation:
    def act(staged: StagedChanges, model: dict[str, bytes]) -> None:
        staged.move(source, target, title="Move")
        assert not [path for path in model if _within(path, target)]
        _rename(model, source, target)

    return act


def _trash(path: str) -> Operation:
    def act(staged: StagedChanges, model: dict[str, bytes]) -> None:
        originals = {
            each: START[on_disk]
            for each in model
            if _within(each, path) and (on_disk := staged.path_on_disk(each)) in START and each not in staged.new_paths
        }
        staged.trash(path, title="Trash")
        place = staged.change_set().moves[-1].target if originals else ""
        for each in [each for each in model if _within(each, path)]:
            del model[each]
        model.update({place + each[len(path) :]: content for each, content in originals.items()})

    return act


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _rename(model: dict[str, bytes], source: str, target: str) -> None:
    for path in [path for path in model if _within(path, source)]:
        model[target + path[len(source) :]] = model.pop(path)


operations = st.one_of(
    st.builds(_create, file_paths, texts),
    st.builds(_write, file_paths, texts),
    st.builds(_move, file_paths, file_paths),
    st.builds(_move, st.sampled_from(FOLDERS), st.sampled_from(FOLDERS)),
    st.builds(_trash, paths),
)


@given(steps=st.lists(operations, max_size=14))
@settings(max_examples=50)
def test_the_change_set_makes_the_tree_that_was_staged(steps: list[Operation]) -> None:
    files, model = FilesInMemory(START), dict(START)
    staged = StagedChanges(files)
    for step in steps:
        with suppress(VaultError):
            step(staged, model)
        assert {path for path in FILES if staged.is_taken(path)} == {path for path in FILES if path in model}
        assert {path: staged.read_bytes(path) for path in FILES} == {path: model.get(path) for path in FILES}
    files.apply(staged.change_set())
    assert files.files == model


@given(path=file_paths, steps=st.lists(operations, max_size=8))
@settings(max_examples=30)
def test_what_is_free_can_be_created_and_what_is_there_moved(path: str, steps: list[Operation]) -> None:
    model = dict(START)
    staged = StagedChanges(FilesInMemory(START))
    for step in steps:
        with suppress(VaultError):
            step(staged, model)
    if path in model:
        staged.write(path, "other", made_from=model[path].decode(), title="Write")
        staged.move(path, "elsewhere.md", title="Move")
        assert staged.read("elsewhere.md") == "other"
    else:
        staged.create(path, "other", title="Create")
        assert staged.read(path) == "other"
