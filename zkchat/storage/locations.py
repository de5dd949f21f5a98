"""Where the databases of a vault live (SPEC 1.1): outside it, under an id that moves with it; or inside, on request."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from zkchat.files import make_private
from zkchat.storage.faults import guarded

_ID = re.compile(r"[0-9a-z]{6,64}")
"""What may be taken for an id: the file lies in a vault that others may have written, and names a folder of ours."""

DATABASES: Final = ("sessions.db", "memories.db", "index.db", "messages.db", "summaries.db")


@dataclass(frozen=True, slots=True, kw_only=True)
class Locations:
    sessions: Path
    """Precious."""
    index: Path
    """A cache."""

    @property
    def memories(self) -> Path:
        """What is remembered across sessions. Precious."""
        return self.sessions.with_name("memories.db")

    @property
    def messages(self) -> Path:
        """What was said, ready to be searched. A cache."""
        return self.index.with_name("messages.db")

    @property
    def summaries(self) -> Path:
        """What a model said of documents. A cache."""
        return self.index.with_name("summaries.db")


def locate(vault: Path, *, data_dir: Path, cache_dir: Path, in_vault: bool = False) -> Locations:
    """Where the databases of a vault are, or are not yet. Nothing is written."""
    if in_vault:
        return _inside(vault)
    return _outside(_own_id(vault, data_dir / "vaults") or _id_by_path(vault), data_dir, cache_dir)


def claim(
    vault: Path, *, data_dir: Path, cache_dir: Path, new_id: Callable[[], str], in_vault: bool = False
) -> Locations:
    """The same for a command that will write: from now on the vault keeps these databases, also when it moves.

    A vault that moved brings its id along. A copy gets an id of its own, so that the two do not share sessions. A vault
    that cannot be written is known by its path.
    """
    if in_vault:
        _write_gitignore(vault / ".zkchat" / ".gitignore")
        return _inside(vault)
    vaults = data_dir / "vaults"
    own = _own_id(vault, vaults) or _give_id(vault, vaults, new_id) or _id_by_path(vault)
    _record(vault, vaults / own)
    return _outside(own, data_dir, cache_dir)


def _inside(vault: Path) -> Locations:
    folder = vault / ".zkchat"
    return Locations(sessions=folder / "sessions.db", index=folder / "index.db")


def _outside(vault_id: str, data_dir: Path, cache_dir: Path) -> Locations:
    return Locations(
        sessions=data_dir / "vaults" / vault_id / "sessions.db", index=cache_dir / "vaults" / vault_id / "index.db"
    )


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
        written = (vault / ".zkchat" / "vault-id").read_text("ascii").strip()
    except (OSError, ValueError):
        return None
    return written if _ID.fullmatch(written) else None


def _recorded_path(folder: Path) -> Path | None:
    try:
        return Path(os.fsdecode((folder / "vault-path").read_bytes()))
    except OSError:
        return None


def _id_by_path(vault: Path) -> str:
    # The hyphen keeps it apart from the ids that vaults hold.
    return f"path-{hashlib.sha256(os.fsencode(vault.resolve())).hexdigest()[:16]}"


def _give_id(vault: Path, vaults: Path, new_id: Callable[[], str]) -> str | None:
    """Write a new id into the vault; None if that is not possible."""
    file = vault / ".zkchat" / "vault-id"
    if not file.parent.resolve().is_relative_to(vault.resolve()):
        return None
    try:
        file.parent.mkdir(exist_ok=True)
        with _part_of(file, f"{new_id()}\n".encode()) as part:
            if not file.exists():
                _put(part, file)
            elif _own_id(vault, vaults) is None:  # still that of the original, or nonsense
                part.replace(file)
    except OSError:
        return None
    given = _written_id(vault)
    if given is not None:
        # While the vault could not be written it was known by its path: what was stored then comes along.
        with suppress(OSError):
            (vaults / _id_by_path(vault)).rename(vaults / given)
    return given


def _put(part: Path, file: Path) -> None:
    """Give `part` the name `file`, unless another process was quicker: then its file counts."""
    try:
        file.hardlink_to(part)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        part.replace(file)


@contextmanager
def _part_of(file: Path, content: bytes) -> Iterator[Path]:
    """A file beside `file` that can take its place in one step."""
    part = file.with_name(f"{file.name}.part-{os.getpid()}")
    try:
        part.write_bytes(content)
        yield part
    finally:
        part.unlink(missing_ok=True)


def _record(vault: Path, folder: Path) -> None:
    """Note beside the databases which vault they belong to."""
    file, content = folder / "vault-path", os.fsencode(vault.resolve())
    with guarded(file):
        make_private(folder)
        if not file.exists() or file.read_bytes() != content:
            with _part_of(file, content) as part:
                part.replace(file)


def _write_gitignore(file: Path) -> None:
    """Keep the databases out of the vault's history; what the user wrote there stays."""
    with guarded(file):
        file.parent.mkdir(exist_ok=True)
        with suppress(FileExistsError), file.open("x", encoding="ascii") as ignored:
            names = (*(f"{name}*" for name in DATABASES), "backups/")
            ignored.write("# The databases of zkchat.\n" + "".join(f"/{name}\n" for name in names))
