"""The user's decisions about what comes with vaults, and about tools of MCP servers."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from msgspec import DecodeError, Struct, ValidationError, convert
from msgspec.json import decode, encode
from msgspec.json import format as format_json

from zkchat.config.servers import server_table
from zkchat.core import (
    ServerDefinition,
    ServerTool,
    StorageError,
    TrustState,
    VaultItem,
    locked,
    read_bounded,
    write_atomically,
)

_MAX_APPROVALS: Final = 2_000
"""The oldest are forgotten, and asked about again."""


class _Approvals(Struct, frozen=True):
    tools: dict[str, str] = {}
    """By digest, `server/tool` for whoever reads the file; the oldest first."""


class StoredApprovals(Struct, frozen=True):
    """Implements `tools.server_approval.CallApprovals`. A file that cannot be understood approves nothing."""

    file: Path
    vault: str
    """Which of the definitions that come with vaults are meant."""

    def is_approved(self, definition: ServerDefinition, tool: ServerTool) -> bool:
        return self._key(definition, tool) in self._read().tools

    def approve(self, definition: ServerDefinition, tool: ServerTool) -> None:
        """Where it cannot be written, the user is asked again in the next conversation."""
        with suppress(StorageError), locked(self.file.with_suffix(".lock"), seconds=5.0):
            tools = self._read().tools | {self._key(definition, tool): f"{definition.name}/{tool.name}"}
            kept = dict([*tools.items()][-_MAX_APPROVALS:])
            write_atomically(
                self.file, format_json(encode(_Approvals(tools=kept)), indent=2).decode() + "\n", mode=0o600
            )

    def _read(self) -> _Approvals:
        try:
            return decode(read_bounded(self.file, max_bytes=1_000_000), type=_Approvals)
        except (OSError, DecodeError, UnicodeDecodeError, RecursionError):
            return _Approvals()

    def _key(self, definition: ServerDefinition, tool: ServerTool) -> str:
        of_vault = self.vault if definition.origin == "vault" else ""
        content = [definition.origin, of_vault, definition.name, server_table(definition), tool.digest]
        return sha256(json.dumps(content, sort_keys=True).encode(errors="surrogatepass")).hexdigest()


Decision = Literal["approved", "declined"]

_MAX_BYTES: Final = 4_000_000
"""Enough for some thousand vaults."""
_MAX_DECISIONS: Final = 100
"""Contents of one thing of one vault; the oldest are forgotten, and asked about again."""
_LOCK_SECONDS: Final = 30.0


class _Decisions(Struct, frozen=True):
    vaults: dict[str, dict[str, dict[str, Decision]]] = {}
    """By vault and by what was decided on: digests of contents, the oldest decision first."""


class TrustStore(Struct, frozen=True):
    """A file that nobody else may read or write. One that cannot be understood approves nothing."""

    file: Path

    def state(self, vault: str, item: VaultItem) -> TrustState:
        return _state(self._read(), vault, item)

    def states(self, vault: str, items: Iterable[VaultItem]) -> list[tuple[VaultItem, TrustState]]:
        decisions = self._read()
        return [(item, _state(decisions, vault, item)) for item in items]

    def is_approved(self, vault: str, item: VaultItem) -> bool:
        return self.state(vault, item) == "approved"

    def approved(self, vault: str) -> frozenset[tuple[str, str]]:
        """All that is approved of a vault: what it is, and the digest of its content."""
        subjects = self._read().vaults.get(vault, {})
        return frozenset(
            (subject, digest)
            for subject, contents in subjects.items()
            for digest, decision in contents.items()
            if decision == "approved"
        )

    def takes_back(self, vault: str, approved: Iterable[tuple[str, str]]) -> bool:
        """Whether something that `approved` named before is declined or revoked now. One forgotten by age is not."""
        subjects = self._read().vaults.get(vault, {})
        return any(
            subject not in subjects or subjects[subject].get(digest) == "declined" for subject, digest in approved
        )

    def decide(self, vault: str, items: Iterable[VaultItem], decision: Decision) -> None:
        with self._changing() as decisions:
            subjects = decisions.vaults.setdefault(vault, {})
            for item in items:
                contents = subjects.setdefault(item.subject, {})
                contents.pop(item.digest, None)
                contents[item.digest] = decision
                for oldest in list(contents)[:-_MAX_DECISIONS]:
                    del contents[oldest]

    def revoke(self, vault: str) -> None:
        with self._changing() as decisions:
            decisions.vaults.pop(vault, None)

    @contextmanager
    def _changing(self) -> Iterator[_Decisions]:
        with locked(self.file.with_name("trust.lock"), seconds=_LOCK_SECONDS):
            decisions = self._read()
            yield decisions
            # In ASCII: the name of a vault's folder may be bytes that are no text.
            write_atomically(self.file, json.dumps({"vaults": decisions.vaults}, indent=2) + "\n", mode=0o600)

    def _read(self) -> _Decisions:
        try:
            return convert(json.loads(read_bounded(self.file, max_bytes=_MAX_BYTES)), type=_Decisions)
        except (OSError, ValueError, ValidationError, RecursionError):
            return _Decisions()


def _state(decisions: _Decisions, vault: str, item: VaultItem) -> TrustState:
    contents = decisions.vaults.get(vault, {}).get(item.subject, {})
    return contents.get(item.digest, "changed" if contents else "new")
