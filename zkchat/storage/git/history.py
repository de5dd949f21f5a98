"""The commits of a vault's files, read by git over nothing but the repository's objects."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct

from zkchat.model.history import Commit, CommittedFile, CommittedFiles, HistoryStatus
from zkchat.model.patterns import lazy_pattern
from zkchat.storage.git.repository import Repository, UnusableRepository, find_repository
from zkchat.subprocesses import find_program, read_output

MAX_SECONDS: Final = 20.0
MAX_BYTES: Final = 64_000_000
MAX_COMMITS: Final = 100_000
_MAX_SUBJECT: Final = 200
_CONFIGURATION: Final = """\
[core]
\trepositoryformatversion = 0
\tbare = true
\tcommitGraph = false
\tmultiPackIndex = false
\tfsmonitor = false
\thooksPath = /dev/null
[log]
\tshowSignature = false
\tmailmap = false
[diff]
\trenames = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[protocol]
\tallow = never
"""
_VARIABLES: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_PAGER": "cat",
    "GIT_ALLOC_LIMIT": "200m",
    "LC_ALL": "C",
}
_LOG: Final = (
    "--no-pager", "log", "--no-color", "--no-show-signature", "--no-mailmap", "--no-notes", "--no-ext-diff",
    "--no-textconv", "--no-renames", "--date-order", "-z",
)  # fmt: skip
_RAW: Final = ("-c", "--raw", "--no-abbrev", f"--max-count={MAX_COMMITS}", "--format=format:%x01%H %at %P")
_SUBJECTS: Final = "--format=format:%x01%H %at %s"
_CHANGE: Final = lazy_pattern(
    rb":+(?:[0-7]{6} )+(?P<before>[0-9a-f]{40}) (?:[0-9a-f]{40} )*(?P<blob>[0-9a-f]{40}) [A-Z]+"
)
_GONE: Final = bytes(20)


class _Change(NamedTuple):
    path: str
    before: bytes
    """The blob that it replaces, of the first parent; zero where there was no file."""
    blob: bytes
    """Zero where the file is gone."""


class _LoggedCommit(Struct, frozen=True, kw_only=True):
    id: str
    seconds: int
    parents: tuple[str, ...]
    changes: Sequence[_Change]


class GitHistory:
    """Implements `ports.history.CommitHistory`. Every thread may use it."""

    def __init__(self, vault: Path, variables: Mapping[str, str], temporary_folders: Sequence[Path]) -> None:
        self._vault = vault
        self._variables = variables
        self._temporary_folders = temporary_folders

    def status(self) -> HistoryStatus:
        try:
            repository = find_repository(self._vault)
            if repository:
                repository.head()
        except UnusableRepository as error:
            return HistoryStatus(is_repository=True, reason=str(error))
        if repository and not self._program:
            return HistoryStatus(is_repository=True, reason="git is not installed")
        return HistoryStatus(is_repository=repository is not None)

    def head(self) -> str:
        repository = self._repository()
        try:
            return repository.head() if repository else ""
        except UnusableRepository:
            return ""

    def read(self, head: str, known: str) -> CommittedFiles:
        repository = self._repository()
        if repository is None:
            return CommittedFiles(head="")
        try:
            shallow = repository.shallow_commits()
            with self._git_folder(shallow) as folder:
                if known and (newer := self._read_since(folder, repository, head, known)):
                    return newer
                return self._read_whole(folder, repository, head, shallow)
        except (UnusableRepository, OSError) as error:
            return CommittedFiles(head=head, trouble=str(error) or type(error).__name__)

    def commits_of(self, path: str, limit: int) -> list[Commit]:
        repository = self._repository()
        head = self.head()
        if not repository or not head:
            return []
        try:
            with self._git_folder(repository.shallow_commits()) as folder:
                target = f"{repository.prefix}{path}"
                output, _ = self._log(folder, repository, _SUBJECTS, f"--max-count={limit}", head, "--", target)
        except (UnusableRepository, OSError):
            return []
        return [*_commits(output)]

    def _repository(self) -> Repository | None:
        try:
            repository = find_repository(self._vault)
        except UnusableRepository:
            return None
        return repository if repository and self._program else None

    @cached_property
    def _program(self) -> str | None:
        return find_program("git", self._variables)

    def _read_since(self, folder: Path, repository: Repository, head: str, known: str) -> CommittedFiles | None:
        """What came to the commit `known` in a straight line; None where that is not how it came."""
        output, trouble = self._log(folder, repository, *_RAW, head, f"^{known}")
        commits = [*_logged(output)]
        chain = [commit.id for commit in commits]
        parents = [commit.parents for commit in commits]
        if trouble or not commits or parents != [(each,) for each in (*chain[1:], known)]:
            return None
        return CommittedFiles(head=head, files=_last_changes(commits, repository.prefix), is_whole=False)

    def _read_whole(self, folder: Path, repository: Repository, head: str, shallow: frozenset[str]) -> CommittedFiles:
        paths = ("--", repository.prefix.rstrip("/")) if repository.prefix else ()
        output, trouble = self._log(folder, repository, *_RAW, head, *paths)
        # What the oldest commits of a shallow clone are said to add may be older than they are.
        commits = [commit for commit in _logged(output) if commit.id not in shallow]
        return CommittedFiles(head=head, files=_last_changes(commits, repository.prefix), trouble=trouble)

    def _log(self, folder: Path, repository: Repository, *arguments: str) -> tuple[bytes, str]:
        program = self._program or "git"
        path = self._variables.get("PATH", os.defpath)
        variables = _VARIABLES | {
            "PATH": path,
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder),
            "GIT_DIR": str(folder),
            "GIT_OBJECT_DIRECTORY": str(repository.objects),
        }
        output, trouble = read_output(
            (program, *_LOG, *arguments), variables=variables, seconds=MAX_SECONDS, most=MAX_BYTES
        )
        return (output[: output.rfind(b"\0") + 1] if trouble else output), trouble

    @contextmanager
    def _git_folder(self, shallow: frozenset[str]) -> Iterator[Path]:
        """A repository of our own without commits, which lends its name to the objects of the vault's."""
        from tempfile import TemporaryDirectory

        parent = next((each for each in self._temporary_folders if os.access(each, os.W_OK)), None)
        with TemporaryDirectory(prefix="zkchat-git-", dir=parent) as name:
            folder = Path(name)
            (folder / "refs").mkdir()
            (folder / "objects").mkdir()
            (folder / "HEAD").write_text("ref: refs/heads/none\n")
            (folder / "config").write_text(_CONFIGURATION)
            if shallow:
                (folder / "shallow").write_text("".join(f"{commit}\n" for commit in sorted(shallow)))
            yield folder


