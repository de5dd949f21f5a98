"""JSON files that define MCP servers: `.mcp.json` of a vault, and those of other programs."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from zkchat.config.files import BYTE_ORDER_MARK, read_file
from zkchat.config.servers import ParsedServers, parse_server, parse_servers, server_table
from zkchat.errors import ConfigError
from zkchat.model.tool_server import ServerDefinition
from zkchat.model.trust import VaultItem, vault_item

NAME: Final = ".mcp.json"
"""At the top of a vault."""
TABLE: Final = "mcpServers"
MAX_HOST_BYTES: Final = 32_000_000
"""Some programs keep much else in the file."""
_COMMENT_OR_TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_TEXT_OR_LAST_COMMA: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|,(?=\s*[\]}])', re.DOTALL)


def read_vault_servers(vault: Path) -> ParsedServers:
    """What the file of a vault defines, approved or not; nothing where there is none. Raises `ConfigError`."""
    file = vault / NAME
    text = read_file(file, beneath=vault)
    if text is None:
        return ParsedServers()
    table = parse_object(file, text).get(TABLE, {})
    if not isinstance(table, Mapping):
        raise _unusable(file, f"has no table '{TABLE}' of servers by their names")
    return parse_servers(table, "vault")


def server_item(definition: ServerDefinition) -> VaultItem:
    """What the user approves of a vault's server: all that counts of its definition."""
    return vault_item("server", definition.name, json.dumps(server_table(definition), sort_keys=True))


def server_of(item: VaultItem) -> ServerDefinition:
    return parse_server(item.name, json.loads(item.content), "vault")


def parse_object(file: Path, text: str, *, has_comments: bool = False) -> dict[str, object]:
    """The JSON object that a file holds. Raises `ConfigError`."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    try:
        value = json.loads(without_comments(text) if has_comments else text, object_pairs_hook=_without_duplicates)
    except json.JSONDecodeError as error:
        raise _unusable(file, f"is broken at line {error.lineno}: {error.msg}") from None
    except RecursionError:
        raise _unusable(file, "is nested too deeply") from None
    except ValueError as error:
        raise _unusable(file, f"cannot be used: {error}") from None
    if not isinstance(value, dict):
        raise _unusable(file, "is no JSON object")
    return value


def without_comments(text: str) -> str:
    """JSON as some editors write it, as plain JSON."""
    plain = _COMMENT_OR_TEXT.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
    return _TEXT_OR_LAST_COMMA.sub(lambda found: found[0] if found[0].startswith('"') else "", plain)


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object. Raises `ValueError` where a name is there twice: programs differ in which of them they take."""
    found = dict(pairs)
    if len(found) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"'{twice[:80]}' is there twice")
    return found


def _unusable(file: Path, what: str) -> ConfigError:
    return ConfigError(f"{file} {what}.", hint="Correct it, or move it away.")
