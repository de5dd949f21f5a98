"""Settings files: bounded reads of regular files as TOML, and what a vault's own file may set without approval."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from zkchat.config.schema import field_of, is_section, is_user_only, needs_trust
from zkchat.errors import ConfigError
from zkchat.files import read_bounded
from zkchat.model.trust import VaultItem, vault_item

_MAX_BYTES: Final = 1_000_000
"""More is no settings file."""


class UnreadableFile(ConfigError):
    """A settings file is there, but it is no regular file of ours to read, or the system does not let us."""


def read_text(file: Path, *, beneath: Path | None = None) -> str:
    """The file as text with its line ends as they are; empty if there is none. Below `beneath` no link is followed."""
    try:
        return read_bounded(file, max_bytes=_MAX_BYTES, beneath=beneath).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise UnreadableFile(
            f"{file} cannot be read: {error.strerror}.", hint="Put a readable file there, or move it away."
        ) from error
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not a UTF-8 text.", hint="Save it as UTF-8, or move it away.") from None


def read_table(file: Path, *, beneath: Path | None = None) -> dict[str, object]:
    """The file as TOML; empty if there is none. Raises `ConfigError` if it is broken."""
    try:
        return tomllib.loads(read_text(file, beneath=beneath))
    except (ValueError, RecursionError) as error:
        what, line = _what_and_line(str(error))
        raise ConfigError(
            f"{file} is broken at {line}: {what}.",
            hint="Correct it, or move the file away to start from the defaults.",
        ) from None


def _what_and_line(message: str) -> tuple[str, str]:
    # Before Python 3.14 the line is in the message only.
    match = re.fullmatch(r"(.*) \(at (?:(line \d+), column \d+|end of document)\)", message, re.DOTALL)
    return (match[1], match[2] or "its end") if match else (message, "some place")


NAME: Final = ".zkchat/config.toml"


class VaultFile(Struct, frozen=True):
    """Settings by dotted key."""

    harmless: Mapping[str, object]
    requests: Mapping[str, object]
    """What needs approval, unknown settings among it."""
    refused: Sequence[str] = ()
    """The settings that never count there."""

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
        requests={key: values[key] for key in sorted(values) if needs_trust(key) and not is_user_only(key)},
        refused=[key for key in values if is_user_only(key)],
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
