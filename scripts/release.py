"""Prepare a release: `make release VERSION=0.2.0`.

The version and the changelog are brought to it, what it leaves in a home is kept for the tests of later versions, and
dist/ gets wheel, sdist, their checksums and the notes. Commit and tag are left to whoever releases.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from scripts.release_data import RELEASES, write_release

ROOT: Final = Path(__file__).parents[1]
DIST: Final = ROOT / "dist"
VERSION_FILE: Final = ROOT / "zkchat" / "version.py"
CHANGELOG: Final = ROOT / "CHANGELOG.md"
_UNRELEASED: Final = "## [Unreleased]\n"


def released(changelog: str, version: str, day: date) -> str:
    """The changelog in which what is unreleased has become a version."""
    if f"## [{version}]" in changelog:
        return changelog
    head, mark, rest = changelog.partition(_UNRELEASED)
    if not mark or not rest.partition("\n## ")[0].strip():
        raise SystemExit("CHANGELOG.md has nothing under [Unreleased].")
    return f"{head}{mark}\n## [{version}] - {day}\n{rest}"


def notes_of(changelog: str, version: str) -> str:
    """What the changelog says of a version."""
    found = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if not found:
        raise SystemExit(f"CHANGELOG.md has no version {version}.")
    return found[1].strip() + "\n"


def source_time(changelog: str, version: str, last_commit: int) -> int:
    """The time that artefacts hold: the day of the release where the version has one, else that of the last commit.

    So whoever builds from the tag gets the same as whoever prepared the release, before there was a commit to tag.
    """
    found = re.search(rf"^## \[{re.escape(version)}\] - (\S+)$", changelog, re.MULTILINE)
    return int(datetime.fromisoformat(found[1]).replace(tzinfo=UTC).timestamp()) if found else last_commit


def foreign_changes(status: str, version: str) -> list[str]:
    """What `git status --porcelain` names beside the files that a release is prepared in."""
    ours = ("CHANGELOG.md", "zkchat/version.py", f"tests/releases/{version}/")
    return [line for line in status.splitlines() if not line[3:].startswith(ours)]


def build(folder: Path, epoch: int) -> dict[str, bytes]:
    """Wheel and sdist, with this time in them, so that whoever builds them again gets the same."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}  # noqa: TID251
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def write_artefacts() -> None:
    """Build twice, compare, and write what is the same to dist/."""
    last_commit = int(git("log", "-1", "--format=%ct"))
    epoch = source_time(CHANGELOG.read_text("utf-8"), current_version(), last_commit)
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        files = build(Path(first), epoch)
        if files != build(Path(second), epoch):
            raise SystemExit("Two builds of the same source differ.")
    DIST.mkdir(exist_ok=True)
    for old in DIST.iterdir():
        old.unlink()
    for name, content in files.items():
        (DIST / name).write_bytes(content)
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items())
    (DIST / "SHA256SUMS").write_text(sums)
    print(sums, end="")  # noqa: T201


def git(*arguments: str) -> str:
    return subprocess.check_output(["git", *arguments], cwd=ROOT, text=True)


def current_version() -> str:
    (version,) = re.findall(r'__version__ = "([^"]*)"', VERSION_FILE.read_text("utf-8"))
    return str(version)


def main() -> None:
    if sys.argv[1:] == ["--artefacts"]:
        write_artefacts()
        return
    (version,) = sys.argv[1:]
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit("Say which version, for example: make release VERSION=0.2.0")
    if foreign := foreign_changes(git("status", "--porcelain", "--untracked-files=all"), version):
        raise SystemExit("\n".join(("Commit or stash first, what is built would hold it:", *foreign)))
    changelog = released(CHANGELOG.read_text("utf-8"), version, datetime.now(UTC).date())
    CHANGELOG.write_text(changelog, "utf-8")
    source = VERSION_FILE.read_text("utf-8")
    VERSION_FILE.write_text(re.sub(r'__version__ = "[^"]*"', f'__version__ = "{version}"', source), "utf-8")
    kept = RELEASES / version
    if not kept.exists():
        kept.mkdir()
        with tempfile.TemporaryDirectory() as scratch:
            write_release(kept, Path(scratch))
    write_artefacts()
    (DIST / "NOTES.md").write_text(notes_of(changelog, version), "utf-8")
    print(f"Look at `git diff`, run `make check install-matrix`, commit, and tag v{version}.")  # noqa: T201


if __name__ == "__main__":
    main()
