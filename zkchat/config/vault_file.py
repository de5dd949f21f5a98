"""A vault's own settings file: what is harmless counts at once, all else after the user's approval."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from zkchat.config.schema import field_of, is_section, needs_trust
from zkchat.config.toml_file import read_table
from zkchat.model.trust import VaultItem, vault_item

NAME: Final = ".zkchat/config.toml"


@dataclass(frozen=True, slots=True)
class VaultFile:
    """Settings by dotted key."""

    harmless: Mapping[str, object]
    requests: Mapping[str, object]
    """What needs approval, unknown settings among it."""

    @property
    def unknown(self) -> list[str]:
        return [key for key in self.requests if not field_of(key)]

    @property
    def item(self) -> VaultItem:
        return settings_item(self.requests)


def settings_item(requests: Mapping[str, object]) -> VaultItem:
    """What the user approves: all requests together, because each means what it does beside the others."""
    return vault_item("settings", NAME, json.dumps(requests, sort_keys=True, default=repr))


def read_vault_file(file: Path) -> VaultFile:
    """What the file asks for; nothing, where there is none. Raises `ConfigError`.

    No link is followed below the vault, which is the folder that holds the file's.
    """
    values = dict(_leaves(read_table(file, beneath=vault_of(file))))
    return VaultFile(
        harmless={key: value for key, value in values.items() if not needs_trust(key)},
        requests={key: values[key] for key in sorted(values) if needs_trust(key)},
    )


def vault_of(file: Path) -> Path:
    return file.parent.parent


def _leaves(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Whatever is set, by dotted key, whether it is a setting or not."""
    for name, value in table.items():
        key = prefix + name
        if is_section(key) and isinstance(value, Mapping):
            yield from _leaves(value, f"{key}.")
        else:
            yield key, value
