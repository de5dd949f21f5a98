import os
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from zkchat.core.errors import NoteNotFound, NoteUnreadable, OutsideVault, VaultError
from zkchat.core.note import FileStamp, NoteWarning
from zkchat.storage.vault_files import FolderCount, VaultFiles, count_notes, template_folders

needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    vault.mkdir()
    return vault


def files_of(root: Path, *, exclude: Sequence[str] = (), max_note_bytes: int = 1000) -> VaultFiles:
    return VaultFiles(root, exclude=exclude, max_note_bytes=max_note_bytes)


def write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


def paths_in(root: Path, exclude: Sequence[str] = ()) -> list[str]:
    return sorted(each.path for each in files_of(root, exclude=exclude).scan() if isinstance(each, FileStamp))


def warnings_about(root: Path) -> dict[str, str]:
    return {each.path: each.text for each in files_of(root).scan() if isinstance(each, NoteWarning)}


def test_notes_and_attachments_are_listed_and_what_is_hidden_is_not(root: Path) -> None:
    write(root, "a.md", "sub/deep/b.MD", "sub/picture.png", "Überblick/日本.md")
    write(root, ".obsidian/app.json", ".git/config", ".trash/old.md", "node_modules/x/readme.md", ".hidden.md")
    assert paths_in(root) == ["a.md", "sub/deep/b.MD", "sub/picture.png", "Überblick/日本.md"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("private/", ["Private.md", "a.md", "sub/a.excalidraw.md", "sub/b1.md"]),
        ("sub/private/**", ["Private.md", "a.md", "private/x.md", "sub/a.excalidraw.md", "sub/b1.md"]),
        ("*.excalidraw.md", ["Private.md", "a.md", "private/x.md", "sub/b1.md", "sub/private/y.md"]),
        ("**/x.md", ["Private.md", "a.md", "sub/a.excalidraw.md", "sub/b1.md", "sub/private/y.md"]),
        ("[!a]*.md", ["a.md", "sub/a.excalidraw.md"]),
        ("/a.md", ["Private.md", "private/x.md", "sub/b1.md", "sub/private/y.md", "sub/a.excalidraw.md"]),
        ("", ["Private.md", "a.md", "private/x.md", "sub/a.excalidraw.md", "sub/b1.md", "sub/private/y.md"]),
    ],
)
def test_patterns_leave_out_files_and_folders(root: Path, pattern: str, left: list[str]) -> None:
    write(root, "a.md", "Private.md", "private/x.md", "sub/a.excalidraw.md", "sub/b1.md", "sub/private/y.md")
    assert paths_in(root, [pattern]) == sorted(left)


def test_what_is_left_out_cannot_be_read(root: Path) -> None:
    write(root, "private/x.md", ".git/config", "node_modules/a.md")
    files = files_of(root, exclude=["private"])
    for path in ("private/x.md", ".git/config", "node_modules/a.md", "./private/x.md", "", "a//b.md"):
        with pytest.raises(NoteNotFound):
            files.read(path)


def test_a_stamp_tells_size_and_time_and_whether_they_can_be_trusted(root: Path) -> None:
    write(root, "old.md", "new.md", "far.md", "huge.md")
    for name in ("old.md", "huge.md"):
        os.utime(root / name, ns=(5_000_000_007, 5_000_000_007))
    os.utime(root / "far.md", (2e10, 2e10))
    stamps = {each.path: each for each in files_of(root, max_note_bytes=6).scan() if isinstance(each, FileStamp)}
    assert stamps["old.md"] == FileStamp(path="old.md", size=6, modified_ns=5_000_000_007)
    settled = {path for path, stamp in stamps.items() if stamp.settled}
    assert settled == {"old.md", "far.md"}  # and not what is too large to be read


@needs_links
def test_links_are_followed_inside_the_vault_and_reported_where_they_leave_it(root: Path) -> None:
    write(root, "real/a.md", "real/b/c.md", ".hidden/secret.md")
    write(root.parent, "outside/secret.md")
    (root / "alias.md").symlink_to("real/a.md")
    (root / "folder").symlink_to("real")
    (root / "out").symlink_to(root.parent / "outside")
    (root / "out.md").symlink_to(root.parent / "outside/secret.md")
    (root / "peek.md").symlink_to(".hidden/secret.md")
    (root / "gone.md").symlink_to("nowhere.md")
    (root / "gone.png").symlink_to("nowhere.png")
    assert paths_in(root) == ["alias.md", "folder/a.md", "folder/b/c.md", "real/a.md", "real/b/c.md"]
    assert warnings_about(root) == {
        "out": "It is a symbolic link that leads out of the vault.",
        "out.md": "It is a symbolic link that leads out of the vault.",
        "peek.md": "It is a symbolic link that leads out of the vault.",
        "gone.md": "It is a symbolic link that leads nowhere.",
    }
    assert files_of(root).read("folder/b/c.md") == "real/b/c.md"
    assert files_of(root).read("alias.md") == "real/a.md"
    for path in ("out/secret.md", "out.md", "peek.md"):
        with pytest.raises(OutsideVault):
            files_of(root).read(path)


