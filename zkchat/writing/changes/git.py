"""Commits of change sets in the git repository of a vault, in which nothing of the repository's own may run.

The repository may have come with the vault: its hooks, monitors, filters and signing programs are code of strangers.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from zkchat.core import ChangeSet, path_before, touched_paths
from zkchat.subprocesses import find_program, run_captured

_SECONDS: Final = 20.0
_MAX_TITLE: Final = 200

_OVERRIDES: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.editor=:",
    "core.pager=cat",
    "commit.gpgSign=false",
    "commit.template=",
    "commit.verbose=false",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "maintenance.auto=false",
    "gc.auto=0",
)
"""Settings of a repository that would start programs, or change which files are committed."""

_VARIABLES: Final = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": ":",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
}
_PATHS_AT_ONCE: Final = 500
"""On a command line, which has an end."""
_FILES_FROM_INPUT: Final = ("--pathspec-from-file=-", "--pathspec-file-nul")


class _Failed(Exception):
    """Git ended with an error; its last line says which."""


class GitCommits:
    """Commits the files of change sets."""

    def __init__(self, vault: Path, variables: Mapping[str, str]) -> None:
        self._vault = vault
        self._variables = {name: value for name, value in variables.items() if not name.startswith("GIT_")} | _VARIABLES
        self._program = find_program("git", variables)

    def reason_against(self, changes: ChangeSet) -> str:
        """Why a change set that is about to be made must not be committed: the commit would hold work of the user."""
        if self._program is None:
            return ""
        try:
            if not self._is_in_repository() or self._names_programs():
                return ""
            paths = {*touched_paths(changes), *(path_before(changes, write.path) for write in changes.writes)}
            found = self._list(["status", "--porcelain", "--no-renames", "--untracked-files=all"], sorted(paths))
        except (_Failed, OSError):
            return ""  # committing tells
        if not found:
            return ""
        return f"The change was not committed: {found[0][3:]} had changes before it that are not committed."

    def __call__(self, changes: ChangeSet, message: str) -> str:
        """Commit exactly the files of a change set. Returns a warning; empty without a repository, or any trouble."""
        if self._program is None:
            return "The change was not committed: git is not installed."
        try:
            if not self._is_in_repository():
                return ""
            return self._commit(changes, message)
        except (_Failed, OSError) as error:
            return f"The change was made, but not committed: {error}"

    def _commit(self, changes: ChangeSet, message: str) -> str:
        if self._names_programs():
            return "The change was not committed: the repository's own settings name programs to be run."
        files = self._list(["ls-files", "--cached", "--others", "--exclude-standard"], sorted(touched_paths(changes)))
        if not files or not self._list(["status", "--porcelain", "--untracked-files=all"], files):
            return ""  # git ignores them, or has committed them as they are
        printable = "".join(character if character.isprintable() else " " for character in message)
        title = (" ".join(printable.split()) or "Change notes")[:_MAX_TITLE]
        untracked = self._list(["ls-files", "--others", "--exclude-standard"], files)
        if untracked:
            self._git("add", "--intent-to-add", *_FILES_FROM_INPUT, files=untracked)
        try:
            self._git(
                "commit", "--only", "--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=whitespace",
                f"--message={title}", *_FILES_FROM_INPUT, files=files,
            )  # fmt: skip
        except _Failed:
            if untracked:
                self._git("rm", "--cached", "--quiet", "--force", *_FILES_FROM_INPUT, files=untracked)
            raise
        return ""

    def _is_in_repository(self) -> bool:
        """Whether the vault lies in the files of a repository, wherever that says that its files are."""
        try:
            top = self._git("rev-parse", "--show-toplevel").removesuffix(b"\n")
        except _Failed as error:
            if "not a git repository" in str(error):
                return False
            raise
        return self._vault.resolve().is_relative_to(Path(os.fsdecode(top)).resolve())

    def _names_programs(self) -> bool:
        """Whether the repository brings filters or hooks in its settings: they run for any file that git looks at.

        Those in the user's own settings, as of git-lfs, are the user's programs.
        """
        code, output, errors = self._run(["config", "--show-scope", "--name-only", "--get-regexp", r"^(filter|hook)\."])
        if code not in (0, 1):
            raise _Failed(errors.strip())
        return any(line.startswith((b"local", b"worktree")) for line in output.splitlines())

    def _list(self, command: Sequence[str], paths: Sequence[str]) -> list[str]:
        """What a command lists of these paths and of what is below them."""
        names: set[str] = set()
        for start in range(0, len(paths), _PATHS_AT_ONCE):
            output = self._git(*command, "-z", "--", *paths[start : start + _PATHS_AT_ONCE])
            names.update(map(os.fsdecode, filter(None, output.split(b"\0"))))
        return sorted(names)

    def _git(self, *arguments: str, files: Sequence[str] = ()) -> bytes:
        code, output, errors = self._run(arguments, files)
        if code:
            lines = errors.strip().splitlines() or [os.fsdecode(output).strip().partition("\n")[0]]
            said = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0])
            raise _Failed(f"git says: {said}" if said else f"git ended with {code}.")
        return output

    def _run(self, arguments: Sequence[str], files: Sequence[str] = ()) -> tuple[int, bytes, str]:
        settings = [part for override in _OVERRIDES for part in ("-c", override)]
        command = [self._program or "git", "-C", str(self._vault), "--no-pager", *settings, *arguments]
        text = b"".join(os.fsencode(name) + b"\0" for name in files)
        return run_captured(command, variables=self._variables, text=text, seconds=_SECONDS)
