"""Changing one setting in a settings file; comments, order and everything else in it stay."""

from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from zkchat.config.files import read_table, read_text
from zkchat.config.load import Origin, key_of, parse_value, unflatten, unknown_setting, validation_error
from zkchat.config.schema import FIELDS, SECTIONS, Settings, field_of, model_keys, model_named_in
from zkchat.errors import ConfigError
from zkchat.files import write_atomically

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def set_value(file: Path, key: str, text: str, *, beneath: Path | None = None) -> object:
    """Write a setting, given as text, and return its value. Nothing is written unless it is valid.

    Other mistakes in the file do not stand in the way: they may be what the user is about to correct. Below `beneath`
    no link is followed.
    """
    if not field_of(key):
        raise unknown_setting(key)
    value = parse_value(key, text)
    _check(read_table(file, beneath=beneath), key, value)
    document = _document(file, beneath)
    *sections, name = key.split(".")
    within = document
    for section in sections:
        within = within.setdefault(section, {})
    within[name] = value
    _write(file, document, beneath)
    return value


def unset(file: Path, key: str, *, beneath: Path | None = None) -> bool:
    """Remove a setting from the file; whether it was there. Unknown settings can be removed too, if they are."""
    found = _lookup(read_table(file, beneath=beneath), key)
    if found is None or (key in SECTIONS and isinstance(found, Mapping)):
        if not field_of(key):
            raise unknown_setting(key)
        return False
    document = _document(file, beneath)
    *sections, name = key.split(".")
    within = document
    for section in sections:
        within = within[section]
    del within[name]
    _write(file, document, beneath)
    return True


def _check(table: Mapping[str, object], key: str, value: object) -> None:
    for section in accumulate(key.split(".")[:-1], "{}.{}".format):
        if not isinstance(_lookup(table, section) or {}, Mapping):
            raise ConfigError(f"'{section}' in the file is not a section.", hint=f"Run: zkchat config unset {section}")
    models = table.get("models")
    names = [name for name in models if model_named_in(f"models.{name}") == name] if isinstance(models, Mapping) else []
    keys = (*FIELDS, *(each for name in names for each in model_keys(name)))
    others = {known: found for known in keys if (found := _lookup(table, known)) is not None}
    try:
        Settings.model_validate(unflatten(others | {key: value}))
    except ValidationError as error:
        for problem in error.errors():
            if key_of(problem) in (key, None):
                raise validation_error(problem, {key: Origin("flag")}) from None


def _lookup(table: Mapping[str, object], key: str) -> object:
    found: object = table
    for name in key.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _document(file: Path, beneath: Path | None) -> "TOMLDocument":
    import tomlkit

    return tomlkit.parse(read_text(file, beneath=beneath))


def _write(file: Path, document: "TOMLDocument", beneath: Path | None) -> None:
    write_atomically(file, document.as_string(), mode=0o644, beneath=beneath)
