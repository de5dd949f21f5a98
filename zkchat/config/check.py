"""Checking values of settings: what is wrong with each, and the settings that they make.

Strict: "4096" is a text and not a number. Variables and flags are read as the right type by `parse_value` before.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar, get_args, get_origin

from msgspec import Struct, convert

from zkchat.config.files import parse_toml
from zkchat.config.schema import MODELS, Setting, Settings, field_of, section_type, settings_of
from zkchat.config.sections import Model
from zkchat.config.value_types import Validated

_S = TypeVar("_S", bound=Struct)
_WHOLE_NUMBER: Final = re.compile(r"\s*([+-]?\d+(?:_\d+)*)(?:\.0+)?\s*", re.ASCII)
LARGEST: Final = 10**12
"""Of all whole numbers: TOML has no bound, but what is reckoned with them has."""
_TRUE: Final = frozenset({"1", "on", "t", "true", "y", "yes"})
_FALSE: Final = frozenset({"0", "off", "f", "false", "n", "no"})


class Problem(Struct, frozen=True, kw_only=True):
    """Why values make no settings."""

    key: str = ""
    """The setting; empty where several do not fit together."""
    value: object = None
    """What was found; nothing where the setting is missing."""
    is_item: bool = False
    """Whether the value is one of a list's."""
    sentence: str = ""
    """Of those that do not fit together."""


class InvalidSettings(ValueError):
    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(", ".join(problem.key for problem in problems))  # not the values: one may be a key
        self.problems = problems


def make_settings(table: Mapping[str, Any]) -> Settings:
    """The settings with these values, by section, and defaults else. Raises `InvalidSettings`."""
    problems: list[Problem] = []
    settings = _make(Settings, table, "", problems)
    if settings is None:
        raise InvalidSettings(problems)
    return settings


def _make(kind: type[_S], table: Mapping[str, Any], prefix: str, problems: list[Problem]) -> _S | None:
    found: list[Problem] = []
    values: dict[str, object] = {}
    for setting in settings_of(kind):
        name, key = setting.name, f"{prefix}{setting.name}"
        if name not in table:
            found += [Problem(key=key)] if setting.is_required else []
        elif below := section_type(setting):
            values[name] = _make(below, table[name], f"{key}.", found)
        elif key == MODELS:
            values[name] = {each: _make(Model, of_it, f"{key}.{each}.", found) for each, of_it in table[name].items()}
        else:
            values[name] = _checked(setting, key, table[name], found)
    problems += found
    if found:
        return None
    try:
        return kind(**values)
    except ValueError as error:
        problems.append(Problem(sentence=str(error)))
        return None


def _checked(setting: Setting, key: str, value: object, problems: list[Problem]) -> object:
    try:
        return _converted(setting, value)
    except ValueError:  # of msgspec too
        wrong = [*_wrong_items(setting, value)]
        problems.append(Problem(key=key, value=wrong[0] if wrong else value, is_item=bool(wrong)))
        return None


def _converted(setting: Setting, value: object) -> object:
    made = convert(value, setting.annotation)
    if isinstance(made, int) and made > LARGEST:
        raise ValueError("It is too large to reckon with.")
    if isinstance(made, tuple):
        "".join(made).encode()  # a variable may hold bytes that are no text
    for mark in setting.marks:
        if isinstance(mark, Validated):
            mark.validate(made)
    return made


def _wrong_items(setting: Setting, value: object) -> Iterator[object]:
    """What in a list cannot stand there; nothing where the list itself is wrong."""
    if get_origin(setting.kinds[0]) is tuple and isinstance(value, list | tuple):
        for item in value:
            try:
                convert(item, get_args(setting.kinds[0])[0]).encode()
            except ValueError:
                yield item


def parse_value(key: str, text: str) -> object:
    """A value as a variable, a flag or a command gives it, read as what the setting takes.

    A list is a TOML array or separated by commas, a table is one of TOML. What cannot be read stays a text, for
    `make_settings` to refuse.
    """
    setting = field_of(key)
    assert setting is not None
    shape = get_origin(setting.kinds[0])
    if shape not in (tuple, dict):
        return _parse_word(setting, text)
    if shape is tuple and not text.strip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        return parse_toml(f"value = {text}")["value"]
    except ValueError:
        return text


def _parse_word(setting: Setting, text: str) -> object:
    if bool in setting.kinds and text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    try:
        if int in setting.kinds and (number := _WHOLE_NUMBER.fullmatch(text)):
            return int(number[1])
        return float(text) if float in setting.kinds and text.isascii() else text
    except ValueError:
        return text