@needs_links
def test_circles_of_links_end(root: Path) -> None:
    write(root, "a/note.md", "b/note.md")
    (root / "a/up").symlink_to("..")
    (root / "a/to_b").symlink_to("../b")
    (root / "b/to_a").symlink_to("../a")
    (root / "loop.md").symlink_to("loop.md")
    assert paths_in(root) == ["a/note.md", "a/to_b/note.md", "b/note.md", "b/to_a/note.md"]
    assert set(warnings_about(root)) == {"a/up", "a/to_b/to_a", "b/to_a/up", "b/to_a/to_b", "loop.md"}


@pytest.mark.outside
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_pipes_sockets_and_the_like_are_reported_and_never_waited_for(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(root / "socket.md"))
    assert paths_in(root) == []
    assert warnings_about(root) == {"pipe.md": "It is not a regular file.", "socket.md": "It is not a regular file."}
    for path in ("pipe.md", "socket.md"):
        with pytest.raises(NoteUnreadable):
            files_of(root).read(path)


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes only there")
def test_names_that_are_no_text_are_reported(root: Path) -> None:
    Path(os.fsdecode(bytes(root) + b"/caf\xe9.md")).write_text("x")
    assert list(warnings_about(root).values()) == ["Its name is not UTF-8: rename it, so that zkchat can read it."]
    assert paths_in(root) == []
    with pytest.raises(NoteNotFound):
        files_of(root).read("caf\udce9.md")


@pytest.mark.parametrize(
    ("content", "text", "whole"),
    [
        ("schön ぬ".encode(), "schön ぬ", True),
        (b"\xef\xbb\xbfmarked", "marked", True),
        ("wide ぬ".encode("utf-16"), "wide ぬ", True),
        (b"\xfe\xff" + "wide ぬ".encode("utf-16-be"), "wide ぬ", True),
        (b"caf\xe9", "caf\ufffd", False),
        (b"\xff\xfea", "\ufffd", False),
        ("genuine \ufffd".encode(), "genuine \ufffd", True),
        (b"a\r\nb\rc", "a\r\nb\rc", True),
        (b"", "", True),
    ],
)
def test_what_is_read_is_text_and_it_says_whether_all_of_it_was(
    root: Path, content: bytes, text: str, whole: bool
) -> None:
    (root / "a.md").write_bytes(content)
    assert files_of(root).read_whole("a.md") == (text, whole)
    assert files_of(root).read("a.md") == text


def test_binary_and_huge_files_are_refused_by_name(root: Path) -> None:
    (root / "binary.md").write_bytes(b"\x7fELF\0\0\1")
    (root / "huge.md").write_bytes(b"x" * 1001)
    (root / "large.md").write_bytes(b"x" * 1000)
    with pytest.raises(NoteUnreadable, match=r"binary\.md contains binary data"):
        files_of(root).read("binary.md")
    with pytest.raises(NoteUnreadable, match=r"huge\.md is larger than 1,000 bytes") as refusal:
        files_of(root).read("huge.md")
    assert "vault.max_note_bytes" in refusal.value.hint
    assert len(files_of(root).read("large.md")) == 1000


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="no files without a size here")
def test_a_file_that_is_longer_than_it_says_is_read_to_its_end() -> None:
    content = files_of(Path("/proc"), max_note_bytes=100_000).read(f"{os.getpid()}/mounts")
    assert content == Path("/proc/self/mounts").read_text()
    with pytest.raises(NoteUnreadable, match="larger"):
        files_of(Path("/proc"), max_note_bytes=10).read(f"{os.getpid()}/mounts")


ESCAPES = [
    "..", "../secret.md", "a/../../secret.md", "a/..", "sub/../../secret.md", "..\\secret.md", "/etc/passwd",
    "//etc/passwd", "\\etc\\passwd", "\\\\server\\share\\x.md", "C:/Windows/win.ini", "C:\\Windows\\win.ini", "c:", "~",
    "~/secret.md", "~root/.ssh/id_rsa", "a\0.md", "../secret.md\0.md",
]  # fmt: skip


