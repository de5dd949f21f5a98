"""Commits of change sets: exactly their files, and no program of the repository runs."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.change_disk import HERE, Disk, change, move, write
from zkchat.core.changes import FileMove, FileWrite
from zkchat.writing.changes.store import GitCommits

pytestmark = [pytest.mark.outside, pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")]


class Repository(Disk):
    @property
    def variables(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder)}

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.vault), "-c", "core.quotePath=false", *arguments]
        return os.fsdecode(subprocess.run(command, env=self.variables, capture_output=True, check=True).stdout)

    def warnings(self, *steps: FileWrite | FileMove, title: str = "Change") -> tuple[str, ...]:
        return self.store.apply(change(*steps, title=title), HERE).remarks

    @property
    def last_commit(self) -> list[str]:
        """Its message, and its files with what was done to them."""
        said = self.git("log", "-1", "--no-renames", "--name-status", "--format=%B")
        return [line.replace("\t", " ") for line in said.split("\n") if line]


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a vault whose notes are committed."""
    folder = tmp_path_factory.mktemp("committed")
    (folder / ".gitconfig").write_text("[user]\n\tname = A\n\temail = a@example.org\n")
    disk = Repository(folder)
    disk.git("init", "-q")
    for path in ("A.md", "B.md", "Folder/C.md", "Ä 'x'.md"):
        disk.note(path, path.encode())
    disk.git("add", "-A")
    disk.git("commit", "-qm", "first")
    return folder


@pytest.fixture
def repository(committed: Path, tmp_path: Path) -> Iterator[Repository]:
    disk = Repository(shutil.copytree(committed, tmp_path, dirs_exist_ok=True))
    disk.commit = GitCommits(disk.vault, disk.variables | {"GIT_INDEX_FILE": "/nowhere", "GIT_DIR": "/nowhere"})
    disk.start()
    yield disk
    disk.store.close()


def test_a_change_set_is_one_commit_of_exactly_its_files(repository: Repository) -> None:
    repository.note("B.md", b"not of the change")
    repository.note("Staged.md", b"staged by the user")
    repository.git("add", "Staged.md")
    repository.note("Untracked.md", b"not of the change")
    warnings = repository.warnings(
        move("A.md", "New/A.md"),
        move("Folder", "Other"),
        write("Ä 'x'.md", "Ä 'x'.md".encode(), b"new"),
        write("*.md", None, b"a name like a pattern"),
        title="Rename A\n\nto \x1b[31mNew/A",
    )
    assert warnings == ()
    assert repository.last_commit == [
        "Rename A to [31mNew/A",
        "A *.md", "D A.md", "D Folder/C.md", "A New/A.md", "A Other/C.md", "M Ä 'x'.md",
    ]  # fmt: skip
    assert repository.git("status", "--porcelain") == " M B.md\nA  Staged.md\n?? Untracked.md\n"


@pytest.mark.parametrize("is_staged", [False, True])
def test_work_of_the_user_in_a_file_of_the_change_is_not_committed_and_told(
    repository: Repository, is_staged: bool
) -> None:
    repository.note("A.md", b"of the user")
    if is_staged:
        repository.git("add", "A.md")
    before = repository.last_commit
    told = (
        "The change was not committed: A.md already had uncommitted changes. Commit them and this change yourself.",
    )
    assert repository.warnings(move("A.md", "N.md"), write("N.md", b"of the user", b"both")) == told
    assert repository.last_commit == before
    (record,) = repository.store.records()
    assert "not committed" in repository.store.undo(record.id).remarks[0]
    repository.git("commit", "-qam", "of the user")
    assert repository.warnings(write("A.md", b"of the user", b"both")) == ()
    assert repository.last_commit == ["Change", "M A.md"]


def test_an_undo_is_a_commit_too(repository: Repository) -> None:
    edit = change(write("A.md", b"A.md", b"new"), write("N.md", None, b"n"), title="Edit")
    assert repository.store.undo(repository.store.apply(edit, HERE).id).remarks == ()
    assert repository.last_commit == ["Undo: Edit", "M A.md", "D N.md"]
    assert repository.git("status", "--porcelain") == ""


