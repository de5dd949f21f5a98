"""An entry for a server in the settings of another program: as text to copy, or written into its JSON file."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from zkchat.config.files import BYTE_ORDER_MARK, read_file
from zkchat.config.host_files import Host, host_places
from zkchat.config.server_files import MAX_HOST_BYTES, parse_object
from zkchat.errors import ConfigError
from zkchat.files import resolve_link, write_atomically

BACKUP_SUFFIX: Final = ".before-zkchat"
_FIRST_INDENT: Final = re.compile(r'^([ \t]+)"', re.MULTILINE)

EntryState = Literal["new", "same", "other", "commented", "foreign", "absent"]
"""Whether an entry of that name is in the file; `commented`: it has comments, which would be lost; `foreign`: it is no
JSON; `absent`: the program keeps no settings here."""


class HostEntry(Struct, frozen=True, kw_only=True):
    """A server as a program describes it, and the file where it belongs."""

    host: Host
    name: str
    command: Sequence[str]
    file: Path
    state: EntryState

    @property
    def value(self) -> dict[str, object]:
        program, *arguments = self.command
        kind = {"type": "stdio"} if self.host.says_type else {}
        return {**kind, "command": program, "args": arguments}

    @property
    def text(self) -> str:
        """As it stands in the file, within its table."""
        if self.file.suffix == ".toml":
            pairs = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in self.value.items()]
            return "\n".join([f"[{self.host.table}.{json.dumps(self.name, ensure_ascii=False)}]", *pairs])
        return json.dumps({self.host.table: {self.name: self.value}}, indent=2, ensure_ascii=False)

    @property
    def is_writable(self) -> bool:
        return self.state in {"new", "other"}


def find_entry(host: Host, name: str, command: Sequence[str], home: Path, variables: Mapping[str, str]) -> HostEntry:
    """Where an entry belongs, and what is there. Raises `ConfigError` for a file that cannot be used."""
    places = [*host_places(host, home, variables)]
    file = next((place for place in places if place.exists()), None)
    state: EntryState = "new"
    if file is None:
        file = next((place for place in places if place.parent != home and place.parent.is_dir()), None)
        state = "new" if file else "absent"
    entry = HostEntry(host=host, name=name, command=command, file=file or places[0], state=state)
    return replace(entry, state=_state_of(entry))


def write_entry(entry: HostEntry) -> Path | None:
    """Put it into the file, as that is now; all else in it stays. Returns where the file as it was is kept.

    Raises `ConfigError`, and `StorageError` where a file cannot be written.
    """
    file = resolve_link(entry.file)
    before = read_file(file, max_bytes=MAX_HOST_BYTES)
    text = _with_entry(entry, before)
    backup = None
    if before is not None:
        backup = _free_backup(file)
        write_atomically(backup, before, mode=0o600)
    write_atomically(file, text, mode=0o600)
    return backup


def _free_backup(file: Path) -> Path:
    """A name for a copy that takes the place of no earlier one."""
    first = file.with_name(file.name + BACKUP_SUFFIX)
    names = chain([first], (first.with_name(f"{first.name}-{number}") for number in count(2)))
    return next(name for name in names if not os.path.lexists(name))


def _state_of(entry: HostEntry) -> EntryState:
    if entry.file.suffix == ".toml":
        return "foreign"
    if entry.state == "absent" or (text := read_file(entry.file, max_bytes=MAX_HOST_BYTES)) is None:
        return entry.state
    try:
        settings = _settings_in(entry.file, text)
    except ConfigError:
        parse_object(entry.file, text, has_comments=True)  # raises for what is no JSON with comments either
        return "commented"
    found = _table_of(entry, settings).get(entry.name)
    if found is None:
        return "new"
    return "same" if found == entry.value else "other"


def _with_entry(entry: HostEntry, before: str | None) -> str:
    text = before or "{}"
    try:
        settings = _settings_in(entry.file, text)
        settings[entry.host.table] = {**_table_of(entry, settings), entry.name: entry.value}
        indent = _FIRST_INDENT.search(text)
        written = json.dumps(settings, indent=indent[1] if indent else 2, ensure_ascii=text.isascii(), allow_nan=False)
        written.encode()
    except ValueError as error:
        raise ConfigError(
            f"{entry.file} cannot be written without a loss.", hint="Put the entry there yourself."
        ) from error
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    return f"{mark}{written}\n"


def _settings_in(file: Path, text: str) -> dict[str, object]:
    return parse_object(file, text) if text.removeprefix(BYTE_ORDER_MARK).strip() else {}


def _table_of(entry: HostEntry, settings: Mapping[str, object]) -> dict[str, object]:
    table = settings.get(entry.host.table, {})
    if not isinstance(table, dict):
        raise ConfigError(f"{entry.file} has no table '{entry.host.table}' of servers by their names.")
    return table