def test_no_path_leads_out_of_the_vault(root: Path) -> None:
    write(root, "a.md", "sub/b.md")
    write(root.parent, "secret.md")
    for path in ESCAPES:
        with pytest.raises(OutsideVault):
            files_of(root).read(path)
    for only_looks_like_it in ("%2e%2e/secret.md", "..%2fsecret.md", "....//secret.md", "a.md/", " ../secret.md"):
        with pytest.raises(NoteNotFound):
            files_of(root).read(only_looks_like_it)


@needs_links
def test_a_folder_swapped_for_a_link_never_lets_anything_out(root: Path) -> None:
    write(root, "sub/note.md")
    write(root.parent, "outside/note.md")
    (root.parent / "outside/note.md").write_text("secret")
    swapping = threading.Event()

    def swap() -> None:
        while not swapping.is_set():
            (root / "sub").rename(root / "aside")
            (root / "sub").symlink_to(root.parent / "outside")
            (root / "sub").unlink()
            (root / "aside").rename(root / "sub")

    thread = threading.Thread(target=swap)
    thread.start()
    files = files_of(root)
    answers = {"sub/note.md": 0, "refused": 0}
    try:
        for _ in range(2000):
            try:
                answers[files.read("sub/note.md")] += 1
            except VaultError:
                answers["refused"] += 1
    finally:
        swapping.set()
        thread.join()
    assert sum(answers.values()) == 2000
    assert set(answers) == {"sub/note.md", "refused"}


def test_without_folder_descriptors_the_whole_path_is_checked(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "supports_dir_fd", set())
    write(root, "sub/note.md")
    write(root.parent, "secret.md")
    (root / "out.md").symlink_to(root.parent / "secret.md")
    (root / "in.md").symlink_to("sub/note.md")
    assert files_of(root).read("sub/note.md") == "sub/note.md"
    assert files_of(root).read("in.md") == "sub/note.md"
    with pytest.raises(OutsideVault):
        files_of(root).read("out.md")


def test_links_tell_where_in_the_vault_they_lead(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "note.md").write_text("x")
    (tmp_path / "short").symlink_to("deep")
    (tmp_path / "alias.md").symlink_to("deep/er/note.md")
    (tmp_path / "away.md").symlink_to(tmp_path.parent / "elsewhere.md")
    files = VaultFiles(tmp_path, exclude=(), max_note_bytes=100)
    asked = ["deep/er/note.md", "short/er/note.md", "alias.md", "away.md", "gone.md", "no/where.md"]
    assert files.linked(asked) == {"short/er/note.md": "deep/er/note.md", "alias.md": "deep/er/note.md"}


def test_notes_and_files_are_counted_without_what_is_never_indexed(tmp_path: Path) -> None:
    write(tmp_path, "A.md", "b/C.MD", "b/picture.png", ".hidden/D.md", ".E.md", "node_modules/F.md")
    (tmp_path / "circle").symlink_to(tmp_path)
    assert count_notes(tmp_path, max_notes=10) == FolderCount(notes=2, files=4, is_complete=True)


def test_counting_ends_at_its_bounds(tmp_path: Path) -> None:
    write(tmp_path, *(f"{number}.md" for number in range(9)))
    assert count_notes(tmp_path, max_notes=3) == FolderCount(notes=4, files=4, is_complete=False)
    assert count_notes(tmp_path, max_notes=99, max_files=5) == FolderCount(notes=5, files=5, is_complete=False)
    assert count_notes(tmp_path, max_notes=9, max_files=10).is_complete


def write_settings(vault: Path, file: str, text: str) -> None:
    path = vault / ".obsidian" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_obsidian_and_templater_name_the_folders_of_templates(tmp_path: Path) -> None:
    assert template_folders(tmp_path) == []
    write_settings(tmp_path, "templates.json", '{"folder": "Meta/Templates/"}')
    write_settings(tmp_path, "plugins/templater-obsidian/data.json", '{"templates_folder": "Snippets", "trigger": 1}')
    assert template_folders(tmp_path) == ["Meta/Templates/", "Snippets/"]


def test_no_link_of_the_settings_out_of_the_vault_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write_settings(outside, "templates.json", '{"folder": "Templates"}')
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / ".obsidian").symlink_to(outside / ".obsidian")
    assert template_folders(vault) == []