def _logged(output: bytes) -> Iterator[_LoggedCommit]:
    tokens = iter(output.split(b"\0"))
    header, changes = b"", list[_Change]()
    for token in tokens:
        text = token
        if token.startswith(b"\x01"):
            if header:
                yield _commit(header, changes)
            header, _, text = token.partition(b"\n")
            changes = []
        if found := _CHANGE.fullmatch(text):
            path = next(tokens, b"").decode(errors="surrogateescape")
            changes.append(_Change(path, *(bytes.fromhex(found[name].decode()) for name in ("before", "blob"))))
    if header:
        yield _commit(header, changes)


def _commit(header: bytes, changes: Sequence[_Change]) -> _LoggedCommit:
    name, seconds, *parents = header[1:].decode(errors="replace").split(" ")
    return _LoggedCommit(
        id=name, seconds=int(seconds), parents=tuple(each for each in parents if each), changes=changes
    )


def _last_changes(commits: Sequence[_LoggedCommit], prefix: str) -> dict[str, CommittedFile]:
    """By path in the vault, the last and the first change of each file: commits are told the latest first."""
    found: dict[str, CommittedFile] = {}
    for commit in reversed(commits):
        changes = [
            each._replace(path=each.path[len(prefix) :]) for each in commit.changes if each.path.startswith(prefix)
        ]
        moved = _renames(changes)
        for path, _, blob in changes:
            old = moved.get(path, path)
            first = found.get(path) or found.get(old) or CommittedFile(blob, commit.seconds, commit.seconds, old)
            found[path] = first._replace(blob=blob, seconds=commit.seconds)
    return found


def _renames(changes: Sequence[_Change]) -> dict[str, str]:
    """By new path the old one, of files that a commit moved as they were; of equal ones that of the same name."""
    gone: dict[bytes, list[str]] = {}
    for path, before, blob in changes:
        if blob == _GONE:
            gone.setdefault(before, []).append(path)
    found: dict[str, str] = {}
    for path, before, blob in changes:
        if before == _GONE and (old := gone.get(blob)):
            name = path.rpartition("/")[2]
            found[path] = next((each for each in old if each.rpartition("/")[2] == name), old[0])
    return found


def _commits(output: bytes) -> Iterator[Commit]:
    for token in output.split(b"\0"):
        name, _, rest = token.removeprefix(b"\x01").decode(errors="replace").partition(" ")
        seconds, _, subject = rest.partition(" ")
        if name and seconds.lstrip("-").isdecimal():
            yield Commit(id=name, seconds=int(seconds), subject=subject[:_MAX_SUBJECT])
