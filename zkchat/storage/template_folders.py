"""The folders of a vault that hold templates, by the settings of Obsidian and of its plugin Templater."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from zkchat.files import read_bounded

_MAX_BYTES: Final = 1_000_000
_SETTINGS: Final[Mapping[str, str]] = {
    "templates.json": "folder",
    "plugins/templater-obsidian/data.json": "templates_folder",
}
"""By file in `.obsidian/`, the name of the setting."""


def template_folders(vault: Path) -> list[str]:
    """Relative paths, each with a slash at its end; none for settings that are not there or cannot be read."""
    named = (_setting(vault / ".obsidian" / file, name, vault) for file, name in _SETTINGS.items())
    return [f"{folder}/" for written in named if (folder := written.strip().strip("/"))]


def _setting(file: Path, name: str, vault: Path) -> str:
    try:
        settings = json.loads(read_bounded(file, max_bytes=_MAX_BYTES, beneath=vault))
    except (OSError, ValueError, RecursionError):
        return ""
    value = settings.get(name) if isinstance(settings, dict) else None
    return value if isinstance(value, str) else ""
