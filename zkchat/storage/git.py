"""The commits of a vault's files, and the repository that they are read from."""

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from msgspec import Struct

from zkchat.core import Commit, CommittedFile, CommittedFiles, HistoryStatus, lazy_pattern, read_bounded
from zkchat.subprocesses import find_program, read_output

_MAX_REFERENCES: Final = 5
"""From one name to the next, until there is a commit."""
_COMMIT: Final = lazy_pattern(r"[0-9a-f]{40}")
_LONG_COMMIT: Final = lazy_pattern(r"[0-9a-f]{64}")
_REFERENCE: Final = lazy_pattern(r"refs(?:/[^\x00-\x20\x7f~^:?*\[\\/.][^\x00-\x20\x7f~^:?*\[\\/]*)+")
MAX_SECONDS: Final = 20.0
MAX_BYTES: Final = 64_000_000
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
_RAW: Final = ("-c", "--raw", "--no-abbrev", "--max-count=100000", "--format=format:%x01%H %at %P")
_SUBJECTS: Final = "--format=format:%x01%H %at %s"
_CHANGE: Final = lazy_pattern(
    rb":+(?:[0-7]{6} )+(?P<before>[0-9a-f]{40}) (?:[0-9a-f]{40} )*(?P<blob>[0-9a-f]{40}) [A-Z]+"
)
_GONE: Final = bytes(20)


class UnusableRepository(Exception):
    """There is a repository that is not used; the text says why, as the end of a sentence."""


class Repository(Struct, frozen=True, kw_only=True):
    git_folder: Path
    """Where `HEAD` is."""
    common_folder: Path
    """Where objects and names are; another one in an added worktree."""
    prefix: str = ""
    """The folder of the vault in it, with a slash at its end; empty where the vault is all of it."""

    @property
    def objects(self) -> Path:
        return self.common_folder / "objects"

    def head(self) -> str:
        """The id of the commit that is checked out; empty before the first one. Raises `UnusableRepository`."""
        name = "HEAD"
        for _ in range(_MAX_REFERENCES):
            text = self._reference(name)
            if _COMMIT.fullmatch(text):
                return text
            if _LONG_COMMIT.fullmatch(text):
                raise UnusableRepository("it uses the SHA-256 format")
            name = text.removeprefix("ref:").strip()
            if not text:
                return ""
            if not text.startswith("ref:") or not _REFERENCE.fullmatch(name) or ".." in name:
                break
        raise UnusableRepository("its HEAD is not understood")

    def _reference(self, name: str) -> str:
        folder = self.git_folder if name == "HEAD" else self.common_folder
        try:
            return _small_text(folder / name, beneath=folder)
        except FileNotFoundError:
            if name == "HEAD":
                raise UnusableRepository("it is incomplete (it has no HEAD)") from None
        except (OSError, ValueError):
            raise UnusableRepository(f"{name} cannot be read") from None
        if (self.common_folder / "reftable").exists():
            raise UnusableRepository("it uses the reftable format")
        try:
            packed = read_bounded(self.common_folder / "packed-refs", max_bytes=20_000_000, beneath=self.common_folder)
        except FileNotFoundError:
            return ""
        except OSError:
            raise UnusableRepository("its file .git/packed-refs cannot be read") from None
        found = re.search(rb"^([0-9a-f]+) %b$" % re.escape(name.encode(errors="surrogateescape")), packed, re.MULTILINE)
        return found[1].decode() if found else ""

    def shallow_commits(self) -> frozenset[str]:
        """Those whose parents are not there, because the clone was made without them."""
        try:
            listed = _small_text(self.common_folder / "shallow", beneath=self.common_folder, most=1_000_000)
        except FileNotFoundError:
            return frozenset()
        except (OSError, ValueError):
            raise UnusableRepository("its list of shallow commits cannot be read") from None
        return frozenset(line for line in listed.split() if _COMMIT.fullmatch(line))


def find_repository(vault: Path) -> Repository | None:
    """The repository that a vault is, or is a folder of; None where there is none. Raises `UnusableRepository`."""
    root = vault.resolve()
    try:
        device = root.stat().st_dev
        for folder in (root, *root.parents):
            if folder.stat().st_dev != device:
                return None
            if (folder / ".git").is_symlink() or (folder / ".git").exists():
                prefix = root.relative_to(folder).as_posix()
                return _opened(folder / ".git", "" if prefix == "." else f"{prefix}/")
    except OSError:
        return None
    return None


def _opened(entry: Path, prefix: str) -> Repository:
    status = entry.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise UnusableRepository("its folder .git is a symbolic link")
    _require_own(status)
    if stat.S_ISDIR(status.st_mode):
        repository = Repository(git_folder=entry, common_folder=entry, prefix=prefix)
    else:
        repository = _linked(entry, prefix)
    try:
        if not stat.S_ISDIR(repository.objects.lstat().st_mode):
            raise UnusableRepository("its folder of objects is a symbolic link")
        if any((repository.objects / "info" / name).exists() for name in ("alternates", "http-alternates")):
            raise UnusableRepository("some of its objects are in another repository")
    except OSError:
        raise UnusableRepository("it has no objects") from None
    return repository


