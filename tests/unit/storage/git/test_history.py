import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha1
from pathlib import Path

import pytest

from tests.support.git_repository import commit, git, repository
from zkchat.core.note import CommittedFile, HistoryStatus
from zkchat.storage import git as history
from zkchat.storage.git import GitHistory

pytestmark = [pytest.mark.outside, pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")]


def over(vault: Path, **variables: str) -> GitHistory:
    return GitHistory(vault, {"PATH": os.environ["PATH"], **variables}, [Path(os.environ.get("TMPDIR", "/tmp"))])


def read(vault: Path, known: str = "") -> dict[str, str]:
    """By path, the day of the last commit."""
    reader = over(vault)
    found = reader.read(reader.head(), known)
    assert (found.head, found.trouble) == (reader.head(), "")
    return {path: day(each) for path, each in found.files.items()}


def day(file: CommittedFile) -> str:
    return f"{datetime.fromtimestamp(file.seconds, UTC):%Y-%m-%d}"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return repository(tmp_path / "vault")


def test_the_last_commit_of_each_file_is_read_with_the_id_of_its_content(vault: Path) -> None:
    commit(vault, "2026-01-01T12:00Z", a="one", b="two", **{"Sub/ü x": "three"})
    last = commit(vault, "2026-02-02T12:00Z", a="changed")
    git(vault, "rm", "-q", "b.md")
    commit(vault, "2026-03-03T12:00Z")
    assert read(vault) == {"a.md": "2026-02-02", "Sub/ü x.md": "2026-01-01", "b.md": "2026-03-03"}
    reader = over(vault)
    files = reader.read(reader.head(), "").files
    assert files["a.md"].blob == sha1(b"blob 7\0changed", usedforsecurity=False).digest()
    assert files["b.md"].blob == bytes(20)
    assert reader.status() == HistoryStatus(is_repository=True)
    told = reader.commits_of("a.md", 5)
    assert [each.subject for each in told] == ["at 2026-02-02T12:00Z", "at 2026-01-01T12:00Z"]
    assert [each.id for each in reader.commits_of("a.md", 1)] == [last]
    assert reader.commits_of("*.md", 5) == []


def test_all_is_read_again_where_history_was_rewritten_merged_or_is_unknown_and_else_what_is_new(vault: Path) -> None:
    first = commit(vault, "2026-01-01T12:00Z", a="one", b="two")
    dropped = commit(vault, "2026-02-02T12:00Z", a="changed")
    reader = over(vault)
    newer = reader.read(reader.head(), first)
    assert (newer.is_whole, {path: day(each) for path, each in newer.files.items()}) == (False, {"a.md": "2026-02-02"})
    git(vault, "reset", "-q", "--hard", first)
    git(vault, "checkout", "-q", "-b", "side")
    commit(vault, "2026-03-03T12:00Z", b="on the side")
    git(vault, "checkout", "-q", "main")
    commit(vault, "2026-04-04T12:00Z", c="on main")
    git(vault, "merge", "-q", "--no-edit", "side", at="2026-05-05T12:00Z")
    for known in (dropped, first, "0" * 40):
        found = reader.read(reader.head(), known)
        days = {path: day(each) for path, each in found.files.items()}
        assert (found.is_whole, days) == (True, {"a.md": "2026-01-01", "b.md": "2026-03-03", "c.md": "2026-04-04"})


def test_the_first_commit_of_a_file_is_that_of_the_one_it_was_moved_from(vault: Path) -> None:
    first = commit(vault, "2026-01-01T12:00Z", **{"a": "one", "Old/x": "", "Old/y": ""})
    commit(vault, "2026-02-02T12:00Z", a="changed", **{"Old/y": "y"})
    commit(vault, "2026-02-03T12:00Z", **{"Old/y": "", "copy": "changed"})
    git(vault, "mv", "a.md", "b.md")
    git(vault, "mv", "Old", "New")
    commit(vault, "2026-03-03T12:00Z")
    git(vault, "mv", "b.md", "c.md")
    commit(vault, "2026-04-04T12:00Z", new="new")
    reader = over(vault)
    whole, newer = (reader.read(reader.head(), known).files for known in ("", first))
    places = {path: each.first_path for path, each in whole.items()}
    assert places == {path: each.first_path for path, each in newer.items()} | {"Old/x.md": "Old/x.md"}
    assert (places["c.md"], places["New/x.md"], places["New/y.md"]) == ("a.md", "Old/x.md", "Old/y.md")
    days = {path: f"{datetime.fromtimestamp(each.first_seconds, UTC):%m-%d}" for path, each in whole.items()}
    assert (days["c.md"], days["copy.md"], days["new.md"]) == ("01-01", "02-03", "04-04")
    assert day(whole["c.md"]) == "2026-04-04"


def test_a_vault_may_be_a_folder_of_a_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "root")
    first = commit(root, "2026-01-01T12:00Z", **{"my notes/a": "one", "other": "x", "my notes 2/b": "y"})
    commit(root, "2026-02-02T12:00Z", **{"my notes/c": "new", "other": "changed"})
    vault = root / "my notes"
    assert read(vault) == {"a.md": "2026-01-01", "c.md": "2026-02-02"}
    assert read(vault, first) == {"c.md": "2026-02-02"}
    assert [each.subject for each in over(vault).commits_of("a.md", 5)] == ["at 2026-01-01T12:00Z"]


