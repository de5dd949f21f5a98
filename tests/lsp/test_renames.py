"""A rename in an editor does to the files what `zkchat note rename` does, to the last byte."""

import shutil
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.support.lsp_client import started_editor
from tests.support.world import GARDEN, World

pytestmark = pytest.mark.outside
EVERGREEN = "Ideas/Evergreen notes.md"


def garden_at(root: Path) -> World:
    """The garden with files of other kinds and other line ends."""
    root.mkdir(exist_ok=True)
    world = World(root)
    shutil.copytree(GARDEN, world.vault, dirs_exist_ok=True)
    world.note(
        "Windows.md", b"\xef\xbb\xbf[[Evergreen notes]] first\r\n\r\n\xf0\x9f\x8c\xb1 [[Evergreen notes#Titles|t]]\r\n"
    )
    world.note("Board.canvas", '{"nodes":[{"id":"1","type":"file","file":"Ideas/Evergreen notes.md"}],"edges":[]}')
    world.note(
        "Drafts/Far.md", "🌱 [e](../Ideas/Evergreen%20notes.md#Titles) and ![[Evergreen notes]] 草 [[Evergreen notes]]"
    )
    return world


@pytest.mark.parametrize(
    ("path", "at", "target", "new", "is_open"),
    [
        (EVERGREEN, "# Ever", EVERGREEN, "Immergrün 🌲 常绿", True),
        ("Ideas/Zettelkasten.md", "[[Evergreen n", EVERGREEN, "Archive/2026/Old (ever) notes", False),
        (EVERGREEN, "[[Naming thi", "Ideas/Naming things.md", "naming things.md", False),
    ],
)
def test_a_rename_equals_that_of_the_command(
    tmp_path: Path, path: str, at: str, target: str, new: str, is_open: bool
) -> None:
    here, there = garden_at(tmp_path / "a garden 庭"), garden_at(tmp_path / "other")
    before = here.files
    with started_editor(here, is_process=is_open) as editor:
        for each in [path, "Windows.md", "Drafts/Far.md"] if is_open else []:
            editor.open(each)
        edit = editor.rename(path, at, new)
        assert edit
        assert here.files == before
        editor.apply(edit)
    assert there.run("note", "rename", target, new, "--yes").code == 0
    assert here.files == there.files
    assert here.files != before


def test_what_is_not_saved_is_part_of_a_rename(tmp_path: Path) -> None:
    here, there = garden_at(tmp_path / "here"), garden_at(tmp_path / "there")
    typed = "# Compost\n\n🌱 It feeds [[Evergreen notes#Titles]].\n"
    with started_editor(here) as editor:
        editor.open("Ideas/Compost.md")
        editor.type("Ideas/Compost.md", typed)
        editor.open("Ideas/Fleeting notes.md")
        editor.type("Ideas/Fleeting notes.md", "No links.")
        edit = editor.rename(EVERGREEN, "# Ever", "Perennials")
        assert edit
        changed = [
            each.text_document.uri for each in edit.document_changes or () if isinstance(each, types.TextDocumentEdit)
        ]
        assert editor.uri("Ideas/Compost.md") in changed
        assert editor.uri("Ideas/Fleeting notes.md") not in changed
        editor.apply(edit)
    there.note("Ideas/Compost.md", typed)
    assert there.run("note", "rename", EVERGREEN, "Perennials", "--yes").code == 0
    assert here.files == there.files


@pytest.mark.parametrize(
    ("old", "new", "command"),
    [
        (EVERGREEN, "Evergreen notes.md", ("move", EVERGREEN, "/")),
        (EVERGREEN, "Archive/Top.md", ("rename", EVERGREEN, "Archive/Top.md")),
        ("Ideas", "Thoughts/New ideas", ("rename", "Ideas/", "Thoughts/New ideas/")),
        ("Attachments", "Files", ("rename", "Attachments/", "Files")),
    ],
)
def test_links_follow_what_the_editor_renames(tmp_path: Path, old: str, new: str, command: tuple[str, ...]) -> None:
    here, there = garden_at(tmp_path / "here"), garden_at(tmp_path / "there")
    with started_editor(here) as editor:
        moved = types.FileRename(editor.uri(old), editor.uri(new))
        edit = editor.run(editor.client.workspace_will_rename_files_async(types.RenameFilesParams([moved])))
        editor.apply(edit)
        (here.vault / new).parent.mkdir(exist_ok=True)
        (here.vault / old).rename(here.vault / new)
        editor.client.workspace_did_rename_files(types.RenameFilesParams([moved]))
    assert there.run("note", *command, "--yes").code == 0
    assert here.files == there.files


def test_a_move_that_breaks_links_is_told(tmp_path: Path) -> None:
    with started_editor(garden_at(tmp_path)) as editor:
        moved = types.FileRename(editor.uri(EVERGREEN), editor.uri("Ideas/Atomic notes.md"))
        asked = editor.client.workspace_will_rename_files_async(types.RenameFilesParams([moved]))
        assert editor.run(asked) is None
        assert "already exists" in editor.wait_for(lambda: editor.messages)[0]
        out = types.FileRename(editor.uri(EVERGREEN), (tmp_path / "Out.md").as_uri())
        edit = editor.run(editor.client.workspace_will_rename_files_async(types.RenameFilesParams([out])))
        assert not edit.document_changes


def test_an_editor_that_renames_no_files_is_told_of_the_command(tmp_path: Path) -> None:
    with started_editor(garden_at(tmp_path), operations=()) as editor:
        with pytest.raises(JsonRpcException, match=r"zkchat note rename 'Ideas/Evergreen notes\.md' 'Perennials'"):
            editor.rename(EVERGREEN, "# Ever", "Perennials")
        editor.open("New.md", "[[Perennials]]")
        assert not any(title.startswith("Create") for title in editor.actions("New.md", "[[Per"))
