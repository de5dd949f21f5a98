from pathlib import Path

from zkchat.storage.vault_files import FolderCount, count_notes


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")


def test_notes_and_files_are_counted_without_what_is_never_indexed(tmp_path: Path) -> None:
    write(tmp_path, "A.md", "b/C.MD", "b/picture.png", ".hidden/D.md", ".E.md", "node_modules/F.md")
    (tmp_path / "circle").symlink_to(tmp_path)
    assert count_notes(tmp_path, max_notes=10) == FolderCount(notes=2, files=4, is_complete=True)


def test_counting_ends_at_its_bounds(tmp_path: Path) -> None:
    write(tmp_path, *(f"{number}.md" for number in range(9)))
    assert count_notes(tmp_path, max_notes=3) == FolderCount(notes=4, files=4, is_complete=False)
    assert count_notes(tmp_path, max_notes=99, max_files=5) == FolderCount(notes=5, files=5, is_complete=False)
    assert count_notes(tmp_path, max_notes=9, max_files=10).is_complete
