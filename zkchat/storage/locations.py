"""Where the databases of a vault are, and which folders the user confirmed as vaults."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Final

from msgspec import Struct

from zkchat.core import StorageError, lazy_pattern, locked, make_private, read_bounded, write_atomically

_MAX_BYTES: Final = 4_000_000
_MAX_VAULTS: Final = 1_000
"""The oldest are forgotten, and asked about again."""
_LOCK_SECONDS: Final = 30.0


class KnownVaults(Struct, frozen=True, dict=True):
    """A file that nobody else may read or write. One that cannot be understood confirms nothing."""

    file: Path

    def __contains__(self, vault: object) -> bool:
        return str(vault) in self._paths

    def add(self, vault: Path) -> None:
        """Raises `StorageError` where it cannot be written."""
        with locked(self.file.with_name("known-vaults.lock"), seconds=_LOCK_SECONDS):
            paths = [*(path for path in _read(self.file) if path != str(vault)), str(vault)]
            # In ASCII: the name of a folder may be bytes that are no text.
            write_atomically(self.file, json.dumps({"vaults": paths[-_MAX_VAULTS:]}, indent=2) + "\n", mode=0o600)

    @cached_property
    def _paths(self) -> frozenset[str]:
        """As they were when they were first asked for."""
        return frozenset(_read(self.file))


def _read(file: Path) -> list[str]:
    with suppress(OSError, ValueError, AttributeError, TypeError):
        stored = json.loads(read_bounded(file, max_bytes=_MAX_BYTES))
        return [path for path in stored.get("vaults", ()) if isinstance(path, str)]
    return []


_ID = lazy_pattern(r"[0-9a-z]{6,64}")
"""What may be taken for an id: the file lies in a vault that others may have written, and names a folder of ours."""

DATABASES: Final = ("sessions.db", "memories.db", "changes.db", "index.db", "messages.db", "pdf.db")


class Locations(Struct, frozen=True, kw_only=True):
    """The other durable databases lie beside the sessions, the other caches beside the index."""

    sessions: Path
    index: Path


def locate(vault: Path, *, data_dir: Path, cache_dir: Path) -> Locations:
    """Where the databases of a vault are, or are not yet. Nothing is written."""
    return _outside(vault, _own_id(vault, data_dir / "vaults") or _id_by_path(vault), data_dir, cache_dir)


def claim(vault: Path, *, data_dir: Path, cache_dir: Path, new_id: Callable[[], str]) -> Locations:
    """Where to store something of a vault from now on, also when it moves. Raises `StorageError`.

    A vault that moved brings its id along. A copy gets an id of its own, so that the two do not share sessions. A vault
    that cannot be written is known by its path.
    """
    vaults = data_dir / "vaults"
    own = _own_id(vault, vaults) or _give_id(vault, vaults, new_id) or _id_by_path(vault)
    _record(vault, vaults / own)
    return _outside(vault, own, data_dir, cache_dir)


def _outside(vault: Path, vault_id: str, data_dir: Path, cache_dir: Path) -> Locations:
    """Caches lie under the vault's path, which is known before it has an id."""
    caches = cache_dir / "vaults"
    by_id = caches / vault_id
    index = (by_id if by_id.is_dir() else caches / _id_by_path(vault)) / "index.db"
    return Locations(sessions=data_dir / "vaults" / vault_id / "sessions.db", index=index)


def _own_id(vault: Path, vaults: Path) -> str | None:
    """The id in the vault, unless another vault that is still there has the same."""
    written = _written_id(vault)
    if written is None:
        return None
    recorded = _recorded_path(vaults / written)
    if recorded is None or _written_id(recorded) != written or recorded.samefile(vault):
        return written
    return None


def _written_id(vault: Path) -> str | None:
    try:
        written = read_bounded(vault / ".zkchat" / "vault-id", max_bytes=100, beneath=vault).decode("ascii").strip()
    except (OSError, ValueError):
        return None
    return written if _ID.fullmatch(written) else None


def _recorded_path(folder: Path) -> Path | None:
    try:
        return Path(os.fsdecode(read_bounded(folder / "vault-path", max_bytes=16_384)))
    except OSError:
        return None


def _id_by_path(vault: Path) -> str:
    # The hyphen keeps it apart from the ids that vaults hold.
    return f"path-{hashlib.sha256(os.fsencode(vault.resolve())).hexdigest()[:16]}"


def _give_id(vault: Path, vaults: Path, new_id: Callable[[], str]) -> str | None:
    """Write a new id into the vault; None if that is not possible. Of several processes at once, one does.

    Nothing is written into the vault unless there is room for what belongs to it, under its path at first.
    """
    with locked(vaults / "ids.lock", seconds=_LOCK_SECONDS):
        given = _own_id(vault, vaults)
        if given is None:
            by_path = vaults / _id_by_path(vault)
            _record(vault, by_path)
            try:
                write_atomically(vault / ".zkchat" / "vault-id", f"{new_id()}\n", mode=0o644, beneath=vault)
            except StorageError:
                return None
            given = _written_id(vault)
            if given is not None:
                with suppress(OSError):  # there is something under that id already
                    by_path.rename(vaults / given)
    return given


def _record(vault: Path, folder: Path) -> None:
    file, path = folder / "vault-path", vault.resolve()
    if _recorded_path(folder) != path:
        write_atomically(file, os.fsencode(path), mode=0o600)


_MIN_FREE_BYTES: Final = 262_144
_CONTENT_SUFFIXES: Final = ("", "-wal")
"""Of the files of a database that hold its content."""


@contextmanager
def writable_cache_path(path: Path, candidates: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """The path of a cache if it can be written; else a copy in a temporary folder that is deleted at the end, and why.

    The folder is made in the first of the candidates that can be written; without one, the path stays as it is.
    """
    reason = ""
    try:
        make_private(path.parent)
        if path.exists() and not os.access(path, os.W_OK):
            reason = "it is read-only"
        _probe(path.parent)
    except OSError as error:
        reason = reason or (error.strerror or str(error)).lower()
    folder = next(filter(None, map(_new_folder, candidates)), None) if reason else None
    if folder is None:
        yield path, ""
        return
    try:
        for suffix in _CONTENT_SUFFIXES:
            with suppress(OSError):
                shutil.copyfile(path.with_name(path.name + suffix), folder / (path.name + suffix))
        yield folder / path.name, reason
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _new_folder(parent: Path) -> Path | None:
    try:
        folder = Path(tempfile.mkdtemp(prefix="zkchat-", dir=parent))
    except OSError:
        return None
    try:
        _probe(folder)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        return None
    return folder


def _probe(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder) as probe:
        probe.write(bytes(_MIN_FREE_BYTES))
        probe.flush()
