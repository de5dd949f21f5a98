"""The folders that the user confirmed as vaults, by path, in a file of the user's data folder."""

import json
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final

from msgspec import Struct

from zkchat.files import locked, read_bounded, write_atomically

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
