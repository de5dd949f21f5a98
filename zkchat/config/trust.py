"""What a vault's own settings may not decide without the user: approval, once for each content."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ValidationError

from zkchat.config.schema import needs_trust
from zkchat.files import locked, read_small, write_atomically

_LARGEST: Final = 4_000_000
"""Bytes; some ten thousand vaults."""
_LOCK_SECONDS: Final = 30.0


def sensitive(values: Mapping[str, object]) -> dict[str, object]:
    """Those of a vault's values, by dotted key, that need approval."""
    return {key: values[key] for key in sorted(values) if needs_trust(key)}


def digest(values: Mapping[str, object]) -> str:
    """A name for exactly these values: with any change, approval is asked for again."""
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


class _Approvals(BaseModel):
    approved: dict[str, list[str]] = {}
    """Digests by vault."""


@dataclass(frozen=True, slots=True)
class TrustStore:
    """The user's approvals, in a file that nobody else may read or write."""

    file: Path

    def is_trusted(self, vault: str, content: str) -> bool:
        return content in self._read().approved.get(vault, [])

    def approve(self, vault: str, content: str) -> None:
        if self.is_trusted(vault, content):
            return
        with locked(self.file.with_name("trust.lock"), seconds=_LOCK_SECONDS):
            approvals = self._read()
            approvals.approved.setdefault(vault, []).append(content)
            write_atomically(self.file, approvals.model_dump_json(indent=2) + "\n", mode=0o600)

    def _read(self) -> _Approvals:
        try:
            return _Approvals.model_validate_json(read_small(self.file, most=_LARGEST))
        except (OSError, ValidationError):
            # No file, or none that can be understood: nothing is trusted, which is the safe side.
            return _Approvals()
