"""Settings files: bounded reads of regular files as TOML, and what a vault's own file may set without approval."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from zkchat.config.schema import field_of, is_section, is_user_only, needs_trust
from zkchat.core import ConfigError, VaultItem, lazy_pattern, read_bounded, vault_item

_MAX_BYTES: Final = 256_000
"""More is no settings file."""
BYTE_ORDER_MARK: Final = "\ufeff"
_MAX_DEPTH: Final = 16
"""Of tables and lists in each other; four is the most that a setting needs."""
_TEXT_OR_COMMENT: Final = lazy_pattern(
    r""""{3}(?:[^\\]|\\.?)*?(?:"{3,5}|\Z)|'{3}.*?(?:'{3,5}|\Z)|"(?:[^"\\\n]|\\.?)*+"?|'[^'\n]*+'?|\#[^\n]*""", re.DOTALL
)
_DEEP_KEY: Final = lazy_pattern(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{_MAX_DEPTH}}}")


class UnreadableFile(ConfigError):
    """A settings file is there, but it is no regular file of ours to read, or the system does not let us."""


def read_file(file: Path, *, max_bytes: int = _MAX_BYTES, beneath: Path | None = None) -> str | None:
    """The file as text, with its line ends and its byte order mark as they are; None if there is none.

    Below `beneath` no link is followed. Raises `ConfigError`.
    """
    try:
        return read_bounded(file, max_bytes=max_bytes, beneath=beneath).decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UnreadableFile(
            f"{file} cannot be read: {error.strerror}.", hint="Put a readable file there, or move it away."
        ) from error
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8 text.", hint="Save it as UTF-8, or move it away.") from None


def read_text(file: Path, *, beneath: Path | None = None) -> str:
    """The same without a byte order mark; empty if there is none."""
    return (read_file(file, beneath=beneath) or "").removeprefix(BYTE_ORDER_MARK)


def read_table(file: Path, *, beneath: Path | None = None) -> dict[str, object]:
    """The file as TOML; empty if there is none. Raises `ConfigError` if it is broken."""
    try:
        return parse_toml(read_text(file, beneath=beneath))
    except ValueError as error:
        # Before Python 3.14 the line is in the message only.
        place = re.fullmatch(r"(.*) \(at (?:(line \d+), column \d+|end of document)\)", str(error), re.DOTALL)
        trouble = f"is broken at {place[2] or 'its end'}: {place[1]}" if place else f"cannot be used: {error}"
        raise ConfigError(
            f"{file} {trouble}.", hint="Correct it, or move the file away to start from the defaults."
        ) from None


def parse_toml(text: str) -> dict[str, object]:
    """The table that a text describes. Raises `ValueError`, also for what is nested too deeply.

    Keys are looked at before anything is parsed: for one of n parts, `tomllib` takes memory by the square of n.
    """
    try:
        if not _DEEP_KEY.search(_TEXT_OR_COMMENT.sub("x", text)):
            table = tomllib.loads(text)
            level: list[dict[str, object] | list[object]] = [table]
            for _ in range(_MAX_DEPTH):
                inside = (each.values() if isinstance(each, dict) else each for each in level)
                level = [inner for values in inside for inner in values if isinstance(inner, dict | list)]
            if not level:
                return table
    except RecursionError:
        pass
    raise ValueError(f"it is nested more than {_MAX_DEPTH} levels deep")


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
    values = dict(_leaves(read_table(file, beneath=file.parent.parent)))
    return VaultFile(
        harmless={key: value for key, value in values.items() if not needs_trust(key)},
        requests={key: values[key] for key in sorted(values) if needs_trust(key) and not is_user_only(key)},
        refused=[key for key in values if is_user_only(key)],
    )


def _leaves(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Whatever is set, by dotted key, whether it is a setting or not."""
    for name, value in table.items():
        key = prefix + name
        if is_section(name, prefix) and isinstance(value, Mapping):
            yield from _leaves(value, f"{key}.")
        else:
            yield key, value
