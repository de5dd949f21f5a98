"""Obsidian's settings of daily notes, read from the files of the vault."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from zkchat.files import read_bounded
from zkchat.vault.daily_notes import DailyNoteSettings

_CORE: Final = ".obsidian/daily-notes.json"
_PERIODIC: Final = ".obsidian/plugins/periodic-notes/data.json"
_PERIODS: Final = ("daily", "weekly", "monthly", "quarterly")
_MAX_BYTES: Final = 100_000
_MAX_CHARACTERS: Final = 200
"""Of a folder or a format; more is none."""


def daily_note_settings(vault: Path) -> DailyNoteSettings:
    """Those of the plugin Periodic Notes where it makes daily notes, else of Obsidian itself; empty where none are set.

    The files came with the vault, so only texts of some length are taken from them.
    """
    for table in _tables(vault):
        folder, notation, template = (text_setting(table, name) for name in ("folder", "format", "template"))
        if folder or notation or template:
            return DailyNoteSettings(folder=folder, format=notation, template=template)
    return DailyNoteSettings()


def note_name_formats(vault: Path) -> tuple[str, ...]:
    """The formats of the names of daily notes and of those of weeks, months and quarters, as far as they are set."""
    periodic = obsidian_settings(vault, _PERIODIC)
    tables = [obsidian_settings(vault, _CORE), *(periodic.get(name) for name in _PERIODS)]
    found = [text_setting(table, "format") for table in tables if isinstance(table, dict)]
    return tuple(dict.fromkeys(filter(None, found)))


def _tables(vault: Path) -> Iterator[dict[object, object]]:
    periodic = obsidian_settings(vault, _PERIODIC).get("daily")
    if isinstance(periodic, dict) and periodic.get("enabled", True):
        yield periodic
    yield obsidian_settings(vault, _CORE)


def obsidian_settings(vault: Path, name: str) -> dict[object, object]:
    """What a file of Obsidian's settings says; nothing where it is not there or cannot be read."""
    try:
        found = json.loads(read_bounded(vault / name, max_bytes=_MAX_BYTES, beneath=vault))
    except (OSError, ValueError, RecursionError):  # not there, not readable, no JSON
        return {}
    return found if isinstance(found, dict) else {}


def text_setting(table: dict[object, object], key: str) -> str:
    value = table.get(key)
    return value.strip() if isinstance(value, str) and len(value) <= _MAX_CHARACTERS else ""
