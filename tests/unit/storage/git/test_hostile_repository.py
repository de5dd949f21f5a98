"""A repository that comes with a vault may name programs in its configuration: none of them is run."""

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.git_repository import commit, git, repository
from zkchat.storage.git import GitHistory

pytestmark = [pytest.mark.outside, pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")]


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """Is there once any of the programs ran."""
    return tmp_path / "ran"


@pytest.fixture
def hostile(tmp_path: Path, marker: Path) -> Path:
    vault = repository(tmp_path / "vault")
    commit(vault, "2026-01-01T12:00Z", a="one", b="two")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{marker}'\nexit 1\n")
    program.chmod(0o700)
    signed = git(vault, "cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1
    )
    (vault / "signed").write_text(f"{signed}\n")
    head = git(vault, "hash-object", "-t", "commit", "-w", "signed")
    (vault / "signed").unlink()
    (vault / ".git" / "refs" / "heads" / "main").write_text(f"{head}\n")
    (vault / ".git" / "config").write_text(_configuration(program))
    (vault / ".gitattributes").write_text("*.md diff=evil filter=evil\n")
    (vault / ".git" / "info" / "attributes").write_text("*.md diff=evil filter=evil\n")
    hooks = vault / ".git" / "hooks"
    for name in ("post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"):
        shutil.copy(program, hooks / name)
    return vault


def _configuration(program: Path) -> str:
    return f"""
[core]
    repositoryformatversion = 1
    fsmonitor = {program}
    pager = {program}
    sshCommand = {program}
    gitProxy = {program}
    editor = {program}
    alternateRefsCommand = {program}
[extensions]
    partialClone = origin
[remote "origin"]
    url = ext::{program} %S
    promisor = true
    uploadpack = {program}
[protocol]
    allow = always
[protocol "ext"]
    allow = always
[log]
    showSignature = true
[gpg]
    program = {program}
[diff]
    external = {program}
[diff "evil"]
    textconv = {program}
    command = {program}
[filter "evil"]
    clean = {program}
    smudge = {program}
[alias]
    log = !{program}
[credential]
    helper = {program}
[pager]
    log = {program}
"""


def over(vault: Path) -> GitHistory:
    variables = {
        "PATH": os.environ["PATH"],
        "GIT_DIR": str(vault / ".git"),
        "GIT_EXTERNAL_DIFF": "/bin/false",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "log.showSignature",
        "GIT_CONFIG_VALUE_0": "true",
    }
    return GitHistory(vault, variables, [vault.parent])


def test_no_program_of_the_repository_runs(hostile: Path, marker: Path) -> None:
    reader = over(hostile)
    assert set(reader.read(reader.head(), "").files) == {"a.md", "b.md"}
    assert len(reader.commits_of("a.md", 3)) == 1
    assert reader.status().reason == ""
    assert not marker.exists()
    for command in (("log", "-1"), ("status",)):
        with suppress(subprocess.CalledProcessError):
            git(hostile, *command)
    assert len(marker.read_text().splitlines()) > 1  # git itself would have run them


def test_missing_objects_are_fetched_from_nowhere(hostile: Path, marker: Path) -> None:
    tree = git(hostile, "rev-parse", "main^{tree}")
    marker.unlink(missing_ok=True)
    (hostile / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    reader = over(hostile)
    assert reader.read(reader.head(), "").trouble == "it failed: exit code 128"
    assert not marker.exists()


def test_grafts_and_replacements_change_no_dates(hostile: Path, marker: Path) -> None:
    git_folder = hostile / ".git"
    (git_folder / "config").write_text("[core]\n    repositoryformatversion = 0\n")
    (git_folder / "hooks").rename(git_folder / "no-hooks")
    first = over(hostile).head()
    other = git(hostile, "commit-tree", f"{first}^{{tree}}", "-m", "later", at="2030-01-01T12:00Z")
    git(hostile, "replace", first, other)
    (git_folder / "info" / "grafts").write_text(f"{first} {other}\n")
    reader = over(hostile)
    assert {each.seconds for each in reader.read(first, "").files.values()} == {1767268800}
    assert not marker.exists()


def test_a_folder_of_objects_that_never_answers_is_given_up(
    hostile: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By its time limit: here a program in the place of git does not end."""
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nprintf 'x'\nexec sleep 60\n")
    slow.chmod(0o700)
    monkeypatch.setattr("zkchat.storage.git.MAX_SECONDS", 0.2)
    reader = GitHistory(hostile, {"PATH": f"{slow.parent}:{os.environ['PATH']}"}, [tmp_path])
    assert reader.read(reader.head(), "").trouble == "it took longer than 0.2 seconds"