def test_a_detached_head_packed_names_and_packed_objects_are_read(vault: Path) -> None:
    first = commit(vault, "2026-01-01T12:00Z", a="one")
    commit(vault, "2026-02-02T12:00Z", a="two")
    git(vault, "gc", "-q")
    assert not (vault / ".git" / "refs" / "heads" / "main").exists()
    assert read(vault) == {"a.md": "2026-02-02"}
    git(vault, "checkout", "-q", first)
    assert read(vault) == {"a.md": "2026-01-01"}


def test_added_worktrees_and_submodules_are_read_where_their_repository_knows_them(tmp_path: Path) -> None:
    main = repository(tmp_path / "main")
    commit(main, "2026-01-01T12:00Z", a="one")
    git(main, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other")
    commit(tmp_path / "tree", "2026-02-02T12:00Z", b="two")
    assert read(tmp_path / "tree") == {"a.md": "2026-01-01", "b.md": "2026-02-02"}
    outer = repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(main), "notes")
    assert read(outer / "notes") == {"a.md": "2026-01-01"}
    (tmp_path / "planted").mkdir()  # a vault could name any repository of the user's as its own
    shutil.copy(tmp_path / "tree" / ".git", tmp_path / "planted" / ".git")
    assert over(tmp_path / "planted").status().reason == "its .git file does not lead to its own repository"


def test_of_a_shallow_clone_the_commits_that_are_there_count(tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin")
    commit(origin, "2026-01-01T12:00Z", a="one", b="two")
    commit(origin, "2026-02-02T12:00Z", b="changed")
    commit(origin, "2026-03-03T12:00Z", c="new")
    git(tmp_path, "clone", "-q", "--depth", "2", origin.as_uri(), "clone")
    assert read(tmp_path / "clone") == {"c.md": "2026-03-03"}


def test_a_long_history_is_cut_and_what_was_read_counts(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(vault, "2026-01-01T12:00Z", **{f"note{number:03}": str(number) for number in range(60)})
    commit(vault, "2026-02-02T12:00Z", a="new")
    monkeypatch.setattr(history, "MAX_BYTES", 2_000)
    reader = over(vault)
    found = reader.read(reader.head(), "")
    assert found.trouble == "it printed too much"
    assert day(found.files["a.md"]) == "2026-02-02"
    assert len(found.files) < 61


def _move_away(folder: Path) -> Path:
    return folder.rename(folder.with_name("moved"))


def _link(folder: Path) -> None:
    folder.symlink_to(_move_away(folder))


def _alternate(folder: Path) -> None:
    (folder / "objects" / "info" / "alternates").write_text("/elsewhere\n")


def _head(text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "HEAD").write_text(text)


def _file(text: str) -> Callable[[Path], object]:
    return lambda folder: (_move_away(folder), folder.write_text(text))


BROKEN: list[tuple[Callable[[Path], object], str]] = [
    (lambda folder: (folder / "HEAD").unlink(), "it is incomplete (it has no HEAD)"),
    (_head("ref: ../../secret\n"), "its HEAD is not understood"),
    (_head("ref: refs/heads/../../x\n"), "its HEAD is not understood"),
    (_head("f" * 64), "it uses the SHA-256 format"),
    (_head("x" * 9999), "HEAD cannot be read"),
    (_alternate, "some of its objects are in another repository"),
    (lambda folder: shutil.rmtree(folder / "objects"), "it has no objects"),
    (_link, "its folder .git is a symbolic link"),
    (_file("gitdir: moved\n"), "its .git file does not lead to its own repository"),
    (_file("gitdir: /etc\n"), "its .git file does not lead to its own repository"),
    (_file("anything"), "its .git file does not lead to its own repository"),
]


def test_a_repository_that_is_not_as_usual_is_not_used_and_it_is_said_why(vault: Path, tmp_path: Path) -> None:
    commit(vault, "2026-01-01T12:00Z", a="one")
    for number, (breaks, reason) in enumerate(BROKEN):
        broken = shutil.copytree(vault, tmp_path / str(number))
        breaks(broken / ".git")
        reader = over(broken)
        assert (reader.status().reason, reader.head()) == (reason, "")
        assert reader.commits_of("a.md", 3) == []


def test_without_commits_git_or_a_repository_there_is_no_history(vault: Path, tmp_path: Path) -> None:
    assert over(vault).head() == ""
    commit(vault, "2026-01-01T12:00Z", a="one")
    without = over(vault, PATH=str(tmp_path))
    assert (without.head(), without.status().reason) == ("", "git is not installed")
    plain = tmp_path / "plain"
    plain.mkdir()
    assert (over(plain).head(), over(plain).status()) == ("", HistoryStatus(is_repository=False))
    git(repository(tmp_path / "long", "--object-format=sha256"), "commit", "-q", "--allow-empty", "-m", "x")
    assert over(tmp_path / "long").status().reason == "it uses the SHA-256 format"


def test_damaged_objects_cost_the_dates_and_nothing_else(vault: Path) -> None:
    commit(vault, "2026-01-01T12:00Z", a="one")
    head = over(vault).head()
    for file in (vault / ".git" / "objects").glob("??/*"):
        file.chmod(0o600)
        file.write_bytes(b"nothing")
    found = over(vault).read(head, "")
    assert (found.files, found.trouble) == ({}, "it failed: exit code 128")
