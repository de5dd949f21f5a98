"""Changing one setting or table in a settings file; comments, order and everything else in it stay."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.items import InlineTable

from zkchat.config.files import parse_toml, read_table, read_text
from zkchat.config.loading import (
    InvalidSettings,
    Origin,
    make_settings,
    parse_value,
    unflatten,
    unknown_setting,
    validation_error,
)
from zkchat.config.schema import FIELDS, SECTIONS, field_of, is_model_name, model_keys, path_of
from zkchat.core import ConfigError, write_atomically


def set_value(file: Path, key: str, text: str, *, beneath: Path | None = None) -> object:
    """Write a setting, given as text, and return its value. Nothing is written unless it is valid.

    Other mistakes in the file do not stand in the way: they may be what the user is about to correct. Below `beneath`
    no link is followed.
    """
    if not field_of(key):
        raise unknown_setting(key)
    value = parse_value(key, text)
    _check(read_table(file, beneath=beneath), key, value)
    document = tomlkit.parse(read_text(file, beneath=beneath))
    *sections, name = path_of(key)
    within = document
    for section in sections:
        within = within.setdefault(section, {})
    within[name] = value
    write_atomically(file, document.as_string(), mode=0o644, beneath=beneath)
    return value


def unset(file: Path, key: str, *, beneath: Path | None = None) -> bool:
    """Remove a setting from the file; whether it was there. Unknown settings can be removed too, if they are."""
    table = read_table(file, beneath=beneath)
    path = path_of(key) if _lookup(table, path_of(key)) is not None else key.split(".")
    found = _lookup(table, path)
    if found is None or (key in SECTIONS and isinstance(found, Mapping)):
        if not field_of(key):
            raise unknown_setting(key)
        return False
    document = tomlkit.parse(read_text(file, beneath=beneath))
    *sections, name = path
    within = document
    for section in sections:
        within = within[section]
    del within[name]
    write_atomically(file, document.as_string(), mode=0o644, beneath=beneath)
    return True


def _check(table: Mapping[str, object], key: str, value: object) -> None:
    for length in range(1, len(path_of(key))):
        path = path_of(key)[:length]
        section = ".".join(path)
        if not isinstance(_lookup(table, path) or {}, Mapping):
            raise ConfigError(
                f"'{section}' in the file is not a section.", hint=f"Remove it: zkchat config unset {section}"
            )
    models = table.get("models")
    names = filter(is_model_name, models) if isinstance(models, Mapping) else ()
    keys = (*FIELDS, *(each for name in names for each in model_keys(name)))
    others = {known: found for known in keys if (found := _lookup(table, path_of(known))) is not None}
    try:
        make_settings(unflatten(others | {key: value}))
    except InvalidSettings as error:
        for problem in error.problems:
            if problem.key in (key, ""):
                raise validation_error(problem, {key: Origin("flag")}) from None


def _lookup(table: Mapping[str, object], path: Sequence[str]) -> object:
    found: object = table
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def set_entries(file: Path, table: str, entries: Mapping[str, Mapping[str, object]]) -> None:
    """Write tables below a table: `[mcpServers.NAME]`. One that is there is replaced. A new file is its owner's alone.

    Raises `ConfigError` where the file is broken, or would not say the same of all else afterwards.
    """
    before = read_table(file)
    present = before.get(table, {})
    if not isinstance(present, Mapping):
        raise ConfigError(f"'{table}' in {file} is not a section.", hint=f"Remove it: zkchat config unset {table}")
    document = tomlkit.parse(read_text(file))
    if table not in document:
        document[table] = tomlkit.table(is_super_table=True)
    within = document[table]
    for name, entry in entries.items():
        if name in within:
            del within[name]
        within[name] = _as_item(entry, inline=isinstance(within, InlineTable))
    _write_entries(file, document, before | {table: {**present, **entries}})


def remove_entry(file: Path, table: str, name: str) -> bool:
    """Remove a table below a table; whether it was there."""
    before = read_table(file)
    present = before.get(table)
    if not isinstance(present, Mapping) or name not in present:
        return False
    document = tomlkit.parse(read_text(file))
    del document[table][name]
    left = {each: value for each, value in present.items() if each != name}
    after = {**before, table: left}
    if not left:
        del document[table]
        del after[table]
    _write_entries(file, document, after)
    return True


def _as_item(entry: Mapping[str, object], *, inline: bool) -> object:
    """A table; the tables in it are on one line, as all of it is where it stands in one that is."""
    item = tomlkit.inline_table() if inline else tomlkit.table()
    for key, value in entry.items():
        item[key] = _as_item(value, inline=True) if isinstance(value, Mapping) else value
    return item


def _write_entries(file: Path, document: TOMLDocument, expected: Mapping[str, object]) -> None:
    text = document.as_string()
    try:
        is_as_expected = parse_toml(text) == expected
    except ValueError:
        is_as_expected = False
    if not is_as_expected:
        raise ConfigError(
            f"zkchat cannot make this change in {file} safely.",
            hint="Edit that file yourself.",
        )
    write_atomically(file, text, mode=0o600)