def _linked(entry: Path, prefix: str) -> Repository:
    """Of an added worktree or a submodule, whose `.git` is a file; only where the other side agrees."""
    elsewhere = UnusableRepository("its .git file does not lead to its own repository")
    try:
        text = _small_text(entry, beneath=entry.parent)
        if not text.startswith("gitdir:"):
            raise elsewhere
        folder = (entry.parent / text.removeprefix("gitdir:").strip()).resolve(strict=True)
        _require_own(folder.stat())
        if not (folder / "commondir").exists():
            # A repository around the file's keeps its submodules there.
            around = [above / ".git" for above in entry.parent.parents if not (above / ".git").is_symlink()]
            if not any(folder.is_relative_to(each / "modules") for each in around):
                raise elsewhere
            return Repository(git_folder=folder, common_folder=folder, prefix=prefix)
        common = (folder / _small_text(folder / "commondir", beneath=folder)).resolve(strict=True)
        _require_own(common.stat())
        back = Path(_small_text(folder / "gitdir", beneath=folder))
        if folder.parent != common / "worktrees" or (folder / back).resolve() != entry.resolve():
            raise elsewhere
    except (OSError, ValueError, RuntimeError):
        raise elsewhere from None
    return Repository(git_folder=folder, common_folder=common, prefix=prefix)


def _require_own(status: os.stat_result) -> None:
    """As git does: a folder of another user could be planted above the vault."""
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise UnusableRepository("it belongs to another user")


def _small_text(file: Path, *, beneath: Path, most: int = 4096) -> str:
    return read_bounded(file, max_bytes=most, beneath=beneath).decode(errors="surrogateescape").strip()


class _Change(NamedTuple):
    path: str
    before: bytes
    """The blob that it replaces, of the first parent; zero where there was no file."""
    blob: bytes


class _LoggedCommit(NamedTuple):
    id: str
    seconds: int
    parents: list[str]
    changes: list[_Change]


class GitHistory:
    """The git repository that a vault is, or is a part of. Every thread may use it."""

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
        """The commit that is checked out; empty where there is no repository that can be read."""
        repository = self._repository()
        try:
            return repository.head() if repository else ""
        except UnusableRepository:
            return ""

    def read(self, head: str, known: str) -> CommittedFiles:
        """The last commit of each file up to the commit `head`; at best only what came to it after `known`."""
        repository = self._repository()
        if repository is None:
            return CommittedFiles(head="")
        try:
            shallow = repository.shallow_commits()
            with self._git_folder(shallow) as folder:
                if known:
                    output, trouble = self._log(folder, repository, *_RAW, head, f"^{known}")
                    commits = _logged(output)
                    chain = [*(commit.id for commit in commits[1:]), known]
                    if commits and not trouble and [commit.parents for commit in commits] == [[each] for each in chain]:
                        files = _last_changes(commits, repository.prefix)
                        return CommittedFiles(head=head, files=files, is_whole=False)
                paths = ("--", repository.prefix.rstrip("/")) if repository.prefix else ()
                output, trouble = self._log(folder, repository, *_RAW, head, *paths)
                # What the oldest commits of a shallow clone are said to add may be older than they are.
                commits = [commit for commit in _logged(output) if commit.id not in shallow]
                return CommittedFiles(head=head, files=_last_changes(commits, repository.prefix), trouble=trouble)
        except (UnusableRepository, OSError) as error:
            return CommittedFiles(head=head, trouble=str(error) or type(error).__name__)

    def commits_of(self, path: str, limit: int) -> list[Commit]:
        """The commits that changed a file, newest first, at most so many."""
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
        commits: list[Commit] = []
        for token in output.split(b"\0"):
            name, _, rest = token.removeprefix(b"\x01").decode(errors="replace").partition(" ")
            seconds, _, subject = rest.partition(" ")
            if name and seconds.lstrip("-").isdecimal():
                commits.append(Commit(id=name, seconds=int(seconds), subject=subject[:_MAX_SUBJECT]))
        return commits

    def _repository(self) -> Repository | None:
        try:
            repository = find_repository(self._vault)
        except UnusableRepository:
            return None
        return repository if repository and self._program else None

    @cached_property
    def _program(self) -> str | None:
        return find_program("git", self._variables)

    def _log(self, folder: Path, repository: Repository, *arguments: str) -> tuple[bytes, str]:
        variables = _VARIABLES | {
            "PATH": self._variables.get("PATH", os.defpath),
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder),
            "GIT_DIR": str(folder),
            "GIT_OBJECT_DIRECTORY": str(repository.objects),
        }
        command = (self._program or "git", *_LOG, *arguments)
        output, trouble = read_output(command, variables=variables, seconds=MAX_SECONDS, most=MAX_BYTES)
        return (output[: output.rfind(b"\0") + 1] if trouble else output), trouble

    @contextmanager
    def _git_folder(self, shallow: frozenset[str]) -> Iterator[Path]:
        """A repository of our own without commits, which lends its name to the objects of the vault's."""
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


def _logged(output: bytes) -> list[_LoggedCommit]:
    commits: list[_LoggedCommit] = []
    tokens = iter(output.split(b"\0"))
    for token in tokens:
        text = token
        if token.startswith(b"\x01"):
            header, _, text = token.partition(b"\n")
            name, seconds, *parents = header[1:].decode(errors="replace").split(" ")
            commits.append(_LoggedCommit(name, int(seconds), [*filter(None, parents)], []))
        if found := _CHANGE.fullmatch(text):
            path = next(tokens, b"").decode(errors="surrogateescape")
            before, blob = (bytes.fromhex(found[name].decode()) for name in ("before", "blob"))
            commits[-1].changes.append(_Change(path, before, blob))
    return commits


def _last_changes(commits: Sequence[_LoggedCommit], prefix: str) -> dict[str, CommittedFile]:
    """By path in the vault, the last and the first change of each file: commits are told newest first."""
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
