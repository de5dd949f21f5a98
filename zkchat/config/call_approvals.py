"""The user's approvals of tools of MCP servers: each holds for one definition of a server, and for one tool as
the server describes it."""

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode
from msgspec.json import format as format_json

from zkchat.config.servers import server_table
from zkchat.errors import StorageError
from zkchat.files import locked, read_bounded, write_atomically
from zkchat.model.tool_server import ServerDefinition, ServerTool

_MAX_BYTES: Final = 1_000_000
_MAX_APPROVALS: Final = 2_000
"""The oldest are forgotten, and asked about again."""
_LOCK_SECONDS: Final = 5.0


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
        with suppress(StorageError), locked(self.file.with_suffix(".lock"), seconds=_LOCK_SECONDS):
            tools = self._read().tools | {self._key(definition, tool): f"{definition.name}/{tool.name}"}
            kept = dict([*tools.items()][-_MAX_APPROVALS:])
            write_atomically(
                self.file, format_json(encode(_Approvals(tools=kept)), indent=2).decode() + "\n", mode=0o600
            )

    def _read(self) -> _Approvals:
        try:
            return decode(read_bounded(self.file, max_bytes=_MAX_BYTES), type=_Approvals)
        except (OSError, DecodeError, UnicodeDecodeError, RecursionError):
            return _Approvals()

    def _key(self, definition: ServerDefinition, tool: ServerTool) -> str:
        of_vault = self.vault if definition.origin == "vault" else ""
        content = [definition.origin, of_vault, definition.name, server_table(definition), tool.digest]
        return sha256(json.dumps(content, sort_keys=True).encode(errors="surrogatepass")).hexdigest()
