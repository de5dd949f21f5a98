"""A git repository in which files are committed at times of our choice."""

import os
import subprocess
from pathlib import Path

IDENTITY = {
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def git(folder: Path, *arguments: str, at: str = "2026-01-01T12:00:00Z") -> str:
    """Run git with nothing of the machine's configuration, at a time by its clock."""
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder), **IDENTITY}
    dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    return subprocess.run(
        ["git", *arguments], cwd=folder, env=variables | dates, check=True, capture_output=True, text=True
    ).stdout.strip()


def commit(folder: Path, at: str, *arguments: str, **files: str) -> str:
    """Commit files, named without their suffix, at a time; the id of the commit."""
    for name, text in files.items():
        file = folder / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", f"at {at}", *arguments, at=at)
    return git(folder, "rev-parse", "HEAD")


def repository(folder: Path, *arguments: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main", *arguments)
    return folder