def test_nothing_of_the_repository_runs(repository: Repository) -> None:
    ran = repository.folder / "ran"
    program = repository.folder / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> "{ran}"\n')
    program.chmod(0o755)
    for hook in (
        "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change", "reference-transaction",
        "pre-auto-gc", "fsmonitor-watchman",
    ):  # fmt: skip
        shutil.copy(program, repository.vault / ".git/hooks" / hook)
    for name in (
        "core.fsmonitor", "core.editor", "core.pager", "core.sshCommand", "gpg.program", "diff.external",
        "core.alternateRefsCommand", "credential.helper", "core.askPass", "pager.commit", "alias.commit",
    ):  # fmt: skip
        repository.git("config", name, str(program))
    for name, value in {
        "commit.gpgSign": "true",
        "gc.auto": "1",
        "core.hooksPath": str(repository.vault / ".git/hooks"),
    }.items():
        repository.git("config", name, value)
    assert repository.warnings(write("A.md", b"A.md", b"new"), write("New.md", None, b"n")) == ()
    assert repository.last_commit[1:] == ["M A.md", "A New.md"]
    assert not ran.exists()
    subprocess.run([program], check=True)
    assert ran.exists()  # it would have been seen


@pytest.mark.parametrize("name", ["filter.evil.clean", "filter.evil.process", "hook.evil.command"])
def test_where_the_repository_names_programs_nothing_is_committed(repository: Repository, name: str) -> None:
    ran = repository.folder / "ran"
    repository.git("config", name, f"touch {ran}; cat")
    repository.note(".gitattributes", b"B.md filter=evil\n")  # a file that the change does not touch
    repository.note("B.md", b"b.MD")  # as long as before, so that git reads it
    (warning,) = repository.warnings(write("New.md", None, b"n"))
    assert "the repository's git filters or hooks would run. Commit it yourself." in warning
    assert repository.contents["New.md"] == b"n"
    assert not ran.exists()
    assert repository.last_commit[0] == "first"


def test_filters_of_the_user_run(repository: Repository) -> None:
    with (repository.folder / ".gitconfig").open("a") as settings:
        settings.write('[filter "mine"]\n\tclean = tr a-z A-Z\n')
    repository.note(".gitattributes", b"*.md filter=mine\n")
    assert repository.warnings(write("New.md", None, b"text")) == ()
    assert repository.git("show", "HEAD:New.md") == "TEXT"


@pytest.mark.parametrize("is_other_changed", [False, True])
def test_a_commit_that_fails_is_a_warning_and_the_change_is_made(
    repository: Repository, is_other_changed: bool
) -> None:
    (repository.folder / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    if is_other_changed:
        repository.note("A.md", b"changed by somebody else")
    (warning,) = repository.warnings(write("New.md", None, b"n"))
    assert warning.startswith("The change was made, but not committed: git says: fatal: ")
    assert (repository.contents["New.md"], repository.states) == (b"n", ["applied"])
    assert repository.git("status", "--porcelain") == " M A.md\n" * is_other_changed + "?? New.md\n"


def test_what_git_ignores_or_has_already_needs_no_commit(repository: Repository) -> None:
    repository.note("A.md", b"changed by somebody else")
    assert repository.warnings(write("A.md", b"changed by somebody else", b"A.md")) == ()
    repository.note(".gitignore", b"Drafts/\n.trash/\n")
    assert repository.warnings(write("Drafts/D.md", None, b"d")) == ()
    assert repository.last_commit[0] == "first"
    assert repository.warnings(move("A.md", ".trash/A.md"), title="Trash A") == ()
    assert repository.last_commit == ["Trash A", "D A.md"]


def test_where_the_vault_is_no_repository_of_its_own_or_git_is_missing_the_change_is_made(
    repository: Repository, tmp_path: Path
) -> None:
    (repository.folder / "elsewhere").mkdir()
    repository.git("config", "core.worktree", str(repository.folder / "elsewhere"))
    assert repository.warnings(write("New.md", None, b"n")) == ()
    repository.git("config", "--unset", "core.worktree")
    assert repository.last_commit[0] == "first"
    shutil.rmtree(repository.vault / ".git")
    assert repository.warnings(write("Newer.md", None, b"n")) == ()
    repository.commit = GitCommits(repository.vault, {"PATH": str(tmp_path / "empty")})
    repository.start()
    (warning,) = repository.warnings(write("Newest.md", None, b"n"))
    assert warning == "The change was not committed: git is not installed."
