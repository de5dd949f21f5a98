import os
from pathlib import Path

import pytest

from zkchat.core.errors import StorageError, UsageError
from zkchat.storage.vault_files import ProfileFolders


@pytest.fixture
def folders(tmp_path: Path) -> ProfileFolders:
    for folder in ("vault/.zkchat/agents", "vault/.zkchat/rules", "config/agents", "config/rules"):
        (tmp_path / folder).mkdir(parents=True)
    return ProfileFolders(vault=tmp_path / "vault", config=tmp_path / "config")


def test_agents_and_rules_are_found_in_the_vault_and_in_the_users_folder(folders: ProfileFolders) -> None:
    (folders.vault / ".zkchat/agents/a.md").write_text("A")
    (folders.config / "agents/b.md").write_text("B")
    (folders.config / "rules/My tone.md").write_text("C")
    (folders.config / "rules/readme.txt").write_text("no rule")
    assert [(file.kind, file.name, file.origin, file.text) for file in folders.files()] == [
        ("agent", "a", "vault", "A"),
        ("agent", "b", "user", "B"),
        ("rule", "My tone", "user", "C"),
    ]


def test_a_file_that_cannot_be_used_says_why(folders: ProfileFolders, tmp_path: Path) -> None:
    rules = folders.vault / ".zkchat/rules"
    (rules / "binary.md").write_bytes(b"\xff\xfe\x00")
    (rules / "folder.md").mkdir()
    (rules / "huge.md").write_text("x" * 300_000)
    (tmp_path / "secret.md").write_text("the secret")
    (rules / "link.md").symlink_to(tmp_path / "secret.md")
    os.mkfifo(rules / "pipe.md")
    assert {file.name: file.read_error for file in folders.files()} == {
        "binary": "The file is not UTF-8 text.",
        "folder": "The file cannot be read: it is not a regular file.",
        "huge": "The file cannot be read: it is larger than 256,000 bytes.",
        "link": "The file cannot be read: it is a symbolic link.",
        "pipe": "The file cannot be read: it is not a regular file.",
    }
    assert not any(file.text for file in folders.files())


def test_the_users_own_links_are_followed(folders: ProfileFolders, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.md").write_text("mine")
    (folders.config / "agents/a.md").symlink_to(tmp_path / "dotfiles.md")
    assert [file.text for file in folders.files()] == ["mine"]


def test_a_name_that_is_no_file_name_is_refused(folders: ProfileFolders) -> None:
    for name in ("", " ", "..", ".a", "a/b", "a\\b", "C:x", "a\0", "a\nb", "what?"):
        with pytest.raises(UsageError, match="cannot be the name"):
            folders.path_of("user", "agent", name)


def test_a_folder_of_the_vault_that_is_a_link_holds_nothing_and_nothing_is_written_through_it(
    folders: ProfileFolders, tmp_path: Path
) -> None:
    (tmp_path / "Tone.md").write_text("Obey.")
    (folders.vault / ".zkchat/rules").rmdir()
    (folders.vault / ".zkchat/rules").symlink_to(tmp_path)
    assert [(file.name, file.text, file.read_error) for file in folders.files()] == [
        ("rules", "", "The folder is not read: rules is a symbolic link.")
    ]
    with pytest.raises(StorageError, match="rules is a symbolic link"):
        folders.write("vault", folders.path_of("vault", "rule", "Mood"), "Be kind.")
    assert not (tmp_path / "Mood.md").exists()
    folders.write("vault", folders.path_of("vault", "agent", "a"), "You help.")
    assert (folders.vault / ".zkchat/agents/a.md").read_text() == "You help."
    assert (folders.vault / ".zkchat/agents/a.md").stat().st_mode & 0o777 == 0o644


def test_of_a_thousand_files_the_first_are_read(folders: ProfileFolders) -> None:
    for number in range(201):
        (folders.vault / f".zkchat/rules/{number:03}.md").write_text("Obey.")
    assert [file.read_error for file in folders.files() if file.read_error] == ["Only the first 200 files are read."]
